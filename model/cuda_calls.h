#pragma once

#include <string_view>

#include "model/codes.h"
#include "model/trace.h"

namespace nl {

// What a CUDA call does, by its name as a trace writes it: "cudaStreamSynchronize_v3020", "cuMemcpyHtoD_v2", with _ptsz or not.
struct CudaCall {
  bool waits = false;       // the thread returns only when the GPU has done something: synchronising calls, blocking copies
  bool launches = false;    // puts work on the GPU: all but synchronising calls and those that let a stream wait
  bool graph = false;       // launches a CUDA graph
  bool loads_code = false;  // may load GPU code: where modules are loaded lazily, also what asks for a kernel of them
  CallKind kind = CallKind::kOther;
  SyncKind sync = SyncKind::kUnknown;  // what a synchronising call waits for
};

inline CudaCall cuda_call(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const bool synchronises = has("Synchronize");
  const bool copies = name.starts_with("cudaMemcpy") || name.starts_with("cuMemcpy");
  CudaCall call;
  call.waits = synchronises || (copies && !has("Async"));
  // cudaStreamWaitEvent makes the stream wait, not the thread.
  call.launches = !synchronises && !has("StreamWaitEvent") && !has("StreamWaitValue");
  call.graph = has("GraphLaunch");
  for (const std::string_view part :
       {"ModuleLoad", "LibraryLoad", "ModuleGetFunction", "KernelGetFunction", "LibraryGetKernel", "FuncGetAttributes"})
    call.loads_code = call.loads_code || has(part);
  call.kind = call.graph                                ? CallKind::kGraphLaunch
              : synchronises                            ? CallKind::kWait
              : copies || has("Memset")                 ? CallKind::kCopy
              : has("Launch") && !has("LaunchHostFunc") ? CallKind::kKernelLaunch
                                                        : CallKind::kOther;
  if (has("DeviceSynchronize") || has("ThreadSynchronize") || has("CtxSynchronize")) call.sync = SyncKind::kContext;
  if (has("StreamSynchronize")) call.sync = SyncKind::kStream;
  if (has("EventSynchronize")) call.sync = SyncKind::kEvent;
  return call;
}

// The name that a Trace keeps, which is the one nsys prints: nsys cuts off "_v" and four characters, and nothing longer.
// cudaLaunchKernel_v7000 becomes cudaLaunchKernel, cudaGraphLaunch_v10000 stays. The clone of nsys stats needs it so.
inline std::string_view call_name_in_nsys(std::string_view name) {
  if (name.size() >= 6 && name.substr(name.size() - 6, 2) == "_v") name.remove_suffix(6);
  return name;
}

// The name that a Run shows: cudaGraphLaunch_v10000 is cudaGraphLaunch, cuMemcpyHtoD_v2 stays: a short version belongs to the name.
inline std::string_view without_api_version(std::string_view name) {
  const std::size_t suffix = name.rfind("_v");
  if (suffix == std::string_view::npos || name.size() - suffix <= 4) return name;
  return name.find_first_not_of("0123456789", suffix + 2) == std::string_view::npos ? name.substr(0, suffix) : name;
}

}  // namespace nl
