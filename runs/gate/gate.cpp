#include "runs/gate/gate.h"

#include <optional>
#include <utility>

#include "analysis/runs/gate/gate.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/compare/recorded.h"
#include "runs/gate/expectations.h"
#include "runs/ledger/bundles.h"

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
};

LoadedRuns load_runs(const std::vector<std::string>& names) {
  LoadedRuns out;
  for (const std::string& name : names) {
    Run run = named_run(name);
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
  const LoadedRuns loaded = load_runs(request.runs);
  GateReport report;
  report.file = request.expectations.string();
  report.strict = request.strict;
  if (request.update) update(request, loaded.runs, report);
  const auto recorded = [&](const std::string& metric) -> std::optional<analysis::Wander> {
    const auto known = loaded.first ? recorded_metric(*loaded.first, metric, "") : std::nullopt;
    return known ? std::optional(known->wander) : std::nullopt;
  };
  report.results = analysis::judge(read_expectations(file_on_disk(request.expectations)), loaded.runs, recorded);
  return report;
}

}  // namespace nl::runs
