#include "collector/gpu/calls.h"

#include <cstring>
#include <initializer_list>

namespace nl::collector {
namespace {

using trace_format::CallChoice;

template <std::size_t count>
bool has_any(const char* name, const char* const (&parts)[count]) {
  for (const char* part : parts)
    if (std::strstr(name, part) != nullptr) return true;
  return false;
}

}  // namespace

bool CallChooser::starts_or_waits(const char* function) {
  constexpr const char* kWork[] = {"Launch", "Memcpy",      "Memset", "Synchronize", "StreamWait", "Malloc",     "Alloc",
                                   "Free",   "Instantiate", "Upload", "DeviceReset", "Prefetch",   "ModuleLoad", "LibraryLoad"};
  // cudaGraphAddMemcpyNode, cuMemGetAllocationGranularity, cuMemAllocSetAttribute: of work, but none themselves.
  constexpr const char* kNot[] = {"Node", "Get", "Attribute", "Set", "Occupancy"};
  return has_any(function, kWork) && !has_any(function, kNot);
}

bool CallChooser::is_noise(const char* function) {
  constexpr const char* kNoise[] = {"cudaGetDevice",
                                    "cudaPeekAtLastError",
                                    "cudaGetLastError",
                                    "CallConfiguration",
                                    "__cudaRegister",
                                    "__cudaUnregister",
                                    "GetProcAddress",
                                    "GetExportTable",
                                    "cuCtxGetCurrent",
                                    "cuCtxGetDevice",
                                    "cuDeviceGet",
                                    "StreamIsCapturing",
                                    "StreamGetCaptureInfo",
                                    "GetAttribute",
                                    "cuGetErrorString",
                                    "cuGetErrorName",
                                    "cudaGetDriverEntryPoint",
                                    "cuCtxPushCurrent",
                                    "cuCtxPopCurrent",
                                    "cuCtxSetCurrent",
                                    "cuDevicePrimaryCtxGetState",
                                    "OccupancyMax",
                                    "cuCtxGetApiVersion",
                                    "cuKernelGetFunction"};
  return has_any(function, kNoise);
}

void CallChooser::list(const cupti::Api& api, cupti::Domain domain) {
  visit_functions(api, domain, [&](std::uint32_t function, const char* name) {
    exists_[domain][function] = true;
    wanted_[domain][function] = choice_ == CallChoice::kAll ? !is_noise(name) : choice_ == CallChoice::kWork && starts_or_waits(name);
  });
}

void CallChooser::choose(const cupti::Api& api, CallChoice choice) {
  choice_ = choice;
  list(api, cupti::kDomainDriver);
  list(api, cupti::kDomainRuntime);
}

bool CallChooser::enable_one_by_one(const cupti::Api& api) const {
  if (api.cuptiActivityEnableRuntimeApi == nullptr || api.cuptiActivityEnableDriverApi == nullptr) return false;
  bool all = choice_ == CallChoice::kAll;
  // Of most functions all but a few, of few functions each: fewer calls either way.
  if (all && (api.cuptiActivityEnable(cupti::kRuntime) != 0 || api.cuptiActivityEnable(cupti::kDriver) != 0)) return false;
  for (auto domain : {cupti::kDomainDriver, cupti::kDomainRuntime}) {
    auto enable = domain == cupti::kDomainDriver ? api.cuptiActivityEnableDriverApi : api.cuptiActivityEnableRuntimeApi;
    for (std::uint32_t function = 1; function < kMaxFunctions; ++function)
      if (exists_[domain][function] && wanted_[domain][function] != all && enable(function, all ? 0 : 1) != cupti::kSuccess) return false;
  }
  return true;
}

void CallChooser::disable(const cupti::Api& api) const {
  for (auto domain : {cupti::kDomainDriver, cupti::kDomainRuntime}) {
    auto enable = domain == cupti::kDomainDriver ? api.cuptiActivityEnableDriverApi : api.cuptiActivityEnableRuntimeApi;
    for (std::uint32_t function = 1; enable != nullptr && function < kMaxFunctions; ++function)
      if (wanted_[domain][function]) enable(function, 0);
  }
  api.cuptiActivityDisable(cupti::kRuntime);
  api.cuptiActivityDisable(cupti::kDriver);
}

void CallChooser::enable(const cupti::Api& api) {
  if (choice_ == CallChoice::kNone || enable_one_by_one(api)) return;
  sorts_ = true;
  api.cuptiActivityEnable(cupti::kRuntime);
  api.cuptiActivityEnable(cupti::kDriver);
}

}  // namespace nl::collector
