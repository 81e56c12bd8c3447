#include "parsers/collector/merge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "collector/trace_format.h"
#include "model/cuda_calls.h"

namespace nl::parsers::collector_trace {
namespace {

using trace_format::kNoStream;

// The only place of its kind, or nothing.
Queue only_queue(const GpuData& gpu) {
  std::set<std::pair<std::int32_t, std::uint32_t>> contexts;
  std::set<std::uint32_t> streams;
  for (const GpuQueue& queue : gpu.queues) {
    contexts.insert({queue.device, queue.context});
    streams.insert(queue.stream);
  }
  if (contexts.size() != 1) return {kNone, 0, 0, kNoStream};
  return {kNone, contexts.begin()->first, contexts.begin()->second, streams.size() == 1 ? *streams.begin() : kNoStream};
}

// Where threads waited for a stream, by when.
class StreamsWaited {
 public:
  explicit StreamsWaited(const GpuData& gpu) : gpu_(gpu), waited_(gpu.streams_waited) {
    std::stable_sort(waited_.begin(), waited_.end(), earlier);
  }
  // The queue that a call of this thread waited for, which returned then; `otherwise` where none was recorded.
  Queue of(std::uint32_t tid, Ns end_ns, const Queue& otherwise) const {
    auto next = std::upper_bound(waited_.begin(), waited_.end(), StreamWaited{tid, end_ns, 0, 0}, earlier);
    if (next == waited_.begin() || std::prev(next)->tid != tid) return otherwise;
    const StreamWaited& last = *std::prev(next);
    if (last.stream == kNoStream) return {kNone, 0, 0, kNoStream};
    return {kNone, device_of(last.context), last.context, last.stream};
  }

 private:
  static bool earlier(const StreamWaited& a, const StreamWaited& b) { return std::tie(a.tid, a.time_ns) < std::tie(b.tid, b.time_ns); }
  std::int32_t device_of(std::uint32_t context) const {
    for (const GpuQueue& queue : gpu_.queues)
      if (queue.context == context) return queue.device;
    auto known = gpu_.context_devices.find(context);
    return known != gpu_.context_devices.end() ? static_cast<std::int32_t>(known->second) : 0;
  }

  const GpuData& gpu_;
  std::vector<StreamWaited> waited_;
};

constexpr std::uint8_t kPageable = 1;  // as CUPTI numbers kinds of memory

struct Wait {
  Ns start_ns, end_ns;
};

using Waits = std::map<Queue, std::vector<Wait>>;  // by start

Waits waits_of(const Trace& trace) {
  Waits waits;
  for (const SyncWait& sync : trace.syncs) {
    Queue where = sync.where;
    if (sync.kind == SyncKind::kContext) where.stream = kNoStream;
    else if (sync.kind != SyncKind::kStream || where.stream == kNoStream) continue;
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

void add_waits_of_calls(GpuData& gpu) {
  if (!gpu.waits_by_calls) return;
  std::vector<SyncKind> kinds;
  for (std::uint32_t name : gpu.functions) {
    auto found = gpu.names.find(name);
    kinds.push_back(found != gpu.names.end() ? cuda_call(found->second).sync : SyncKind::kUnknown);
  }
  const Queue only = only_queue(gpu);
  const StreamsWaited streams(gpu);
  for (std::size_t i = 0; i < gpu.calls.size(); ++i) {
    const ApiCall& call = gpu.calls[i];
    SyncKind kind = call.name.value < kinds.size() ? kinds[call.name.value] : SyncKind::kUnknown;
    if (kind == SyncKind::kUnknown || std::binary_search(gpu.failed_calls.begin(), gpu.failed_calls.end(), i)) continue;
    SyncWait wait{call.start_ns, call.end_ns(), only, call.correlation, 0, kind};
    if (kind == SyncKind::kContext) wait.where.stream = kNoStream;
    if (kind == SyncKind::kStream && call.thread < gpu.threads.size())
      wait.where = streams.of(gpu.threads[call.thread].tid, call.end_ns(), only);
    gpu.syncs.push_back(wait);
  }
}

void note_clocks(Trace& trace) {
  Waits waits = waits_of(trace);
  Slack launch, wait;
  auto add_waits = [&](Ns end_ns, const ApiCall& call, const Queue& queue) {
    Queue context = queue;
    context.stream = kNoStream;
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

}  // namespace nl::parsers::collector_trace
