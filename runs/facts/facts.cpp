#include "runs/facts/facts.h"

#include <algorithm>
#include <set>

#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/compare/compare.h"
#include "runs/facts/files.h"

namespace nl::runs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 16;

// A capture has another id each time that it is read: that of its files stays. Empty: this machine has no digests.
std::string id_of_captures(const Run& run) {
  std::vector<std::string> digests;
  for (const auto& [file, digest] : run.provenance.inputs_sha256) digests.push_back(digest);
  std::sort(digests.begin(), digests.end());
  if (digests.empty() || digests.front().empty()) return {};
  std::string all;
  for (const std::string& digest : digests) all += digest + "\n";
  return "capture-" + orchestrator::sha256_text(all).substr(0, kIdDigits);
}

Run read_with_id(const std::string& name, const FactsRequest& request, Launcher& launcher) {
  const Activity reading("reading " + name);
  const FoundRun found = find_run(name, request.ledger);
  Run run = run_or_captures(found, request.config, launcher);
  if (found.place != RunPlace::kCapture) return run;
  if (const std::string id = id_of_captures(run); !id.empty()) run.run_id = id;
  return run;
}

void refuse_existing(const FactsRequest& request, const fs::path& folder) {
  std::error_code ignored;
  for (const fs::path& file : names_of_facts(request.format, folder))
    if (!request.replace && fs::exists(file, ignored))
      throw CodedError(ErrorCode::kOutputExists, "there are tables already", file.string(),
                       "choose another folder with --out, or add --replace");
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorKind::kOutput, "the folder cannot be made: " + failure.message(), folder.string(), "choose another with --out");
}

// Reads the runs one after another. Files are made once there is something to write into them.
class FactsOfRuns {
 public:
  FactsOfRuns(const FactsRequest& request, Launcher& launcher) : request_(request), launcher_(launcher) {
    facts_.folder = orchestrator::results_folder(request.out, "facts");
    refuse_existing(request, facts_.folder);
  }

  Facts all() && {
    for (const std::string& name : request_.runs)
      if (const std::optional<Run> run = readable(name)) add(*run, name);
    refuse_interrupted();
    if (files_) facts_.tables = files_->commit();
    return std::move(facts_);
  }

 private:
  std::optional<Run> readable(const std::string& name) {
    refuse_interrupted();
    try {
      return read_with_id(name, request_, launcher_);
    } catch (const Error& error) {
      const bool ours = error.kind == ErrorKind::kInterrupted || error.kind == ErrorKind::kInternal;
      if (ours || request_.runs.size() == 1) throw;
      facts_.skipped.push_back({name, {code_of(error), error.message, error.where.empty() ? name : error.where, error.fix}});
    }
    return std::nullopt;
  }
  void add(const Run& run, const std::string& name) {
    if (!ids_.insert(run.run_id).second) return facts_.repeated.push_back(name);
    if (!files_) {
      make_folder(facts_.folder);
      files_ = make_facts_files(request_.format, facts_.folder);
    }
    files_->add(run);
    ++facts_.runs;
  }
  static void refuse_interrupted() {
    if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted: no table was written", "facts");
  }

  const FactsRequest& request_;
  Launcher& launcher_;
  std::set<std::string> ids_;
  std::unique_ptr<FactsFiles> files_;
  Facts facts_;
};

}  // namespace

Facts write_facts(const FactsRequest& request, Launcher& launcher) {
  const Interrupts interrupts;
  return FactsOfRuns(request, launcher).all();
}

}  // namespace nl::runs
