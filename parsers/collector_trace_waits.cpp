#include "parsers/collector_trace_waits.h"

#include <set>

namespace nl::collector_trace {
namespace {

constexpr std::uint32_t kNoStream = 0xFFFFFFFF;

// "cudaStreamSynchronize_v3020", "cuCtxSynchronize_v2", with _ptsz in between or not.
SyncKind kind_of(const std::string& function) {
  auto begins = [&](const char* text) { return function.rfind(text, 0) == 0; };
  if (begins("cudaDeviceSynchronize") || begins("cudaThreadSynchronize") || begins("cuCtxSynchronize")) return SyncKind::kContext;
  if (begins("cudaStreamSynchronize") || begins("cuStreamSynchronize")) return SyncKind::kStream;
  if (begins("cudaEventSynchronize") || begins("cuEventSynchronize")) return SyncKind::kEvent;
  return SyncKind::kUnknown;
}

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

}  // namespace

void add_waits_of_calls(GpuData& gpu) {
  if (!gpu.waits_by_calls) return;
  std::vector<SyncKind> kinds;
  for (std::uint32_t name : gpu.functions) {
    auto found = gpu.names.find(name);
    kinds.push_back(found != gpu.names.end() ? kind_of(found->second) : SyncKind::kUnknown);
  }
  const Queue only = only_queue(gpu);
  for (const ApiCall& call : gpu.calls) {
    SyncKind kind = call.name.value < kinds.size() ? kinds[call.name.value] : SyncKind::kUnknown;
    if (kind == SyncKind::kUnknown) continue;
    SyncWait wait{call.start_ns, call.end_ns(), only, call.correlation, 0, kind};
    if (kind == SyncKind::kContext) wait.where.stream = kNoStream;
    gpu.syncs.push_back(wait);
  }
}

}  // namespace nl::collector_trace
