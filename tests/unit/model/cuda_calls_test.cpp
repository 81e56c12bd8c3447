#include "model/cuda_calls.h"

#include <string>

#include "tests/catch.h"

using namespace nl;

TEST_CASE("what a CUDA call waits for is told by its name") {
  CHECK(cuda_call("cudaDeviceSynchronize_v3020").sync == SyncKind::kContext);
  CHECK(cuda_call("cuCtxSynchronize_v2").sync == SyncKind::kContext);
  CHECK(cuda_call("cudaThreadSynchronize").sync == SyncKind::kContext);
  CHECK(cuda_call("cudaStreamSynchronize_ptsz_v7000").sync == SyncKind::kStream);
  CHECK(cuda_call("cuEventSynchronize").sync == SyncKind::kEvent);
  CHECK(cuda_call("cudaStreamWaitEvent").sync == SyncKind::kUnknown);
  CHECK(cuda_call("cudaMemcpy").sync == SyncKind::kUnknown);
}

TEST_CASE("synchronising calls and blocking copies wait, calls that let a stream wait do not") {
  for (const char* name : {"cudaDeviceSynchronize", "cuStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy_v3020", "cuMemcpyDtoH_v2"})
    CHECK(cuda_call(name).waits);
  for (const char* name : {"cudaStreamWaitEvent_v3020", "cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2", "cudaLaunchKernel", ""})
    CHECK_FALSE(cuda_call(name).waits);
}

TEST_CASE("all calls but those that only wait put work on the GPU") {
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpy", "cudaMemcpyAsync", "cudaGraphLaunch_v10000", "cudaMalloc", ""})
    CHECK(cuda_call(name).launches);
  for (const char* name : {"cudaDeviceSynchronize_v3020", "cudaStreamWaitEvent", "cuStreamWaitValue32_v2"})
    CHECK_FALSE(cuda_call(name).launches);
  CHECK(cuda_call("cudaGraphLaunch_v10000").graph);
  CHECK_FALSE(cuda_call("cudaLaunchKernel").graph);
}

TEST_CASE("the version that a trace appends to a call is not part of its name") {
  CHECK(without_api_version("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(without_api_version("cuMemcpyHtoD_v2") == "cuMemcpyHtoD_v2");
  CHECK(without_api_version("cudaStreamSynchronize_valve") == "cudaStreamSynchronize_valve");
  CHECK(without_api_version("") == "");
}

TEST_CASE("the version at the end of an API name goes only in the form that nsys takes away") {
  CHECK(call_name_in_nsys("cudaLaunchKernel_v7000") == "cudaLaunchKernel");
  CHECK(call_name_in_nsys("cudaGraphLaunch_v10000") == "cudaGraphLaunch_v10000");
  CHECK(call_name_in_nsys("cuMemcpyHtoD_v2") == "cuMemcpyHtoD_v2");
  CHECK(call_name_in_nsys("_v7000") == "");
  CHECK(call_name_in_nsys("_v70") == "_v70");
}

TEST_CASE("a call has one name in a run, whether nsys cut its version off or not") {
  for (const std::string function : {"cudaLaunchKernel", "cudaGraphLaunch", "cudaStreamSynchronize_ptsz"})
    for (const char* version : {"", "_v3020", "_v7000", "_v10000", "_v12050"}) {
      CAPTURE(function, version);
      CHECK(without_api_version(call_name_in_nsys(function + version)) == function);
      CHECK(without_api_version(function + version) == function);
    }
}

TEST_CASE("what a CUDA call does to the GPU") {
  using nl::CallKind;
  const auto kind = [](const char* name) { return cuda_call(name).kind; };
  for (const char* name : {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "cudaLaunchCooperativeKernel"})
    CHECK(kind(name) == CallKind::kKernelLaunch);
  for (const char* name : {"cudaGraphLaunch_v10000", "cuGraphLaunch_ptsz"}) CHECK(kind(name) == CallKind::kGraphLaunch);
  for (const char* name : {"cudaMemcpyAsync_v3020", "cudaMemcpy", "cuMemcpyHtoD_v2", "cudaMemsetAsync", "cuMemsetD8Async"})
    CHECK(kind(name) == CallKind::kCopy);
  for (const char* name : {"cudaStreamSynchronize_v3020", "cuEventSynchronize", "cudaDeviceSynchronize"})
    CHECK(kind(name) == CallKind::kWait);
  for (const char* name : {"cudaMalloc", "cudaStreamWaitEvent", "cudaLaunchHostFunc", "cudaGraphInstantiate"})
    CHECK(kind(name) == CallKind::kOther);
}

TEST_CASE("calls that load GPU code, or make CUDA load it, are told by their names") {
  for (const char* name : {"cuModuleLoadData", "cuModuleLoadDataEx", "cuLibraryLoadData", "cudaFuncGetAttributes_v3020",
                           "cuModuleGetFunction", "cuKernelGetFunction"})
    CHECK(nl::cuda_call(name).loads_code);
  for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMalloc", "cuModuleUnload", "cudaFuncSetAttribute"})
    CHECK_FALSE(nl::cuda_call(name).loads_code);
}
