#include "analysis/figures/stages/median_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "analysis/account/budget.h"
#include "analysis/account/gpu_mean.h"
#include "analysis/account/peer_waits.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_order.h"
#include "analysis/trace/strip_cells.h"

namespace nl::analysis {
namespace {

using BinCells = StripCells<kBudgetBins>;
constexpr std::array<Binding, 3> kHostKinds = {Binding::kHostCode, Binding::kLaunches, Binding::kWaits};
using HostCells = StripCells<kHostKinds.size()>;

// The parts of `spans` that `covered`, which lies inside them, leaves.
template <class Put>
void each_between(const Spans& spans, const Spans& covered, Put put) {
  auto next = covered.begin();
  for (const auto& [start, end] : spans) {
    Ns at = start;
    for (; next != covered.end() && next->second <= end; ++next) {
      if (next->first > at) put(at, next->first);
      at = next->second;
    }
    if (end > at) put(at, end);
  }
}

const Window* median_window(const StagedTrace& staged, const std::string& stage, std::uint64_t& count) {
  const std::uint32_t wanted = staged.table.find(stage);
  std::vector<const Window*> windows;
  for (const Window& window : staged.windows)
    if (window.stage == wanted && !window.warmup && window.wall_ns() > 0) windows.push_back(&window);
  count = windows.size();
  if (wanted == kNone || windows.empty()) return nullptr;
  const auto middle = windows.begin() + static_cast<std::ptrdiff_t>((windows.size() - 1) / 2);
  std::nth_element(windows.begin(), middle, windows.end(), [](const Window* a, const Window* b) {
    return std::tuple(a->wall_ns(), a->start_ns, a->thread) < std::tuple(b->wall_ns(), b->start_ns, b->thread);
  });
  return *middle;
}

// What the GPUs do in one window: idle times from the sweep that makes the budgets, and what runs.
class StepPass : public IdleListener {
 public:
  StepPass(const Trace& trace, const Window& window)
      : window_(window), gpus_(trace), communication_(trace),
        budget_(trace, gpus_, {{window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, 0, false}}, 1, {}, this),
        cells_(budget_.lanes().size(), BinCells(window.start_ns, window.end_ns)), work_(budget_.lanes().size()) {}

  void operator()(const Kernel& kernel) {
    add(kernel.queue, {kernel.start_ns, kernel.end_ns(), kernel.api, communication_.of(kernel), true});
  }
  void operator()(const MemOp& op) {
    LaneWork work{op.start_ns, std::max(op.start_ns, op.end_ns), op.api};
    if (op.kind == MemOpKind::kPeerToPeer) work.communication = Collective::kPeerCopy;
    add(op.queue, work);
  }
  void operator()(const GraphRun& run) {
    LaneWork work{run.start_ns, std::max(run.start_ns, run.end_ns), run.api};
    work.graph = true;
    add(run.queue, work);
  }
  void idle(std::uint32_t lane, std::uint32_t, BudgetBin bin, Ns start_ns, Ns end_ns) override { put(lane, bin, start_ns, end_ns); }

  void finish(MedianStep& step) {
    const BudgetSums sums = budget_.finish();
    step.budget = target_figures(sums, 0, {}).budget;
    for (std::uint32_t lane = 0; lane < sums.lanes.size(); ++lane) {
      if (sums.lanes[lane].process != window_.process || sums.lanes[lane].device == kNoDevice) continue;
      if (step.gpus.size() == kMostDrawnGpus) {
        ++step.gpus_left_out;
        continue;
      }
      put_work(lane);
      StepGpu& gpu = step.gpus.emplace_back(StepGpu{sums.lanes[lane].device, sums.lanes[lane].pid, {}, {}});
      for (const BinCells::Part& part : cells_[lane].parts()) {
        gpu.end_ns.push_back(std::llround(part.end_ns));
        gpu.bins.push_back(part.kind == BinCells::kNothing ? BudgetBin::kResidual : static_cast<BudgetBin>(part.kind));
      }
    }
    sort_by_gpu(step.gpus);
  }

 private:
  // By what they are: the first that applies has the moment.
  struct Work {
    Spans computing, communicating, all;
  };

  void add(std::uint64_t queue, const LaneWork& work) {
    const std::uint32_t lane = gpus_.of_queue(queue);
    budget_.add(lane, work);
    if (work.start_ns >= window_.end_ns || work.end_ns <= window_.start_ns) return;
    if (work.computes()) work_[lane].computing.emplace_back(work.start_ns, work.end_ns);
    if (work.computes() || work.communication) work_[lane].communicating.emplace_back(work.start_ns, work.end_ns);
    work_[lane].all.emplace_back(work.start_ns, work.end_ns);
  }

  void put_work(std::uint32_t lane) {
    const Spans computing = union_of(std::move(work_[lane].computing)), communicating = union_of(std::move(work_[lane].communicating));
    const auto to = [&](BudgetBin bin) { return [this, lane, bin](Ns start, Ns end) { put(lane, bin, start, end); }; };
    each_between(computing, {}, to(BudgetBin::kCompute));
    each_between(communicating, computing, to(BudgetBin::kCommunication));
    each_between(union_of(std::move(work_[lane].all)), communicating, to(BudgetBin::kExposedCopy));
  }

  void put(std::uint32_t lane, BudgetBin bin, Ns start_ns, Ns end_ns) { cells_[lane].add(start_ns, end_ns, static_cast<std::size_t>(bin)); }

  const Window& window_;
  GpuLanes gpus_;
  CommunicationKernels communication_;
  BudgetSweep budget_;
  std::vector<BinCells> cells_;  // by lane
  std::vector<Work> work_;
};

// The calls of the process in the window: its own thread waits, and any of them launches.
class HostLane {
 public:
  HostLane(const Trace& trace, const Window& window) : trace_(trace), window_(window), kinds_(trace) {}

  void draw(MedianStep& step) {
    const CallsByThread calls(trace_);
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      if (process_slot_of_thread(trace_, thread) != window_.process) continue;
      for (std::size_t i = calls.first(thread); i < calls.last(thread) && calls[i].start_ns < window_.end_ns; ++i)
        if (calls[i].end_ns() > window_.start_ns) add(calls[i], thread);
    }
    if (launches_.empty() && waits_.empty()) return;
    HostCells cells(window_.start_ns, window_.end_ns);
    const Spans launches = union_of(std::move(launches_));
    Spans all = launches;
    all.insert(all.end(), waits_.begin(), waits_.end());
    all = union_of(std::move(all));
    const auto to = [&](std::size_t kind) { return [&cells, kind](Ns start, Ns end) { cells.add(start, end, kind); }; };
    each_between({{window_.start_ns, window_.end_ns}}, all, to(0));
    each_between(launches, {}, to(1));
    each_between(all, launches, to(2));
    for (const HostCells::Part& part : cells.parts()) {
      step.host_end_ns.push_back(std::llround(part.end_ns));
      step.host.push_back(part.kind == HostCells::kNothing ? Binding::kHostCode : kHostKinds[part.kind]);
    }
  }

 private:
  void add(const ApiCall& call, std::uint32_t thread) {
    const std::pair<Ns, Ns> span{std::max(call.start_ns, window_.start_ns), std::min(call.end_ns(), window_.end_ns)};
    if (!kinds_.of(call).waits) launches_.push_back(span);
    else if (thread == window_.thread) waits_.push_back(span);
  }

  const Trace& trace_;
  const Window& window_;
  ApiKinds kinds_;
  Spans launches_, waits_;
};

}  // namespace

std::optional<MedianStep> median_step(const StagedTrace& staged, const std::string& stage) {
  MedianStep step;
  const Window* window = median_window(staged, stage, step.windows);
  if (window == nullptr) return std::nullopt;
  step.stage = stage;
  step.start_ns = window->start_ns;
  step.wall_ns = window->wall_ns();
  if (staged.trace.has_kernel_data || staged.trace.has_mem_data) {
    StepPass pass(staged.trace, *window);
    visit_gpu_work(staged.trace, pass);
    pass.finish(step);
  }
  HostLane(staged.trace, *window).draw(step);
  return step;
}

}  // namespace nl::analysis
