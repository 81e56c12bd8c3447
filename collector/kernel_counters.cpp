#include "collector/kernel_counters.h"

#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "collector/chosen_kernels.h"
#include "collector/environment.h"
#include "collector/gpu_contexts.h"
#include "collector/gpu_log.h"
#include "collector/range_profiler.h"
#include "collector/recorder.h"
#include "collector/stage_watch.h"

namespace nl::collector {
namespace {

using namespace trace_format;
using Pass = ChosenKernels::Pass;

constexpr const char* kNotMeasured = "counters are not measured";
constexpr std::size_t kMaxDevices = 16;
constexpr std::size_t kRanges = 8;  // one is ours; more mean that another thread launched meanwhile

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
  pid_t pid = 0;
  int (*is_capturing)(void* stream, int* status) = nullptr;
  bool told_left_out = false, told_disturbed = false;
};

constinit KernelCounting counting;

struct Measuring {  // on this thread
  GpuCounters* gpu;
  ChosenKernels::Shape* shape;
  Pass pass;
  std::int64_t time_ns;
  bool inside;  // our own calls into CUPTI may launch, too
};
constinit thread_local Measuring measuring{};

struct LaunchShape {
  const std::uint32_t (*grid)[3];
  const std::uint32_t (*block)[3];
  void* stream;
};

LaunchShape shape_of(const cupti::CallbackData& call) {
  if (std::strncmp(call.function, "cuLaunchKernelEx", 16) == 0) {
    const cupti::LaunchConfig* config = static_cast<const cupti::LaunchExArguments*>(call.arguments)->config;
    return {&config->grid, &config->block, config->stream};
  }
  const auto* arguments = static_cast<const cupti::LaunchArguments*>(call.arguments);
  return {&arguments->grid, &arguments->block, arguments->stream};
}

// A launch that is recorded into a graph does not run.
bool captured(void* stream) {
  int status = 0;
  return counting.is_capturing != nullptr && counting.is_capturing(stream, &status) == 0 && status != 0;
}

bool give_up(GpuCounters& gpu, const CounterTrouble& trouble) {
  if (!gpu.failed) note_trouble(*counting.library, kNotMeasured, trouble);
  gpu.failed = true;
  return false;
}

void describe(GpuCounters& gpu, Pass pass) {
  alignas(8) char buffer[12 * 1024];
  trace_format::MetricSet record{};
  record.use = MetricUse::kKernel;
  record.device = gpu.profiler.device();
  GpuLog log;
  gpu.sets[pass] = log.next_metric_set();
  log.append(buffer, gpu.metrics[pass].describe(record, gpu.sets[pass], buffer, sizeof buffer));
}

bool prepare(GpuCounters& gpu, Pass pass) {
  if (gpu.sets[pass] != 0) return true;
  gpu.metrics[pass].choose(counting.lists[pass]);
  if (auto trouble = gpu.profiler.prepare(gpu.metrics[pass], pass == ChosenKernels::kInPlace)) return give_up(gpu, trouble);
  if (*gpu.metrics[pass].left_out() != '\0')
    note_once(counting.told_left_out, "counters of kernels leave out what this GPU does not have or does not measure in one pass: %s",
              gpu.metrics[pass].left_out());
  describe(gpu, pass);
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
  for (std::size_t i = 0; i < counting.device_count; ++i)
    if (counting.devices[i].profiler.device() == device)
      return counting.devices[i].profiler.context() == context && !counting.devices[i].failed ? &counting.devices[i] : nullptr;
  if (counting.device_count == kMaxDevices) return nullptr;
  GpuCounters& gpu = counting.devices[counting.device_count++];
  auto trouble = gpu.profiler.open(*counting.library, context, device);
  return trouble ? (give_up(gpu, trouble), nullptr) : &gpu;
}

void write_counters(GpuCounters& gpu, const Measuring& measured, const cupti::CallbackData& call) {
  alignas(8) char buffer[sizeof(KernelCounters) + MetricSet::kMaxMetrics * sizeof(double)];
  const MetricSet& metrics = gpu.metrics[measured.pass];
  double values[MetricSet::kMaxMetrics];
  if (metrics.evaluate(gpu.images[measured.pass], 0, values) != cupti::kSuccess) return ChosenKernels::failed(*measured.shape);
  std::size_t bytes = sizeof(KernelCounters) + metrics.size() * sizeof(double);
  GpuLog log;
  KernelCounters record{{Kind::kKernelCounters, static_cast<std::uint16_t>(bytes), gpu.sets[measured.pass]},
                        measured.time_ns, log.kernel_name(call.symbol), static_cast<std::uint32_t>(gettid()),
                        gpu.profiler.device(), call.context_id, {}, {}};
  std::memcpy(record.grid, measured.shape->grid, sizeof record.grid);
  std::memcpy(record.block, measured.shape->block, sizeof record.block);
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, values, metrics.size() * sizeof(double));
  log.append(buffer, bytes);
  ChosenKernels::measured(*measured.shape, measured.pass);
}

// True: counters run, and the lock is held until the launch has returned.
bool begin(const cupti::CallbackData& call) {
  LaunchShape launch = shape_of(call);
  std::uint32_t device = 0;
  if (captured(launch.stream) || counting.library->profiler.cuptiGetDeviceId(call.context, &device) != cupti::kSuccess) return false;
  pthread_mutex_lock(&counting.mutex);
  Pass pass{};
  ChosenKernels::Shape* shape = counting.chosen.find(call.symbol, *launch.grid, *launch.block, device);
  if (shape != nullptr && counting.chosen.wanted(*shape, pass))
    if (GpuCounters* gpu = device_of(call.context, device); gpu != nullptr && configure(*gpu, pass)) {
      auto trouble = gpu->profiler.start();
      measuring = {gpu, shape, pass, now_ns(), true};
      if (!trouble) return true;
      give_up(*gpu, trouble);
    }
  pthread_mutex_unlock(&counting.mutex);
  return false;
}

void end(const cupti::CallbackData& call) {
  GpuCounters& gpu = *measuring.gpu;
  auto trouble = gpu.profiler.stop();
  std::size_t ranges = trouble ? 0 : gpu.profiler.ranges();
  if (trouble) give_up(gpu, trouble);
  else if (ranges == 1) write_counters(gpu, measuring, call);
  else ChosenKernels::failed(*measuring.shape);
  if (ranges > 1)
    note_once(counting.told_disturbed, "some launches could not be told from those of other threads at the same time: their counters are left out");
  if (!gpu.failed)
    if (auto again = gpu.profiler.clear()) give_up(gpu, again);
  pthread_mutex_unlock(&counting.mutex);
}

}  // namespace

bool count_kernels(const CuptiLibrary& library) {
  counting.library = &library;
  counting.pid = getpid();
  counting.lists[ChosenKernels::kInPlace] = kept_text_from("NL_STAGE_COUNTER_METRICS");
  counting.lists[ChosenKernels::kReplayed] = kept_text_from("NL_STAGE_COUNTER_REPLAY_METRICS");
  auto launches = static_cast<unsigned>(number_from("NL_STAGE_COUNTER_LAUNCHES", 1, 1, 100));
  const char* path = text_from("NL_STAGE_COUNTER_KERNELS");
  if (!counting.chosen.read(path, counting.lists[0] != nullptr ? launches : 0, counting.lists[1] != nullptr ? launches : 0)) {
    note("%s: no kernels are named in %s", kNotMeasured, path != nullptr ? path : "NL_STAGE_COUNTER_KERNELS");
    return false;
  }
  if (void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    counting.is_capturing = reinterpret_cast<int (*)(void*, int*)>(dlsym(driver, "cuStreamIsCapturing"));
    dlclose(driver);
  }
  watch_stages(kept_text_from("NL_STAGE_COUNTER_RANGES"), nullptr);
  return true;
}

bool is_kernel_launch(const char* function) {
  for (const char* launch : {"cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz",
                             "cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz"})
    if (std::strcmp(function, launch) == 0) return true;
  return false;
}

void around_launch(const cupti::CallbackData& call) {
  if (call.site == cupti::kExit) {
    if (measuring.gpu == nullptr) return;
    end(call);
    measuring = {};
    return;
  }
  if (measuring.inside || !in_stage() || getpid() != counting.pid) return;
  measuring.inside = true;
  if (!begin(call)) measuring = {};
}

}  // namespace nl::collector
