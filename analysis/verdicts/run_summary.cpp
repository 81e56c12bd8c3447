#include "analysis/verdicts/run_summary.h"

#include "model/headline.h"
#include "model/run_metrics.h"

namespace nl::analysis {

RunSummary run_summary(const Run& run) {
  RunSummary out;
  for (const RunMetricInfo& info : run_metric_table())
    if (!info.uses.summary.empty()) out.figures[info.key] = figure_value(info, {run});
  const auto findings = findings_to_work_on(run);
  if (!findings.empty()) out.top_finding = findings.front()->rule;
  return out;
}

}  // namespace nl::analysis
