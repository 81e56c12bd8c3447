#include "model/headline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "model/run_metrics.h"
#include "model/words.h"

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

// What a replay says of the window of a stage that takes as long as the figure does.
std::optional<double> predicted_as(const Run& run, StageKind kind, const HeadlineFigure& figure) {
  constexpr double kAlike = 0.1;
  const StageEntry* stage = stage_of(run, kind);
  if (stage == nullptr || !figure.traced || figure.unprofiled) return std::nullopt;
  if (std::abs(*figure.traced / stage->wall.mean_ns - 1) > kAlike) return std::nullopt;
  const auto bare = bare_window(run, *stage);
  return bare && bare->predicted ? std::optional(bare->ns) : std::nullopt;
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

// Until format 3.2 a file tells only each stage's launches. One in a stage within another counts in both: only the outermost are
// added up.
std::set<std::string> outermost_stages(const std::vector<KernelEntry>& kernels) {
  std::set<std::string> names;
  for (const KernelEntry& kernel : kernels)
    for (const StageSplit& split : kernel.stages) names.insert(split.stage);
  return names;
}

WorkingKernel measured_part(const std::vector<KernelEntry>& kernels, std::size_t index, const std::set<std::string>& outermost) {
  const KernelEntry& kernel = kernels[index];
  if (kernel.measured_ns && kernel.measured_calls) return {index, *kernel.measured_ns, *kernel.measured_calls, 0};
  WorkingKernel out{index, 0, 0, 0};
  const auto counts = [&](const StageLaunches& launches) { return outermost.contains(launches.stage); };
  const bool any = std::any_of(kernel.measured.begin(), kernel.measured.end(), counts);
  for (const StageLaunches& launches : kernel.measured) {
    if (any && !counts(launches)) continue;
    out.time_ns += launches.total_ns;
    out.calls += launches.calls;
  }
  // A stage that is the outermost here may lie within another there.
  out.time_ns = std::min(out.time_ns, kernel.time.total_ns);
  out.calls = std::min(out.calls, kernel.time.count);
  return out;
}

// Graphs captured without their kernels are a part of gpu_share's whole; how much of them is measured is not known.
void share_out(const Run& run, std::vector<WorkingKernel>& list) {
  const bool graphs = run.coverage.graph_only_share.value_or(0) > 0;
  std::map<std::int32_t, Ns> of_gpu;
  for (const WorkingKernel& each : list) of_gpu[(*run.kernels)[each.index].device] += each.time_ns;
  for (WorkingKernel& each : list) {
    const KernelEntry& kernel = (*run.kernels)[each.index];
    const Ns all_ns = of_gpu[kernel.device];
    each.measured_share = graphs || all_ns <= 0 ? kernel.gpu_share : static_cast<double>(each.time_ns) / static_cast<double>(all_ns);
  }
}

WorkingKernels all_kernels(const std::vector<KernelEntry>& kernels) {
  WorkingKernels out;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    out.list.push_back({i, kernels[i].time.total_ns, kernels[i].time.count, kernels[i].gpu_share});
  return out;
}

WorkingKernels measured_kernels(const Run& run, const std::vector<KernelEntry>& kernels) {
  const auto outermost = outermost_stages(kernels);
  WorkingKernels out;
  out.measured = true;
  std::unordered_map<std::string_view, Ns> left_out;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].measured.empty()) left_out[kernels[i].name] += kernels[i].time.total_ns;
    else out.list.push_back(measured_part(kernels, i, outermost));
  for (const WorkingKernel& each : out.list) left_out.erase(kernels[each.index].name);
  out.left_out = left_out.size();
  for (const auto& [name, time_ns] : left_out) out.left_out_ns += time_ns;
  std::stable_sort(out.list.begin(), out.list.end(), [](const WorkingKernel& a, const WorkingKernel& b) { return a.time_ns > b.time_ns; });
  share_out(run, out.list);
  return out;
}

// Ranks run the same kernels, each on a GPU of its own. One whose counters were measured has a row of its own where it takes much less than the
// others: a row tells of the GPU that takes the longest.
void merge_gpus(const Run& run, std::vector<WorkingKernel>& list) {
  constexpr double kAbout = 0.8;
  std::map<std::int32_t, std::string_view> models;
  for (const Device& device : run.hardware.gpus) models.emplace(device.id, device.name);
  std::unordered_map<std::string_view, std::vector<std::size_t>> places;  // by name: one for each model
  std::vector<WorkingKernel> merged;
  const auto kernel_of = [&](const WorkingKernel& each) -> const KernelEntry& { return (*run.kernels)[each.index]; };
  for (WorkingKernel& each : list) {
    const KernelEntry& kernel = kernel_of(each);
    each.least_ns = each.most_ns = each.time_ns;
    std::vector<std::size_t>& known = places[kernel.name];
    const auto place = std::find_if(known.begin(), known.end(), [&](std::size_t i) {
      const std::int32_t device = kernel_of(merged[i]).device;
      return device != kernel.device && models[device] == models[kernel.device];
    });
    const bool counted = place != known.end() && !kernel.ncu.empty() && kernel_of(merged[*place]).ncu.empty();
    const bool about = place != known.end() && static_cast<double>(each.time_ns) >= kAbout * static_cast<double>(merged[*place].most_ns);
    if (place == known.end() || (counted && !about)) {
      known.push_back(merged.size());
      merged.push_back(each);
      continue;
    }
    WorkingKernel& kept = merged[*place];
    const WorkingKernel before = kept;
    if (counted) kept = each;
    kept.gpus = before.gpus + 1;
    kept.most_ns = before.most_ns;
    kept.least_ns = each.time_ns;
  }
  std::stable_sort(merged.begin(), merged.end(), [](const WorkingKernel& a, const WorkingKernel& b) { return a.time_ns > b.time_ns; });
  list = std::move(merged);
}

}  // namespace

bool is_incomplete(const Run& run) {
  return std::any_of(run.problems.begin(), run.problems.end(),
                     [](const Problem& problem) { return is_one_of(problem.code, kCaptureIncomplete); });
}

namespace {

// Of older runs the kind is not known, but their stages and figures are.
bool looks_like_generation(const Run& run) {
  const Latency& latency = run.latency;
  return latency.ttft || latency.prefill || latency.tpot || latency.output_tokens_per_s ||
         std::any_of(run.stages.begin(), run.stages.end(),
                     [](const StageEntry& stage) { return stage_kind(stage.name) == StageKind::kPrefill || is_decode(stage.name); });
}

}  // namespace

bool generates(const Run& run) {
  switch (run.workload.verdict.kind) {
    case WorkloadKind::kGeneration:
    case WorkloadKind::kServing: return true;
    case WorkloadKind::kUnknown: return run.workload.verdict.unit_stage.empty() && looks_like_generation(run);
    default: return false;
  }
}

HeadlineFigure first_token_figure(const Run& run) { return run.latency.ttft ? of_times(run.latency.ttft) : prefill_figure(run); }

HeadlineFigure prefill_figure(const Run& run) {
  HeadlineFigure out = of_times(run.latency.prefill);
  const StageEntry* prefill = stage_of(run, StageKind::kPrefill);
  const auto more = tracing_ns(run, StageKind::kPrefill);
  // The unprofiled passes know the window of prefill: it is this time where nothing comes before it.
  if (out.traced && more && about_equal(*out.traced, prefill->wall.mean_ns)) out.unprofiled = *out.traced - *more;
  out.predicted = predicted_as(run, StageKind::kPrefill, out);
  return out;
}

HeadlineFigure per_token_figure(const Run& run) {
  HeadlineFigure out = of_times(run.latency.tpot);
  const StageEntry* decode = stage_of(run, StageKind::kDecode);
  const auto more = tracing_ns(run, StageKind::kDecode);
  if (out.traced && more && *more < decode->wall.mean_ns) out.unprofiled = *out.traced * (1 - *more / decode->wall.mean_ns);
  out.predicted = predicted_as(run, StageKind::kDecodeStep, out);
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

std::optional<double> kwh_per_million_tokens(const Run& run) {
  constexpr double kJoulesOfKwh = 3.6e6, kMillion = 1e6;
  const auto joules = joules_per_token(run);
  return joules ? std::optional(*joules * kMillion / kJoulesOfKwh) : std::nullopt;
}

std::vector<const Finding*> findings_to_work_on(const Run& run) {
  const auto parts = parts_of_kernels(run);
  std::vector<const Finding*> out;
  for (const Finding& finding : run.findings) {
    const bool asks = finding.severity != Severity::kInfo && finding.about != RuleAbout::kMeasurement;
    if (asks && most_saved(finding, parts) >= kWorthDoing) out.push_back(&finding);
  }
  return out;
}

const StageEntry* stage_named(const Run& run, std::string_view name) {
  static thread_local std::size_t next = 0;
  return found_from(run.stages, next, [&](const StageEntry& stage) { return stage.name == name; });
}

std::optional<BareWindow> bare_window(const Run& run, const StageEntry& stage) {
  constexpr double kLeastPart = 0.02, kWidest = 2;
  if (const auto measured = unprofiled_ns(run, stage)) return BareWindow{*measured};
  if (!run.what_if || stage.runs_on()) return std::nullopt;
  const auto found = std::find_if(run.what_if->stages.begin(), run.what_if->stages.end(),
                                  [&](const Prediction& each) { return each.stage == stage.name; });
  if (found == run.what_if->stages.end() || found->measured_ns <= 0 || found->low_ns <= 0) return std::nullopt;
  const double left = found->predicted_ns / found->measured_ns;
  if (left > 1 - kLeastPart || found->high_ns > kWidest * found->low_ns) return std::nullopt;
  return BareWindow{found->predicted_ns, true, found->low_ns, found->high_ns};
}

std::string stage_to_predict(const Run& run) {
  if (stage_named(run, run.workload.verdict.unit_stage) != nullptr) return run.workload.verdict.unit_stage;
  const auto longest = std::max_element(run.stages.begin(), run.stages.end(),
                                        [](const StageEntry& a, const StageEntry& b) { return a.wall.total_ns < b.wall.total_ns; });
  return longest != run.stages.end() ? longest->name : "";
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

WorkingKernels working_kernels(const Run& run) {
  if (!run.kernels) return {};
  const std::vector<KernelEntry>& kernels = *run.kernels;
  const bool measured = std::any_of(kernels.begin(), kernels.end(), [](const KernelEntry& kernel) { return !kernel.measured.empty(); });
  WorkingKernels out = measured ? measured_kernels(run, kernels) : all_kernels(kernels);
  merge_gpus(run, out.list);
  return out;
}

}  // namespace nl
