// The GPU half: the driver loads this library where CUDA_INJECTION64_PATH names it and calls InitializeInjection while
// CUDA starts. A process is either traced (and sampled, where that is asked for), or its counters are measured, or only the times of its
// launches are recorded.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <pthread.h>

#include "collector/counters/counters.h"
#include "collector/counters/range_profiler.h"
#include "collector/duty/duty.h"
#include "collector/gpu/calls.h"
#include "collector/gpu/contexts.h"
#include "collector/gpu/cupti_library.h"
#include "collector/gpu/launches.h"
#include "collector/gpu/log.h"
#include "collector/gpu/stream_capture.h"
#include "collector/gpu/trace.h"
#include "collector/host_program.h"
#include "collector/lock.h"
#include "collector/nvtx/recorder.h"
#include "collector/record/gpu_half.h"
#include "collector/record/recording.h"
#include "collector/sampling/samplers.h"

namespace nl::collector {
namespace {

using trace_format::kCountersNotMeasured, trace_format::kNotRecorded;

enum class Mode { kTrace, kStageCounters, kKernelCounters, kLaunches };

struct Injection {
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutex_t flush_mutex = PTHREAD_MUTEX_INITIALIZER;  // one flush at a time; taken before the log's lock
  std::atomic<bool> off{false};                             // after fork: CUDA is the parent's
  std::atomic<bool> exiting{false};
  long flush_ms = 1000;
  Mode mode = Mode::kTrace;
  CuptiLibrary library;
  cupti::Subscriber subscriber = nullptr;
};

constinit Injection injection;

void* flush_regularly(void*) {
  pthread_setname_np(pthread_self(), "nl-stage flush");
  timespec pause{injection.flush_ms / 1000, injection.flush_ms % 1000 * 1'000'000};
  while (!injection.exiting.load(std::memory_order_relaxed)) {
    nanosleep(&pause, nullptr);
    Lock lock(injection.flush_mutex);
    if (injection.exiting.load(std::memory_order_relaxed)) break;
    flush_gpu_trace();
    write_stalls();
  }
  return nullptr;
}

// Functions that give a process memory of another GPU on which it has no context of its own. Until one is called, or a second
// GPU has a context, no copy can be between GPUs.
bool brings_peer_memory(const char* driver_function) {
  constexpr const char* kNames[] = {"cuIpcOpenMemHandle", "cuMemImportFromShareableHandle", "cuMemPoolImportFromShareableHandle",
                                    "cuCtxEnablePeerAccess"};
  for (const char* name : kNames)
    if (std::strncmp(driver_function, name, std::strlen(name)) == 0) return true;
  return false;
}

// 0: CUPTI does not know it.
std::uint64_t number_of(void* node) {
  std::uint64_t number = 0;
  return node != nullptr && injection.library.api.cuptiGetGraphNodeId(node, &number) == cupti::kSuccess ? number : 0;
}

// A kernel of a CUDA graph tells the number of its node and not where the program made it: for a graph captured from a
// stream, in the call that was captured. CUPTI tells of that as it happens, long before the graph first runs. A graph is
// cloned when it is instantiated, so the nodes that run are clones.
void on_graph_node(std::uint32_t resource_callback, const cupti::ResourceData& resource) {
  if (resource.descriptor == nullptr) return;
  const auto& graph = *static_cast<const cupti::GraphData*>(resource.descriptor);
  const bool cloned = resource_callback == cupti::kGraphNodeCloned;
  const std::uint64_t node = number_of(graph.node), original = cloned ? number_of(graph.original_node) : 0;
  // A clone of something unknown must not pass for what was made here.
  if (node != 0 && (!cloned || original != 0)) record_graph_node(node, original);
}

struct Stream {
  std::uint32_t context, number;
  bool known;
};
constinit thread_local Stream last_stream{};  // that this thread waited for

// Which stream a call waits for is in no record of the call, and CUPTI's own records of waits slow every launch. So
// CUPTI tells us of these calls as they are made.
bool is_stream_wait(const char* function) {
  return std::strncmp(function, "cudaStreamSynchronize", 21) == 0 || std::strncmp(function, "cuStreamSynchronize", 19) == 0;
}

void around_stream_wait(const cupti::CallbackData& call) {
  if (call.site != cupti::kEnter || call.arguments == nullptr) return;
  void* handle = static_cast<const cupti::StreamWaitArguments*>(call.arguments)->stream;
  std::uint32_t number = 0;
  if (injection.library.api.cuptiGetStreamIdEx(call.context, handle, has_thread_streams(call.function), &number) != cupti::kSuccess)
    number = trace_format::kNoStream;
  if (last_stream.known && last_stream.context == call.context_id && last_stream.number == number) return;
  last_stream = {call.context_id, number, true};
  record_wait_stream(call.context_id, number);
}

// What belongs to the contexts goes with them.
void around_device_reset(const cupti::CallbackData& call) {
  if (call.site != cupti::kEnter) return;
  rescue_stage_counters();
  rescue_stall_samples();
  rescue_gpu_trace();
}

void around_counted_launch(const cupti::CallbackData& call) {
  if (call.site == cupti::kEnter) count_launch();
}

void around_driver_call(const cupti::CallbackData& call) {
  if (is_stream_wait(call.function)) around_stream_wait(call);
  else if (is_capture_function(call.function)) around_capture(call.function, call.site == cupti::kExit);
  else if (brings_peer_memory(call.function)) trace_peer_copies();
  else if (keeps_ring()) around_counted_launch(call);
  else around_launch(call);
}

void around_runtime_call(const cupti::CallbackData& call) {
  if (is_stream_wait(call.function)) around_stream_wait(call);
  else around_device_reset(call);
}

void on_resource(std::uint32_t what, const cupti::ResourceData& resource) {
  if (what == cupti::kGraphNodeCreated || what == cupti::kGraphNodeCloned) return on_graph_node(what, resource);
  void* context = resource.context;
  if (what == cupti::kContextDestroyStarting) {
    context_destroyed(context);
    forget_stage_counters_of(context);
    forget_kernel_counters_of(context);
    forget_stalls_of(context);
  }
  std::uint32_t device = 0;
  if (what != cupti::kContextCreated || !context_created(injection.library, context, device)) return;
  if (have_several_devices()) trace_peer_copies();
  sample_stalls_of(context, device);
  sample_activity_of(device);
}

// Told of as little as possible: every launch of the program passes here twice.
void on_launch_callback(void*, int, std::uint32_t function, const void* data) {
  const auto& call = *static_cast<const cupti::CallbackData*>(data);
  if (injection.off.load(std::memory_order_relaxed)) return;
  if (is_capture_function(call.function)) return around_capture(call.function, call.site == cupti::kExit);
  if (call.site == cupti::kEnter) time_launch(function, call);
}

void on_callback(void*, int domain, std::uint32_t function, const void* data) {
  if (injection.off.load(std::memory_order_relaxed)) return;
  int before = errno;
  switch (domain) {
    case cupti::kDomainResource: on_resource(function, *static_cast<const cupti::ResourceData*>(data)); break;
    case cupti::kDomainDriver: around_driver_call(*static_cast<const cupti::CallbackData*>(data)); break;
    case cupti::kDomainRuntime: around_runtime_call(*static_cast<const cupti::CallbackData*>(data)); break;
    default: break;
  }
  errno = before;  // the program's
}

void after_fork_in_child() {
  injection.off.store(true, std::memory_order_relaxed);
  if (!keeps_ring()) listen_to_ranges(nullptr);  // a recorder counts the steps of every process
  forget_gpu_trace();
}

Mode chosen_mode() {
  if (text_from("NL_STAGE_LAUNCHES") != nullptr) return Mode::kLaunches;
  const char* counters = text_from("NL_STAGE_COUNTERS");
  if (counters != nullptr && std::strcmp(counters, "stages") == 0) return Mode::kStageCounters;
  if (counters != nullptr && std::strcmp(counters, "kernels") == 0) return Mode::kKernelCounters;
  if (counters != nullptr) note(NoteCode::kOther, "NL_STAGE_COUNTERS is neither stages nor kernels: the program is traced");
  return Mode::kTrace;
}

bool counts() { return injection.mode == Mode::kStageCounters || injection.mode == Mode::kKernelCounters; }
bool times_launches() { return injection.mode == Mode::kLaunches; }
const char* what_is_lost() { return counts() ? kCountersNotMeasured : kNotRecorded; }
NoteCode loss_of_all() { return counts() ? NoteCode::kCountersFailed : NoteCode::kNotRecorded; }

bool load() {
  char trouble[1024];
  if (load_cupti(injection.library, trouble, sizeof trouble)) return true;
  note(loss_of_all(), "%s: %s", what_is_lost(), trouble);
  return false;
}

bool subscribe() {
  char holder[128] = "";
  cupti::SubscriberParams params{sizeof params, "nl-stage", holder, sizeof holder - 1};
  const cupti::Api& api = injection.library.api;
  cupti::Callback callback = times_launches() ? on_launch_callback : on_callback;
  cupti::Result result = api.cuptiSubscribe_v2 != nullptr ? api.cuptiSubscribe_v2(&injection.subscriber, callback, nullptr, &params)
                                                          : api.cuptiSubscribe(&injection.subscriber, callback, nullptr);
  if (result == cupti::kSuccess) return true;
  if (result == cupti::kMultipleSubscribers || result == cupti::kMaxLimitReached) {
    char loaded[512];
    name_cupti_clients(loaded, sizeof loaded);
    note(counts() ? NoteCode::kCountersBusy : NoteCode::kNotRecorded,
         "another CUPTI client holds this process (%s%s%s): %s. Run without that profiler, or let nl-stage use nsys",
         *holder != '\0' ? holder : "it gives no name", *loaded != '\0' ? "; loaded: " : "", loaded, what_is_lost());
  } else {
    note(loss_of_all(), "CUPTI (%s) does not start: %s (%d); %s", injection.library.path, words_for(injection.library, result), result,
         what_is_lost());
  }
  return false;
}

bool listen(cupti::Domain domain, std::uint32_t function) {
  auto enable = injection.library.api.cuptiEnableCallback;
  return enable != nullptr && enable(1, injection.subscriber, domain, function) == cupti::kSuccess;
}

bool listen_to_contexts() {
  listen(cupti::kDomainResource, cupti::kContextDestroyStarting);
  return listen(cupti::kDomainResource, cupti::kContextCreated) && injection.library.profiler.cuptiGetDeviceId != nullptr;
}

void listen_to(cupti::Domain domain, bool (*wanted)(const char* function)) {
  visit_functions(injection.library.api, domain, [&](std::uint32_t function, const char* name) {
    if (wanted(name)) listen(domain, function);
  });
}

void listen_to_device_reset() {
  listen_to(cupti::kDomainRuntime, [](const char* function) { return std::strncmp(function, "cudaDeviceReset", 15) == 0; });
}

// From the start of CUDA on: programs make their graphs while they warm up.
void listen_to_graph_nodes() {
  if (injection.library.api.cuptiGetGraphNodeId == nullptr) return;
  for (std::uint32_t what : {cupti::kGraphNodeCreated, cupti::kGraphNodeCloned}) listen(cupti::kDomainResource, what);
}

void listen_to_stream_waits() {
  if (injection.library.api.cuptiGetStreamIdEx == nullptr) return;
  listen_to(cupti::kDomainRuntime, is_stream_wait);
  listen_to(cupti::kDomainDriver, is_stream_wait);
}

// What is known of the program beside CUPTI's records.
void listen_to_program() {
  listen_to_device_reset();
  if (waits_are_calls()) listen_to_stream_waits();
  if (!graphs_as_wholes()) listen_to_graph_nodes();
  listen_to(cupti::kDomainDriver, brings_peer_memory);
  if (!listen_to_contexts()) trace_peer_copies();  // without those events a second GPU would go unnoticed
}

bool start_tracing() {
  if (!trace_gpu(injection.library)) return false;
  listen_to_program();
  sample_stalls(injection.library);
  sample_activity(injection.library);
  trace_chosen_steps();
  injection.flush_ms = number_from("NL_STAGE_FLUSH_MS", 1000, 10, 60'000);
  if (!run_in_background(flush_regularly))
    note(NoteCode::kOther, "no thread for flushing: a process that is killed loses more than a second");
  return true;
}

bool start_counting() {
  if (!RangeProfiler::offered(injection.library.profiler)) {
    note(NoteCode::kCountersFailed, "%s: that needs the CUPTI of CUDA 12.6 or later (this is %s)", kCountersNotMeasured,
         injection.library.path);
    return false;
  }
  GpuLog().packer().start(append_gpu_record, nullptr, nullptr);  // names only
  listen_to_contexts();
  listen_to_device_reset();
  find_stream_capture();
  if (injection.mode == Mode::kStageCounters) {
    listen_to(cupti::kDomainDriver, is_capture_function);
    count_stages(injection.library);
    return true;
  }
  if (!count_kernels(injection.library)) return false;
  listen_to(cupti::kDomainDriver, is_kernel_launch);
  return true;
}

// Nothing is asked of the GPU, and nothing is flushed: each record is in the file when the launch begins.
bool start_timing_launches() {
  find_stream_capture();
  listen_to(cupti::kDomainDriver, is_capture_function);
  bool any = false;
  visit_functions(injection.library.api, cupti::kDomainDriver, [&](std::uint32_t function, const char* name) {
    if (expect_launches(function, name)) any = listen(cupti::kDomainDriver, function) || any;
  });
  if (!any) note(NoteCode::kNotRecorded, "CUPTI (%s) does not tell of launches; %s", injection.library.path, kNotRecorded);
  return any;
}

bool start() {
  if (times_launches()) return start_timing_launches();
  return counts() ? start_counting() : start_tracing();
}

bool launches_work(const char* driver_function) {
  return is_kernel_launch(driver_function) || std::strncmp(driver_function, "cuGraphLaunch", 13) == 0;
}

// A window of a recorder. CUPTI is found, joined and set up while the program goes on. Joining is the one thing that its threads notice, once
// in the life of a process: a launch meanwhile takes 5 to 9 ms longer, whatever is called first. It is for good: cuptiFinalize() takes the
// cost of being attached away, and left a program whose CUDA graphs had run meanwhile with a launch failure.
bool attach_for_windows() {
  Lock lock(injection.flush_mutex);
  if (injection.exiting.load(std::memory_order_relaxed) || (injection.library.path[0] == '\0' && !load()) || !subscribe()) return false;
  keep_gpu_records(false);
  if (!trace_gpu(injection.library)) return false;
  listen_to_program();
  if (several_devices_in_use()) trace_peer_copies();  // their contexts were made before this listened
  pause_gpu_trace();
  injection.off.store(false, std::memory_order_relaxed);
  return true;
}

void count_launches(bool on) {
  visit_functions(injection.library.api, cupti::kDomainDriver, [&](std::uint32_t function, const char* name) {
    if (launches_work(name)) injection.library.api.cuptiEnableCallback(on ? 1 : 0, injection.subscriber, cupti::kDomainDriver, function);
  });
}

// Callbacks come last and go first: CUPTI was seen to lose those of functions whose records were asked for after them.
void begin_window() {
  Lock lock(injection.flush_mutex);
  keep_gpu_records(true);
  begin_gpu_file();
  resume_gpu_trace();
  count_launches(true);
}

// What was launched in the window ends after it, at once or some milliseconds later.
void end_window_of_gpu() {
  Lock lock(injection.flush_mutex);
  if (injection.exiting.load(std::memory_order_relaxed)) return;
  count_launches(false);
  pause_gpu_trace();
  for (const long pause_ms : {0L, 20L, 80L}) {
    timespec pause{0, pause_ms * 1'000'000};
    nanosleep(&pause, nullptr);
    flush_gpu_trace();
  }
  keep_gpu_records(false);
}

void flush_window() {
  Lock lock(injection.flush_mutex);
  if (!injection.exiting.load(std::memory_order_relaxed)) flush_gpu_trace();
}

constexpr GpuHalf kGpuHalf{attach_for_windows, begin_window, end_window_of_gpu, flush_window};

void wait_for_windows() {
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atexit(finish_at_exit);
  injection.off.store(true, std::memory_order_relaxed);  // until a window is armed
  offer_gpu_half(kGpuHalf);
}

void start_once() {
  if (!start_recording()) return;
  if (keeps_ring()) return wait_for_windows();
  injection.mode = chosen_mode();
  if (!load() || !subscribe()) return;
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  if (start()) {
    std::atexit(finish_at_exit);
    return;
  }
  injection.off.store(true, std::memory_order_relaxed);
  injection.library.api.cuptiUnsubscribe(injection.subscriber);  // another profiler may have it
}

}  // namespace

void finish_at_exit() {
  if (injection.off.load(std::memory_order_relaxed) || injection.exiting.exchange(true)) return;
  AskedLock lock(injection.flush_mutex, kPatienceSeconds);  // a flush that hangs in CUPTI must not keep the program from ending
  if (!lock) return;
  finish_duty();
  finish_stage_counters();
  finish_kernel_counters();
  finish_activity_samples();
  finish_stall_samples();
  finish_gpu_trace();
  injection.off.store(true, std::memory_order_relaxed);
  injection.library.api.cuptiUnsubscribe(injection.subscriber);
}

}  // namespace nl::collector

// The program goes on whatever we found: what is missing is in the trace.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  pthread_once(&nl::collector::injection.once, nl::collector::start_once);
  return 1;
}
