#include "orchestrator/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/analyse.h"
#include "exporters/perfetto/perfetto.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/process/activity.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using nlohmann::ordered_json;

void claim_out(const fs::path& out) {
  std::error_code failure;
  if (fs::exists(out, failure) && (!fs::is_directory(out, failure) || !fs::is_empty(out, failure)))
    throw Error(ErrorKind::kOutput, "the output folder exists and is not empty", out.string(),
                "give --out a folder that is absent or empty");
  fs::create_directories(out, failure);
  if (failure)
    throw Error(ErrorKind::kOutput, fmt::format("cannot make the folder: {}", failure.message()), out.string(),
                "give --out a folder that you may write to");
}

void check_writable(const fs::path& folder) {
  if (access(folder.c_str(), W_OK) == 0) return;
  throw Error(ErrorKind::kOutput, "the bundle's folder cannot be written to", folder.string(),
              "give --out DIR: the files are then written there");
}

// The digests of what was written anew; those of the captures stay as they are, also where a capture has changed since.
void update_manifest(const fs::path& folder, ReportResult& result) {
  const fs::path file = folder / "manifest.json";
  if (!fs::exists(file)) return;
  try {
    const std::string text = read_run_text(file);
    ordered_json manifest = ordered_json::parse(json_within_bounds(text, file.string()));
    std::vector<ordered_json> entries = manifest.at("files").get<std::vector<ordered_json>>();
    for (const std::string& name : result.files) {
      std::erase_if(entries, [&](const ordered_json& entry) { return entry.at("path") == name; });
      entries.push_back({{"path", name}, {"size_bytes", fs::file_size(folder / name)}, {"sha256", sha256_file(folder / name)}});
    }
    const auto path = [](const ordered_json& entry) { return entry.at("path").get<std::string>(); };
    std::sort(entries.begin(), entries.end(), [&](const ordered_json& a, const ordered_json& b) { return path(a) < path(b); });
    manifest["files"] = entries;
    write_file_whole(file, manifest.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  } catch (const ordered_json::exception& broken) {
    result.notes.push_back(fmt::format("manifest.json is damaged and was left as it is: {}", json_fault(broken.what())));
  }
}

class Report {
 public:
  Report(const ReportRequest& request, const fs::path& source, std::string text)
      : request_(request), bundle_(fs::absolute(source).parent_path()), text_(std::move(text)) {
    result_.run = read_run(text_, source);
    const bool elsewhere = !request.out.empty() && fs::weakly_canonical(request.out) != fs::weakly_canonical(bundle_);
    result_.folder = elsewhere ? fs::absolute(request.out) : bundle_;
  }

  ReportResult write() {
    if (!request_.rules.empty()) judge_anew();
    const bool elsewhere = result_.folder != bundle_;
    if (elsewhere) claim_out(result_.folder);
    else check_writable(bundle_);
    if (elsewhere || !request_.rules.empty()) put("run.json", text_);
    exporters::PageParts page{read_detail_file(bundle_), {}};
    if (elsewhere && !page.detail.empty()) put(kDetailFile, page.detail);
    if (fs::exists(result_.folder / kTraceFile)) page.trace_file = kTraceFile;
    write_reports(result_.run, page, [this](const fs::path& name, std::string_view text) { put(name, text); });
    if (!fs::exists(bundle_ / kTraceFile)) write_timeline();
    if (!elsewhere) update_manifest(bundle_, result_);
    return std::move(result_);
  }

 private:
  void judge_anew() {
    result_.run = analysis::judged(std::move(result_.run), load_rules(shipped_rules(), request_.rules));
    result_.run.schema_version = kRunSchemaVersion;
    text_ = exporters::run_to_json(result_.run);
    validate_run_json(text_);
    result_.notes.push_back(fmt::format("judged anew: {}, {} abstained", exporters::plural(result_.run.findings.size(), "finding"),
                                        exporters::plural(result_.run.abstentions.size(), "rule")));
  }

  void put(const fs::path& name, std::string_view text) {
    write_file_whole(result_.folder / name, text);
    result_.files.push_back(name.generic_string());
  }

  void write_timeline() {
    if (!result_.run.timeline) {
      result_.notes.push_back(
          "no trace for Perfetto: the bundle has none, and run.json has no timeline; `nl-stage import` makes one from the captures");
      return;
    }
    WholeFile out(result_.folder / kTimelineFile);
    const auto summary = exporters::write_perfetto(*result_.run.timeline, [&](std::string_view piece) { out.append(piece); });
    out.commit();
    result_.files.emplace_back(kTimelineFile);
    result_.notes.push_back(fmt::format("{} shows {}: the bundle has no {}", kTimelineFile, summary.note, kTraceFile));
  }

  const ReportRequest& request_;
  fs::path bundle_;
  std::string text_;
  ReportResult result_;
};

}  // namespace

ReportResult report_bundle(const ReportRequest& request) {
  const Activity writing("writing the reports");
  const fs::path file = run_json_of(request.bundle);
  return Report(request, file, read_run_text(file)).write();
}

}  // namespace nl::orchestrator
