// A libcupti that does what the collector asks of the real one, without a GPU: it keeps the rules of buffers,
// flushes and subscribers. The fake_… functions stand for what a program does with CUDA. Built a second time
// with FAKE_CUPTI_OLD it has only the functions of CUDA 11.8.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <sys/syscall.h>
#include <unistd.h>

#include "collector/gpu/cupti_api.h"
#include "collector/gpu/cupti_profiler_api.h"
#include "tests/unit/collector/fake_cupti_profiler.h"

#define FAKE extern "C" __attribute__((visibility("default")))

#ifdef FAKE_CUPTI_OLD
void fake_profiler_launch() {}
#endif

namespace {

using namespace nl::collector::cupti;

// As long as CUDA 13's: a reader that assumes a length of its own would stumble.
constexpr std::size_t kKernelBytes = 208, kOtherBytes = 160;

std::size_t bytes_of(Kind kind) { return kind == kConcurrentKernel ? kKernelBytes : kOtherBytes; }

const std::map<std::pair<int, std::uint32_t>, const char*> kNames = {
    {{2, 17}, "cudaGetDevice_v3020"},          {{2, 41}, "cudaMemcpyAsync_v3020"},  {{2, 51}, "cudaMemsetAsync_v3020"},
    {{2, 131}, "cudaStreamSynchronize_v3020"}, {{2, 164}, "cudaDeviceReset_v3020"}, {{2, 165}, "cudaDeviceSynchronize_v3020"},
    {{2, 211}, "cudaLaunchKernel_v7000"},      {{1, 307}, "cuLaunchKernel"},        {{1, 308}, "cuStreamBeginCapture_v2"},
    {{1, 309}, "cuStreamEndCapture"},          {{1, 310}, "cuIpcOpenMemHandle_v2"}, {{1, 311}, "cuGraphLaunch"},
};

struct Fake {
  std::recursive_mutex mutex;
  std::set<int> kinds;
  std::set<std::pair<int, std::uint32_t>> functions, not_functions;
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  Timestamp timestamp = nullptr;
  Callback callback = nullptr;
  std::set<std::pair<int, std::uint32_t>> callbacks;
  std::uint8_t* buffer = nullptr;
  std::size_t bytes = 0, used = 0, dropped = 0;
  bool unfinished = false, zeroed = false, dirty = false;
  std::uint32_t correlation = 100;
  std::atomic<int> flushes{0};
};

Fake& fake() {
  static Fake* state = new Fake;  // outlives everybody, like the real one's
  return *state;
}

std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t now() { return fake().timestamp != nullptr ? fake().timestamp() : clock_ns(CLOCK_REALTIME); }

void deliver() {
  Fake& f = fake();
  if (f.buffer == nullptr) return;
  std::uint8_t* buffer = std::exchange(f.buffer, nullptr);
  std::size_t used = std::exchange(f.used, 0);
  f.unfinished = false;
  f.completed(nullptr, 0, buffer, f.bytes, used);
}

template <typename Record>
void write(const Record& record) {
  Fake& f = fake();
  std::size_t bytes = bytes_of(record.kind);
  if (f.buffer != nullptr && f.used + bytes > f.bytes) {
    if (std::getenv("FAKE_CUPTI_NEVER_READY") != nullptr) {
      ++f.dropped;
      return;
    }
    deliver();
  }
  if (f.buffer == nullptr) {
    std::size_t most = 0;
    if (f.requested == nullptr) return;
    f.requested(&f.buffer, &f.bytes, &most);
    // All bytes are 0 where the first is and each is as the one before it: megabytes, which a loop would take seconds for.
    if (f.buffer != nullptr && f.zeroed) f.dirty = f.dirty || f.buffer[0] != 0 || std::memcmp(f.buffer, f.buffer + 1, f.bytes - 1) != 0;
  }
  if (f.buffer == nullptr) {
    ++f.dropped;
    return;
  }
  std::memcpy(f.buffer + f.used, &record, sizeof record);
  f.used += bytes;
}

void call(Domain domain, std::uint32_t function, std::uint64_t start, std::uint64_t end, std::uint32_t correlation,
          std::uint32_t result = 0) {
  Fake& f = fake();
  Kind kind = domain == kDomainDriver ? kDriver : kRuntime;
  bool wanted = f.kinds.contains(kind) ? !f.not_functions.contains({domain, function}) : f.functions.contains({domain, function});
  if (!wanted) return;
  while (now() < end) {  // a call takes its time: what comes next in the program comes after it
  }
  write(CallRecord{kind, function, start, end, static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(syscall(SYS_gettid)),
                   correlation, result});
}

void call_back(Domain domain, std::uint32_t function, const void* data) {
  if (fake().callback != nullptr && fake().callbacks.contains({domain, function})) fake().callback(nullptr, domain, function, data);
}

#ifndef FAKE_CUPTI_OLD
Result choose(std::pair<int, std::uint32_t> function, bool on) {
  std::lock_guard lock(fake().mutex);
  (on ? fake().functions : fake().not_functions).insert(function);
  (on ? fake().not_functions : fake().functions).erase(function);
  return 0;
}
#endif

// The real one crashes a thread that is led into it after it was torn down.
bool torn_down = false;
struct TearDown {
  ~TearDown() {
    {
      std::lock_guard lock(fake().mutex);
      torn_down = true;
    }
    usleep(50'000);  // time for such a thread
  }
} tear_down;

void enter() {
  if (torn_down && (!fake().kinds.empty() || !fake().functions.empty() || fake().callback != nullptr)) std::abort();
}

int contexts[2];  // of two GPUs

// Of a call that does nothing more here: its begin and its end.
void call_back_around(Domain domain, std::uint32_t function, const char* name, const void* arguments = nullptr,
                      const char* symbol = nullptr) {
  CallbackData data{kEnter, name, arguments, nullptr, symbol, &contexts[0], 1, nullptr, 1};
  call_back(domain, function, &data);
  data.site = kExit;
  call_back(domain, function, &data);
}

// As the driver does it: CUPTI tells of the call's begin and of its end.
void launch_in_driver(const char* name, int blocks) {
  LaunchArguments arguments{const_cast<char*>(name), {static_cast<std::uint32_t>(blocks), 1, 1}, {128, 1, 1}, 0, nullptr};
  static std::atomic<std::uint32_t> calls{0};
  CallbackData data{kEnter, "cuLaunchKernel", &arguments, nullptr, name, &contexts[0], 1, nullptr, ++calls};
  call_back(kDomainDriver, 307, &data);
  fake_profiler_launch();
  data.site = kExit;
  call_back(kDomainDriver, 307, &data);
}

}  // namespace

FAKE Result cuptiGetVersion(std::uint32_t* version) { return *version = 130001, 0; }
FAKE Result cuptiSubscribe(Subscriber* subscriber, Callback callback, void*) {
  if (std::getenv("FAKE_CUPTI_HOLDER") != nullptr) return kMaxLimitReached;
  fake().callback = callback;
  *subscriber = &fake();
  return 0;
}
FAKE Result cuptiUnsubscribe(Subscriber) {
  std::lock_guard lock(fake().mutex);
  return fake().callback = nullptr, 0;
}
FAKE Result cuptiActivityRegisterCallbacks(BufferRequested requested, BufferCompleted completed) {
  if (std::getenv("FAKE_CUPTI_NO_BUFFERS") != nullptr) return 8;  // as where there is no memory
  fake().requested = requested;
  fake().completed = completed;
  return 0;
}
FAKE Result cuptiActivityEnable(Kind kind) {
  std::lock_guard lock(fake().mutex);
  return fake().kinds.insert(kind), 0;
}
FAKE Result cuptiActivityDisable(Kind kind) {
  std::lock_guard lock(fake().mutex);
  return fake().kinds.erase(kind), 0;
}
FAKE Result cuptiActivityFlushAll(std::uint32_t flag) {
  std::lock_guard lock(fake().mutex);
  if (flag == kFlushForced || !fake().unfinished) deliver();
  ++fake().flushes;
  return 0;
}
FAKE Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, Activity** record) {
  std::uint8_t* next = *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + bytes_of((*record)->kind);
  if (next >= buffer + valid) return kMaxLimitReached;
  *record = reinterpret_cast<Activity*>(next);
  return 0;
}
FAKE Result cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  return *dropped = std::exchange(fake().dropped, 0), 0;
}
FAKE Result cuptiActivitySetAttribute(Attribute attribute, std::size_t*, void* value) {
  if (attribute == kZeroedBuffers) fake().zeroed = *static_cast<std::uint8_t*>(value) != 0;
  return 0;
}
FAKE Result cuptiGetCallbackName(Domain domain, std::uint32_t function, const char** name) {
  // The real numbers have no gap of more than a few; these would end the search.
  static std::map<std::pair<int, std::uint32_t>, std::string> unused;
  auto found = kNames.find({domain, function});
  if (found == kNames.end() && function > 400) return 1;
  *name = found != kNames.end() ? found->second : (unused[{domain, function}] = "cuUnused" + std::to_string(function)).c_str();
  return 0;
}
FAKE Result cuptiGetTimestamp(std::uint64_t* time) { return *time = now(), 0; }
FAKE Result cuptiGetDeviceId(void* context, std::uint32_t* device) { return *device = context == &contexts[1], 0; }
// A node is its number.
FAKE Result cuptiGetGraphNodeId(void* node, std::uint64_t* id) {
  if (std::getenv("FAKE_CUPTI_NO_NODE_IDS") != nullptr) return 1;
  return *id = reinterpret_cast<std::uintptr_t>(node), 0;
}
FAKE Result cuptiSetThreadIdType(ThreadIdType) { return 0; }
FAKE Result cuptiGetResultString(Result, const char** text) { return *text = "CUPTI_ERROR_OF_THE_FAKE", 0; }
FAKE Result cuptiEnableCallback(std::uint32_t on, Subscriber, Domain domain, std::uint32_t function) {
  if (on != 0) fake().callbacks.insert({domain, function});
  else fake().callbacks.erase({domain, function});
  return 0;
}
#ifndef FAKE_CUPTI_OLD
FAKE Result cuptiGetStreamIdEx(void*, void* stream, std::uint8_t, std::uint32_t* id) {
  if (stream == nullptr) return 1;
  return *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream)), 0;
}
FAKE Result cuptiSubscribe_v2(Subscriber* subscriber, Callback callback, void* user, SubscriberParams* params) {
  const char* holder = std::getenv("FAKE_CUPTI_HOLDER");
  if (holder == nullptr) return cuptiSubscribe(subscriber, callback, user);
  std::strncpy(params->old_name, holder, params->old_name_bytes - 1);
  return kMultipleSubscribers;
}
FAKE Result cuptiActivityRegisterTimestampCallback(Timestamp timestamp) { return fake().timestamp = timestamp, 0; }
FAKE Result cuptiActivityEnableRuntimeApi(std::uint32_t function, std::uint8_t on) { return choose({2, function}, on != 0); }
FAKE Result cuptiActivityEnableDriverApi(std::uint32_t function, std::uint8_t on) { return choose({1, function}, on != 0); }
#endif

// A launch of `blocks` blocks on a stream; node 0: not in a graph. Records which call it came from.
FAKE void fake_launch(const char* name, int blocks, std::uint32_t stream, std::uint64_t node, int finished) {
  Fake& f = fake();
  std::lock_guard lock(f.mutex);
  enter();
  std::uint32_t correlation = ++f.correlation;
  call(kDomainRuntime, 17, now(), now(), ++f.correlation);  // cudaGetDevice, as programs do
  std::uint64_t start = now();
  launch_in_driver(name, blocks);
  call(kDomainRuntime, 211, start, start + 900, correlation);
  if (node != 0 && f.kinds.contains(kGraphTrace))
    return write(GraphRecord{kGraphTrace, correlation, start + 2000, start + 3500, 0, 3, 1, stream});
  if (!f.kinds.contains(kConcurrentKernel)) return;
  KernelRecord kernel{};
  kernel.kind = kConcurrentKernel;
  kernel.registers_per_thread = 32;
  kernel.start = finished != 0 ? start + 2000 : 0;
  kernel.end = finished != 0 ? start + 3500 : 0;
  kernel.context = 1;
  kernel.stream = stream;
  kernel.grid[0] = blocks;
  kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.block[0] = 128;
  kernel.static_shared = 512;
  kernel.dynamic_shared = 1024;
  kernel.correlation = correlation;
  kernel.name = name;
  kernel.graph_node = node;
  kernel.graph = node != 0 ? 3 : 0;
  write(kernel);
  f.unfinished = f.unfinished || finished == 0;
}

// A kernel that ran from one time to another, of CLOCK_MONOTONIC: what waits for other processes ends when they come.
FAKE void fake_ran(const char* name, std::uint32_t stream, std::uint64_t start, std::uint64_t end) {
  Fake& f = fake();
  std::lock_guard lock(f.mutex);
  enter();
  const std::uint32_t correlation = ++f.correlation;
  call(kDomainRuntime, 211, start > 2000 ? start - 2000 : 0, start > 1000 ? start - 1000 : 0, correlation);
  if (!f.kinds.contains(kConcurrentKernel)) return;
  KernelRecord kernel{};
  kernel.kind = kConcurrentKernel;
  kernel.registers_per_thread = 32;
  kernel.start = start;
  kernel.end = end;
  kernel.context = 1;
  kernel.stream = stream;
  kernel.grid[0] = kernel.grid[1] = kernel.grid[2] = kernel.block[1] = kernel.block[2] = 1;
  kernel.block[0] = 128;
  kernel.correlation = correlation;
  kernel.name = name;
  write(kernel);
}

FAKE void fake_copy(std::uint64_t bytes, int copy_kind) {
  Fake& f = fake();
  std::lock_guard lock(f.mutex);
  std::uint64_t start = now();
  std::uint32_t correlation = ++f.correlation;
  call(kDomainRuntime, 41, start, start + 500, correlation);
  if (copy_kind == 10) {
    if (!f.kinds.contains(kMemcpyPeer)) return;
    PeerCopyRecord peer{kMemcpyPeer, 10, 3, 3, 0, bytes, start + 800, start + 1800, 0, 1, 7, 0, 1, 1, 2, correlation, nullptr, 0, 0};
    return write(peer);
  }
  if (!f.kinds.contains(kMemcpy)) return;
  write(CopyRecord{kMemcpy, static_cast<std::uint8_t>(copy_kind), 1, 3, 0, bytes, start + 800, start + 1800, 0, 1, 7, correlation, 0, 0,
                   nullptr, 0, 0});
}

FAKE void fake_set(std::uint64_t bytes) {
  std::lock_guard lock(fake().mutex);
  std::uint64_t start = now();
  std::uint32_t correlation = ++fake().correlation;
  call(kDomainRuntime, 51, start, start + 400, correlation);
  if (!fake().kinds.contains(kMemset)) return;
  write(SetRecord{kMemset, 0, bytes, start + 700, start + 900, 0, 1, 7, correlation, 0, 3, 0, nullptr, 0, 0});
}

FAKE void fake_synchronize() {
  std::lock_guard lock(fake().mutex);
  std::uint64_t start = now();
  std::uint32_t correlation = ++fake().correlation;
  call(kDomainRuntime, 165, start, start + 7000, correlation, 0);
  if (fake().kinds.contains(kSynchronization)) write(SyncRecord{kSynchronization, 4, start, start + 6900, correlation, 1, 0xFFFFFFFF, 0});
}

FAKE void fake_wait(std::uint32_t stream, std::uint32_t result) {
  std::lock_guard lock(fake().mutex);
  std::uint64_t start = now();
  std::uint32_t correlation = ++fake().correlation;
  StreamWaitArguments arguments{reinterpret_cast<void*>(std::uintptr_t{stream})};
  CallbackData data{kEnter, "cudaStreamSynchronize", &arguments, nullptr, nullptr, &contexts[0], 1, nullptr, correlation};
  call_back(kDomainRuntime, 131, &data);
  call(kDomainRuntime, 131, start, now() + 5000, correlation, result);
  data.site = kExit;
  call_back(kDomainRuntime, 131, &data);
}

FAKE void fake_devices() {
  std::lock_guard lock(fake().mutex);
  DeviceRecord device{};
  device.kind = kDevice;
  device.memory_bandwidth = 4'814'304'000;  // kB/s, an H200's
  device.memory_bytes = 150'109'880'320;
  device.l2_bytes = 62'914'560;
  device.core_clock = 1'980'000;
  device.sm_count = 132;
  device.compute_major = 9;
  device.id = 0;
  for (int i = 0; i < 16; ++i) device.uuid[i] = static_cast<std::uint8_t>(0x10 + i);
  device.name = "NVIDIA Fake H200";
  write(device);
  write(ContextRecord{kContext, 1, 0, 2, 7});
}

FAKE void fake_context(int device) {
  ResourceData data{&contexts[device], nullptr, nullptr};
  call_back(kDomainResource, kContextCreated, &data);
}

FAKE void fake_context_gone(int device) {
  ResourceData data{&contexts[device], nullptr, nullptr};
  call_back(kDomainResource, kContextDestroyStarting, &data);
}

FAKE void fake_capture(int begins) {
  if (begins != 0) call_back_around(kDomainDriver, 308, "cuStreamBeginCapture_v2");
  else call_back_around(kDomainDriver, 309, "cuStreamEndCapture");
}

// A node is made; with an original, as a clone of it, which CUPTI tells of in two callbacks.
FAKE void fake_make_node(std::uint64_t node, std::uint64_t original) {
  auto handle = [](std::uint64_t number) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number)); };
  GraphData graph{nullptr, nullptr, handle(node), nullptr};
  ResourceData data{&contexts[0], nullptr, &graph};
  call_back(kDomainResource, kGraphNodeCreated, &data);
  graph.original_node = handle(original);
  if (original != 0) call_back(kDomainResource, kGraphNodeCloned, &data);
}

FAKE void fake_open_peer_memory() { call_back_around(kDomainDriver, 310, "cuIpcOpenMemHandle_v2"); }

// A faulty program's: the driver refuses it.
FAKE void fake_launch_nothing(const char* name) {
  LaunchExArguments arguments{nullptr, nullptr};
  call_back_around(kDomainDriver, 307, "cuLaunchKernelEx", &arguments, name);
}

FAKE void fake_launch_graph(std::uint32_t graph) {
  GraphLaunchArguments arguments{reinterpret_cast<void*>(std::uintptr_t{graph}), nullptr};
  call_back_around(kDomainDriver, 311, "cuGraphLaunch", &arguments);
}

FAKE void fake_device_reset() { call_back_around(kDomainRuntime, 164, "cudaDeviceReset"); }

FAKE int fake_flushes() { return fake().flushes; }

FAKE int fake_saw_dirty_buffer() {
  std::lock_guard lock(fake().mutex);
  return fake().dirty;
}
