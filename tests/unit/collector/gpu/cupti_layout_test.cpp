// The collector's own declarations of CUPTI's records against NVIDIA's, for every CUDA from 11.8 to the one
// whose headers are here: CUDA 13's also declare the records of earlier versions.
#include <cupti.h>

#include <type_traits>

#include "collector/gpu/cupti_api.h"
#include "tests/catch.h"

namespace own = nl::collector::cupti;

#define SAME(Own, ours, Theirs, theirs)                                \
  static_assert(offsetof(own::Own, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(own::Own::ours) == sizeof(Theirs::theirs))

#define SAME_KERNEL(Theirs)                                                          \
  SAME(KernelRecord, kind, Theirs, kind);                                            \
  SAME(KernelRecord, registers_per_thread, Theirs, registersPerThread);              \
  SAME(KernelRecord, start, Theirs, start);                                          \
  SAME(KernelRecord, end, Theirs, end);                                              \
  SAME(KernelRecord, device, Theirs, deviceId);                                      \
  SAME(KernelRecord, context, Theirs, contextId);                                    \
  SAME(KernelRecord, stream, Theirs, streamId);                                      \
  static_assert(offsetof(own::KernelRecord, grid) == offsetof(Theirs, gridX));       \
  static_assert(offsetof(own::KernelRecord, grid) + 8 == offsetof(Theirs, gridZ));   \
  static_assert(offsetof(own::KernelRecord, block) == offsetof(Theirs, blockX));     \
  static_assert(offsetof(own::KernelRecord, block) + 8 == offsetof(Theirs, blockZ)); \
  SAME(KernelRecord, static_shared, Theirs, staticSharedMemory);                     \
  SAME(KernelRecord, dynamic_shared, Theirs, dynamicSharedMemory);                   \
  SAME(KernelRecord, correlation, Theirs, correlationId);                            \
  SAME(KernelRecord, name, Theirs, name);                                            \
  SAME(KernelRecord, graph_node, Theirs, graphNodeId);                               \
  SAME(KernelRecord, graph, Theirs, graphId)

#define SAME_COPY(Own, Theirs)                   \
  SAME(Own, copy_kind, Theirs, copyKind);        \
  SAME(Own, src_kind, Theirs, srcKind);          \
  SAME(Own, dst_kind, Theirs, dstKind);          \
  SAME(Own, bytes, Theirs, bytes);               \
  SAME(Own, start, Theirs, start);               \
  SAME(Own, end, Theirs, end);                   \
  SAME(Own, device, Theirs, deviceId);           \
  SAME(Own, context, Theirs, contextId);         \
  SAME(Own, stream, Theirs, streamId);           \
  SAME(Own, correlation, Theirs, correlationId); \
  SAME(Own, graph_node, Theirs, graphNodeId);    \
  SAME(Own, graph, Theirs, graphId)

#define SAME_SYNC(Theirs)                               \
  SAME(SyncRecord, type, Theirs, type);                 \
  SAME(SyncRecord, start, Theirs, start);               \
  SAME(SyncRecord, end, Theirs, end);                   \
  SAME(SyncRecord, correlation, Theirs, correlationId); \
  SAME(SyncRecord, context, Theirs, contextId);         \
  SAME(SyncRecord, stream, Theirs, streamId);           \
  SAME(SyncRecord, event, Theirs, cudaEventId)

#define SAME_DEVICE(Theirs)                                            \
  SAME(DeviceRecord, memory_bandwidth, Theirs, globalMemoryBandwidth); \
  SAME(DeviceRecord, memory_bytes, Theirs, globalMemorySize);          \
  SAME(DeviceRecord, l2_bytes, Theirs, l2CacheSize);                   \
  SAME(DeviceRecord, core_clock, Theirs, coreClockRate);               \
  SAME(DeviceRecord, sm_count, Theirs, numMultiprocessors);            \
  SAME(DeviceRecord, compute_major, Theirs, computeCapabilityMajor);   \
  SAME(DeviceRecord, compute_minor, Theirs, computeCapabilityMinor);   \
  SAME(DeviceRecord, id, Theirs, id);                                  \
  SAME(DeviceRecord, uuid, Theirs, uuid);                              \
  SAME(DeviceRecord, name, Theirs, name)

SAME_KERNEL(CUpti_ActivityKernel8);
SAME_COPY(CopyRecord, CUpti_ActivityMemcpy5);
SAME_COPY(PeerCopyRecord, CUpti_ActivityMemcpyPtoP4);
SAME_SYNC(CUpti_ActivitySynchronization);
SAME_DEVICE(CUpti_ActivityDevice4);

SAME(SetRecord, value, CUpti_ActivityMemset4, value);
SAME(SetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME(SetRecord, start, CUpti_ActivityMemset4, start);
SAME(SetRecord, end, CUpti_ActivityMemset4, end);
SAME(SetRecord, device, CUpti_ActivityMemset4, deviceId);
SAME(SetRecord, correlation, CUpti_ActivityMemset4, correlationId);
SAME(SetRecord, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(SetRecord, graph_node, CUpti_ActivityMemset4, graphNodeId);
SAME(SetRecord, graph, CUpti_ActivityMemset4, graphId);

SAME(CallRecord, function, CUpti_ActivityAPI, cbid);
SAME(CallRecord, start, CUpti_ActivityAPI, start);
SAME(CallRecord, end, CUpti_ActivityAPI, end);
SAME(CallRecord, tid, CUpti_ActivityAPI, threadId);
SAME(CallRecord, correlation, CUpti_ActivityAPI, correlationId);
SAME(CallRecord, return_value, CUpti_ActivityAPI, returnValue);

#define SAME_GRAPH(Theirs)                               \
  SAME(GraphRecord, correlation, Theirs, correlationId); \
  SAME(GraphRecord, start, Theirs, start);               \
  SAME(GraphRecord, end, Theirs, end);                   \
  SAME(GraphRecord, device, Theirs, deviceId);           \
  SAME(GraphRecord, graph, Theirs, graphId);             \
  SAME(GraphRecord, context, Theirs, contextId);         \
  SAME(GraphRecord, stream, Theirs, streamId)

SAME_GRAPH(CUpti_ActivityGraphTrace);

SAME(ContextRecord, context, CUpti_ActivityContext, contextId);
SAME(ContextRecord, device, CUpti_ActivityContext, deviceId);
SAME(ContextRecord, null_stream, CUpti_ActivityContext, nullStreamId);

#if CUPTI_API_VERSION >= 130000
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_KERNEL(CUpti_ActivityKernel10);
SAME_COPY(CopyRecord, CUpti_ActivityMemcpy6);
SAME_SYNC(CUpti_ActivitySynchronization2);
SAME_DEVICE(CUpti_ActivityDevice5);
SAME_GRAPH(CUpti_ActivityGraphTrace2);
static_assert(sizeof(own::SubscriberParams) == sizeof(CUpti_SubscriberParams));
static_assert(offsetof(own::SubscriberParams, old_name_bytes) == offsetof(CUpti_SubscriberParams, oldSubscriberSize));
#endif

TEST_CASE("CUPTI's numbers are those of its headers") {
  CHECK(own::kConcurrentKernel == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  CHECK(own::kKernel == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_KERNEL));
  CHECK(own::kMemcpy == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_MEMCPY));
  CHECK(own::kMemcpyPeer == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_MEMCPY2));
  CHECK(own::kMemset == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_MEMSET));
  CHECK(own::kDriver == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_DRIVER));
  CHECK(own::kRuntime == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_RUNTIME));
  CHECK(own::kDevice == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_DEVICE));
  CHECK(own::kContext == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_CONTEXT));
  CHECK(own::kGraphTrace == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  CHECK(own::kSynchronization == static_cast<unsigned>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
  CHECK(own::kZeroedBuffers == static_cast<int>(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER));
  CHECK(own::kThreadIdSystem == static_cast<int>(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  CHECK(own::kFlushForced == static_cast<unsigned>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  CHECK(own::kDomainRuntime == static_cast<int>(CUPTI_CB_DOMAIN_RUNTIME_API));
  CHECK(own::kDomainDriver == static_cast<int>(CUPTI_CB_DOMAIN_DRIVER_API));
  CHECK(own::kMaxLimitReached == static_cast<int>(CUPTI_ERROR_MAX_LIMIT_REACHED));
  CHECK(own::kMultipleSubscribers == static_cast<int>(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED));
}

#define SAME_FUNCTION(name, ...) static_assert(std::is_invocable_v<decltype(&name), __VA_ARGS__>)
SAME_FUNCTION(cuptiActivityGetNumDroppedRecords, CUcontext, std::uint32_t, std::size_t*);
SAME_FUNCTION(cuptiActivityGetNextRecord, std::uint8_t*, std::size_t, CUpti_Activity**);
SAME_FUNCTION(cuptiActivityFlushAll, std::uint32_t);
SAME_FUNCTION(cuptiGetCallbackName, CUpti_CallbackDomain, std::uint32_t, const char**);
SAME_FUNCTION(cuptiEnableCallback, std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
SAME_FUNCTION(cuptiActivitySetAttribute, CUpti_ActivityAttribute, std::size_t*, void*);
