#include "collector/counters/counters.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/counters/range_profiler.h"
#include "collector/counters/stage_watch.h"
#include "collector/gpu/contexts.h"
#include "collector/gpu/log.h"
#include "collector/gpu/stream_capture.h"
#include "collector/host_program.h"
#include "collector/lock.h"

namespace nl::collector {
namespace {

using namespace trace_format;

constexpr std::size_t kSlots = 256;  // windows between two harvests: CUPTI keeps room for no more than this
constexpr std::size_t kMaxStages = 64;
constexpr std::size_t kMaxDevices = 16;
constexpr std::int64_t kHarvestNs = 1'000'000'000;

struct Stage {
  const Text* domain;
  const Text* name;
  std::uint32_t windows;  // so far
};

struct Slot {  // one window
  const Stage* stage;
  std::uint32_t tid, number;
  std::int64_t start_ns, end_ns;  // end 0: nothing is written of it
};

struct GpuCounters {  // of one device
  RangeProfiler profiler;
  MetricSet metrics;
  Image image;
  std::uint32_t set = 0;
  bool failed = false;
  bool pushed = false;  // of the open window
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
  std::atomic<std::uint64_t> token{0};  // of the open window; 0: none
  std::int64_t harvested_ns = 0;
  pid_t pid = 0;
  std::atomic<bool> over{false};  // the program ends, and so do the libraries that CUPTI uses
  std::atomic<std::uint32_t> overlapped{0}, unmeasured{0};
  bool told_left_out = false, told_lost = false;
};

constinit StageCounting counting;

bool active() {  // not in a child of fork: CUDA is the parent's
  return counting.library != nullptr && getpid() == counting.pid && !counting.over.load(std::memory_order_acquire);
}

void give_up(GpuCounters& gpu, const CounterTrouble& trouble) {
  if (!gpu.failed) note_trouble(*counting.library, gpu.set == 0 ? kNoCounters : kNoMoreCounters, trouble);
  gpu.failed = true;
}

CounterTrouble open_metrics(GpuCounters& gpu) {
  if (gpu.set != 0) return {};
  gpu.metrics.choose(counting.metric_list);
  if (auto trouble = gpu.profiler.prepare(gpu.metrics, true)) return trouble;
  if (*gpu.metrics.left_out() != '\0')
    note_once(counting.told_left_out, "counters of the stages leave out what this GPU does not have or does not measure in one pass: %s",
              gpu.metrics.left_out());
  return {};
}

// Takes some tenths of a second, before the first window of a device.
CounterTrouble open_device(GpuCounters& gpu, const GpuContext& context) {
  if (auto trouble = gpu.profiler.open(*counting.library, context.handle, context.device)) return trouble;
  if (auto trouble = open_metrics(gpu)) return trouble;
  if (auto trouble = gpu.profiler.configure(gpu.metrics, gpu.image, cupti::kUserRange, kSlots)) return trouble;
  if (gpu.set == 0) gpu.set = gpu.metrics.write(MetricUse::kStage, context.device);
  std::atexit(finish_at_exit);
  return {};
}

GpuCounters* device_of(const GpuContext& context) {
  GpuCounters* gpu = nullptr;
  for (std::size_t i = 0; i < counting.device_count; ++i)
    if (counting.devices[i].profiler.device() == context.device) gpu = &counting.devices[i];
  if (gpu == nullptr && counting.device_count < kMaxDevices) gpu = &counting.devices[counting.device_count++];
  if (gpu == nullptr || gpu->failed || gpu->profiler.is_open()) return gpu;
  if (auto trouble = open_device(*gpu, context)) give_up(*gpu, trouble);
  return gpu;
}

// Profilers are ready and running before a window begins; how many.
std::size_t ready_devices() {
  GpuContext contexts[kMaxContexts];
  std::size_t count = device_contexts(contexts), ready = 0;
  for (std::size_t i = 0; i < count; ++i) {
    GpuCounters* gpu = device_of(contexts[i]);
    if (gpu == nullptr || gpu->failed || gpu->profiler.context() != contexts[i].handle) continue;
    if (!gpu->profiler.started())
      if (auto trouble = gpu->profiler.start()) {
        give_up(*gpu, trouble);
        continue;
      }
    ++ready;
  }
  return ready;
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
  double values[MetricSet::kMaxMetrics];
  if (gpu.metrics.evaluate(gpu.image, range, values) != cupti::kSuccess)
    for (double& value : values) value = std::nan("");
  StageCounters record{{},
                       slot.start_ns,
                       slot.end_ns,
                       slot.stage->domain != nullptr ? slot.stage->domain->id : 0,
                       slot.stage->name->id,
                       slot.tid,
                       slot.number,
                       1,
                       gpu.profiler.device()};
  GpuLog log;
  append_with_values(log, Kind::kStageCounters, gpu.set, record, values, gpu.metrics.size());
}

void harvest_device(GpuCounters& gpu) {
  if (gpu.failed || !gpu.profiler.started()) return;
  if (auto trouble = gpu.profiler.stop()) return give_up(gpu, trouble);
  if (gpu.profiler.dropped() > 0) note_once(counting.told_lost, "CUPTI lost the counters of %zu windows", gpu.profiler.dropped());
  for (std::size_t range = 0, count = gpu.profiler.ranges(); range < count; ++range) {
    std::size_t slot = std::strtoul(gpu.profiler.range_name(range), nullptr, 10);
    if (slot < counting.slots_used && counting.slots[slot].end_ns != 0) write_counters(gpu, counting.slots[slot], range);
  }
}

enum class After { kGoOn, kClose };

void harvest(After after) {
  for (std::size_t i = 0; i < counting.device_count; ++i) {
    GpuCounters& gpu = counting.devices[i];
    harvest_device(gpu);
    if (gpu.failed || !gpu.profiler.is_open()) continue;
    auto trouble =
        after == After::kClose ? gpu.profiler.close() : gpu.profiler.configure(gpu.metrics, gpu.image, cupti::kUserRange, kSlots);
    if (trouble) give_up(gpu, trouble);
  }
  counting.slots_used = 0;
  counting.harvested_ns = now_ns();
}

void close_window(bool keep) {
  Slot& slot = *counting.open;
  counting.open = nullptr;
  counting.token.store(0, std::memory_order_release);
  FreeOfCapture free;
  for (std::size_t i = 0; i < counting.device_count; ++i) {
    GpuCounters& gpu = counting.devices[i];
    if (!gpu.pushed) continue;
    gpu.pushed = false;
    if (gpu.failed || !gpu.profiler.is_open()) continue;
    if (auto trouble = gpu.profiler.pop()) give_up(gpu, trouble);
  }
  if (keep) slot.end_ns = now_ns();
  if (counting.slots_used == kSlots || now_ns() - counting.harvested_ns > kHarvestNs) harvest(After::kGoOn);
}

// A range that its thread left open when it ended.
bool abandoned(std::uint64_t token) {
  if ((token & kPushedStage) == 0) return false;
  return syscall(SYS_tgkill, counting.pid, static_cast<pid_t>(token & ~kPushedStage), 0) != 0;
}

void open_window(const Stage& stage, std::uint32_t number, std::uint64_t token) {
  FreeOfCapture free;
  if (ready_devices() == 0) {
    counting.unmeasured.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Slot& slot = counting.slots[counting.slots_used];
  char name[24];
  std::snprintf(name, sizeof name, "%zu", counting.slots_used++);
  slot = {&stage, static_cast<std::uint32_t>(gettid()), number, now_ns(), 0};
  for (std::size_t i = 0; i < counting.device_count; ++i) {
    GpuCounters& gpu = counting.devices[i];
    if (gpu.failed || !gpu.profiler.started()) continue;
    if (auto trouble = gpu.profiler.push(name)) give_up(gpu, trouble);
    else gpu.pushed = true;
  }
  counting.open = &slot;
  counting.token.store(token, std::memory_order_release);
}

// Never waits: another thread may be at the end of a window, and wait there for work that this one is to launch.
void opened(EventText text, std::uint64_t token) {
  if (!active()) return;
  AskedLock lock(counting.mutex);
  if (!lock || !active()) {
    counting.overlapped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Stage* stage = stage_of(text);
  if (stage == nullptr) return;
  std::uint32_t number = stage->windows++;
  if (counting.open != nullptr && abandoned(counting.token.load(std::memory_order_relaxed))) close_window(false);
  if (counting.open != nullptr) counting.overlapped.fetch_add(1, std::memory_order_relaxed);
  else if (capture_open()) counting.unmeasured.fetch_add(1, std::memory_order_relaxed);
  else open_window(*stage, number, token);
}

void closed(std::uint64_t token) {
  if (counting.token.load(std::memory_order_acquire) != token || !active()) return;
  Lock lock(counting.mutex);
  if (counting.open == nullptr || counting.token.load(std::memory_order_relaxed) != token || !active()) return;
  // To wait for the GPU would spoil the capture: the window ends with the next one, and is not kept.
  if (!capture_open()) close_window(true);
  else counting.token.store(kPushedStage, std::memory_order_release);
}

constexpr StageListener kListener{opened, closed};

void tell_what_is_missing() {
  if (auto count = counting.overlapped.exchange(0))
    note(NoteCode::kOther, "%u windows of stages overlapped one of another thread: their work is counted with it", count);
  if (auto count = counting.unmeasured.exchange(0))
    note(NoteCode::kOther,
         "%u windows of stages began before there was a GPU to count, or while a graph was captured: they are not measured", count);
}

}  // namespace

void count_stages(const CuptiLibrary& library) {
  counting.pid = getpid();
  counting.harvested_ns = now_ns();
  counting.metric_list = kept_text_from("NL_STAGE_COUNTER_METRICS");
  counting.library = &library;
  if (counting.metric_list == nullptr || !watch_stages(kept_text_from("NL_STAGE_COUNTER_RANGES"), &kListener))
    note(NoteCode::kCountersFailed, "%s: NL_STAGE_COUNTER_METRICS and NL_STAGE_COUNTER_RANGES say which, of which stages",
         kCountersNotMeasured);
}

void finish_stage_counters() {
  if (counting.library == nullptr || getpid() != counting.pid || counting.over.exchange(true)) return;
  AskedLock lock(counting.mutex, kPatienceSeconds);
  if (!lock) return;
  if (counting.open != nullptr) close_window(true);
  harvest(After::kClose);
  tell_what_is_missing();
}

void rescue_stage_counters() {
  if (!active()) return;
  AskedLock lock(counting.mutex, kPatienceSeconds);
  if (!lock) return;
  if (counting.open != nullptr) close_window(true);
  harvest(After::kClose);
}

void forget_stage_counters_of(void* context) {
  if (!active()) return;
  AskedLock lock(counting.mutex, kPatienceSeconds);
  for (std::size_t i = 0; lock && i < counting.device_count; ++i)
    if (counting.devices[i].profiler.context() == context) counting.devices[i].profiler.forget();
}

}  // namespace nl::collector
