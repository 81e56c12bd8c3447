#include "runs/compare/recorded.h"

#include <cmath>
#include <vector>

#include "model/error.h"
#include "model/identity.h"
#include "model/run_metrics.h"
#include "runs/ledger/ledger.h"

namespace nl::runs {
std::optional<analysis::RecordedWander> recorded_metric(const Run& run, const std::string& metric, const std::string& ledger) {
  const std::string location = orchestrator::ledger_location(ledger), workload = identity_key(identity_of(run));
  if (location.empty() || orchestrator::ledger_is_off(ledger) || workload.empty()) return std::nullopt;
  const std::string hardware = hardware_key(run);
  std::vector<double> logs;
  try {
    LedgerFilter filter;
    filter.workload = workload;
    filter.parts = true;
    Ledger::open(location, database::Absent::kRefuse).each_value(filter, metric, [&](const LedgerValue& value) {
      if (value.hardware == hardware && value.value > 0) logs.push_back(std::log(value.value));
    });
  } catch (const Error&) {
    return std::nullopt;  // a record that cannot be read says nothing; what is assumed instead is said
  }
  const auto wander = analysis::wander_of(logs);
  return wander ? std::optional(analysis::RecordedWander{*wander, logs.size()}) : std::nullopt;
}

std::optional<analysis::RecordedWander> recorded_wander(const Run& run, const std::string& stage, const std::string& ledger) {
  return recorded_metric(run, stage_key(stage, "median_ms"), ledger);
}

}  // namespace nl::runs
