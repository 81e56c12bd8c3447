#include "parsers/clock_bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace nl::parsers {
namespace {

constexpr std::uint8_t kPageable = 1;  // as CUPTI numbers kinds of memory

struct Wait {
  Ns start_ns, end_ns;
};

using Waits = std::map<Queue, std::vector<Wait>>;  // by start

Waits waits_of(const std::vector<SyncWait>& syncs) {
  Waits waits;
  for (const SyncWait& sync : syncs) {
    Queue where = sync.where;
    if (sync.kind == SyncKind::kContext) where.stream = kNone;
    else if (sync.kind != SyncKind::kStream || where.stream == kNone) continue;
    waits[where].push_back({sync.start_ns, sync.end_ns});
  }
  for (auto& [where, list] : waits)
    std::stable_sort(list.begin(), list.end(), [](const Wait& a, const Wait& b) { return a.start_ns < b.start_ns; });
  return waits;
}

// When the first wait for this queue that began after `launched_ns` had ended.
std::optional<Ns> waited_until(const Waits& waits, const Queue& queue, Ns launched_ns) {
  auto found = waits.find(queue);
  if (found == waits.end()) return std::nullopt;
  auto later = std::upper_bound(found->second.begin(), found->second.end(), launched_ns,
                                [](Ns time_ns, const Wait& wait) { return time_ns < wait.start_ns; });
  if (later == found->second.end()) return std::nullopt;
  return later->end_ns;
}

struct Slack {
  std::optional<Ns> least_ns;
  std::uint64_t broken = 0;
  void add(Ns slack_ns) {
    least_ns = std::min(least_ns.value_or(slack_ns), slack_ns);
    if (slack_ns < 0) ++broken;
  }
};

double us(Ns ns) { return static_cast<double>(ns) / 1000; }

// "at most 11.9 us apart, because no kernel starts before the call that launched it (nearest: 1.2 us) and …"
std::string in_words(const ClockBounds& clock, const Slack& launch, const Slack& wait) {
  std::string text;
  if (auto error_ns = clock.error_ns())
    text += fmt::format("at {} {:.1f} us apart, because ", clock.consistent() ? "most" : "least", us(*error_ns));
  if (launch.broken == 0)
    text += fmt::format("no kernel starts before the call that launched it (nearest: {:.1f} us)", us(*launch.least_ns));
  else
    text += fmt::format("{} kernels start before the call that launched them (by up to {:.1f} us)", launch.broken, -us(*launch.least_ns));
  if (!wait.least_ns) return text + "; no wait tells how early the GPU's times may be";
  if (wait.broken == 0)
    return text +
           fmt::format(" and neither kernel nor copy ends after a wait for it has returned (nearest: {:.1f} us)", us(*wait.least_ns));
  return text + fmt::format(" and {} kernels and copies end after a wait for them has returned (by up to {:.1f} us)", wait.broken,
                            -us(*wait.least_ns));
}

}  // namespace

void note_clocks(const std::vector<SyncWait>& syncs, Trace& trace) {
  const Waits waits = waits_of(syncs);
  Slack launch, wait;
  auto add_waits = [&](Ns end_ns, const ApiCall& call, const Queue& queue) {
    Queue context = queue;
    context.stream = kNone;
    for (const Queue& where : {queue, context})
      if (auto until_ns = waited_until(waits, where, call.end_ns())) wait.add(*until_ns - end_ns);
  };
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.api == kNone) continue;
    const ApiCall& call = trace.api_calls[kernel.api];
    launch.add(kernel.start_ns - call.start_ns);
    add_waits(kernel.end_ns(), call, trace.queues[kernel.queue]);
  }
  for (const GraphRun& run : trace.graph_runs) {
    if (run.api == kNone) continue;
    const ApiCall& call = trace.api_calls[run.api];
    launch.add(run.start_ns - call.start_ns);
    add_waits(run.end_ns, call, trace.queues[run.queue]);
  }
  for (const MemOp& op : trace.mem_ops) {
    if (op.api == kNone) continue;
    const ApiCall& call = trace.api_calls[op.api];
    add_waits(op.end_ns, call, trace.queues[op.queue]);
    // Such a call returns only when all has arrived, whatever its name says.
    if (op.kind == MemOpKind::kDeviceToHost && op.dst_kind == kPageable && !op.in_graph) wait.add(call.end_ns() - op.end_ns);
  }
  if (!launch.least_ns) return;
  trace.clock = ClockBounds{*launch.least_ns, wait.least_ns, launch.broken + wait.broken};
  trace.stats.notes.push_back({Code::kClockFit, {in_words(*trace.clock, launch, wait)}});
}

}  // namespace nl::parsers
