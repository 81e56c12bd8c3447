#include "analysis/staging/shared_warmup.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace nl::analysis {
namespace {

using Span = IterationPlan::Span;

// Processes that are connected by collectives.
class ProcessGroups {
 public:
  explicit ProcessGroups(const Trace& trace) : of_(trace.processes.size()) {
    for (std::uint32_t i = 0; i < of_.size(); ++i) of_[i] = i;
    std::vector<std::uint32_t> first;  // by number: a process that has the collective
    for (const CollectiveCall& call : trace.collectives) {
      const std::uint32_t process = trace.queues[static_cast<std::size_t>(trace.kernels[call.kernel].queue)].process;
      if (process >= of_.size()) continue;
      if (call.number >= first.size()) first.resize(call.number + 1, kNone);
      if (first[call.number] == kNone) first[call.number] = process;
      else of_[of(process)] = of(first[call.number]);
    }
  }
  std::uint32_t of(std::uint32_t process) {
    while (of_[process] != process) process = of_[process] = of_[of_[process]];
    return process;
  }

 private:
  std::vector<std::uint32_t> of_;  // another of the group; itself: it stands for the group
};

// The warm-up of a group.
struct GroupWarmup {
  Ns end_ns = std::numeric_limits<Ns>::min();
  std::ptrdiff_t most = 0;  // iterations of one thread
};

}  // namespace

std::size_t share_warmup(const Trace& trace, IterationPlan& plan) {
  if (trace.collectives.empty()) return 0;
  ProcessGroups groups(trace);
  std::vector<GroupWarmup> warmups(trace.processes.size());
  const auto each_thread = [&](auto visit) {
    for (auto first = plan.spans.begin(); first != plan.spans.end();) {
      const auto last = std::find_if(first, plan.spans.end(), [&](const Span& span) { return span.thread != first->thread; });
      const std::uint32_t process = first->thread < trace.threads.size() ? trace.threads[first->thread].process : kNone;
      if (process < trace.processes.size()) visit(first, last, warmups[groups.of(process)]);
      first = last;
    }
  };
  each_thread([](auto first, auto last, GroupWarmup& group) {
    const auto measured = std::find_if(first, last, [](const Span& span) { return !span.warmup; });
    group.most = std::max(group.most, measured - first);
    for (auto span = first; span != measured; ++span) group.end_ns = std::max(group.end_ns, span->end_ns);
  });
  std::size_t more = 0;
  each_thread([&](auto first, auto last, const GroupWarmup& group) {
    const auto end = first + std::min(group.most, (last - first) / 2);
    for (auto span = first; span != end && span->start_ns + span->wall_ns() / 2 < group.end_ns; ++span) {
      more += !span->warmup;
      span->warmup = true;
    }
  });
  return more;
}

}  // namespace nl::analysis
