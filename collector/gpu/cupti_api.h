#pragma once

#include <cstddef>
#include <cstdint>

// The part of CUPTI's interface that the collector calls, in its own words: so it builds without CUPTI's
// headers and one build serves CUDA 11.8 to 13. NVIDIA only appends to a record; what is declared here lies
// at the same place in all of them, which tests/unit/collector/gpu/cupti_layout_test.cpp checks against the
// headers where they are found.
namespace nl::collector::cupti {

using Result = int;
inline constexpr Result kSuccess = 0;
inline constexpr Result kMaxLimitReached = 12;
inline constexpr Result kMultipleSubscribers = 39;

enum Kind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kConcurrentKernel = 10,
  kMemcpyPeer = 22,
  kSynchronization = 38,
  kGraphTrace = 51,
};

enum Domain : int { kDomainDriver = 1, kDomainRuntime = 2 };
enum Attribute : int { kZeroedBuffers = 5 };
enum ThreadIdType : int { kThreadIdSystem = 1 };
inline constexpr std::uint32_t kFlushForced = 1;

// Records are only 8-byte aligned and packed to that by CUPTI itself.
struct Activity {
  Kind kind;
};

struct KernelRecord {  // CUpti_ActivityKernel8 (11.8), 9 (12.0), 10 (13.0)
  Kind kind;
  std::uint8_t cache_config, shared_config;
  std::uint16_t registers_per_thread;
  std::int32_t global_cache_requested, global_cache_executed;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3];
  std::int32_t static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total, correlation;
  std::int64_t grid_id;
  const char* name;
  void* reserved;
  std::uint64_t queued, submitted;
  std::uint8_t launch_type, carveout_requested, carveout, padding;
  std::uint32_t shared_executed;
  std::uint64_t graph_node;
  std::int32_t shared_limit;
  std::uint32_t graph;
};

struct CopyRecord {  // CUpti_ActivityMemcpy5, 6
  Kind kind;
  std::uint8_t copy_kind, src_kind, dst_kind, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation, runtime_correlation, padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct PeerCopyRecord {  // CUpti_ActivityMemcpyPtoP4
  Kind kind;
  std::uint8_t copy_kind, src_kind, dst_kind, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, src_device, src_context, dst_device, dst_context, correlation;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct SetRecord {  // CUpti_ActivityMemset4
  Kind kind;
  std::uint32_t value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
  std::uint16_t flags, memory_kind;
  std::uint32_t padding;
  void* reserved;
  std::uint64_t graph_node;
  std::uint32_t graph;
};

struct CallRecord {  // CUpti_ActivityAPI
  Kind kind;
  std::uint32_t function;
  std::uint64_t start, end;
  std::uint32_t pid, tid, correlation, return_value;
};

struct SyncRecord {  // CUpti_ActivitySynchronization, 2
  Kind kind;
  std::uint32_t type;
  std::uint64_t start, end;
  std::uint32_t correlation, context, stream, event;
};

struct GraphRecord {  // CUpti_ActivityGraphTrace, 2
  Kind kind;
  std::uint32_t correlation;
  std::uint64_t start, end;
  std::uint32_t device, graph, context, stream;
};

struct DeviceRecord {  // CUpti_ActivityDevice4, 5
  Kind kind;
  std::uint32_t flags;
  std::uint64_t memory_bandwidth;  // kilobytes a second
  std::uint64_t memory_bytes;
  std::uint32_t constant_bytes, l2_bytes, warp_threads;
  std::uint32_t core_clock;  // kHz
  std::uint32_t copy_engines, sm_count, limits[14];
  std::uint32_t compute_major, compute_minor, id, ecc;
  std::uint8_t uuid[16];
  const char* name;
};

struct ContextRecord {  // CUpti_ActivityContext, 2, 3
  Kind kind;
  std::uint32_t context, device;
  std::uint16_t api_kind, null_stream;
};

struct SubscriberParams {
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_name_bytes;
};

using Subscriber = void*;
using Callback = void (*)(void* user, int domain, std::uint32_t function, const void* data);
using BufferRequested = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using BufferCompleted = void (*)(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes);
using Timestamp = std::uint64_t (*)();

// The functions, by the names under which libcupti exports them. Those after `optional` may be missing.
struct Api {
  Result (*cuptiGetVersion)(std::uint32_t*);
  Result (*cuptiSubscribe)(Subscriber*, Callback, void*);
  Result (*cuptiUnsubscribe)(Subscriber);
  Result (*cuptiActivityRegisterCallbacks)(BufferRequested, BufferCompleted);
  Result (*cuptiActivityEnable)(Kind);
  Result (*cuptiActivityDisable)(Kind);
  Result (*cuptiActivityFlushAll)(std::uint32_t);
  Result (*cuptiActivityGetNextRecord)(std::uint8_t*, std::size_t, Activity**);
  Result (*cuptiActivityGetNumDroppedRecords)(void*, std::uint32_t, std::size_t*);
  Result (*cuptiActivitySetAttribute)(Attribute, std::size_t*, void*);
  Result (*cuptiGetCallbackName)(Domain, std::uint32_t, const char**);
  Result (*cuptiGetTimestamp)(std::uint64_t*);
  Result (*cuptiSetThreadIdType)(ThreadIdType);
  // optional
  Result (*cuptiEnableCallback)(std::uint32_t, Subscriber, Domain, std::uint32_t);
  Result (*cuptiSubscribe_v2)(Subscriber*, Callback, void*, SubscriberParams*);
  Result (*cuptiActivityRegisterTimestampCallback)(Timestamp);
  Result (*cuptiActivityEnableRuntimeApi)(std::uint32_t, std::uint8_t);
  Result (*cuptiActivityEnableDriverApi)(std::uint32_t, std::uint8_t);
  Result (*cuptiActivityEnableAllSyncRecords)(std::uint8_t);
  Result (*cuptiGetResultString)(Result, const char**);
  Result (*cuptiGetStreamIdEx)(void* context, void* stream, std::uint8_t per_thread, std::uint32_t* id);
  Result (*cuptiGetGraphNodeId)(void* node, std::uint64_t* id);
};

}  // namespace nl::collector::cupti
