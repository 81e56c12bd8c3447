#include "analysis/figures/kernels/innermost_stage.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace nl::analysis {

bool has_nested_stages(const StagedTrace& staged) {
  const Trace& trace = staged.trace;
  std::vector<std::uint32_t> stages;
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i)
    if (staged.table.stage_of_range(i) != kNone) stages.push_back(i);
  const auto place = [&](std::uint32_t i) {
    const Range& range = trace.ranges[i];
    return std::tuple(range.thread, range.start_ns, -range.end_ns);
  };
  std::sort(stages.begin(), stages.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });
  const Range* outer = nullptr;  // the one with the latest end so far, of a thread
  std::uint32_t outer_stage = kNone;
  for (const std::uint32_t i : stages) {
    const Range& range = trace.ranges[i];
    const std::uint32_t stage = staged.table.top_level(staged.table.stage_of_range(i));
    const bool inside = outer != nullptr && outer->thread == range.thread && range.end_ns <= outer->end_ns;
    if (inside && stage != outer_stage) return true;
    if (inside) continue;
    outer = &range;
    outer_stage = stage;
  }
  return false;
}

InnermostStage::InnermostStage(const StagedTrace& staged)
    : staged_(staged), index_(staged.trace), surroundings_(staged.trace, staged.table, staged.plan, staged.windows, {}),
      threads_(staged.trace.threads.size()) {}

std::uint32_t InnermostStage::of(std::uint32_t api) {
  if (api >= staged_.trace.api_calls.size()) return kNone;
  const ApiCall& call = staged_.trace.api_calls[api];
  std::uint32_t stage = kNone;
  if (call.thread < threads_.size()) {
    ThreadState& thread = threads_[call.thread];
    const bool same = thread.known && call.start_ns >= thread.start_ns && call.start_ns < thread.next_start_ns &&
                      call.end_ns() >= thread.end_ns && call.end_ns() <= thread.first_end_ns;
    stage = same ? thread.stage : look_up(call, thread);
  }
  if (stage != kNone) return stage;
  const Surroundings& around = surroundings_.of(api);
  return around.stages.empty() ? around.top_stage : staged_.table.top_level(around.stages.back());
}

std::uint32_t InnermostStage::look_up(const ApiCall& call, ThreadState& thread) {
  index_.enclosing(call, around_);
  thread = {kNone,
            call.start_ns,
            call.end_ns(),
            index_.next_start_ns(static_cast<std::uint32_t>(call.thread), call.start_ns),
            std::numeric_limits<Ns>::max(),
            true};
  for (const std::uint32_t range : around_) {
    thread.first_end_ns = std::min(thread.first_end_ns, index_.end_ns(range));
    if (const std::uint32_t stage = staged_.table.stage_of_range(range); stage != kNone) thread.stage = staged_.table.top_level(stage);
  }
  return thread.stage;
}

}  // namespace nl::analysis
