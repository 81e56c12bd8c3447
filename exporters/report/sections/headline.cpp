#include "exporters/report/sections/headline.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "exporters/report/figure_text.h"
#include "exporters/report/sections/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

// Of the unprofiled passes' medians.
std::optional<double> unprofiled_window(const Run& run, const StageEntry& stage) {
  for (const StageSlowdown& row : run.perturbation.stages) {
    if (row.stage != stage.name || row.profiler == PassKind::kNcu) continue;
    if (const auto bare = unprofiled_ns(row)) return bare;
  }
  return std::nullopt;
}

// How much longer a window takes traced than unprofiled. A stage whose ranges end before its GPU work has no such time.
std::optional<double> tracing_ns(const Run& run, StageKind kind) {
  const StageEntry* stage = stage_named(run, std::string(key_of(kind)));
  if (stage == nullptr || stage->wall.count == 0 || stage->runs_on()) return std::nullopt;
  if (const auto bare = unprofiled_window(run, *stage)) return stage->wall.mean_ns - *bare;
  if (kind != StageKind::kDecode) return std::nullopt;
  const StageEntry* step = stage_named(run, std::string(key_of(StageKind::kDecodeStep)));  // its steps know
  const auto each = tracing_ns(run, StageKind::kDecodeStep);
  if (!each) return std::nullopt;
  return *each * static_cast<double>(step->wall.count) / static_cast<double>(stage->wall.count);
}

Headline of_times(std::string what, const std::optional<TimeSummary>& times) {
  Headline out{std::move(what), {}, {}, nullptr};
  if (!times || times->count == 0) return out;
  out.traced = times->mean_ns;
  out.times = &*times;
  return out;
}

bool about_equal(double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); }

// Tokens that a decode step yields.
double tokens_per_step(const Run& run) {
  const StageEntry* decode = stage_named(run, std::string(key_of(StageKind::kDecode)));
  if (decode == nullptr || !decode->tokens_per_window || !run.latency.tpot || decode->wall.mean_ns <= 0) return 1;
  return *decode->tokens_per_window * run.latency.tpot->mean_ns / decode->wall.mean_ns;
}

}  // namespace

std::string whose_tokens(const Run& run) {
  const auto& batch = run.latency.batch;
  if (batch) return *batch > 1 ? fmt::format("all {} sequences", tokens_text(*batch)) : "";
  return tokens_per_step(run) > 1.01 ? "all sequences" : "one sequence";
}

Headline first_token(const Run& run) {
  const Latency& latency = run.latency;
  if (latency.ttft) return of_times("Time to first token" + source_label(run), latency.ttft);
  Headline out = of_times("Prefill time" + source_label(run), latency.prefill);
  const StageEntry* prefill = stage_named(run, std::string(key_of(StageKind::kPrefill)));
  const auto more = tracing_ns(run, StageKind::kPrefill);
  // The unprofiled passes know the window of prefill: it is this time where nothing comes before it.
  if (out.traced && more && about_equal(*out.traced, prefill->wall.mean_ns)) out.unprofiled = *out.traced - *more;
  return out;
}

Headline per_token(const Run& run) {
  const bool several = run.latency.tpot && !whose_tokens(run).empty();
  Headline out = of_times((several ? "Time per output token of each sequence" : "Time per output token") + source_label(run), run.latency.tpot);
  const StageEntry* decode = stage_named(run, std::string(key_of(StageKind::kDecode)));
  const auto more = tracing_ns(run, StageKind::kDecode);
  if (out.traced && more && *more < decode->wall.mean_ns) out.unprofiled = *out.traced * (1 - *more / decode->wall.mean_ns);
  return out;
}

Headline output_rate(const Run& run) {
  const std::string whose = run.latency.output_tokens_per_s ? whose_tokens(run) : "";
  Headline out{"Output tokens per second" + (whose.empty() ? "" : ", " + whose) + source_label(run), run.latency.output_tokens_per_s, {}, nullptr};
  const StageEntry* decode = stage_named(run, std::string(key_of(StageKind::kDecode)));
  const StageEntry* prefill = stage_named(run, std::string(key_of(StageKind::kPrefill)));
  const auto more = tracing_ns(run, StageKind::kDecode);
  const auto more_before = prefill == nullptr ? std::optional(0.0) : tracing_ns(run, StageKind::kPrefill);
  if (!out.traced || *out.traced <= 0 || !more || !more_before || !decode->tokens_per_window) return out;
  // The same tokens in the time of the iterations, less what tracing added to their stages.
  const double windows = static_cast<double>(decode->wall.count), tokens = *decode->tokens_per_window * windows;
  const double before = prefill == nullptr ? 0 : *more_before * static_cast<double>(prefill->wall.count);
  const double time_ns = tokens * 1e9 / *out.traced - *more * windows - before;
  if (time_ns > 0) out.unprofiled = tokens * 1e9 / time_ns;
  return out;
}

}  // namespace nl::exporters::report
