#include "model/headline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "model/run_metrics.h"
#include "model/words.h"
#include "model/working_kernels.h"

namespace nl {
namespace {

constexpr double kWorthDoing = 0.01;  // of the measured time

const StageEntry* stage_of(const Run& run, StageKind kind) { return stage_named(run, key_of(kind)); }

// How much longer a window takes traced than unprofiled. A stage whose ranges end before its GPU work has no such time.
std::optional<double> tracing_ns(const Run& run, StageKind kind) {
  const StageEntry* stage = stage_of(run, kind);
  if (stage == nullptr || stage->wall.count == 0 || stage->runs_on()) return std::nullopt;
  if (const auto bare = unprofiled_ns(run, *stage)) return stage->wall.mean_ns - *bare;
  if (kind != StageKind::kDecode) return std::nullopt;
  const StageEntry* step = stage_of(run, StageKind::kDecodeStep);  // its steps know
  const auto each = tracing_ns(run, StageKind::kDecodeStep);
  if (!each) return std::nullopt;
  return *each * static_cast<double>(step->wall.count) / static_cast<double>(stage->wall.count);
}

HeadlineFigure of_times(const std::optional<TimeSummary>& times) {
  if (!times || times->count == 0) return {};
  return {times->mean_ns, {}, &*times};
}

// Kernel → its part of the time in which the GPU works; of several GPUs the largest. Empty where that time is not known.
std::map<std::string_view, double> parts_of_kernels(const Run& run) {
  std::map<std::string_view, double> parts;
  const auto busy = figure_value(run, "gpu_busy_share");
  if (!busy) return parts;
  for (const WorkingKernel& kernel : working_kernels(run).list) {
    if (!(kernel.measured_share > 0)) continue;
    double& part = parts[(*run.kernels)[kernel.index].name];
    part = std::max(part, *busy * kernel.measured_share);
  }
  return parts;
}

// A kernel without an estimate saves at most its part.
double most_saved(const Finding& finding, const std::map<std::string_view, double>& parts) {
  if (finding.gain_share) return *finding.gain_share;
  const auto part = finding.scope == RuleScope::kKernel ? parts.find(finding.subject) : parts.end();
  return part != parts.end() ? part->second : 1;
}

bool about_equal(double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); }

}  // namespace

bool is_incomplete(const Run& run) {
  return std::any_of(run.problems.begin(), run.problems.end(),
                     [](const Problem& problem) { return is_one_of(problem.code, kCaptureIncomplete); });
}

HeadlineFigure first_token_figure(const Run& run) { return run.latency.ttft ? of_times(run.latency.ttft) : prefill_figure(run); }

HeadlineFigure prefill_figure(const Run& run) {
  HeadlineFigure out = of_times(run.latency.prefill);
  const StageEntry* prefill = stage_of(run, StageKind::kPrefill);
  const auto more = tracing_ns(run, StageKind::kPrefill);
  // The unprofiled passes know the window of prefill: it is this time where nothing comes before it.
  if (out.traced && more && about_equal(*out.traced, prefill->wall.mean_ns)) out.unprofiled = *out.traced - *more;
  return out;
}

HeadlineFigure per_token_figure(const Run& run) {
  HeadlineFigure out = of_times(run.latency.tpot);
  const StageEntry* decode = stage_of(run, StageKind::kDecode);
  const auto more = tracing_ns(run, StageKind::kDecode);
  if (out.traced && more && *more < decode->wall.mean_ns) out.unprofiled = *out.traced * (1 - *more / decode->wall.mean_ns);
  return out;
}

HeadlineFigure output_rate_figure(const Run& run) {
  HeadlineFigure out{run.latency.output_tokens_per_s, {}, nullptr};
  const StageEntry* decode = stage_of(run, StageKind::kDecode);
  const StageEntry* prefill = stage_of(run, StageKind::kPrefill);
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

std::optional<double> joules_per_token(const Run& run) {
  for (const StageKind kind : {StageKind::kDecode, StageKind::kDecodeStep})
    for (const auto& stage : run.energy.stages)
      if (stage_kind(stage.stage) == kind && stage.joules_per_token) return stage.joules_per_token;
  return std::nullopt;
}

std::vector<const Finding*> findings_to_work_on(const Run& run) {
  const auto parts = parts_of_kernels(run);
  std::vector<const Finding*> out;
  for (const Finding& finding : run.findings) {
    const bool asks = finding.severity != Severity::kInfo && finding.about == RuleAbout::kWorkload;
    if (asks && most_saved(finding, parts) >= kWorthDoing) out.push_back(&finding);
  }
  return out;
}

const StageEntry* stage_named(const Run& run, std::string_view name) {
  const auto found = std::find_if(run.stages.begin(), run.stages.end(), [&](const StageEntry& stage) { return stage.name == name; });
  return found != run.stages.end() ? &*found : nullptr;
}

std::optional<double> unprofiled_ns(const StageSlowdown& slowdown) {
  std::vector<double> bare = slowdown.bare_ns;
  if (bare.empty()) return std::nullopt;
  std::sort(bare.begin(), bare.end());
  return bare[bare.size() / 2];
}

std::optional<double> unprofiled_ns(const Run& run, const StageEntry& stage) {
  for (const StageSlowdown& row : run.perturbation.stages) {
    if (row.stage != stage.name || row.profiler == PassKind::kNcu) continue;
    if (const auto bare = unprofiled_ns(row)) return bare;
  }
  return std::nullopt;
}

}  // namespace nl
