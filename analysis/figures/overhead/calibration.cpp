#include "analysis/figures/overhead/calibration.h"

#include <algorithm>
#include <numeric>

#include "analysis/statistics/bootstrap.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kFewestBlocks = 20;
constexpr std::size_t kBlocksTogether = 5;  // neighbours share the state of caches and clocks
constexpr std::size_t kCostResamples = 2000;
constexpr std::uint64_t kCostSeed = 1;
// How many times slower or faster than the machine of the shipped figures another one can be. The loop of one process differs from the next
// by a seventh of its time, which is a third of what tracing adds: beyond these, the difference is that.
constexpr double kLeastTimes = 0.5, kMostTimes = 2;
constexpr double kLeastKnownNs = 1;  // a cost of 0 would mean that it is not known

const CallCost* calibrated_cost(const Calibration& calibration, PassKind profiler, CalibratedCall call) {
  const auto found = std::find_if(calibration.costs.begin(), calibration.costs.end(),
                                  [&](const CallCost& cost) { return cost.profiler == profiler && cost.call == call; });
  return found == calibration.costs.end() ? nullptr : &*found;
}

double middle_ns(const LaunchCost& cost) { return (cost.low_ns + cost.high_ns) / 2; }

// Sums over the work of a trace before any moment.
class SumsByTime {
 public:
  void add(Ns time_ns, double value) { rows_.push_back({time_ns, value}); }
  void finish() {
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.time_ns < b.time_ns; });
    double sum = 0;
    for (Row& row : rows_) sum = row.value += sum;
  }
  double between(Ns start_ns, Ns end_ns) const { return before(end_ns) - before(start_ns); }

 private:
  struct Row {
    Ns time_ns = 0;
    double value = 0;
  };
  double before(Ns time_ns) const {
    const auto row = std::lower_bound(rows_.begin(), rows_.end(), time_ns, [](const Row& each, Ns time) { return each.time_ns < time; });
    return row == rows_.begin() ? 0 : std::prev(row)->value;
  }
  std::vector<Row> rows_;
};

struct StageSums {
  double wall_ns = 0, launches = 0, busy_ns = 0;
};

std::vector<StageSums> sums_by_stage(const StagedTrace& staged) {
  SumsByTime launches, busy;
  ApiKinds kinds(staged.trace);
  for (const ApiCall& call : staged.trace.api_calls)
    if (kinds.of(call).launches) launches.add(call.start_ns, 1);
  each_gpu_work(staged.trace, [&](const auto& work) { busy.add(work.start_ns, static_cast<double>(end_of(work) - work.start_ns)); });
  launches.finish();
  busy.finish();
  std::vector<StageSums> stages(staged.table.stages().size());
  for (const Window& window : staged.windows) {
    if (window.stage == kNone || window.warmup) continue;
    StageSums& sums = stages[window.stage];
    const auto wall_ns = static_cast<double>(window.wall_ns());
    sums.wall_ns += wall_ns;
    sums.launches += launches.between(window.start_ns, window.end_ns);
    sums.busy_ns += std::min(wall_ns, busy.between(window.start_ns, window.end_ns));
  }
  return stages;
}

}  // namespace

std::optional<CallCost> call_cost(const std::vector<double>& bare_ns, const std::vector<double>& traced_ns) {
  if (bare_ns.size() < kFewestBlocks || traced_ns.size() < kFewestBlocks) return std::nullopt;
  const std::size_t blocks = std::min(bare_ns.size(), traced_ns.size());
  const auto differences = paired_differences(bootstrap_medians(bare_ns, kBlocksTogether, kCostResamples, kCostSeed),
                                              bootstrap_medians(traced_ns, kBlocksTogether, kCostResamples, kCostSeed + 1));
  const Interval interval = percentile_interval(differences, tail_95(static_cast<double>(blocks) / kBlocksTogether));
  CallCost cost;
  cost.bare_ns = median_of(bare_ns);
  cost.ns = median_of(traced_ns) - cost.bare_ns;
  cost.low_ns = std::min(interval.low, cost.ns);
  cost.high_ns = std::max(interval.high, cost.ns);
  cost.blocks = blocks;
  return cost;
}

bool is_plausible(const Calibration& calibration) {
  return std::none_of(calibration.costs.begin(), calibration.costs.end(), [](const CallCost& cost) { return cost.high_ns < 0; });
}

std::optional<LaunchCost> calibrated_launch(const Calibration& calibration, PassKind profiler, bool python,
                                            const TracingKnowledge& shipped) {
  const CallCost* back_to_back = calibrated_cost(calibration, profiler, CalibratedCall::kLaunch);
  const CallCost* amid_code = calibrated_cost(calibration, profiler, CalibratedCall::kLaunchAmidCode);
  if (back_to_back == nullptr || amid_code == nullptr) return std::nullopt;
  const auto range = [](double low_ns, double high_ns) { return LaunchCost{std::max(0.0, low_ns), std::max(kLeastKnownNs, high_ns)}; };
  if (!python) return range(std::min(back_to_back->low_ns, amid_code->low_ns), std::max(back_to_back->high_ns, amid_code->high_ns));
  const bool nsys = profiler == PassKind::kNsys;
  const LaunchCost &of_python = nsys ? shipped.python.nsys : shipped.python.collector,
                   &of_native = nsys ? shipped.native.nsys : shipped.native.collector;
  if (!(middle_ns(of_native) > 0)) return std::nullopt;
  const double times = std::clamp(back_to_back->ns / middle_ns(of_native), kLeastTimes, kMostTimes);
  return range(of_python.low_ns * times, of_python.high_ns * times);
}

bool tracing_may_matter(const StagedTrace& staged, bool python, const TracingKnowledge& shipped, double share) {
  const TracerCosts& costs = python ? shipped.python : shipped.native;
  const double launch_ns = std::max(costs.nsys.high_ns, costs.collector.high_ns);
  const std::vector<StageSums> stages = sums_by_stage(staged);
  return std::any_of(stages.begin(), stages.end(), [&](const StageSums& sums) {
    const double unprofiled_ns = std::max(sums.busy_ns, sums.wall_ns - sums.launches * launch_ns);
    return sums.wall_ns > (1 + share) * unprofiled_ns && sums.launches > 0;
  });
}

}  // namespace nl::analysis
