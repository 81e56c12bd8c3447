#include "analysis/attribution/gpu_pass.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/budget/activity.h"
#include "analysis/attribution/gpu_order.h"

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
  std::sort(covered.begin(), covered.end(), [](const BudgetSpan& a, const BudgetSpan& b) {
    return std::pair(a.process, a.start_ns) < std::pair(b.process, b.start_ns);
  });
  const std::size_t first = spans.size();
  for (const BudgetSpan& span : covered) {
    const bool joins =
        spans.size() > first && spans.back().process == span.process && spans.back().end_ns >= span.start_ns;
    if (joins)
      spans.back().end_ns = std::max(spans.back().end_ns, span.end_ns);
    else
      spans.push_back(span);
  }
}

std::vector<BudgetSpan> spans_to_tell(const Trace& trace, const StageTable& table, const std::vector<Window>& windows,
                                      const PhasePartition& phases) {
  std::vector<BudgetSpan> spans;
  for (const Window& window : windows) {
    if (window.warmup) continue;
    spans.push_back({window.start_ns, window.end_ns, window.end_ns, window.process, window.thread, window.stage, true});
  }
  const auto stages = static_cast<std::uint32_t>(table.stages().size());
  for (BudgetSpan span : phases.spans()) {
    span.target += stages;
    spans.push_back(span);
  }
  add_covered(trace, table, windows, stages + phases.targets(), spans);
  return spans;
}

class Pass {
 public:
  Pass(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen, const IterationPlan& plan,
       const std::vector<Window>& windows, const PhasePartition& phases)
      : gpu_(trace, table, plan, windows, chosen),
        budget_(trace, spans_to_tell(trace, table, windows, phases),
                static_cast<std::uint32_t>(table.stages().size()) + phases.targets() + 1, gpu_.result().device_count),
        activity_(trace, windows, static_cast<std::uint32_t>(table.stages().size())) {
    for (const Queue& queue : trace.queues) process_of_queue_.push_back(process_slot(trace, queue.process));
    nowhere_ = process_slot(trace, kNone);
  }

  void operator()(const Kernel& kernel) {
    add(kernel, kernel.end_ns(), static_cast<std::uint32_t>(kernel.queue), true);
  }
  void operator()(const MemOp& op) { add(op, op.end_ns, op.queue, false); }
  void operator()(const GraphRun& run) { add(run, run.end_ns, run.queue, true); }

  GpuPass finish(std::size_t stages) {
    GpuPass pass;
    auto sums = budget_.finish();
    pass.busy_ns = budget_.busy_ns();
    const Budget& covered = sums.back().budget;
    pass.busy_in_ranges_ns = covered.gpu_compute_ns + covered.exposed_copy_ns;
    const auto phases = sums.begin() + static_cast<std::ptrdiff_t>(stages);
    pass.stages.assign(std::make_move_iterator(sums.begin()), std::make_move_iterator(phases));
    pass.phases.assign(std::make_move_iterator(phases), std::make_move_iterator(sums.end() - 1));
    pass.activity = activity_.finish();
    pass.sweep = std::move(gpu_.result());
    return pass;
  }

 private:
  template <class Work>
  void add(const Work& work, Ns end_ns, std::uint32_t queue, bool compute) {
    const bool known = queue < process_of_queue_.size();
    const std::uint32_t process = known ? process_of_queue_[queue] : nowhere_;
    gpu_.add(work);
    budget_.add(process, work.start_ns, end_ns, work.api, known ? gpu_.result().device_of_queue[queue] : 0, compute);
    activity_.add(work, process);
  }

  GpuSweeper gpu_;
  BudgetSweep budget_;
  ActivitySweep activity_;
  std::vector<std::uint32_t> process_of_queue_;
  std::uint32_t nowhere_ = 0;
};

}  // namespace

GpuPass pass_over_gpu_work(const Trace& trace, const StageTable& table, const std::vector<std::uint32_t>& chosen,
                           const IterationPlan& plan, const std::vector<Window>& windows,
                           const PhasePartition& phases) {
  Pass pass(trace, table, chosen, plan, windows, phases);
  visit_gpu_work(trace, pass);
  return pass.finish(table.stages().size());
}

}  // namespace nl::analysis
