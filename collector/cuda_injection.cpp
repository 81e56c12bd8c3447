// The GPU half: the driver loads this library where CUDA_INJECTION64_PATH names it and calls InitializeInjection while
// CUDA starts. A process is either traced (and sampled, where that is asked for) or its counters are measured.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <pthread.h>

#include "collector/activity_sampler.h"
#include "collector/background.h"
#include "collector/cupti_library.h"
#include "collector/environment.h"
#include "collector/gpu_contexts.h"
#include "collector/gpu_log.h"
#include "collector/gpu_trace.h"
#include "collector/kernel_counters.h"
#include "collector/range_profiler.h"
#include "collector/recorder.h"
#include "collector/stage_counters.h"
#include "collector/stall_sampler.h"

namespace nl::collector {
namespace {

enum class Mode { kTrace, kStageCounters, kKernelCounters };

struct Injection {
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutex_t flush_mutex = PTHREAD_MUTEX_INITIALIZER;  // one flush at a time; taken before the log's lock
  std::atomic<bool> off{false};  // after fork: CUDA is the parent's
  std::atomic<bool> exiting{false};
  long flush_ms = 1000;
  Mode mode = Mode::kTrace;
  CuptiLibrary library;
  cupti::Subscriber subscriber = nullptr;
};

constinit Injection injection;

void* flush_regularly(void*) {
  timespec pause{injection.flush_ms / 1000, injection.flush_ms % 1000 * 1'000'000};
  while (!injection.exiting.load(std::memory_order_relaxed)) {
    nanosleep(&pause, nullptr);
    pthread_mutex_lock(&injection.flush_mutex);
    if (!injection.exiting.load(std::memory_order_relaxed)) {
      flush_gpu_trace();
      write_stalls();
    }
    pthread_mutex_unlock(&injection.flush_mutex);
  }
  return nullptr;
}

void finish_at_exit() {
  if (injection.off.load(std::memory_order_relaxed) || injection.exiting.exchange(true)) return;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;  // a flush that hangs in CUPTI must not keep the program from ending
  if (pthread_mutex_timedlock(&injection.flush_mutex, &until) != 0) return;
  finish_stage_counters();
  finish_activity_samples();
  finish_stall_samples();
  finish_gpu_trace();
  pthread_mutex_unlock(&injection.flush_mutex);
}

void before_device_reset() {
  finish_stage_counters();
  rescue_gpu_trace();
}

void on_resource(std::uint32_t what, const cupti::ResourceData& data) {
  if (what == cupti::kContextDestroyed) return context_destroyed(data.context);
  if (what != cupti::kContextCreated) return;
  std::uint32_t device = context_created(injection.library, data.context);
  sample_stalls_of(data.context, device);
  sample_activity_of(device);
}

void on_callback(void*, int domain, std::uint32_t function, const void* data) {
  if (injection.off.load(std::memory_order_relaxed)) return;
  switch (domain) {
    case cupti::kDomainResource: return on_resource(function, *static_cast<const cupti::ResourceData*>(data));
    case cupti::kDomainDriver: return around_launch(*static_cast<const cupti::CallbackData*>(data));
    case cupti::kDomainRuntime: return before_device_reset();
    default: return;
  }
}

void after_fork_in_child() {
  injection.off.store(true, std::memory_order_relaxed);
  forget_gpu_trace();
}

Mode chosen_mode() {
  const char* counters = text_from("NL_STAGE_COUNTERS");
  if (counters != nullptr && std::strcmp(counters, "stages") == 0) return Mode::kStageCounters;
  if (counters != nullptr && std::strcmp(counters, "kernels") == 0) return Mode::kKernelCounters;
  return Mode::kTrace;
}

const char* what_is_lost() {
  return injection.mode == Mode::kTrace ? "kernels, copies and CUDA calls are not recorded" : "counters are not measured";
}

bool load() {
  char trouble[1024];
  if (load_cupti(injection.library, trouble, sizeof trouble)) return true;
  note("%s: %s", what_is_lost(), trouble);
  return false;
}

bool subscribe() {
  char holder[128] = "";
  cupti::SubscriberParams params{sizeof params, "nl-stage", holder, sizeof holder - 1};
  const cupti::Api& api = injection.library.api;
  cupti::Result result = api.cuptiSubscribe_v2 != nullptr
                             ? api.cuptiSubscribe_v2(&injection.subscriber, on_callback, nullptr, &params)
                             : api.cuptiSubscribe(&injection.subscriber, on_callback, nullptr);
  if (result == cupti::kSuccess) return true;
  if (result == cupti::kMultipleSubscribers || result == cupti::kMaxLimitReached) {
    char loaded[512];
    name_cupti_clients(loaded, sizeof loaded);
    note("another CUPTI client holds this process (%s%s%s): %s. Run without that profiler, or let nl-stage use nsys",
         *holder != '\0' ? holder : "it gives no name", *loaded != '\0' ? "; loaded: " : "", loaded, what_is_lost());
  } else {
    note("CUPTI (%s) does not start: %s (%d); %s", injection.library.path, words_for(injection.library, result), result,
         what_is_lost());
  }
  return false;
}

bool listen(cupti::Domain domain, std::uint32_t function) {
  auto enable = injection.library.api.cuptiEnableCallback;
  return enable != nullptr && enable(1, injection.subscriber, domain, function) == cupti::kSuccess;
}

void listen_to_contexts() {
  listen(cupti::kDomainResource, cupti::kContextCreated);
  listen(cupti::kDomainResource, cupti::kContextDestroyed);
}

void listen_to_launches() {
  constexpr std::uint32_t kMaxFunctions = 2048;
  for (std::uint32_t function = 1; function < kMaxFunctions; ++function) {
    const char* name = nullptr;
    bool found = injection.library.api.cuptiGetCallbackName(cupti::kDomainDriver, function, &name) == cupti::kSuccess && name != nullptr;
    if (found && is_kernel_launch(name)) listen(cupti::kDomainDriver, function);
  }
}

bool start_tracing() {
  if (!trace_gpu(injection.library)) return false;
  if (device_reset_function() != 0) listen(cupti::kDomainRuntime, device_reset_function());
  listen_to_contexts();
  sample_stalls(injection.library);
  sample_activity(injection.library);
  injection.flush_ms = number_from("NL_STAGE_FLUSH_MS", 1000, 10, 60'000);
  if (!run_in_background("nl-stage flush", flush_regularly))
    note("no thread for flushing: a process that is killed loses more than a second");
  return true;
}

bool start_counting() {
  if (!RangeProfiler::offered(injection.library.profiler)) {
    note("counters are not measured: that needs the CUPTI of CUDA 12.6 or later (this is %s)", injection.library.path);
    return false;
  }
  GpuLog().packer().start(append_gpu_record, nullptr, nullptr);  // names only
  listen_to_contexts();
  if (injection.mode == Mode::kStageCounters) {
    count_stages(injection.library);
    return true;
  }
  if (!count_kernels(injection.library)) return false;
  listen_to_launches();
  return true;
}

void start_once() {
  if (!start_recording()) return;
  injection.mode = chosen_mode();
  if (!load() || !subscribe()) return;
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  if (injection.mode == Mode::kTrace ? start_tracing() : start_counting()) std::atexit(finish_at_exit);
}

}  // namespace
}  // namespace nl::collector

// The program goes on whatever we found: what is missing is in the trace.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  pthread_once(&nl::collector::injection.once, nl::collector::start_once);
  return 1;
}
