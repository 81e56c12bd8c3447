#include "analysis/figures/overhead/tracing_cost.h"

#include <algorithm>
#include <optional>

#include "analysis/figures/overhead/calibration.h"
#include "model/headline.h"

namespace nl::analysis {
namespace {

// Who recorded the timeline; nothing where that was another tool, whose cost is not known.
std::optional<PassKind> recorder_of(const Run& run) {
  if (!run.kernels || run.kernels->empty()) return std::nullopt;
  const Tracer tracer = run.provenance.tracer;
  const SourceFormat format = run.import_stats.source_format;
  if (tracer == Tracer::kNsys || format == SourceFormat::kNsysSqlite) return PassKind::kNsys;
  if (tracer == Tracer::kCupti || format == SourceFormat::kCollector) return PassKind::kCollector;
  return std::nullopt;
}

// A range that ends before its GPU work does only launch: slower launches need not delay anything.
bool tells_a_step(const StageEntry* stage) {
  return stage != nullptr && stage->wall.count > 0 && stage->wall.median_ns > 0 && !stage->runs_on();
}

// The unit of the program, else the stage that takes the longest.
const StageEntry* quoted_stage(const Run& run) {
  if (const StageEntry* unit = stage_named(run, run.workload.verdict.unit_stage); tells_a_step(unit)) return unit;
  const StageEntry* longest = nullptr;
  for (const StageEntry& stage : run.stages)
    if (tells_a_step(&stage) && (longest == nullptr || stage.wall.total_ns > longest->wall.total_ns)) longest = &stage;
  return longest;
}

std::optional<TracingCost> measured_cost(const Run& run, PassKind recorder, const StageEntry& stage) {
  for (const StageSlowdown& row : run.perturbation.stages) {
    if (row.profiler != recorder || row.stage != stage.name || !row.slowdown) continue;
    // Where the passes do not decide, the whole range is what is known.
    const bool range = row.verdict == SlowdownVerdict::kUndecidable && row.low && row.high;
    return TracingCost{recorder, CostBasis::kMeasured, stage.name, range ? *row.low : *row.slowdown, range ? *row.high : *row.slowdown, {}};
  }
  return std::nullopt;
}

// One window as it was traced.
struct TracedWindow {
  double wall_ns = 0, busy_ns = 0, launches = 0;
};

// Nothing where launches are not what tracing slows: of CUDA graphs it is the nodes, which may be thousands or not be recorded.
std::optional<TracedWindow> traced_window(const StageEntry& stage) {
  if (!stage.activity || !stage.gpu_busy_ns || stage.activity->launches == 0) return std::nullopt;
  if (2 * stage.activity->graph_launches > stage.activity->launches) return std::nullopt;
  const auto windows = static_cast<double>(stage.wall.count);
  return TracedWindow{stage.wall.median_ns, static_cast<double>(*stage.gpu_busy_ns) / windows,
                      static_cast<double>(stage.activity->launches) / windows};
}

// How long the window takes unprofiled. The GPU's work takes as long as before, and nothing was seen to be slowed by more than `most`.
double unprofiled_estimate(const TracedWindow& window, double launch_ns, double most) {
  return std::max({window.busy_ns, window.wall_ns / (1 + most), window.wall_ns - window.launches * launch_ns});
}

double longer_by(double wall_ns, double unprofiled_ns) { return unprofiled_ns > 0 ? std::max(0.0, wall_ns / unprofiled_ns - 1) : 0; }

// What another tracer would add to a window that takes so long unprofiled. Launches that the GPU's work covers delay nothing.
double share_of_other(const TracedWindow& window, double unprofiled_ns, double launch_ns, double most) {
  const double added = std::min(window.launches * launch_ns, most * unprofiled_ns);
  return longer_by(std::max(window.busy_ns, unprofiled_ns + added), unprofiled_ns);
}

// What a launch costs under a tracer, and how that is known.
struct KnownLaunch {
  LaunchCost cost;
  CostBasis basis = CostBasis::kEstimated;
};

KnownLaunch launch_under(PassKind profiler, const Run& run, bool python, const TracingKnowledge& knowledge) {
  if (const auto calibrated = calibrated_launch(run.perturbation.calibration, profiler, python, knowledge))
    return {*calibrated, CostBasis::kCalibrated};
  const TracerCosts& costs = python ? knowledge.python : knowledge.native;
  return {profiler == PassKind::kNsys ? costs.nsys : costs.collector, CostBasis::kEstimated};
}

}  // namespace

bool is_python(const std::map<std::string, std::string>& versions, const std::vector<Process>& processes,
               const std::vector<std::string>& command) {
  const auto named_so = [](std::string_view path) { return path.substr(path.rfind('/') + 1).starts_with("python"); };
  return versions.contains("python") ||
         std::any_of(processes.begin(), processes.end(), [&](const Process& process) { return named_so(process.name); }) ||
         (!command.empty() && named_so(command[0]));
}

std::optional<LaunchCost> launch_cost(const Run& run, const std::vector<Process>& processes, const TracingKnowledge& knowledge) {
  const auto recorder = recorder_of(run);
  if (!recorder) return std::nullopt;
  const LaunchCost cost = launch_under(*recorder, run, is_python(run.software.versions, processes, run.workload.command), knowledge).cost;
  return cost.high_ns > 0 ? std::optional(cost) : std::nullopt;
}

std::vector<TracingCost> tracing_costs(const Run& run, const std::vector<Process>& processes, const TracingKnowledge& knowledge) {
  const auto recorder = recorder_of(run);
  const StageEntry* stage = quoted_stage(run);
  if (!recorder || stage == nullptr) return {};
  const bool nsys = *recorder == PassKind::kNsys;
  const bool python = is_python(run.software.versions, processes, run.workload.command);
  const KnownLaunch own = launch_under(*recorder, run, python, knowledge);
  const double most = nsys ? knowledge.most_nsys : knowledge.most_collector;
  const auto window = own.cost.high_ns > 0 ? traced_window(*stage) : std::nullopt;
  const auto by_launches = [&](PassKind profiler, CostBasis basis, double low, double high) {
    return TracingCost{profiler, basis, stage->name, low, high, window->launches};
  };
  std::vector<TracingCost> out;
  if (auto measured = measured_cost(run, *recorder, *stage)) out.push_back(std::move(*measured));
  else if (window)
    out.push_back(by_launches(*recorder, own.basis, longer_by(window->wall_ns, unprofiled_estimate(*window, own.cost.low_ns, most)),
                              longer_by(window->wall_ns, unprofiled_estimate(*window, own.cost.high_ns, most))));
  const KnownLaunch other = launch_under(PassKind::kCollector, run, python, knowledge);
  if (out.empty() || !nsys || !window || !(other.cost.high_ns > 0)) return out;
  // Of the same window without a tracer: as the passes measured it, else in the middle of the estimate.
  const double unprofiled =
      unprofiled_ns(run, *stage).value_or(unprofiled_estimate(*window, (own.cost.low_ns + own.cost.high_ns) / 2, most));
  out.push_back(by_launches(PassKind::kCollector, other.basis,
                            share_of_other(*window, unprofiled, other.cost.low_ns, knowledge.most_collector),
                            share_of_other(*window, unprofiled, other.cost.high_ns, knowledge.most_collector)));
  return out;
}

}  // namespace nl::analysis
