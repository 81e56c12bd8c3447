#include "analysis/account/gpu_pass.h"

#include <algorithm>
#include <future>
#include <utility>

#include "analysis/account/activity.h"
#include "analysis/staging/windows.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

// The time in which any stage range of a process is open, in disjoint spans.
void add_covered(const Trace& trace, const StageTable& table, const std::vector<Window>& windows, std::uint32_t target,
                 std::vector<BudgetSpan>& spans) {
  std::vector<BudgetSpan> covered;
  const auto add = [&](Ns start_ns, Ns end_ns, std::uint32_t process) {
    if (end_ns > start_ns) covered.push_back({start_ns, end_ns, end_ns, process, kNone, target, false});
  };
  for (const Window& window : windows) add(window.start_ns, window.end_ns, window.process);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (table.stage_of_range(i) == kNone || !never_closed(trace, range)) continue;
    add(range.start_ns, range.end_ns, process_slot_of_thread(trace, range.thread));
  }
  std::sort(covered.begin(), covered.end(),
            [](const BudgetSpan& a, const BudgetSpan& b) { return std::pair(a.process, a.start_ns) < std::pair(b.process, b.start_ns); });
  const std::size_t first = spans.size();
  for (const BudgetSpan& span : covered) {
    const bool joins = spans.size() > first && spans.back().process == span.process && spans.back().end_ns >= span.start_ns;
    if (joins) spans.back().end_ns = std::max(spans.back().end_ns, span.end_ns);
    else spans.push_back(span);
  }
}

std::vector<BudgetSpan> spans_to_tell(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                                      const PhasePartition& phases, const std::vector<bool>& slow) {
  std::vector<BudgetSpan> spans;
  const auto stages = static_cast<std::uint32_t>(table.stages().size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Window& window = windows[i];
    if (window.warmup) continue;
    spans.push_back({window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, window.stage, true});
    if (slow[i])
      spans.push_back(
          {window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, stages + phases.targets() + window.stage, false});
  }
  for (BudgetSpan span : phases.spans()) {
    span.target += stages;
    spans.push_back(span);
  }
  add_covered(trace, table, windows, 2 * stages + phases.targets(), spans);
  return spans;
}

// What the work of each GPU takes of the stages' time.
class StageAccounts {
 public:
  StageAccounts(const Trace& trace, const StageTable& table, const GpuLanes& lanes, const std::vector<Window>& windows,
                const PhasePartition& phases)
      : trace_(trace), lanes_(lanes), communication_(trace), arrivals_(trace, lanes, communication_),
        slow_(slow_windows(windows, table.stages().size())),
        first_slow_(static_cast<std::uint32_t>(table.stages().size()) + phases.targets()),
        budget_(trace, lanes, spans_to_tell(trace, table, windows, phases, slow_),
                first_slow_ + static_cast<std::uint32_t>(table.stages().size()) + 1, staged_threads(trace, table)),
        activity_(trace, windows, static_cast<std::uint32_t>(table.stages().size()), staged_threads(trace, table)) {}

  void operator()(const Kernel& kernel) {
    LaneWork work{kernel.start_ns, kernel.end_ns(), kernel.api, communication_.of(kernel), true};
    if (work.communication) work.arrival = arrivals_.next(kernel, lanes_.of_queue(kernel.queue), *work.communication);
    if (kernel.shape < trace_.shapes.size()) work.name = trace_.shapes[kernel.shape].name.value;
    add(kernel, work);
  }
  void operator()(const MemOp& op) {
    LaneWork work{op.start_ns, op.end_ns, op.api};
    if (op.label != 0) work.name = op.label;
    if (op.kind == MemOpKind::kPeerToPeer) {
      work.communication = Collective::kPeerCopy;
      work.bytes = op.bytes;
    }
    add(op, work);
  }
  void operator()(const GraphRun& run) {
    LaneWork work{run.start_ns, run.end_ns, run.api};
    work.graph = true;
    work.name = kWholeGraphName;
    add(run, work);
  }

  void finish(GpuPass& pass) {
    pass.budgets = budget_.finish();
    pass.activity = activity_.finish();
    pass.slow = std::move(slow_);
    pass.first_slow = first_slow_;
  }

 private:
  template <class Row>
  void add(const Row& row, const LaneWork& work) {
    const std::uint32_t lane = lanes_.of_queue(row.queue);
    budget_.add(lane, work);
    activity_.add(row, lanes_[lane].process);
  }

  const Trace& trace_;
  const GpuLanes& lanes_;
  CommunicationKernels communication_;
  PeerWaits arrivals_;
  std::vector<bool> slow_;
  std::uint32_t first_slow_;
  BudgetSweep budget_;
  ActivitySweep activity_;
};

}  // namespace

GpuPass pass_over_gpu_work(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen, const IterationPlan& plan,
                           const std::vector<Window>& windows, const PhasePartition& phases) {
  const GpuWorkOrder order(trace);
  GpuSweeper sweeper(trace, table, plan, windows, chosen);
  const GpuLanes lanes = sweeper.result().lanes;
  auto swept = std::async(std::launch::async, [&] { order.visit([&](const auto& row) { sweeper.add(row); }); });
  StageAccounts accounts(trace, table, lanes, windows, phases);
  order.visit(accounts);
  swept.get();
  GpuPass pass;
  pass.sweep = std::move(sweeper.result());
  accounts.finish(pass);
  return pass;
}

}  // namespace nl::analysis
