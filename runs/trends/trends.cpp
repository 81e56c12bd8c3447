#include "runs/trends/trends.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/runs/trends/trends.h"
#include "model/error.h"
#include "orchestrator/config/nearest.h"
#include "orchestrator/process/activity.h"

namespace nl::runs {
namespace {

constexpr std::size_t kMostNear = 5;  // names that are listed where the metric is unknown

[[noreturn]] void throw_no_values(Ledger& ledger, const std::string& metric) {
  const std::vector<std::string> keys = ledger.metric_keys();
  for (const std::string& key : keys)
    if (key == metric)
      throw Error(ErrorKind::kInput, fmt::format("no run that fits the filter has {}", metric), ledger.location(),
                  "widen the filter; `nl-stage ls --metric KEY` shows who has it");
  const std::string meant = nearest_name(metric, keys);
  std::vector<std::string> near = nearest_names(metric, keys, kMostNear);
  std::erase(near, meant);
  throw Error(
      ErrorKind::kInput, fmt::format("no run of the ledger has the metric '{}'", metric), ledger.location(),
      fmt::format("{}{}`nl-stage show last` lists the metrics of a run", meant.empty() ? "" : fmt::format("did you mean {}? ", meant),
                  near.empty() ? "" : fmt::format("{}: {}; ", meant.empty() ? "the nearest are" : "also near", fmt::join(near, ", "))));
}

}  // namespace

Trend trend_of(Ledger& ledger, const TrendRequest& request) {
  const Activity searching("reading the ledger");
  std::vector<analysis::TrendValue> values;
  ledger.make_workloads();
  ledger.each_value(request.filter, request.metric, [&](const LedgerValue& value) {
    values.push_back({{value.run_id, value.created_at, value.revision, value.value, 1},
                      value.hardware,
                      value.model,
                      value.precision,
                      value.workload,
                      value.workload_text,
                      !value.command.empty()});
  });
  if (values.empty()) throw_no_values(ledger, request.metric);
  return {request.metric, find_metric(request.metric), request.by, request.min_effect,
          analysis::trend_series(std::move(values), request.by, request.min_effect)};
}

}  // namespace nl::runs
