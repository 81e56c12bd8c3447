#include "runs/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/runs/gate/gate.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/nearest.h"
#include "runs/compare/recorded.h"
#include "runs/gate/expectations.h"
#include "runs/ledger/find_run.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

// What a new file of expectations holds where the user names no metrics.
std::vector<std::string> usual_metrics() {
  std::vector<std::string> out;
  for (const RunMetricInfo& info : run_metric_table())
    if (info.uses.expected) out.push_back(key_pattern(info, "*"));
  return out;
}

struct LoadedRuns {
  std::vector<analysis::GateRun> runs;
  std::optional<Run> first;
  std::vector<std::string> notes;
};

// A run that counts twice would be a sample without any spread: a folder, its copy and the ledger's record are one run.
LoadedRuns load_runs(const GateRequest& request) {
  LoadedRuns out;
  std::set<std::string> known;
  for (const std::string& name : request.runs) {
    Run run = named_run(name, request.ledger);
    if (!run.run_id.empty() && !known.insert(run.run_id).second) {
      out.notes.push_back(fmt::format("{} is given more than once; it counts once.", run.run_id));
      continue;
    }
    out.runs.push_back(analysis::gate_run(run));
    if (!out.first) out.first = std::move(run);
    if (out.runs.back().hardware.empty())
      throw Error(ErrorKind::kInput, "the run names neither a GPU nor a CPU", name,
                  "expectations hold for hardware; gate a run that knows its own");
  }
  return out;
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

std::vector<GateChange> changes(const Expectations& before, const Expectations& after) {
  std::vector<GateChange> out;
  for (const HardwareExpectations& hardware : after.hardware)
    for (const Expectation& each : hardware.list) {
      const HardwareExpectations* known = before.of(hardware.hardware);
      const Expectation* old = known ? known->find(each.metric) : nullptr;
      if (old == nullptr || old->expected != each.expected || old->from != each.from)
        out.push_back({hardware.hardware, each.metric, old ? std::optional(old->expected) : std::nullopt, each.expected});
    }
  return out;
}

// Of whole keys: many end in the same word. Empty: none is near.
std::string nearest_key(const std::string& wanted, const std::vector<std::string>& keys) {
  constexpr std::size_t kMostSlips = 4, kLongestKey = 256;
  std::string nearest;
  if (wanted.size() > kLongestKey) return nearest;
  std::size_t slips = kMostSlips;
  for (const std::string& key : keys)
    if (const std::size_t distance = edit_distance(wanted, key); distance < slips) nearest = key, slips = distance;
  return nearest;
}

// A pattern that nothing fits is a slip of the pen: nothing would be expected.
void refuse_unknown_metrics(const std::vector<std::string>& patterns, const std::vector<analysis::GateRun>& runs) {
  std::vector<std::string> keys;
  for (const analysis::GateRun& run : runs)
    for (const RunMetric& metric : run.metrics) keys.push_back(metric.key);
  for (const std::string& pattern : patterns) {
    if (std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return analysis::key_matches(key, pattern); })) continue;
    const std::string near = nearest_key(pattern, keys);
    throw Error(ErrorKind::kUsage, fmt::format("no metric of these runs is '{}'", pattern), "--metric",
                near.empty() ? "`nl-stage gate RUN --list` lists them" : fmt::format("did you mean '{}'?", near));
  }
}

void update(const GateRequest& request, const std::vector<analysis::GateRun>& runs, GateReport& report) {
  const bool known = is_there(request.expectations);
  const ConfFile file = file_on_disk(request.expectations);
  const Expectations before = known ? read_expectations(file) : Expectations();
  const bool choose = !known && request.metrics.empty();
  const Expectations after = analysis::updated(before, runs, choose ? usual_metrics() : request.metrics);
  report.changes = changes(before, after);
  if (known && report.changes.empty()) return;
  const EditedText edited = known ? edited_text(file, after) : EditedText{expectations_text(after)};
  write_file_whole(request.expectations, edited.text);
  report.changed_files.push_back(request.expectations.string());
  if (!edited.kept) report.notes.push_back("The file was written anew: its comments and its order are not kept.");
}

}  // namespace

GateReport check_gate(const GateRequest& request) {
  if (!request.update && !is_there(request.expectations))
    throw Error(ErrorKind::kConfig, "there is no such file of expectations", request.expectations.string(),
                "add --update to write it from these runs");
  const LoadedRuns loaded = load_runs(request);
  if (request.update) refuse_unknown_metrics(request.metrics, loaded.runs);
  GateReport report;
  report.file = request.expectations.string();
  report.strict = request.strict;
  report.notes = loaded.notes;
  if (request.update) update(request, loaded.runs, report);
  const auto recorded = [&](const std::string& metric) -> std::optional<analysis::Wander> {
    const auto known = loaded.first ? recorded_metric(*loaded.first, metric, request.ledger) : std::nullopt;
    return known ? std::optional(known->wander) : std::nullopt;
  };
  report.results = analysis::judge(read_expectations(file_on_disk(request.expectations)), loaded.runs, recorded);
  return report;
}

}  // namespace nl::runs
