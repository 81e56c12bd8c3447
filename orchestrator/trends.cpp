#include "orchestrator/trends.h"

#include <fmt/format.h>

#include "analysis/trends/trends.h"
#include "model/error.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/process/activity.h"

namespace nl::orchestrator {
namespace {

[[noreturn]] void throw_no_values(Ledger& ledger, const std::string& metric) {
  const std::vector<std::string> keys = ledger.metric_keys();
  for (const std::string& key : keys)
    if (key == metric) throw Error(ErrorKind::kInput, fmt::format("no run that fits the filter has {}", metric), ledger.location(), "widen the filter; `nl-stage ls --metric KEY` shows who has it");
  const std::string meant = nearest_name(metric, keys);
  throw Error(ErrorKind::kInput, fmt::format("no run of the ledger has the metric '{}'", metric), ledger.location(),
              meant.empty() ? "`nl-stage show last` lists the metrics of a run" : fmt::format("did you mean {}? `nl-stage show last` lists the metrics of a run", meant));
}

}  // namespace

Trend trend_of(Ledger& ledger, const TrendRequest& request) {
  const Activity searching("reading the ledger");
  std::vector<analysis::TrendValue> values;
  ledger.each_value(request.filter, request.metric, [&](const LedgerValue& value) {
    values.push_back({{value.run_id, value.created_at, value.revision, value.value, 1}, value.hardware, value.model, value.precision});
  });
  if (values.empty()) throw_no_values(ledger, request.metric);
  return {request.metric, metric_info(request.metric), request.by, request.min_effect, analysis::trend_series(std::move(values), request.by, request.min_effect)};
}

}  // namespace nl::orchestrator
