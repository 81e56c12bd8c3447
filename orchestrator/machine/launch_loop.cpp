#include "orchestrator/machine/launch_loop.h"

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
#include "orchestrator/machine/cuda_driver.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr int kBlocks = 120, kWarmUpBlocks = 10;
constexpr int kCallsOfBlock = 200, kCallsAmidCode = 50;  // fewer than the driver queues: no call waits for the GPU
constexpr std::size_t kCopyBytes = 1024;

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
    stream_ = cuda.start();
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
    throw Error(ErrorKind::kInput, "a calibration cannot be read", file.string(), json_fault(error.what()));
  }
}

}  // namespace nl::orchestrator
