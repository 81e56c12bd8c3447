#include "collector/gpu/trace.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "collector/gpu/buffers.h"
#include "collector/gpu/calls.h"
#include "collector/gpu/loaded_driver.h"
#include "collector/gpu/log.h"
#include "collector/host_program.h"
#include "collector/nvtx/recorder.h"
#include "collector/trace_format.h"

namespace nl::collector {
namespace {

using namespace trace_format;

struct Driver {
  int (*count)(int*);
  int (*get)(int*, int);
  int (*name)(char*, int, int);
  int (*memory)(std::size_t*, int);
  int (*uuid)(std::uint8_t*, int);
  int (*attribute)(int*, int, int);
};

// CUdevice_attribute
constexpr int kClockRate = 13, kSmCount = 16, kMemoryClockRate = 36, kMemoryBusWidth = 37, kL2Bytes = 38, kComputeMajor = 75,
              kComputeMinor = 76;

bool find_functions(const LoadedDriver& loaded, Driver& driver) {
  return loaded.find("cuDeviceGetCount", driver.count) && loaded.find("cuDeviceGet", driver.get) &&
         loaded.find("cuDeviceGetName", driver.name) && loaded.find("cuDeviceTotalMem_v2", driver.memory) &&
         (loaded.find("cuDeviceGetUuid_v2", driver.uuid) || loaded.find("cuDeviceGetUuid", driver.uuid)) &&
         loaded.find("cuDeviceGetAttribute", driver.attribute);
}

std::uint32_t attribute_of(const Driver& driver, int which, int device) {
  int value = 0;
  return driver.attribute(&value, which, device) == 0 && value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

void describe(const Driver& driver, int device, cupti::DeviceRecord& record) {
  std::size_t bytes = 0;
  if (driver.memory(&bytes, device) == 0) record.memory_bytes = bytes;
  driver.uuid(record.uuid, device);
  record.core_clock = attribute_of(driver, kClockRate, device);
  record.sm_count = attribute_of(driver, kSmCount, device);
  record.l2_bytes = attribute_of(driver, kL2Bytes, device);
  record.compute_major = attribute_of(driver, kComputeMajor, device);
  record.compute_minor = attribute_of(driver, kComputeMinor, device);
  // Two transfers a clock, in kHz times bytes.
  record.memory_bandwidth =
      std::uint64_t{2} * attribute_of(driver, kMemoryClockRate, device) * (attribute_of(driver, kMemoryBusWidth, device) / 8);
}

// Asks the CUDA driver in this process for its GPUs and calls visit for each, as CUPTI would have described it. It is
// for the case that CUPTI does not: CUPTI reports only GPUs that are found after it was asked to.
void visit_devices(void (*visit)(const cupti::DeviceRecord& device)) {
  const LoadedDriver loaded;
  Driver driver{};
  int count = 0;
  if (find_functions(loaded, driver) && driver.count(&count) == 0)
    for (int i = 0; i < count; ++i) {
      int device = 0;
      char name[256] = "";
      if (driver.get(&device, i) != 0 || driver.name(name, sizeof name - 1, device) != 0) continue;
      cupti::DeviceRecord record{};
      record.kind = cupti::kDevice;
      record.id = static_cast<std::uint32_t>(i);
      record.name = name;
      describe(driver, device, record);
      visit(record);
    }
}

int active_devices() {
  const LoadedDriver loaded;
  int (*count)(int*) = nullptr;
  int (*get)(int*, int) = nullptr;
  int (*state)(int, unsigned*, int*) = nullptr;
  int devices = 0, active = 0;
  if (loaded.find("cuDeviceGetCount", count) && loaded.find("cuDeviceGet", get) && loaded.find("cuDevicePrimaryCtxGetState", state) &&
      count(&devices) == 0)
    for (int i = 0; i < devices; ++i) {
      int device = 0, in_use = 0;
      unsigned flags = 0;
      if (get(&device, i) == 0 && state(device, &flags, &in_use) == 0 && in_use != 0) ++active;
    }
  return active;
}

struct GpuTrace {
  const CuptiLibrary* library = nullptr;  // nullptr: nothing is traced
  std::atomic<bool> off{false};
  std::atomic<bool> keeps{true};
  std::atomic<bool> ending{false};  // a thread may still write to what CUPTI was made to hand over
  std::atomic<std::int64_t> clock_ahead_ns{0};
  bool devices_known = false;  // under the log's lock
  bool own_clock = false;      // CUPTI stamps with our clock
  std::atomic<bool> peer_copies{false};
  GpuBuffers buffers;
  CallChooser calls;
};

constinit GpuTrace gpu;

const cupti::Api& api() { return gpu.library->api; }

CallChoice chosen_calls() {
  const char* text = text_from("NL_STAGE_CUDA_CALLS");
  if (text != nullptr && std::strcmp(text, "all") == 0) return CallChoice::kAll;
  if (text != nullptr && std::strcmp(text, "none") == 0) return CallChoice::kNone;
  return CallChoice::kWork;
}

std::uint64_t timestamp() { return static_cast<std::uint64_t>(now_ns()); }

const char* function_name(std::uint32_t domain, std::uint32_t function) {
  const char* name = nullptr;
  api().cuptiGetCallbackName(static_cast<cupti::Domain>(domain), function, &name);
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

void record_loss(GpuLog& log, LossReason reason, std::uint64_t records) {
  if (records == 0) return;
  Loss loss{{Kind::kLoss, sizeof(Loss), static_cast<std::uint32_t>(reason)}, records};
  log.append(&loss, sizeof loss);
}

void pack(std::uint8_t* buffer, std::size_t bytes) {
  GpuLog log;
  GpuPacker& packer = log.packer();
  std::int64_t ahead_ns = gpu.clock_ahead_ns.load(std::memory_order_relaxed);
  cupti::Activity* record = nullptr;
  while (api().cuptiActivityGetNextRecord(buffer, bytes, &record) == cupti::kSuccess) {
    bool is_call = record->kind == cupti::kRuntime || record->kind == cupti::kDriver;
    if (is_call && !gpu.calls.wanted(record->kind == cupti::kDriver ? kDomainDriver : kDomainRuntime,
                                     reinterpret_cast<const cupti::CallRecord*>(record)->function))
      continue;
    gpu.devices_known = gpu.devices_known || record->kind == cupti::kDevice;
    packer.add(record, ahead_ns);
  }
  packer.finish();
  std::size_t dropped = 0;
  api().cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  record_loss(log, LossReason::kDropped, dropped);
  record_loss(log, LossReason::kUnfinished, packer.take_unfinished());
}

void buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *max_records = 0;
  bool none = gpu.off.load(std::memory_order_relaxed) || gpu.ending.load(std::memory_order_relaxed);
  *buffer = none ? nullptr : gpu.buffers.take(*bytes, now_ns());
  if (*buffer == nullptr) *bytes = 0;
}

void buffer_completed(void*, std::uint32_t, std::uint8_t* buffer, std::size_t bytes, std::size_t valid_bytes) {
  if (buffer == nullptr || gpu.off.load(std::memory_order_relaxed)) return;
  if (gpu.keeps.load(std::memory_order_relaxed)) pack(buffer, valid_bytes);
  if (!gpu.ending.load(std::memory_order_relaxed)) gpu.buffers.give_back(buffer, bytes);
}

void check_clock() {
  std::int64_t before_ns = now_ns();
  std::uint64_t shown_ns = 0;
  if (api().cuptiGetTimestamp(&shown_ns) != cupti::kSuccess) return;
  std::int64_t after_ns = now_ns();
  ClockCheck check{{Kind::kClockCheck, sizeof(ClockCheck), 0}, before_ns + (after_ns - before_ns) / 2, 0, after_ns - before_ns};
  check.ahead_ns = static_cast<std::int64_t>(shown_ns) - check.time_ns;
  if (!gpu.own_clock) gpu.clock_ahead_ns.store(check.ahead_ns, std::memory_order_relaxed);
  GpuLog().append(&check, sizeof check);
}

// Not from a callback: the driver is asked, and it must not be in the middle of something.
void add_missing_devices() {
  {
    GpuLog log;
    if (gpu.devices_known) return;
    gpu.devices_known = true;
  }
  visit_devices([](const cupti::DeviceRecord& device) {
    GpuLog log;
    log.packer().add(reinterpret_cast<const cupti::Activity*>(&device), 0);
  });
}

bool prepare() {
  api().cuptiSetThreadIdType(cupti::kThreadIdSystem);
  gpu.own_clock =
      api().cuptiActivityRegisterTimestampCallback != nullptr && api().cuptiActivityRegisterTimestampCallback(timestamp) == cupti::kSuccess;
  std::uint8_t zeroed = 1;
  std::size_t bytes = sizeof zeroed;
  api().cuptiActivitySetAttribute(cupti::kZeroedBuffers, &bytes, &zeroed);
  std::size_t slot = static_cast<std::size_t>(number_from("NL_STAGE_GPU_BUFFER_KB", 4096, 64, 64 * 1024)) * 1024;
  long slots = number_from("NL_STAGE_GPU_BUFFERS", 64, 1, GpuBuffers::kMaxSlots);
  {
    GpuLog log;
    log.packer().start(append_gpu_record, function_name, thread_name);
  }
  if (gpu.buffers.create(slot, static_cast<std::size_t>(slots)) &&
      api().cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed) == cupti::kSuccess)
    return true;
  note(NoteCode::kNotRecorded, "there is no memory for CUPTI's buffers; %s", kNotRecorded);
  return false;
}

void record_session(CallChoice calls) {
  if (!gpu.keeps.load(std::memory_order_relaxed)) return;  // a recorder's session begins with its window
  std::uint32_t version = 0;
  api().cuptiGetVersion(&version);
  GpuSession session{{Kind::kGpuSession, sizeof(GpuSession), version}, now_ns(), static_cast<std::uint32_t>(calls), waits_are_calls()};
  GpuLog().append(&session, sizeof session);
}

constexpr cupti::Kind kPlaces[] = {cupti::kDevice, cupti::kContext};
constexpr cupti::Kind kWork[] = {cupti::kConcurrentKernel, cupti::kMemcpy, cupti::kMemset};

void enable(cupti::Kind kind) {
  cupti::Result result = api().cuptiActivityEnable(kind);
  if (result == cupti::kSuccess) return;
  note(NoteCode::kOther, "CUPTI does not record activity %u: %s (%d)", kind, words_for(*gpu.library, result), result);
}

void enable_kinds(CallChoice choice) {
  for (auto kind : kWork) enable(kind);
  if (graphs_as_wholes()) enable(cupti::kGraphTrace);  // it takes the place of the records of their nodes
  // They cost every launch 0.2 to 0.6 µs (of 4 to 6 on an H200). That there was a wait, and for how long, is known from
  // the call that waited; which stream for, from around_stream_wait().
  if (choice == CallChoice::kAll && api().cuptiActivityEnable(cupti::kSynchronization) == cupti::kSuccess &&
      api().cuptiActivityEnableAllSyncRecords != nullptr)
    api().cuptiActivityEnableAllSyncRecords(0);  // queries that found nothing finished do not synchronise
}

void enable_activities() {
  CallChoice choice = chosen_calls();
  record_session(choice);
  check_clock();
  gpu.calls.choose(api(), choice);
  for (auto kind : kPlaces) enable(kind);
  enable_kinds(choice);
  gpu.calls.enable(api());
}

void disable_work() {
  for (auto kind : kWork) api().cuptiActivityDisable(kind);
  for (auto kind : {cupti::kMemcpyPeer, cupti::kGraphTrace, cupti::kSynchronization}) api().cuptiActivityDisable(kind);
  gpu.calls.disable(api());
}

void record_tracing(std::uint32_t what) {
  if (!gpu.keeps.load(std::memory_order_relaxed)) return;
  const Tracing record{{Kind::kTracing, sizeof(Tracing), what}, now_ns()};
  GpuLog().append(&record, sizeof record);
}

}  // namespace

bool trace_gpu(const CuptiLibrary& library) {
  gpu.library = &library;
  if (!prepare()) {
    gpu.library = nullptr;
    return false;
  }
  enable_activities();
  return true;
}

void trace_peer_copies() {
  if (gpu.library == nullptr || gpu.ending.load(std::memory_order_relaxed) || gpu.peer_copies.exchange(true)) return;
  enable(cupti::kMemcpyPeer);
}

bool graphs_as_wholes() {
  const char* text = text_from("NL_STAGE_CUDA_GRAPHS");
  return text != nullptr && std::strcmp(text, "graph") == 0;
}

bool waits_are_calls() { return chosen_calls() == CallChoice::kWork; }

void pause_gpu_trace() {
  if (gpu.library == nullptr || gpu.ending.load(std::memory_order_relaxed)) return;
  record_tracing(kTracingOff);
  disable_work();
}

void resume_gpu_trace() {
  if (gpu.library == nullptr || gpu.ending.load(std::memory_order_relaxed)) return;
  enable_kinds(chosen_calls());
  gpu.calls.enable(api());
  if (gpu.peer_copies.load(std::memory_order_relaxed)) enable(cupti::kMemcpyPeer);
  record_tracing(kTracingOn);
}

void end_gpu_trace_soon() {
  if (gpu.library != nullptr && !gpu.ending.load(std::memory_order_relaxed)) record_tracing(kTracingEnds);
}

void begin_gpu_file() {
  if (gpu.library == nullptr) return;
  {
    GpuLog log;
    log.packer().restart();
    gpu.devices_known = false;
  }
  record_session(chosen_calls());
  check_clock();
  add_missing_devices();
}

bool several_devices_in_use() { return active_devices() > 1; }

void keep_gpu_records(bool keep) { gpu.keeps.store(keep, std::memory_order_relaxed); }

// Flag 0 brings only what has all its times; nothing is taken away from under the GPU.
void flush_gpu_trace() {
  if (gpu.library == nullptr) return;
  api().cuptiActivityFlushAll(0);
  check_clock();
  add_missing_devices();
}

// A thread may go on launching while the program ends: it must not be led into CUPTI, which ends with it.
void finish_gpu_trace() {
  if (gpu.library == nullptr) return;
  api().cuptiActivityFlushAll(0);
  disable_work();
  for (auto kind : kPlaces) api().cuptiActivityDisable(kind);
  gpu.ending.store(true, std::memory_order_relaxed);
  api().cuptiActivityFlushAll(cupti::kFlushForced);
  add_missing_devices();
}

void rescue_gpu_trace() {
  if (gpu.library != nullptr && !gpu.off.load(std::memory_order_relaxed)) api().cuptiActivityFlushAll(0);
}

void forget_gpu_trace() { gpu.off.store(true, std::memory_order_relaxed); }

}  // namespace nl::collector
