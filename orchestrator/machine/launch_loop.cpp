#include "orchestrator/machine/launch_loop.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "model/error.h"
#include "model/input_bounds.h"
#include "model/words.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr int kBlocks = 120, kWarmUpBlocks = 10;
constexpr int kCallsOfBlock = 200, kCallsAmidCode = 50;  // fewer than the driver queues: no call waits for the GPU
constexpr std::size_t kCopyBytes = 1024;

// The driver's functions, by the names under which libcuda.so.1 has exported them since CUDA 4.
class CudaDriver {
 public:
  explicit CudaDriver(const fs::path& library) : handle_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) refuse("the CUDA driver was not found", dlerror());
    find(init, "cuInit");
    find(driver_version, "cuDriverGetVersion");
    find(device_get, "cuDeviceGet");
    find(context_retain, "cuDevicePrimaryCtxRetain");
    find(context_set, "cuCtxSetCurrent");
    find(module_load, "cuModuleLoadData");
    find(function_get, "cuModuleGetFunction");
    find(stream_create, "cuStreamCreate");
    find(stream_wait, "cuStreamSynchronize");
    find(allocate, "cuMemAlloc_v2");
    find(launch_kernel, "cuLaunchKernel");
    find(copy_on_device, "cuMemcpyDtoDAsync_v2");
  }
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;
  // Never unloaded: a tracer may have put itself into it.

  using Handle = void*;
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_get)(int*, int) = nullptr;
  int (*context_retain)(Handle*, int) = nullptr;
  int (*context_set)(Handle) = nullptr;
  int (*module_load)(Handle*, const void*) = nullptr;
  int (*function_get)(Handle*, Handle, const char*) = nullptr;
  int (*stream_create)(Handle*, unsigned) = nullptr;
  int (*stream_wait)(Handle) = nullptr;
  int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  int (*launch_kernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**) = nullptr;
  int (*copy_on_device)(std::uint64_t, std::uint64_t, std::size_t, Handle) = nullptr;

  static void check(int result, const char* what) {
    if (result != 0) refuse(fmt::format("the CUDA driver does not {}", what), fmt::format("CUresult {}", result));
  }

 private:
  [[noreturn]] static void refuse(const std::string& what, const std::string& where) {
    throw Error(ErrorKind::kTool, what, where, "nl-stage doctor says what is missing; --set perturbation.calibrate=off does without");
  }
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) refuse(fmt::format("the CUDA driver lacks {}", name), "libcuda.so.1");
  }
  void* handle_;
};

// A kernel that does nothing, as the driver compiles it itself. A driver may no longer know the oldest target, and a GPU the newest.
std::string empty_kernel(const char* version, const char* target) {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n.visible .entry nl_stage_nothing()\n{{\n  ret;\n}}\n", version, target);
}

CudaDriver::Handle load_kernel(const CudaDriver& cuda) {
  constexpr std::pair<const char*, const char*> kTargets[] = {{"6.3", "sm_75"}, {"6.0", "sm_52"}, {"7.8", "sm_90"}, {"8.6", "sm_100"}};
  CudaDriver::Handle module = nullptr, function = nullptr;
  int failed = 0;
  for (const auto& [version, target] : kTargets) {
    failed = cuda.module_load(&module, empty_kernel(version, target).c_str());
    if (failed == 0) break;
  }
  CudaDriver::check(failed, "compile a kernel");
  CudaDriver::check(cuda.function_get(&function, module, "nl_stage_nothing"), "find its kernel");
  return function;
}

// Code between two calls, as the interpreter of Python runs it: hundreds of small functions at different places and loads from half a
// megabyte. The code and the data of a tracer are then no longer in the nearest caches when the next call comes.
constexpr std::size_t kFunctions = 512, kWords = 64 * 1024;
using Words = std::vector<std::uint64_t>;

template <std::size_t number>
[[gnu::noinline]] std::uint64_t other_code(std::uint64_t value, const Words& words) {
  constexpr std::uint64_t kOdd = 2 * number + 0x9E3779B97F4A7C15ULL;
  for (int i = 0; i < 2; ++i) {
    value = std::rotl(value * kOdd + number, static_cast<int>(number % 61 + 1));
    value ^= words[(value >> 17) % kWords];
    value = (value + kOdd) * (kOdd ^ (number << 32));
    value ^= words[(value >> 23) % kWords] + number;
    if ((value & 7) == number % 8) value += kOdd >> 3;
  }
  return value;
}

using OtherCode = std::uint64_t (*)(std::uint64_t, const Words&);
template <std::size_t... numbers>
constexpr std::array<OtherCode, sizeof...(numbers)> all_other_code(std::index_sequence<numbers...>) {
  return {&other_code<numbers>...};
}
constexpr std::array<OtherCode, kFunctions> kOtherCode = all_other_code(std::make_index_sequence<kFunctions>());

class Loops {
 public:
  explicit Loops(const CudaDriver& cuda) : cuda_(cuda), words_(kWords) {
    int device = 0;
    CudaDriver::Handle context = nullptr;
    CudaDriver::check(cuda.init(0), "start");
    CudaDriver::check(cuda.device_get(&device, 0), "show a GPU");
    CudaDriver::check(cuda.context_retain(&context, device), "make a context");
    CudaDriver::check(cuda.context_set(context), "take its context");
    CudaDriver::check(cuda.stream_create(&stream_, 1), "make a stream");
    CudaDriver::check(cuda.allocate(&memory_, 2 * kCopyBytes), "give memory");
    kernel_ = load_kernel(cuda);
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = i * 0xBF58476D1CE4E5B9ULL;
  }

  // The mean of one block. What the GPU still does is waited for afterwards and does not count.
  double block_ns(CalibratedCall call) {
    const int calls = call == CalibratedCall::kLaunchAmidCode ? kCallsAmidCode : kCallsOfBlock;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) make(call);
    const auto end = std::chrono::steady_clock::now();
    CudaDriver::check(cuda_.stream_wait(stream_), "end its work");
    return std::chrono::duration<double, std::nano>(end - start).count() / calls;
  }

 private:
  void make(CalibratedCall call) {
    if (call == CalibratedCall::kLaunchAmidCode)
      for (const OtherCode code : kOtherCode) value_ = code(value_, words_);
    const int failed = call == CalibratedCall::kCopy ? cuda_.copy_on_device(memory_ + kCopyBytes, memory_, kCopyBytes, stream_)
                                                     : cuda_.launch_kernel(kernel_, 1, 1, 1, 32, 1, 1, 0, stream_, nullptr, nullptr);
    CudaDriver::check(failed, call == CalibratedCall::kCopy ? "copy" : "launch");
  }

  const CudaDriver& cuda_;
  Words words_;
  std::uint64_t value_ = 1, memory_ = 0;
  CudaDriver::Handle stream_ = nullptr, kernel_ = nullptr;
};

// The processors of a virtual machine differ, so that every loop runs on the same one: the last that it may use. A tracer's threads are
// started by now, and stay on all of them.
void stay_on_one_processor() {
  cpu_set_t allowed, last;
  CPU_ZERO(&last);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu)
    if (CPU_ISSET(cpu, &allowed)) {
      CPU_SET(cpu, &last);
      sched_setaffinity(0, sizeof(last), &last);  // where it may not, the loop runs all the same
      return;
    }
}

}  // namespace

LaunchLoops time_launch_loops(const fs::path& driver_library) {
  const CudaDriver cuda(driver_library);
  Loops loops(cuda);
  stay_on_one_processor();
  LaunchLoops out;
  cuda.driver_version(&out.cuda_driver_version);
  for (const auto call : {CalibratedCall::kLaunch, CalibratedCall::kLaunchAmidCode, CalibratedCall::kCopy}) out.loops.push_back({call, {}});
  // In turn, so that a clock that changes does so for all of them.
  for (int block = 0; block < kWarmUpBlocks + kBlocks; ++block)
    for (TimedLoop& loop : out.loops) {
      const double ns = loops.block_ns(loop.call);
      if (block >= kWarmUpBlocks) loop.blocks_ns.push_back(ns);
    }
  return out;
}

std::string loops_json(const LaunchLoops& loops) {
  nlohmann::ordered_json out = {{"cuda_driver_version", loops.cuda_driver_version}, {"loops", nlohmann::ordered_json::array()}};
  for (const TimedLoop& loop : loops.loops) out["loops"].push_back({{"call", key_of(loop.call)}, {"blocks_ns", loop.blocks_ns}});
  return out.dump() + "\n";
}

LaunchLoops read_loops(const fs::path& file) {
  try {
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto read = nlohmann::json::parse(json_within_bounds(text, file.string()));
    LaunchLoops out;
    out.cuda_driver_version = read.at("cuda_driver_version").get<int>();
    for (const auto& loop : read.at("loops")) {
      const auto call = from_key<CalibratedCall>(loop.at("call").get<std::string>());
      if (call) out.loops.push_back({*call, loop.at("blocks_ns").get<std::vector<double>>()});
    }
    return out;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kInput, "a calibration cannot be read", file.string(), error.what());
  }
}

}  // namespace nl::orchestrator
