#include "query/idle_time.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/account/budget.h"
#include "analysis/account/peer_waits.h"
#include "analysis/figures/detail/bin_recorder.h"
#include "analysis/trace/gpu_order.h"
#include "query/sources.h"

namespace nl::query {
namespace {

using analysis::LaneWork;

std::vector<analysis::BudgetSpan> spans_of(const std::vector<analysis::Window>& windows) {
  std::vector<analysis::BudgetSpan> spans;
  for (const analysis::Window& window : windows)
    spans.push_back({window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, 0, false});
  return spans;
}

std::vector<std::uint32_t> all_of(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

// Hears of each idle stretch while the gap before some work is accounted for.
class GapWriter : public analysis::IdleListener {
 public:
  GapWriter(analysis::BinRecorder& bins, const analysis::InnermostStages* innermost, IdleTime& idle)
      : bins_(bins), innermost_(innermost), idle_(idle) {}

  void set_lanes(std::size_t lanes) { lanes_.resize(lanes); }

  void before_work(std::uint32_t number, Ns start_ns) {
    after_ = number;
    after_start_ns_ = start_ns;
    gap_ = kNone;
  }
  void after_work(std::uint32_t lane, std::uint32_t number, const LaneWork& work) {
    Lane& state = lanes_[lane];
    if (state.last != kNone && work.end_ns < state.busy_until_ns) return;
    state.last = number;
    state.busy_until_ns = std::max(work.end_ns, work.start_ns);
  }
  // What comes now has no work after it.
  void end_of_work() {
    after_ = kNone;
    gap_ = kNone;
  }

  void idle(std::uint32_t lane, std::uint32_t window, BudgetBin bin, Ns start_ns, Ns end_ns) override {
    bins_.idle(lane, window, bin, start_ns, end_ns);
    if (innermost_ == nullptr) return;
    innermost_->each_of_window(window, start_ns, end_ns, [&](Ns start, Ns end) { add(lane, window, bin, start, end); });
  }

 private:
  struct Lane {
    std::uint32_t last = kNone;  // the work that ends last
    Ns busy_until_ns = std::numeric_limits<Ns>::min();
  };

  void add(std::uint32_t lane, std::uint32_t window, BudgetBin bin, Ns start_ns, Ns end_ns) {
    const Lane& state = lanes_[lane];
    if (gap_ == kNone || gap_lane_ != lane) {
      gap_ = static_cast<std::uint32_t>(idle_.gaps.size());
      gap_lane_ = lane;
      const bool first = state.last == kNone, last = after_ == kNone;
      idle_.gaps.emplace_back(first ? start_ns : state.busy_until_ns, last ? end_ns : after_start_ns_);
    }
    // Before the first work and after the last the GPU is idle for as long as any window says so.
    auto& [from_ns, until_ns] = idle_.gaps[gap_];
    from_ns = std::min(from_ns, start_ns);
    until_ns = std::max(until_ns, end_ns);
    idle_.stretches.push_back({start_ns, end_ns, lane, window, state.last, after_, gap_, bin});
  }

  analysis::BinRecorder& bins_;
  const analysis::InnermostStages* innermost_;
  IdleTime& idle_;
  std::vector<Lane> lanes_;
  std::uint32_t after_ = kNone, gap_ = kNone, gap_lane_ = kNone;
  Ns after_start_ns_ = 0;
};

// One pass over the GPUs' work in the order of its start.
class IdlePass {
 public:
  IdlePass(const Trace& trace, const analysis::GpuLanes& gpus, analysis::BudgetSweep& budget, analysis::BinRecorder& bins, GapWriter& gaps)
      : trace_(trace), gpus_(gpus), budget_(budget), bins_(bins), gaps_(gaps), communication_(trace) {}

  void operator()(const Kernel& kernel) {
    add(kernel.queue, {kernel.start_ns, kernel.end_ns(), kernel.api, communication_.of(kernel), true}, number_of(trace_, kernel));
  }
  void operator()(const MemOp& op) {
    LaneWork work{op.start_ns, std::max(op.start_ns, op.end_ns), op.api};
    if (op.kind == MemOpKind::kPeerToPeer) work.communication = Collective::kPeerCopy;
    add(op.queue, work, number_of(trace_, op));
  }
  void operator()(const GraphRun& run) {
    LaneWork work{run.start_ns, std::max(run.start_ns, run.end_ns), run.api};
    work.graph = true;
    add(run.queue, work, number_of(trace_, run));
  }

 private:
  void add(std::uint64_t queue, const LaneWork& work, std::uint32_t number) {
    const std::uint32_t lane = gpus_.of_queue(queue);
    gaps_.before_work(number, work.start_ns);
    budget_.add(lane, work);
    gaps_.after_work(lane, number, work);
    bins_.add(lane, work);
  }

  const Trace& trace_;
  const analysis::GpuLanes& gpus_;
  analysis::BudgetSweep& budget_;
  analysis::BinRecorder& bins_;
  GapWriter& gaps_;
  analysis::CommunicationKernels communication_;
};

// The mean over the GPUs of the window's process.
IdleTime::Bins mean_of(const std::vector<std::pair<std::uint32_t, BinTimes>>& by_lane) {
  IdleTime::Bins mean{};
  for (const auto& [lane, times] : by_lane)
    for (std::size_t bin = 0; bin < kBudgetBins; ++bin) mean[bin] += static_cast<double>(times[bin]) / static_cast<double>(by_lane.size());
  return mean;
}

}  // namespace

IdleTime::IdleTime(const Trace& trace, const WindowList& list, Parts parts) {
  const std::vector<analysis::Window>& windows = list.windows;
  const std::uint32_t processes = analysis::process_slots(trace);
  const analysis::Buckets one_bucket(analysis::capture_span(trace), 1);
  const analysis::Spans nowhere;
  analysis::BinRecorder recorder(windows, processes, one_bucket, nowhere, all_of(windows.size()));
  const analysis::InnermostStages innermost(processes, windows);
  GapWriter writer(recorder, parts == Parts::kBinsAndGaps ? &innermost : nullptr, *this);
  const analysis::GpuLanes gpus(trace);
  analysis::BudgetSweep budget(trace, gpus, spans_of(windows), 1, {}, &writer);
  lanes = budget.lanes();
  recorder.set_lanes(lanes);
  writer.set_lanes(lanes.size());
  IdlePass pass(trace, gpus, budget, recorder, writer);
  analysis::visit_gpu_work(trace, pass);
  writer.end_of_work();
  budget.finish();
  recorder.finish();
  std::vector<DetailStep> steps(windows.size());
  recorder.put_bins(steps);
  for (const DetailStep& step : steps) bins.push_back(mean_of(step.bins));
  std::stable_sort(stretches.begin(), stretches.end(), [](const IdleStretch& a, const IdleStretch& b) {
    return std::tuple(a.start_ns, a.lane) < std::tuple(b.start_ns, b.lane);
  });
}

}  // namespace nl::query
