#pragma once

#include <cstddef>
#include <cstdint>

#include "collector/gpu/cupti_api.h"

// The part of CUPTI that reads the GPU's counters, in our own words as in cupti_api.h: the Range Profiler and PM
// sampling (CUDA 12.6 and later), PC sampling (11.3 and later). cupti_layout_test.cpp checks it, too.
namespace nl::collector::cupti {

inline constexpr Result kNotReady = 13, kHardwareBusy = 26, kNotSupported = 27, kVirtualised = 33, kNoPrivilege = 35, kOldProfiler = 36,
                        kVirtualisedNoPrivilege = 40, kConfidential = 41, kMig = 43, kWsl = 45;

enum ProfilerType : int { kRangeProfiler = 0, kPmSampling = 1 };
enum RangeMode : int { kAutoRange = 1, kUserRange = 2 };
enum ReplayMode : int { kKernelReplay = 2, kUserReplay = 3 };
enum TriggerMode : int { kEveryCycles = 0, kEveryNanoseconds = 1 };

// Every call has one struct of arguments, which begins with its size.
struct ParamsHead {
  std::size_t size;
  void* reserved;
};

struct ProfilerInitialize {
  ParamsHead head;
};
struct ChipName {
  ParamsHead head;
  std::size_t device;
  const char* name;
};
struct ContextAvailability {
  ParamsHead head;
  void* context;
  std::size_t bytes;
  std::uint8_t* image;
};

struct HostInitialize {
  ParamsHead head;
  ProfilerType type;
  const char* chip;
  const std::uint8_t* availability;
  void* host;
};
struct HostDeinitialize {
  ParamsHead head;
  void* host;
};
struct HostAddMetrics {
  ParamsHead head;
  void* host;
  const char** metrics;
  std::size_t count;
};
struct HostConfigSize {
  ParamsHead head;
  void* host;
  std::size_t bytes;
};
struct HostConfig {
  ParamsHead head;
  void* host;
  std::size_t bytes;
  std::uint8_t* config;
};
struct HostPasses {
  ParamsHead head;
  std::size_t bytes;
  std::uint8_t* config;
  std::size_t passes;
};
struct HostEvaluate {
  ParamsHead head;
  void* host;
  const std::uint8_t* image;
  std::size_t image_bytes;
  std::size_t range;
  const char** metrics;
  std::size_t count;
  double* values;
};

struct RangeEnable {
  ParamsHead head;
  void* context;
  void* profiler;
};
struct RangeCall {  // disable, start, pop
  ParamsHead head;
  void* profiler;
};
struct RangeStop {
  ParamsHead head;
  void* profiler;
  std::size_t pass, nesting_level;
  std::uint8_t all_passes;
};
struct RangePush {
  ParamsHead head;
  void* profiler;
  const char* name;
};
struct RangeDecode {
  ParamsHead head;
  void* profiler;
  std::size_t dropped;
};
struct RangeDataSize {
  ParamsHead head;
  void* profiler;
  const char** metrics;
  std::size_t count, ranges;
  std::uint32_t nodes;
  std::size_t bytes;
};
struct RangeDataInitialize {
  ParamsHead head;
  void* profiler;
  std::size_t bytes;
  std::uint8_t* image;
};
struct RangeSetConfig {
  ParamsHead head;
  void* profiler;
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t image_bytes;
  std::uint8_t* image;
  RangeMode range;
  ReplayMode replay;
  std::size_t ranges_per_pass;
  std::uint16_t nesting_levels, least_nesting_level;
  std::size_t pass;
  std::uint16_t nesting_level;
};
struct RangeCount {
  ParamsHead head;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t ranges;
};
struct RangeInfo {
  ParamsHead head;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t range;
  const char* delimiter;
  const char* name;
};

struct PmEnable {
  ParamsHead head;
  std::size_t device;
  void* sampler;
};
struct PmCall {  // disable, start, stop
  ParamsHead head;
  void* sampler;
};
struct PmAvailability {
  ParamsHead head;
  std::size_t device;
  std::size_t bytes;
  std::uint8_t* image;
};
struct PmSetConfig {
  ParamsHead head;
  void* sampler;
  std::size_t config_bytes;
  const std::uint8_t* config;
  std::size_t hardware_bytes;
  std::uint64_t interval;
  TriggerMode trigger;
  int keep_latest;  // of CUDA 12.9 and later
};
struct PmDataSize {
  ParamsHead head;
  void* sampler;
  const char** metrics;
  std::size_t count;
  std::uint32_t samples;
  std::size_t bytes;
};
struct PmDataInitialize {
  ParamsHead head;
  void* sampler;
  std::size_t bytes;
  std::uint8_t* image;
};
struct PmDecode {
  ParamsHead head;
  void* sampler;
  std::uint8_t* image;
  std::size_t bytes;
  int stop_reason;  // 1: the image is full
  std::uint8_t overflow;
};
struct PmCount {
  ParamsHead head;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t total, populated, completed;
};
struct PmSampleInfo {
  ParamsHead head;
  void* sampler;
  const std::uint8_t* image;
  std::size_t bytes;
  std::size_t sample;
  std::uint64_t start, end;
};

struct PcCall {  // enable, disable
  ParamsHead head;
  void* context;
};
struct PcReasonCount {
  ParamsHead head;
  void* context;
  std::size_t* count;
};
inline constexpr std::size_t kStallNameBytes = 128;
struct PcReasons {
  ParamsHead head;
  void* context;
  std::size_t count;
  std::uint32_t* indices;
  char** names;
};
enum PcAttribute : int { kPcPeriod = 1, kPcReasons = 2, kPcScratchBytes = 3, kPcHardwareBytes = 4, kPcMode = 5, kPcDataBuffer = 8 };
struct PcConfigurationInfo {
  PcAttribute attribute;
  Result status;
  union {
    std::uint64_t all[3];
    std::uint32_t number;
    std::size_t bytes;
    struct {
      std::size_t count;
      std::uint32_t* indices;
    } reasons;
    void* buffer;
  };
};
struct PcConfigure {
  ParamsHead head;
  void* context;
  std::size_t count;
  PcConfigurationInfo* attributes;
};
struct PcStall {
  std::uint32_t reason, samples;
};
struct PcData {  // of one instruction
  std::size_t size;
  std::uint64_t cubin_crc, offset;
  std::uint32_t function_index, padding;
  char* function;
  std::size_t stall_count;
  PcStall* stalls;
  std::uint32_t correlation;
};
struct PcSamples {
  std::size_t size, room;
  std::uint64_t samples, dropped;
  std::size_t count, remaining;
  std::uint64_t range;
  PcData* data;
  std::uint64_t other_samples;
  std::uint8_t hardware_full;
};
struct PcGetData {
  ParamsHead head;
  void* context;
  void* samples;
};

// The size that CUPTI expects: up to the end of the last field.
template <typename Params>
inline constexpr std::size_t kParamsBytes = sizeof(Params);
template <>
inline constexpr std::size_t kParamsBytes<RangeStop> = sizeof(ParamsHead) + 25;
template <>
inline constexpr std::size_t kParamsBytes<RangeSetConfig> = sizeof(ParamsHead) + 74;
template <>
inline constexpr std::size_t kParamsBytes<PmDecode> = sizeof(ParamsHead) + 29;

template <typename Params>
Params params() {
  Params made{};
  made.head.size = kParamsBytes<Params>;
  return made;
}

// The callbacks that tell of contexts, nodes of graphs and launches.
inline constexpr Domain kDomainResource = static_cast<Domain>(3);
inline constexpr std::uint32_t kContextCreated = 1, kContextDestroyStarting = 2, kGraphNodeCreated = 13, kGraphNodeCloned = 20;
struct ResourceData {
  void* context;
  void* stream;
  void* descriptor;  // of a node: GraphData
};
struct GraphData {
  void *graph, *original_graph;
  void *node, *original_node;
};
enum CallbackSite : int { kEnter = 0, kExit = 1 };
struct CallbackData {
  CallbackSite site;
  const char* function;
  const void* arguments;
  void* result;
  const char* symbol;  // the kernel's mangled name
  void* context;
  std::uint32_t context_id;
  std::uint64_t* correlation_data;
  std::uint32_t correlation;
};
struct LaunchArguments {  // cuLaunchKernel, cuLaunchCooperativeKernel
  void* function;
  std::uint32_t grid[3], block[3], shared;
  void* stream;
};
struct StreamWaitArguments {  // cudaStreamSynchronize, cuStreamSynchronize
  void* stream;
};
struct LaunchConfig {  // CUlaunchConfig
  std::uint32_t grid[3], block[3], shared;
  void* stream;
};
struct LaunchExArguments {  // cuLaunchKernelEx
  const LaunchConfig* config;
  void* function;
};
struct GraphLaunchArguments {  // cuGraphLaunch
  void* graph;
  void* stream;
};

// By the names under which libcupti exports them; all may be missing.
struct ProfilerApi {
  Result (*cuptiGetDeviceId)(void*, std::uint32_t*);
  Result (*cuptiProfilerInitialize)(ProfilerInitialize*);
  Result (*cuptiProfilerGetCounterAvailability)(ContextAvailability*);
  Result (*cuptiDeviceGetChipName)(ChipName*);
  Result (*cuptiProfilerHostInitialize)(HostInitialize*);
  Result (*cuptiProfilerHostDeinitialize)(HostDeinitialize*);
  Result (*cuptiProfilerHostConfigAddMetrics)(HostAddMetrics*);
  Result (*cuptiProfilerHostGetConfigImageSize)(HostConfigSize*);
  Result (*cuptiProfilerHostGetConfigImage)(HostConfig*);
  Result (*cuptiProfilerHostGetNumOfPasses)(HostPasses*);
  Result (*cuptiProfilerHostEvaluateToGpuValues)(HostEvaluate*);
  Result (*cuptiRangeProfilerEnable)(RangeEnable*);
  Result (*cuptiRangeProfilerDisable)(RangeCall*);
  Result (*cuptiRangeProfilerGetCounterDataSize)(RangeDataSize*);
  Result (*cuptiRangeProfilerCounterDataImageInitialize)(RangeDataInitialize*);
  Result (*cuptiRangeProfilerSetConfig)(RangeSetConfig*);
  Result (*cuptiRangeProfilerStart)(RangeCall*);
  Result (*cuptiRangeProfilerStop)(RangeStop*);
  Result (*cuptiRangeProfilerPushRange)(RangePush*);
  Result (*cuptiRangeProfilerPopRange)(RangeCall*);
  Result (*cuptiRangeProfilerDecodeData)(RangeDecode*);
  Result (*cuptiRangeProfilerGetCounterDataInfo)(RangeCount*);
  Result (*cuptiRangeProfilerCounterDataGetRangeInfo)(RangeInfo*);
  Result (*cuptiPmSamplingEnable)(PmEnable*);
  Result (*cuptiPmSamplingDisable)(PmCall*);
  Result (*cuptiPmSamplingGetCounterAvailability)(PmAvailability*);
  Result (*cuptiPmSamplingSetConfig)(PmSetConfig*);
  Result (*cuptiPmSamplingStart)(PmCall*);
  Result (*cuptiPmSamplingStop)(PmCall*);
  Result (*cuptiPmSamplingGetCounterDataSize)(PmDataSize*);
  Result (*cuptiPmSamplingCounterDataImageInitialize)(PmDataInitialize*);
  Result (*cuptiPmSamplingDecodeData)(PmDecode*);
  Result (*cuptiPmSamplingGetCounterDataInfo)(PmCount*);
  Result (*cuptiPmSamplingCounterDataGetSampleInfo)(PmSampleInfo*);
  Result (*cuptiPCSamplingEnable)(PcCall*);
  Result (*cuptiPCSamplingDisable)(PcCall*);
  Result (*cuptiPCSamplingSetConfigurationAttribute)(PcConfigure*);
  Result (*cuptiPCSamplingGetData)(PcGetData*);
  Result (*cuptiPCSamplingGetNumStallReasons)(PcReasonCount*);
  Result (*cuptiPCSamplingGetStallReasons)(PcReasons*);
};

}  // namespace nl::collector::cupti
