#include "collector/stage_counters.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "collector/environment.h"
#include "collector/gpu_contexts.h"
#include "collector/gpu_log.h"
#include "collector/lock.h"
#include "collector/range_profiler.h"
#include "collector/stage_watch.h"

namespace nl::collector {
namespace {

using namespace trace_format;

constexpr std::size_t kSlots = 256;  // windows between two harvests: CUPTI has no room for more than it was told of
constexpr std::size_t kMaxStages = 64;
constexpr std::size_t kMaxDevices = 16;
constexpr std::int64_t kHarvestNs = 1'000'000'000;
constexpr const char* kNotMeasured = "counters are not measured";

struct Stage {
  const Text* domain;
  const Text* name;
  std::uint32_t windows;  // so far
};

struct Slot {  // one window
  const Stage* stage;
  std::uint32_t tid, number;
  std::int64_t start_ns, end_ns;
};

struct GpuCounters {  // of one device
  RangeProfiler profiler;
  MetricSet metrics;
  Image image;
  std::uint32_t set = 0;
  bool failed = false;
};

struct StageCounting {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  const CuptiLibrary* library = nullptr;
  const char* metric_list = nullptr;
  GpuCounters devices[kMaxDevices];
  std::size_t device_count = 0;
  Stage stages[kMaxStages] = {};
  std::size_t stage_count = 0;
  Slot slots[kSlots] = {};
  std::size_t slots_used = 0;
  Slot* open = nullptr;
  std::uint64_t token = 0;
  std::int64_t harvested_ns = 0;
  pid_t pid = 0;
  std::uint32_t overlapped = 0, without_context = 0;
  bool told_left_out = false, told_lost = false;
};

constinit StageCounting counting;

void describe(GpuCounters& gpu) {
  alignas(8) char buffer[12 * 1024];
  trace_format::MetricSet record{};
  record.use = MetricUse::kStage;
  record.device = gpu.profiler.device();
  GpuLog log;
  gpu.set = log.next_metric_set();
  log.append(buffer, gpu.metrics.describe(record, gpu.set, buffer, sizeof buffer));
}

bool give_up(GpuCounters& gpu, const CounterTrouble& trouble) {
  if (!gpu.failed) note_trouble(*counting.library, kNotMeasured, trouble);
  gpu.failed = true;
  return false;
}

// Takes some tenths of a second, before the first window of a device.
bool open_device(GpuCounters& gpu, const GpuContext& context) {
  if (auto trouble = gpu.profiler.open(*counting.library, context.handle, context.device)) return give_up(gpu, trouble);
  gpu.metrics.choose(counting.metric_list);
  if (auto trouble = gpu.profiler.prepare(gpu.metrics, true)) return give_up(gpu, trouble);
  if (*gpu.metrics.left_out() != '\0')
    note_once(counting.told_left_out, "counters of the stages leave out what this GPU does not have or does not measure in one pass: %s",
              gpu.metrics.left_out());
  if (auto trouble = gpu.profiler.configure(gpu.metrics, gpu.image, cupti::kUserRange, kSlots)) return give_up(gpu, trouble);
  describe(gpu);
  return true;
}

GpuCounters* device_of(const GpuContext& context) {
  for (std::size_t i = 0; i < counting.device_count; ++i)
    if (counting.devices[i].profiler.device() == context.device) return &counting.devices[i];
  if (counting.device_count == kMaxDevices) return nullptr;
  GpuCounters& gpu = counting.devices[counting.device_count++];
  open_device(gpu, context);
  std::atexit(finish_stage_counters);  // before the libraries that CUPTI has loaded for it
  return &gpu;
}

template <typename Visit>
std::size_t visit_devices(Visit visit) {
  GpuContext contexts[kMaxContexts];
  std::size_t count = device_contexts(contexts), visited = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (GpuCounters* gpu = device_of(contexts[i]); gpu != nullptr && !gpu->failed && gpu->profiler.context() == contexts[i].handle) {
      visit(*gpu);
      ++visited;
    }
  return visited;
}

Stage* stage_of(EventText text) {
  for (std::size_t i = 0; i < counting.stage_count; ++i)
    if (counting.stages[i].domain == text.domain && counting.stages[i].name == text.name) return &counting.stages[i];
  if (counting.stage_count == kMaxStages) return nullptr;
  Stage& stage = counting.stages[counting.stage_count++];
  stage = {text.domain, text.name, 0};
  return &stage;
}

void write_counters(GpuCounters& gpu, const Slot& slot, std::size_t range) {
  alignas(8) char buffer[sizeof(StageCounters) + MetricSet::kMaxMetrics * sizeof(double)];
  double values[MetricSet::kMaxMetrics];
  if (gpu.metrics.evaluate(gpu.image, range, values) != cupti::kSuccess)
    for (double& value : values) value = std::nan("");
  std::size_t bytes = sizeof(StageCounters) + gpu.metrics.size() * sizeof(double);
  StageCounters record{{Kind::kStageCounters, static_cast<std::uint16_t>(bytes), gpu.set}, slot.start_ns, slot.end_ns,
                       slot.stage->domain != nullptr ? slot.stage->domain->id : 0, slot.stage->name->id,
                       slot.tid, slot.number, 1, gpu.profiler.device()};
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, values, gpu.metrics.size() * sizeof(double));
  GpuLog().append(buffer, bytes);
}

void harvest_device(GpuCounters& gpu) {
  if (!gpu.profiler.started()) return;
  if (auto trouble = gpu.profiler.stop()) {
    give_up(gpu, trouble);
    return;
  }
  if (gpu.profiler.dropped() > 0) note_once(counting.told_lost, "CUPTI lost the counters of %zu windows", gpu.profiler.dropped());
  for (std::size_t range = 0, count = gpu.profiler.ranges(); range < count; ++range) {
    std::size_t slot = std::strtoul(gpu.profiler.range_name(range), nullptr, 10);
    if (slot < counting.slots_used && counting.slots[slot].end_ns != 0) write_counters(gpu, counting.slots[slot], range);
  }
  if (auto trouble = gpu.profiler.configure(gpu.metrics, gpu.image, cupti::kUserRange, kSlots)) give_up(gpu, trouble);
}

void harvest() {
  visit_devices(harvest_device);
  counting.slots_used = 0;
  counting.harvested_ns = now_ns();
}

void opened(EventText text, std::uint64_t token) {
  Lock lock(counting.mutex);
  if (getpid() != counting.pid) return;  // a child of fork: CUDA is the parent's
  if (counting.open != nullptr) {
    ++counting.overlapped;
    return;
  }
  Stage* stage = stage_of(text);
  if (stage == nullptr) return;
  // Profilers are ready and running before the window begins.
  std::size_t ready = visit_devices([](GpuCounters& gpu) {
    if (gpu.profiler.started()) return;
    if (auto trouble = gpu.profiler.start()) give_up(gpu, trouble);
  });
  std::uint32_t number = stage->windows++;
  if (ready == 0) {
    ++counting.without_context;
    return;
  }
  Slot& slot = counting.slots[counting.slots_used];
  slot = {stage, static_cast<std::uint32_t>(gettid()), number, now_ns(), 0};
  char name[24];
  std::snprintf(name, sizeof name, "%zu", counting.slots_used++);
  visit_devices([&](GpuCounters& gpu) {
    if (auto trouble = gpu.profiler.push(name)) give_up(gpu, trouble);
  });
  counting.open = &slot;
  counting.token = token;
}

void close_window() {
  Slot& slot = *counting.open;
  counting.open = nullptr;
  visit_devices([](GpuCounters& gpu) {
    if (auto trouble = gpu.profiler.pop()) give_up(gpu, trouble);
  });
  slot.end_ns = now_ns();
}

void closed(std::uint64_t token) {
  Lock lock(counting.mutex);
  if (getpid() != counting.pid || counting.open == nullptr || counting.token != token) return;
  close_window();
  if (counting.slots_used == kSlots || now_ns() - counting.harvested_ns > kHarvestNs) harvest();
}

constexpr StageListener kListener{opened, closed};

}  // namespace

void count_stages(const CuptiLibrary& library) {
  counting.library = &library;
  counting.pid = getpid();
  counting.harvested_ns = now_ns();
  counting.metric_list = kept_text_from("NL_STAGE_COUNTER_METRICS");
  const char* ranges = kept_text_from("NL_STAGE_COUNTER_RANGES");
  if (counting.metric_list == nullptr || ranges == nullptr)
    return note("%s: NL_STAGE_COUNTER_METRICS and NL_STAGE_COUNTER_RANGES say which, of which stages", kNotMeasured);
  watch_stages(ranges, &kListener);
}

void finish_stage_counters() {
  if (counting.library == nullptr || getpid() != counting.pid) return;
  Lock lock(counting.mutex);
  if (counting.open != nullptr) close_window();
  harvest();
  if (counting.overlapped > 0)
    note("%u windows of stages overlapped one of another thread: their work is counted with it", counting.overlapped);
  if (counting.without_context > 0)
    note("%u windows of stages began where no counters could be read: none are measured for them", counting.without_context);
  counting.overlapped = counting.without_context = 0;
}

}  // namespace nl::collector
