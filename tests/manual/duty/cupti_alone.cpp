// What CUPTI costs a program by itself: an injected library that has it record the GPU's work for 45 ms of every 450 ms, and throws the records away.
//
//   g++ -std=c++20 -O2 -shared -fPIC -I$CUDA/include cupti_alone.cpp -o libcupti_alone.so -L$CUDA/lib64 -lcupti
//   CUDA_INJECTION64_PATH=$PWD/libcupti_alone.so CUPTI_ALONE=kernels python llm.py
//
// CUPTI_ALONE: attached (nothing is ever recorded), kernels, calls, all, or finalize: all, and cuptiFinalize when a call returns after each time. What
// the collector asks of CUPTI besides can follow, each after a +: tids (threads by the system's numbers), clock (a clock of our own), listen (callbacks
// of resources and of waits for streams), flush (once a second). On standard error: how often it was on, and how many records there were.
#include <cupti.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;

constexpr auto kOn = 45ms, kOff = 405ms;
constexpr std::size_t kBufferBytes = 4 << 20;
constexpr CUpti_ActivityKind kWork[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

CUpti_SubscriberHandle subscriber;
bool kernels = false, calls = false, finalizes = false, tids = false, clocks = false, listens = false, flushes = false;
std::atomic<bool> to_finalize{false}, ending{false};
std::thread worker;
std::atomic<long> records{0}, times{0};

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = kBufferBytes;
  *most = 0;
}

void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t bytes) {
  for (CUpti_Activity* record = nullptr; cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS;) ++records;
  std::free(buffer);
}

void each_call(bool on, void (*set)(CUpti_CallbackDomain domain, CUpti_CallbackId function, bool on)) {
  for (const auto domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
    for (CUpti_CallbackId function = 1; function < 1000; ++function) {
      const char* name = nullptr;
      if (cuptiGetCallbackName(domain, function, &name) != CUPTI_SUCCESS || name == nullptr) continue;
      if (std::strstr(name, "Launch") != nullptr || std::strstr(name, "Synchronize") != nullptr || std::strstr(name, "Memcpy") != nullptr)
        set(domain, function, on);
    }
}

void record_calls(CUpti_CallbackDomain domain, CUpti_CallbackId function, bool on) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) cuptiActivityEnableRuntimeApi(function, on);
  else cuptiActivityEnableDriverApi(function, on);
}

void hear_calls(CUpti_CallbackDomain domain, CUpti_CallbackId function, bool on) { cuptiEnableCallback(on, subscriber, domain, function); }

// Where NVIDIA's documentation has cuptiFinalize called: a thread returns from a call.
void CUPTIAPI heard(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite != CUPTI_API_EXIT || !to_finalize.exchange(false)) return;
  cuptiFinalize();
}

std::uint64_t CUPTIAPI our_time() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void listen() {
  for (const auto what : {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                          CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
    cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, what);
  for (const auto domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API})
    for (CUpti_CallbackId function = 1; function < 1000; ++function) {
      const char* name = nullptr;
      if (cuptiGetCallbackName(domain, function, &name) == CUPTI_SUCCESS && name != nullptr &&
          std::strstr(name, "StreamSynchronize") != nullptr)
        cuptiEnableCallback(1, subscriber, domain, function);
    }
}

void attach() {
  cuptiSubscribe(&subscriber, heard, nullptr);
  if (tids) cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  if (clocks) cuptiActivityRegisterTimestampCallback(our_time);
  cuptiActivityRegisterCallbacks(requested, completed);
  if (listens) listen();
}

void switch_to(bool on) {
  for (const auto kind : kWork)
    if (kernels) on ? cuptiActivityEnable(kind) : cuptiActivityDisable(kind);
  if (calls) each_call(on, record_calls);
  times += on;
}

void take_turns() {
  while (!ending) {
    std::this_thread::sleep_for(kOff);
    if (finalizes && times > 0) attach();
    switch_to(true);
    std::this_thread::sleep_for(kOn);
    switch_to(false);
    if (flushes && times % 2 == 0) cuptiActivityFlushAll(0);  // about once a second
    if (!finalizes) continue;
    cuptiActivityFlushAll(0);
    to_finalize = true;
    each_call(true, hear_calls);
    for (int waited = 0; to_finalize && !ending && waited < 1000; ++waited) std::this_thread::sleep_for(1ms);
  }
}

// CUPTI ends after this: no thread may be inside.
void end() {
  ending = true;
  if (worker.joinable()) worker.join();
  std::fprintf(stderr, "cupti_alone: on %ld times, %ld records\n", times.load(), records.load());
}

}  // namespace

extern "C" int InitializeInjection() {
  const char* what = std::getenv("CUPTI_ALONE");
  if (what == nullptr) return 1;
  const std::string_view text = what, records = text.substr(0, text.find('+'));
  const auto asks = [&](const char* word) { return text.find(word) != std::string_view::npos; };
  finalizes = records == "finalize";
  kernels = finalizes || records == "kernels" || records == "all";
  calls = finalizes || records == "calls" || records == "all";
  tids = asks("tids"), clocks = asks("clock"), listens = asks("listen"), flushes = asks("flush");
  attach();
  std::atexit(end);
  if (kernels || calls) worker = std::thread(take_turns);
  return 1;
}
