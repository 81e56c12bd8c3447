#include "analysis/verdicts/run_summary.h"

#include <cmath>

#include "model/headline.h"
#include "model/run_metrics.h"

namespace nl::analysis {
namespace {

std::optional<double> figure(const Run& run, std::string_view key) {
  const auto value = metric_info(key)->read({run});
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

RunSummary run_summary(const Run& run) {
  const auto findings = findings_to_work_on(run);
  return {.ttft_ms = figure(run, "ttft_ms"),
          .tpot_ms = figure(run, "tpot_ms"),
          .tpot_unprofiled_ms = figure(run, "tpot_unprofiled_ms"),
          .tokens_per_s = figure(run, "tokens_per_s"),
          .gpu_busy_share = figure(run, "gpu_busy_share"),
          .mfu = figure(run, "mfu"),
          .mbu = figure(run, "mbu"),
          .joules_per_token = figure(run, "joules_per_token"),
          .top_finding = findings.empty() ? "" : findings.front()->rule};
}

}  // namespace nl::analysis
