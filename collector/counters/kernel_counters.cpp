#include "collector/counters/counters.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <pthread.h>
#include <unistd.h>

#include "collector/counters/chosen_kernels.h"
#include "collector/counters/range_profiler.h"
#include "collector/counters/stage_watch.h"
#include "collector/gpu/calls.h"
#include "collector/gpu/log.h"
#include "collector/gpu/stream_capture.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/nvtx/recorder.h"

namespace nl::collector {
namespace {

using namespace trace_format;
using Pass = ChosenKernels::Pass;

constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kRanges = 32;  // one is ours; more mean that other threads launched meanwhile

struct GpuCounters {  // of one device
  RangeProfiler profiler;
  MetricSet metrics[2];
  Image images[2];
  std::uint32_t sets[2] = {};
  int configured = -1;  // a Pass
  bool failed = false;
};

struct KernelCounting {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // held from a measured launch's begin to its end
  const CuptiLibrary* library = nullptr;
  const char* lists[2] = {};
  ChosenKernels chosen;
  GpuCounters devices[kMaxDevices];
  std::size_t device_count = 0;
  std::atomic<bool> over{false};  // the program ends, and so do the libraries that CUPTI uses
  bool told_left_out[2] = {}, told_disturbed = false;
};

constinit KernelCounting counting;

struct Measuring {  // on this thread
  GpuCounters* gpu;
  ChosenKernels::Shape* shape;
  Pass pass;
  std::int64_t time_ns;
  std::uint32_t correlation;
  bool inside;  // our own calls into CUPTI may launch, too
};
constinit thread_local Measuring measuring{};

struct LaunchShape {
  const std::uint32_t (*grid)[3];
  const std::uint32_t (*block)[3];
  void* stream;
};

// The shape is empty where the program gave none: the driver then returns an error to it.
LaunchShape shape_of(const cupti::CallbackData& call) {
  if (std::strncmp(call.function, "cuLaunchKernelEx", 16) == 0) {
    const cupti::LaunchConfig* config = static_cast<const cupti::LaunchExArguments*>(call.arguments)->config;
    if (config == nullptr) return {};
    return {&config->grid, &config->block, config->stream};
  }
  const auto* arguments = static_cast<const cupti::LaunchArguments*>(call.arguments);
  return {&arguments->grid, &arguments->block, arguments->stream};
}

bool give_up(GpuCounters& gpu, const CounterTrouble& trouble) {
  bool nothing_yet = gpu.sets[0] == 0 && gpu.sets[1] == 0;
  if (!gpu.failed) note_trouble(*counting.library, nothing_yet ? kNoCounters : kNoMoreCounters, trouble);
  gpu.failed = true;
  return false;
}

bool prepare(GpuCounters& gpu, Pass pass) {
  if (gpu.sets[pass] != 0) return true;
  gpu.metrics[pass].choose(counting.lists[pass]);
  if (auto trouble = gpu.profiler.prepare(gpu.metrics[pass], pass == ChosenKernels::kInPlace)) return give_up(gpu, trouble);
  if (*gpu.metrics[pass].left_out() != '\0')
    note_once(counting.told_left_out[pass], "counters of kernels leave out what this GPU does not have%s: %s",
              pass == ChosenKernels::kInPlace ? " or does not measure in one pass" : "", gpu.metrics[pass].left_out());
  gpu.sets[pass] = gpu.metrics[pass].write(MetricUse::kKernel, gpu.profiler.device());
  return true;
}

bool configure(GpuCounters& gpu, Pass pass) {
  if (gpu.configured == static_cast<int>(pass)) return true;
  if (!prepare(gpu, pass)) return false;
  if (auto trouble = gpu.profiler.configure(gpu.metrics[pass], gpu.images[pass], cupti::kAutoRange, kRanges)) return give_up(gpu, trouble);
  gpu.configured = static_cast<int>(pass);
  return true;
}

GpuCounters* device_of(void* context, std::uint32_t device) {
  GpuCounters* gpu = nullptr;
  for (std::size_t i = 0; i < counting.device_count; ++i)
    if (counting.devices[i].profiler.device() == device) gpu = &counting.devices[i];
  if (gpu == nullptr && counting.device_count < kMaxDevices) gpu = &counting.devices[counting.device_count++];
  if (gpu == nullptr || gpu->failed) return nullptr;
  if (gpu->profiler.context() == nullptr) {
    gpu->configured = -1;
    if (auto trouble = gpu->profiler.open(*counting.library, context, device)) return give_up(*gpu, trouble), nullptr;
    std::atexit(finish_at_exit);
  }
  return gpu->profiler.context() == context ? gpu : nullptr;
}

void write_counters(GpuCounters& gpu, const Measuring& measured, const cupti::CallbackData& call) {
  const MetricSet& metrics = gpu.metrics[measured.pass];
  double values[MetricSet::kMaxMetrics];
  if (metrics.evaluate(gpu.images[measured.pass], 0, values) != cupti::kSuccess) return ChosenKernels::failed(*measured.shape);
  GpuLog log;
  KernelCounters record{
      {}, measured.time_ns, log.kernel_name(call.symbol), static_cast<std::uint32_t>(gettid()), gpu.profiler.device(), call.context_id, {},
      {}};
  std::memcpy(record.grid, measured.shape->grid, sizeof record.grid);
  std::memcpy(record.block, measured.shape->block, sizeof record.block);
  append_with_values(log, Kind::kKernelCounters, gpu.sets[measured.pass], record, values, metrics.size());
  counting.chosen.measured(*measured.shape, measured.pass);
}

// True: counters run, and the lock is held until the launch has returned. Never waits for the lock: another thread may
// hold it while its kernel waits for the one that this thread is about to launch.
bool begin(const cupti::CallbackData& call) {
  LaunchShape launch = shape_of(call);
  std::uint32_t device = 0;
  if (launch.grid == nullptr || is_captured(launch.stream, has_thread_streams(call.function))) return false;
  if (counting.library->profiler.cuptiGetDeviceId(call.context, &device) != cupti::kSuccess) return false;
  if (pthread_mutex_trylock(&counting.mutex) != 0) return false;
  Pass pass{};
  ChosenKernels::Shape* shape = nullptr;
  if (!counting.over.load(std::memory_order_acquire)) shape = counting.chosen.find(call.symbol, *launch.grid, *launch.block, device);
  if (shape != nullptr && counting.chosen.wanted(*shape, pass))
    if (GpuCounters* gpu = device_of(call.context, device); gpu != nullptr && configure(*gpu, pass)) {
      auto trouble = gpu->profiler.start();
      measuring = {gpu, shape, pass, now_ns(), call.correlation, true};
      if (!trouble) return true;
      give_up(*gpu, trouble);
    }
  pthread_mutex_unlock(&counting.mutex);
  return false;
}

void end(const Measuring& measured, const cupti::CallbackData& call) {
  GpuCounters& gpu = *measured.gpu;
  auto trouble = gpu.profiler.stop();
  std::size_t ranges = trouble ? 0 : gpu.profiler.ranges();
  if (trouble) give_up(gpu, trouble);
  else if (ranges == 1) write_counters(gpu, measured, call);
  else ChosenKernels::failed(*measured.shape);
  if (ranges > 1)
    note_once(counting.told_disturbed,
              "some launches could not be told from those of other threads at the same time: their counters are left out");
  if (!gpu.failed)
    if (auto again = gpu.profiler.clear()) give_up(gpu, again);
  pthread_mutex_unlock(&counting.mutex);
}

}  // namespace

bool count_kernels(const CuptiLibrary& library) {
  counting.library = &library;
  counting.lists[ChosenKernels::kInPlace] = kept_text_from("NL_STAGE_COUNTER_METRICS");
  counting.lists[ChosenKernels::kReplayed] = kept_text_from("NL_STAGE_COUNTER_REPLAY_METRICS");
  auto launches = static_cast<unsigned>(number_from("NL_STAGE_COUNTER_LAUNCHES", 1, 1, 100));
  const char* path = text_from("NL_STAGE_COUNTER_KERNELS");
  if (!counting.chosen.read(path, counting.lists[0] != nullptr ? launches : 0, counting.lists[1] != nullptr ? launches : 0)) {
    note(NoteCode::kCountersFailed, "%s: no kernels are named in %s", kCountersNotMeasured,
         path != nullptr ? path : "NL_STAGE_COUNTER_KERNELS");
    return false;
  }
  if (watch_stages(kept_text_from("NL_STAGE_COUNTER_RANGES"), nullptr) || text_from("NL_STAGE_COUNTER_RANGES") == nullptr) return true;
  note(NoteCode::kCountersFailed, "%s: NL_STAGE_COUNTER_RANGES names no range", kCountersNotMeasured);
  return false;
}

void finish_kernel_counters() {
  if (counting.library == nullptr || counting.over.exchange(true)) return;
  AskedLock lock(counting.mutex, kPatienceSeconds);  // a launch that is being measured comes to its end
  for (std::size_t i = 0; lock && i < counting.device_count; ++i)
    if (GpuCounters& gpu = counting.devices[i]; !gpu.failed && gpu.profiler.is_open()) gpu.profiler.close();
}

void forget_kernel_counters_of(void* context) {
  if (counting.library == nullptr || measuring.inside) return;
  AskedLock lock(counting.mutex, kPatienceSeconds);
  for (std::size_t i = 0; lock && i < counting.device_count; ++i)
    if (counting.devices[i].profiler.context() == context) counting.devices[i].profiler.forget();
}

bool is_kernel_launch(const char* function) {
  for (const char* launch : {"cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz",
                             "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz"})
    if (std::strcmp(function, launch) == 0) return true;
  return false;
}

void around_launch(const cupti::CallbackData& call) {
  if (call.site == cupti::kExit) {
    if (measuring.gpu == nullptr || call.correlation != measuring.correlation) return;
    Measuring measured = measuring;
    measuring.gpu = nullptr;
    end(measured, call);
    measuring = {};
    return;
  }
  if (measuring.inside || counting.over.load(std::memory_order_acquire) || !counting.chosen.named(call.symbol) || !in_stage()) return;
  measuring.inside = true;
  if (!begin(call)) measuring = {};
}

}  // namespace nl::collector
