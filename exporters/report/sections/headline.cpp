#include "exporters/report/sections/headline.h"

#include <fmt/core.h>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"
#include "model/run_metrics.h"

namespace nl::exporters::report {
namespace {

// Tokens that a decode step yields.
double tokens_per_step(const Run& run) {
  const StageEntry* decode = stage_named(run, key_of(StageKind::kDecode));
  if (decode == nullptr || !decode->tokens_per_window || !run.latency.tpot || decode->wall.mean_ns <= 0) return 1;
  return *decode->tokens_per_window * run.latency.tpot->mean_ns / decode->wall.mean_ns;
}

}  // namespace

bool counted_as_one(const Run& run) { return !run.latency.batch && tokens_per_step(run) <= 1.01; }

std::string whose_tokens(const Run& run) {
  const auto& batch = run.latency.batch;
  if (batch) return *batch > 1 ? fmt::format("all {} sequences", tokens_text(*batch)) : "";
  return counted_as_one(run) ? "one sequence" : "all sequences";
}

Headline first_token(const Run& run) {
  return {first_token_figure(run), figure_title(run.latency.ttft ? "ttft_ms" : "prefill_ms") + source_label(run)};
}

Headline per_token(const Run& run) {
  const bool several = run.latency.tpot && !whose_tokens(run).empty();
  return {per_token_figure(run), figure_title("tpot_ms") + (several ? " of each sequence" : "") + source_label(run)};
}

Headline output_rate(const Run& run) {
  const std::string whose = run.latency.output_tokens_per_s ? whose_tokens(run) : "";
  return {output_rate_figure(run), figure_title("tokens_per_s") + (whose.empty() ? "" : ", " + whose) + source_label(run)};
}

}  // namespace nl::exporters::report
