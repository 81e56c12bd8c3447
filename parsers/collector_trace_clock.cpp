#include "parsers/collector_trace_clock.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace nl::collector_trace {
namespace {

constexpr std::uint32_t kNoStream = 0xFFFFFFFF;

struct Wait {
  Ns start_ns, end_ns;
};

using Waits = std::map<Queue, std::vector<Wait>>;  // by start

Waits waits_of(const Trace& trace) {
  Waits waits;
  for (const SyncWait& sync : trace.syncs) {
    Queue where = sync.where;
    if (sync.kind == SyncKind::kContext) where.stream = kNoStream;
    else if (sync.kind != SyncKind::kStream) continue;
    waits[where].push_back({sync.start_ns, sync.end_ns});
  }
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

std::string in_words(const Slack& slack, const char* holds, const char* broken) {
  double us = static_cast<double>(*slack.least_ns) / 1000;
  if (slack.broken == 0) return fmt::format("{} (nearest: {:.1f} us)", holds, us);
  return fmt::format("{} {} (by up to {:.1f} us)", slack.broken, broken, -us);
}

}  // namespace

void note_clocks(Trace& trace) {
  Waits waits = waits_of(trace);
  Slack launch, wait;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.api == kNone) continue;
    const ApiCall& call = trace.api_calls[kernel.api];
    launch.add(kernel.start_ns - call.start_ns);
    Queue queue = trace.queues[kernel.queue];
    Queue context = queue;
    context.stream = kNoStream;
    for (const Queue& where : {queue, context})
      if (auto until_ns = waited_until(waits, where, call.end_ns())) wait.add(*until_ns - kernel.end_ns());
  }
  if (!launch.least_ns) return;
  std::string text = "clocks of CPU and GPU: " + in_words(launch, "no kernel starts before the call that launched it",
                                                          "kernels start before the call that launched them");
  if (wait.least_ns)
    text += "; " + in_words(wait, "none ends after a wait for it has returned", "end after a wait for them has returned");
  trace.stats.notes.push_back(std::move(text));
}

}  // namespace nl::collector_trace
