// The GPU half: the driver loads this library where CUDA_INJECTION64_PATH names it and calls
// InitializeInjection while CUDA starts. CUPTI then fills our buffers; what comes back full is packed and
// appended to the trace file on the spot, so that a killed process has lost only what CUPTI still held.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "collector/cupti_library.h"
#include "collector/gpu_buffers.h"
#include "collector/gpu_calls.h"
#include "collector/gpu_devices.h"
#include "collector/gpu_packer.h"
#include "collector/recorder.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using namespace trace_format;

struct Gpu {
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutex_t pack_mutex = PTHREAD_MUTEX_INITIALIZER;   // the packer and the file's GPU chunk
  pthread_mutex_t flush_mutex = PTHREAD_MUTEX_INITIALIZER;  // one flush at a time; taken before pack_mutex
  std::atomic<bool> off{false};      // after fork: CUDA is the parent's
  std::atomic<bool> exiting{false};
  std::atomic<std::int64_t> clock_ahead_ns{0};
  bool devices_known = false;        // under pack_mutex
  bool own_clock = false;            // CUPTI stamps with our clock
  long flush_ms = 1000;
  CuptiLibrary library;
  cupti::Subscriber subscriber = nullptr;
  GpuBuffers buffers;
  GpuPacker packer;
  CallChooser calls;
};

constinit Gpu gpu;

long number_from(const char* variable, long otherwise, long least, long most) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < least || value > most) return otherwise;
  return value;
}

CallChoice chosen_calls() {
  const char* text = std::getenv("NL_STAGE_CUDA_CALLS");
  if (text != nullptr && std::strcmp(text, "all") == 0) return CallChoice::kAll;
  if (text != nullptr && std::strcmp(text, "none") == 0) return CallChoice::kNone;
  return CallChoice::kWork;
}

// Into the trace, where the report finds it, and to the user who started the program by hand.
void note(const char* text) {
  alignas(8) char buffer[sizeof(String) + 2048] = {};
  std::size_t length = strnlen(text, 2040);
  String record{{Kind::kNote, static_cast<std::uint16_t>((sizeof(String) + length + 7) / 8 * 8), 0},
                static_cast<std::uint32_t>(length), 0};
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, text, length);
  pthread_mutex_lock(&gpu.pack_mutex);
  append_gpu_record(buffer, record.head.bytes);
  pthread_mutex_unlock(&gpu.pack_mutex);
  char line[2200];
  int bytes = std::snprintf(line, sizeof line, "nl-stage collector: %s\n", text);
  if (bytes > 0 && write(STDERR_FILENO, line, static_cast<std::size_t>(bytes)) < 0) return;  // nobody is left to be told
}

const char* words_for(cupti::Result result) {
  const char* text = nullptr;
  if (gpu.library.api.cuptiGetResultString != nullptr) gpu.library.api.cuptiGetResultString(result, &text);
  return text != nullptr ? text : "unknown error";
}

std::uint64_t timestamp() { return static_cast<std::uint64_t>(now_ns()); }

const char* function_name(std::uint32_t domain, std::uint32_t function) {
  const char* name = nullptr;
  gpu.library.api.cuptiGetCallbackName(static_cast<cupti::Domain>(domain), function, &name);
  return name;
}

void thread_name(std::uint32_t tid, char (&name)[16]) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return;
  std::size_t length = std::fread(name, 1, sizeof name - 1, file);
  name[length] = '\0';
  name[std::strcspn(name, "\n")] = '\0';
  std::fclose(file);
}

void record_loss(LossReason reason, std::uint64_t records) {
  if (records == 0) return;
  Loss loss{{Kind::kLoss, sizeof(Loss), static_cast<std::uint32_t>(reason)}, records};
  append_gpu_record(&loss, sizeof loss);
}

void pack(std::uint8_t* buffer, std::size_t bytes) {
  std::int64_t ahead_ns = gpu.clock_ahead_ns.load(std::memory_order_relaxed);
  cupti::Activity* record = nullptr;
  while (gpu.library.api.cuptiActivityGetNextRecord(buffer, bytes, &record) == cupti::kSuccess) {
    bool is_call = record->kind == cupti::kRuntime || record->kind == cupti::kDriver;
    if (is_call && !gpu.calls.wanted(record->kind == cupti::kDriver ? kDomainDriver : kDomainRuntime,
                                     reinterpret_cast<const cupti::CallRecord*>(record)->function))
      continue;
    gpu.devices_known = gpu.devices_known || record->kind == cupti::kDevice;
    gpu.packer.add(record, ahead_ns);
  }
  gpu.packer.finish();
  std::size_t dropped = 0;
  gpu.library.api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  record_loss(LossReason::kDropped, dropped);
  record_loss(LossReason::kUnfinished, gpu.packer.take_unfinished());
}

void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *max_records = 0;
  *buffer = gpu.off.load(std::memory_order_relaxed) ? nullptr : gpu.buffers.take(*bytes, now_ns());
  if (*buffer == nullptr) *bytes = 0;
}

void buffer_completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes) {
  if (buffer == nullptr || gpu.off.load(std::memory_order_relaxed)) return;
  pthread_mutex_lock(&gpu.pack_mutex);
  pack(buffer, valid_bytes);
  pthread_mutex_unlock(&gpu.pack_mutex);
  gpu.buffers.give_back(buffer, bytes);
}

void check_clock() {
  std::int64_t before_ns = now_ns();
  std::uint64_t shown_ns = 0;
  if (gpu.library.api.cuptiGetTimestamp(&shown_ns) != cupti::kSuccess) return;
  std::int64_t after_ns = now_ns();
  ClockCheck check{{Kind::kClockCheck, sizeof(ClockCheck), 0}, before_ns + (after_ns - before_ns) / 2, 0, after_ns - before_ns};
  check.ahead_ns = static_cast<std::int64_t>(shown_ns) - check.time_ns;
  if (!gpu.own_clock) gpu.clock_ahead_ns.store(check.ahead_ns, std::memory_order_relaxed);
  pthread_mutex_lock(&gpu.pack_mutex);
  append_gpu_record(&check, sizeof check);
  pthread_mutex_unlock(&gpu.pack_mutex);
}

// Not from a callback: the driver is asked, and it must not be in the middle of something.
void add_missing_devices() {
  pthread_mutex_lock(&gpu.pack_mutex);
  bool known = gpu.devices_known;
  gpu.devices_known = true;
  pthread_mutex_unlock(&gpu.pack_mutex);
  if (known) return;
  visit_devices([](const cupti::DeviceRecord& device) {
    pthread_mutex_lock(&gpu.pack_mutex);
    gpu.packer.add(reinterpret_cast<const cupti::Activity*>(&device), 0);
    pthread_mutex_unlock(&gpu.pack_mutex);
  });
}

// Flag 0 brings only what has all its times; nothing is taken away from under the GPU.
void* flush_regularly(void*) {
  pthread_setname_np(pthread_self(), "nl-stage flush");
  timespec pause{gpu.flush_ms / 1000, gpu.flush_ms % 1000 * 1'000'000};
  while (!gpu.exiting.load(std::memory_order_relaxed)) {
    nanosleep(&pause, nullptr);
    pthread_mutex_lock(&gpu.flush_mutex);
    if (!gpu.exiting.load(std::memory_order_relaxed)) {
      gpu.library.api.cuptiActivityFlushAll(0);
      check_clock();
      add_missing_devices();
    }
    pthread_mutex_unlock(&gpu.flush_mutex);
  }
  return nullptr;
}

void flush_at_exit() {
  if (gpu.off.load(std::memory_order_relaxed) || gpu.exiting.exchange(true)) return;
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;  // a flush that hangs in CUPTI must not keep the program from ending
  if (pthread_mutex_timedlock(&gpu.flush_mutex, &until) != 0) return;
  gpu.library.api.cuptiActivityFlushAll(0);
  gpu.library.api.cuptiActivityFlushAll(cupti::kFlushForced);
  add_missing_devices();
  pthread_mutex_unlock(&gpu.flush_mutex);
}

// cudaDeviceReset takes the records with it.
void before_device_reset(void*, int, std::uint32_t, const void*) {
  if (!gpu.off.load(std::memory_order_relaxed)) gpu.library.api.cuptiActivityFlushAll(0);
}

void after_fork_in_child() { gpu.off.store(true, std::memory_order_relaxed); }

bool subscribe() {
  char holder[128] = "";
  cupti::SubscriberParams params{sizeof params, "nl-stage", holder, sizeof holder - 1};
  const cupti::Api& api = gpu.library.api;
  cupti::Result result = api.cuptiSubscribe_v2 != nullptr
                             ? api.cuptiSubscribe_v2(&gpu.subscriber, before_device_reset, nullptr, &params)
                             : api.cuptiSubscribe(&gpu.subscriber, before_device_reset, nullptr);
  if (result == cupti::kSuccess) return true;
  char text[1800];
  if (result == cupti::kMultipleSubscribers || result == cupti::kMaxLimitReached) {
    char loaded[512];
    name_cupti_clients(loaded, sizeof loaded);
    std::snprintf(text, sizeof text,
                  "another CUPTI client holds this process (%s%s%s): kernels, copies and CUDA calls are not recorded. Run without "
                  "that profiler, or let nl-stage use nsys",
                  *holder != '\0' ? holder : "it gives no name", *loaded != '\0' ? "; loaded: " : "", loaded);
  } else {
    std::snprintf(text, sizeof text, "CUPTI (%s) does not start: %s (%d); kernels, copies and CUDA calls are not recorded",
                  gpu.library.path, words_for(result), result);
  }
  note(text);
  return false;
}

bool prepare() {
  const cupti::Api& api = gpu.library.api;
  api.cuptiSetThreadIdType(cupti::kThreadIdSystem);
  gpu.own_clock = api.cuptiActivityRegisterTimestampCallback != nullptr &&
                  api.cuptiActivityRegisterTimestampCallback(timestamp) == cupti::kSuccess;
  std::uint8_t zeroed = 1;
  std::size_t bytes = sizeof zeroed;
  api.cuptiActivitySetAttribute(cupti::kZeroedBuffers, &bytes, &zeroed);
  std::size_t slot = static_cast<std::size_t>(number_from("NL_STAGE_GPU_BUFFER_KB", 1024, 64, 64 * 1024)) * 1024;
  long slots = number_from("NL_STAGE_GPU_BUFFERS", 64, 1, GpuBuffers::kMaxSlots);
  gpu.packer.start(append_gpu_record, function_name, thread_name);
  if (gpu.buffers.create(slot, static_cast<std::size_t>(slots)) &&
      api.cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) == cupti::kSuccess)
    return true;
  note("there is no memory for CUPTI's buffers; kernels, copies and CUDA calls are not recorded");
  return false;
}

void record_session(CallChoice calls) {
  std::uint32_t version = 0;
  gpu.library.api.cuptiGetVersion(&version);
  GpuSession session{{Kind::kGpuSession, sizeof(GpuSession), version}, now_ns(), static_cast<std::uint32_t>(calls), 0};
  pthread_mutex_lock(&gpu.pack_mutex);
  append_gpu_record(&session, sizeof session);
  pthread_mutex_unlock(&gpu.pack_mutex);
}

void enable_activities() {
  const cupti::Api& api = gpu.library.api;
  CallChoice choice = chosen_calls();
  record_session(choice);
  check_clock();
  for (auto kind : {cupti::kDevice, cupti::kContext, cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemcpyPeer, cupti::kMemset}) {
    cupti::Result result = api.cuptiActivityEnable(kind);
    if (result == cupti::kSuccess) continue;
    char text[256];
    std::snprintf(text, sizeof text, "CUPTI does not record activity %u: %s (%d)", kind, words_for(result), result);
    note(text);
  }
  if (choice != CallChoice::kNone && api.cuptiActivityEnable(cupti::kSynchronization) == cupti::kSuccess &&
      api.cuptiActivityEnableAllSyncRecords != nullptr)
    api.cuptiActivityEnableAllSyncRecords(0);  // queries that found nothing finished are no synchronisation
  gpu.calls.enable(api, choice);
  if (api.cuptiEnableCallback != nullptr && gpu.calls.device_reset() != 0)
    api.cuptiEnableCallback(1, gpu.subscriber, cupti::kDomainRuntime, gpu.calls.device_reset());
}

// The program's signals stay the program's: this thread takes none.
void start_flushing() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  gpu.flush_ms = number_from("NL_STAGE_FLUSH_MS", 1000, 10, 60'000);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, flush_regularly, nullptr) != 0)
    note("no thread for flushing: a process that is killed loses more than a second");
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void start_once() {
  if (!start_recording()) return;
  char trouble[1024];
  if (!load_cupti(gpu.library, trouble, sizeof trouble)) {
    char text[1200];
    std::snprintf(text, sizeof text, "kernels, copies and CUDA calls are not recorded: %s", trouble);
    note(text);
    return;
  }
  if (!subscribe() || !prepare()) return;
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  enable_activities();
  std::atexit(flush_at_exit);
  start_flushing();
}

}  // namespace
}  // namespace nl::collector

// The program goes on whatever we found: what is missing is in the trace.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  pthread_once(&nl::collector::gpu.once, nl::collector::start_once);
  return 1;
}
