#include "analysis/staging/shared_warmup.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/trace/joined_groups.h"

namespace nl::analysis {
namespace {

using Span = IterationPlan::Span;

// Processes that are connected by collectives.
JoinedGroups process_groups(const Trace& trace) {
  JoinedGroups groups(trace.processes.size());
  std::vector<std::uint32_t> first;  // by number: a process that has the collective
  for (const CollectiveCall& call : trace.collectives) {
    const std::uint32_t process = trace.queues[static_cast<std::size_t>(trace.kernels[call.kernel].queue)].process;
    if (process >= trace.processes.size()) continue;
    if (call.number >= first.size()) first.resize(call.number + 1, kNone);
    if (first[call.number] == kNone) first[call.number] = process;
    else groups.join(process, first[call.number]);
  }
  return groups;
}

// The warm-up of a group.
struct GroupWarmup {
  Ns end_ns = std::numeric_limits<Ns>::min();
  std::ptrdiff_t most = 0;  // iterations of one thread
};

}  // namespace

std::size_t share_warmup(const Trace& trace, IterationPlan& plan) {
  if (trace.collectives.empty()) return 0;
  JoinedGroups groups = process_groups(trace);
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
