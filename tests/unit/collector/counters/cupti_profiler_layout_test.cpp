// The collector's own declarations of the arguments of CUPTI's counters against NVIDIA's.
#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include "collector/gpu/cupti_profiler_api.h"
#include "tests/catch.h"

namespace own = nl::collector::cupti;

#define SIZED(Own, Theirs) static_assert(own::kParamsBytes<own::Own> == Theirs##_Params_STRUCT_SIZE)
#define AT(Own, ours, Theirs, theirs)                                  \
  static_assert(offsetof(own::Own, ours) == offsetof(Theirs, theirs)); \
  static_assert(sizeof(own::Own::ours) == sizeof(Theirs::theirs))

SIZED(ProfilerInitialize, CUpti_Profiler_Initialize);
SIZED(ChipName, CUpti_Device_GetChipName);
AT(ChipName, name, CUpti_Device_GetChipName_Params, pChipName);
SIZED(ContextAvailability, CUpti_Profiler_GetCounterAvailability);
AT(ContextAvailability, image, CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage);

SIZED(HostInitialize, CUpti_Profiler_Host_Initialize);
AT(HostInitialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
AT(HostInitialize, availability, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage);
AT(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SIZED(HostDeinitialize, CUpti_Profiler_Host_Deinitialize);
SIZED(HostAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics);
AT(HostAddMetrics, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SIZED(HostConfigSize, CUpti_Profiler_Host_GetConfigImageSize);
SIZED(HostConfig, CUpti_Profiler_Host_GetConfigImage);
AT(HostConfig, config, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SIZED(HostPasses, CUpti_Profiler_Host_GetNumOfPasses);
AT(HostPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SIZED(HostEvaluate, CUpti_Profiler_Host_EvaluateToGpuValues);
AT(HostEvaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
AT(HostEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);

SIZED(RangeEnable, CUpti_RangeProfiler_Enable);
AT(RangeEnable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SIZED(RangeCall, CUpti_RangeProfiler_Disable);
SIZED(RangeCall, CUpti_RangeProfiler_Start);
SIZED(RangeCall, CUpti_RangeProfiler_PopRange);
SIZED(RangeStop, CUpti_RangeProfiler_Stop);
AT(RangeStop, all_passes, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SIZED(RangePush, CUpti_RangeProfiler_PushRange);
SIZED(RangeDecode, CUpti_RangeProfiler_DecodeData);
SIZED(RangeDataSize, CUpti_RangeProfiler_GetCounterDataSize);
AT(RangeDataSize, ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
AT(RangeDataSize, nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
AT(RangeDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SIZED(RangeDataInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize);
AT(RangeDataInitialize, image, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SIZED(RangeSetConfig, CUpti_RangeProfiler_SetConfig);
AT(RangeSetConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
AT(RangeSetConfig, image, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
AT(RangeSetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
AT(RangeSetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
AT(RangeSetConfig, ranges_per_pass, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
AT(RangeSetConfig, least_nesting_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
AT(RangeSetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
AT(RangeSetConfig, nesting_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SIZED(RangeCount, CUpti_RangeProfiler_GetCounterDataInfo);
SIZED(RangeInfo, CUpti_RangeProfiler_CounterData_GetRangeInfo);
AT(RangeInfo, name, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params, rangeName);

SIZED(PmEnable, CUpti_PmSampling_Enable);
SIZED(PmCall, CUpti_PmSampling_Disable);
SIZED(PmCall, CUpti_PmSampling_Start);
SIZED(PmCall, CUpti_PmSampling_Stop);
SIZED(PmAvailability, CUpti_PmSampling_GetCounterAvailability);
SIZED(PmSetConfig, CUpti_PmSampling_SetConfig);
AT(PmSetConfig, hardware_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
AT(PmSetConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
AT(PmSetConfig, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SIZED(PmDataSize, CUpti_PmSampling_GetCounterDataSize);
AT(PmDataSize, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SIZED(PmDataInitialize, CUpti_PmSampling_CounterDataImage_Initialize);
SIZED(PmDecode, CUpti_PmSampling_DecodeData);
AT(PmDecode, stop_reason, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
AT(PmDecode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SIZED(PmCount, CUpti_PmSampling_GetCounterDataInfo);
AT(PmCount, completed, CUpti_PmSampling_GetCounterDataInfo_Params, numCompletedSamples);
SIZED(PmSampleInfo, CUpti_PmSampling_CounterData_GetSampleInfo);
AT(PmSampleInfo, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);

static_assert(own::kParamsBytes<own::PcCall> == CUpti_PCSamplingEnableParamsSize);
static_assert(own::kParamsBytes<own::PcCall> == CUpti_PCSamplingDisableParamsSize);
static_assert(own::kParamsBytes<own::PcReasonCount> == CUpti_PCSamplingGetNumStallReasonsParamsSize);
static_assert(own::kParamsBytes<own::PcReasons> == CUpti_PCSamplingGetStallReasonsParamsSize);
static_assert(own::kParamsBytes<own::PcConfigure> == CUpti_PCSamplingConfigurationInfoParamsSize);
static_assert(own::kParamsBytes<own::PcGetData> == CUpti_PCSamplingGetDataParamsSize);
static_assert(own::kStallNameBytes == CUPTI_STALL_REASON_STRING_SIZE);
static_assert(sizeof(own::PcConfigurationInfo) == sizeof(CUpti_PCSamplingConfigurationInfo));
AT(PcConfigurationInfo, all, CUpti_PCSamplingConfigurationInfo, attributeData);
static_assert(sizeof(own::PcData) == sizeof(CUpti_PCSamplingPCData));
AT(PcData, function, CUpti_PCSamplingPCData, functionName);
AT(PcData, stalls, CUpti_PCSamplingPCData, stallReason);
static_assert(sizeof(own::PcSamples) == sizeof(CUpti_PCSamplingData));
AT(PcSamples, remaining, CUpti_PCSamplingData, remainingNumPcs);
AT(PcSamples, hardware_full, CUpti_PCSamplingData, hardwareBufferFull);

AT(CallbackData, site, CUpti_CallbackData, callbackSite);
AT(CallbackData, arguments, CUpti_CallbackData, functionParams);
AT(CallbackData, symbol, CUpti_CallbackData, symbolName);
AT(CallbackData, context, CUpti_CallbackData, context);
AT(CallbackData, context_id, CUpti_CallbackData, contextUid);
AT(CallbackData, function, CUpti_CallbackData, functionName);
AT(CallbackData, correlation, CUpti_CallbackData, correlationId);
AT(ResourceData, context, CUpti_ResourceData, context);
AT(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
AT(GraphData, node, CUpti_GraphData, node);
AT(GraphData, original_node, CUpti_GraphData, originalNode);
static_assert(offsetof(own::LaunchArguments, grid) == offsetof(cuLaunchKernel_params, gridDimX));
static_assert(offsetof(own::LaunchArguments, block) == offsetof(cuLaunchKernel_params, blockDimX));
AT(LaunchArguments, stream, cuLaunchKernel_params, hStream);
static_assert(offsetof(own::LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX));
static_assert(offsetof(own::LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX));
AT(LaunchConfig, stream, CUlaunchConfig, hStream);
AT(StreamWaitArguments, stream, cuStreamSynchronize_params, hStream);
AT(LaunchExArguments, config, cuLaunchKernelEx_params, config);
AT(LaunchExArguments, function, cuLaunchKernelEx_params, f);
AT(GraphLaunchArguments, graph, cuGraphLaunch_params, hGraph);
AT(GraphLaunchArguments, stream, cuGraphLaunch_params, hStream);

TEST_CASE("numbers of CUPTI's counters are NVIDIA's") {
  CHECK(int{own::kRangeProfiler} == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
  CHECK(int{own::kPmSampling} == CUPTI_PROFILER_TYPE_PM_SAMPLING);
  CHECK(int{own::kAutoRange} == CUPTI_AutoRange);
  CHECK(int{own::kUserRange} == CUPTI_UserRange);
  CHECK(int{own::kKernelReplay} == CUPTI_KernelReplay);
  CHECK(int{own::kUserReplay} == CUPTI_UserReplay);
  CHECK(int{own::kEveryCycles} == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
  CHECK(int{own::kEveryNanoseconds} == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
  CHECK(int{own::kPcPeriod} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD);
  CHECK(int{own::kPcReasons} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON);
  CHECK(int{own::kPcScratchBytes} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE);
  CHECK(int{own::kPcHardwareBytes} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE);
  CHECK(int{own::kPcMode} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE);
  CHECK(int{own::kPcDataBuffer} == CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER);
  CHECK(int{own::kDomainResource} == CUPTI_CB_DOMAIN_RESOURCE);
  CHECK(own::kContextCreated == CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  CHECK(own::kContextDestroyStarting == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
  CHECK(own::kGraphNodeCreated == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  CHECK(own::kGraphNodeCloned == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  CHECK(int{own::kEnter} == CUPTI_API_ENTER);
  CHECK(int{own::kExit} == CUPTI_API_EXIT);
  CHECK(own::kNoPrivilege == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  CHECK(own::kHardwareBusy == CUPTI_ERROR_HARDWARE_BUSY);
  CHECK(own::kVirtualisedNoPrivilege == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  CHECK(own::kConfidential == CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  CHECK(own::kMig == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  CHECK(own::kWsl == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
  CHECK(own::kOldProfiler == CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED);
  CHECK(own::kVirtualised == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
}
