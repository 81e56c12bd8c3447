#include "runs/suite/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "runs/suite/pair_outputs.h"

namespace nl::runs {
namespace fs = std::filesystem;

void fields(auto& io, exporters::Ref<decltype(io), SuiteProgress::Entry> e) {
  io("target", e.target);
  io("digest", e.digest);
  io("repetition", e.repetition);
  io("profiled", e.profiled);
  io("size", e.size);
  io("outcome", e.outcome);
  io("bundle", e.bundle);
  io("reason", e.reason);
  io("attempts", e.attempts);
}

void fields(auto& io, exporters::Ref<decltype(io), SuiteProgress::Document> d) {
  io("version", d.version);
  io("suite", d.suite);
  io("runs", d.runs);
}

namespace {

constexpr const char* kProgressFile = "progress.json";

// Of all that decides what a run of the target does and leaves. What decides only how it is judged, such as the threshold, may change.
std::string digest_of(const Suite& suite, const SuiteTask& task, const std::vector<std::string>& sets) {
  const SuiteTarget& target = suite.targets[task.target];
  std::string text = fmt::format("{}\x1f{}\x1f{}\x1f{}", target.directory, suite.timeout_s, task.profiled, static_cast<int>(suite.profile));
  const auto add = [&](const char* what, const std::vector<std::string>& words) {
    text += fmt::format("\x1e{}", what);
    for (const std::string& word : words) text += "\x1f" + word;
  };
  add("command", target.command);
  for (const auto& [name, value] : target.env) add("env", {name, value});
  add("set", target.sets);
  add("sets", sets);
  if (!task.profiled) add("outputs", output_files(suite, task.target));
  return sha256_text(text);
}

bool is_same(const SuiteProgress::Entry& entry, const Suite& suite, const SuiteTask& task) {
  return entry.target == suite.targets[task.target].name && entry.repetition == task.repetition && entry.profiled == task.profiled &&
         entry.size == task.size;
}

}  // namespace

SuiteProgress SuiteProgress::of(const SuiteRequest& request, const fs::path& out) {
  if (!request.resume) return SuiteProgress(out, request.sets);
  return read(out, request.suite, request.sets);
}

SuiteProgress SuiteProgress::read(fs::path out, const Suite& suite, std::vector<std::string> sets) {
  const fs::path file = out / kProgressFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw Error(ErrorKind::kInput, "there is no suite to resume", file.string(), "name the folder of its results with --out DIR");
  SuiteProgress progress(std::move(out), std::move(sets));
  progress.document_ = exporters::read_json<Document>(
      read_run_text(file),
      {.what = "the progress of the suite is damaged", .where = file.string(), .fix = "run the suite anew, in another folder"});
  if (progress.document_.suite != suite.name)
    throw Error(ErrorKind::kInput, fmt::format("the folder has results of the suite '{}'", progress.document_.suite), file.string(),
                fmt::format("name the folder of '{}' with --out DIR", suite.name));
  return progress;
}

std::optional<TaskRecord> SuiteProgress::finished(const Suite& suite, const SuiteTask& task) const {
  const auto entry =
      std::find_if(document_.runs.begin(), document_.runs.end(), [&](const Entry& each) { return is_same(each, suite, task); });
  if (entry == document_.runs.end() || entry->outcome != kTaskOutcomes[static_cast<std::size_t>(TaskOutcome::kOk)]) return std::nullopt;
  if (entry->digest != digest_of(suite, task, sets_)) return std::nullopt;
  TaskRecord record = read_task(task, out_ / entry->bundle);
  if (record.outcome != TaskOutcome::kOk) return std::nullopt;
  record.attempts = entry->attempts;
  record.reused = true;
  return record;
}

void SuiteProgress::note(const Suite& suite, const TaskRecord& record) {
  document_.suite = suite.name;
  std::erase_if(document_.runs, [&](const Entry& each) { return is_same(each, suite, record.task); });
  document_.runs.push_back({suite.targets[record.task.target].name, digest_of(suite, record.task, sets_), record.task.repetition,
                            record.task.profiled, record.task.size, kTaskOutcomes[static_cast<std::size_t>(record.outcome)],
                            record.bundle.empty() ? "" : fs::relative(record.bundle, out_).string(), record.detail, record.attempts});
  write_file_whole(out_ / kProgressFile, exporters::json_text(document_));
}

}  // namespace nl::runs
