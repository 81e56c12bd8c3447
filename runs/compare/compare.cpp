#include "runs/compare/compare.h"

#include <algorithm>
#include <cstdint>
#include <future>
#include <utility>

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/import.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/compare/recorded.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

// A capture as it left its tool: imported, and nothing of it kept.
Run run_of_captures(const fs::path& path, const Config& config, Launcher& launcher) {
  ImportRequest request;
  request.config = config;
  add_input(path, request);
  return import_run(request, launcher);
}

// A bundle, its copies and the ledger's record have one id. What was imported twice has two, and the same digests.
bool same_run(const Run& a, const Run& b) {
  if (!a.run_id.empty() && a.run_id == b.run_id) return true;
  const auto digests = [](const Run& run) {
    std::vector<std::string> all;
    for (const auto& [file, digest] : run.provenance.inputs_sha256) all.push_back(digest);
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::vector<std::string> of_a = digests(a);
  return !of_a.empty() && !of_a.front().empty() && of_a == digests(b);
}

// The runs of one side, each once, and how often it was given: a run that is counted twice would be a sample without any spread.
struct NamedRuns {
  std::vector<Run> runs;
  std::vector<std::uint64_t> given;

  void add(Run run) {
    const auto known = std::find_if(runs.begin(), runs.end(), [&](const Run& each) { return same_run(each, run); });
    if (known != runs.end()) {
      ++given[static_cast<std::size_t>(known - runs.begin())];
      return;
    }
    runs.push_back(std::move(run));
    given.push_back(1);
  }

  void tell(CompareSide& side) const {
    for (std::size_t i = 0; i < side.runs.size(); ++i) side.runs[i].given = given[i];
  }
};

NamedRuns runs_named(const std::vector<std::string>& names, const CompareRequest& request, Launcher& launcher) {
  NamedRuns named;
  for (const std::string& name : names) {
    const Activity reading("reading " + name);
    named.add(run_or_captures(find_run(name, request.ledger), request.config, launcher));
  }
  return named;
}

}  // namespace

Run run_or_captures(const FoundRun& found, const Config& config, Launcher& launcher) {
  return found.place == RunPlace::kCapture ? run_of_captures(found.path, config, launcher) : read_found(found);
}

Comparison compare_sides(const CompareRequest& request, Launcher& launcher) {
  const Interrupts interrupts;
  // Two processors read two sides in the time of one.
  auto reading = std::async(std::launch::async, [&] { return runs_named(request.b, request, launcher); });
  const NamedRuns a = runs_named(request.a, request, launcher);
  const NamedRuns b = reading.get();
  const Activity comparing("comparing");
  analysis::CompareOptions options = request.options;
  options.recorded = [&](const Run& run, const std::string& stage) { return recorded_wander(run, stage, request.ledger); };
  Comparison comparison = analysis::compare(a.runs, b.runs, options);
  a.tell(comparison.a);
  b.tell(comparison.b);
  return comparison;
}

std::vector<std::string> write_comparison(const Comparison& comparison, const fs::path& folder, const exporters::ComparisonNotes& notes) {
  const std::vector<std::string> names = {"compare.json", "compare.md", "compare.html"};
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw Error(ErrorKind::kOutput, "the folder cannot be made: " + failure.message(), folder.string(), "choose another with --out");
  for (const std::string& name : names)
    if (fs::exists(folder / name, failure))
      throw Error(ErrorKind::kOutput, "there is a comparison already", (folder / name).string(), "choose another folder with --out");
  write_file_whole(folder / names[0], exporters::comparison_to_json(comparison));
  write_file_whole(folder / names[1], exporters::comparison_markdown(comparison, notes));
  write_file_whole(folder / names[2], exporters::comparison_html(comparison, version(), notes));
  return names;
}

}  // namespace nl::runs
