// A program that "uses CUDA": like the driver, it loads what CUDA_INJECTION64_PATH names and calls its entry;
// FAKE_CUPTI is the library that stands in for the GPU. One mode per argument.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx/nl_nvtx.hpp"

namespace {

void* cupti = nullptr;

template <typename... Arguments>
void fake(const char* name, Arguments... arguments) {
  auto function = reinterpret_cast<void (*)(Arguments...)>(dlsym(cupti, name));
  if (function == nullptr) std::exit(99);
  function(arguments...);
}

constexpr const char* kGemm = "_Z4gemmILi128EEvPKfS1_Pfi";
constexpr const char* kNorm = "_Z8rms_normPKfPfi";

void launch(const char* name, int blocks = 8, unsigned stream = 7, unsigned long node = 0, int finished = 1) {
  fake<const char*, int, std::uint32_t, std::uint64_t, int>("fake_launch", name, blocks, stream, node, finished);
}

void launches(int count) {
  for (int i = 0; i < count; ++i) launch(i % 2 == 0 ? kGemm : kNorm, 8 + i % 3);
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Until all that was launched before is written. One flush may be under way already.
void await_flush() {
  auto flushes = reinterpret_cast<int (*)()>(dlsym(cupti, "fake_flushes"));
  const int enough = flushes() + 2;
  for (int i = 0; i < 2000 && flushes() < enough; ++i) pause_ms(5);
}

bool inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* collector = path != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
  auto entry = collector != nullptr ? reinterpret_cast<int (*)()>(dlsym(collector, "InitializeInjection")) : nullptr;
  return entry != nullptr && entry() == 1 && entry() == 1;  // once more does nothing
}

void copy(std::uint64_t bytes, int kind) { fake("fake_copy", bytes, kind); }
constexpr int kHostToDevice = 1, kPeerToPeer = 10;

void everything() {
  fake("fake_devices");
  for (int device : {0, 1}) fake("fake_context", device);
  {
    nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
    launch(kGemm, 16);
    launch(kNorm, 4, 9);
    copy(4096, kHostToDevice);
  }
  {
    nl::nvtx::Scope decode{nl::nvtx::kDecodeAll};
    for (int i = 0; i < 3; ++i) {
      nl::nvtx::Scope step{nl::nvtx::kDecodeStep, i};
      launch(kGemm, 2, 7, 1000 + static_cast<unsigned>(i));
    }
    copy(512, kPeerToPeer);
    fake<std::uint64_t>("fake_set", 64);
  }
  fake("fake_synchronize");
  launch(nullptr);
}

// Iterations of an LLM: 2 launches a prompt, `count` steps of 3.
void generate(int iterations, int count) {
  for (int i = 0; i < iterations; ++i) {
    {
      nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
      launch(kGemm, 16);
      launch(kNorm, 16);
    }
    nl::nvtx::Scope decode{nl::nvtx::kDecodeAll};
    for (int step = 0; step < count; ++step) {
      nl::nvtx::Scope range{nl::nvtx::kDecodeStep, step};
      launch(kGemm, 2);
      launch(kNorm, 2);
      launch(kGemm, 4);
    }
  }
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Keeps a processor busy, in code of the standard library that calls back.
[[gnu::noinline]] void settle_accounts(double seconds) {
  std::vector<int> accounts(512);
  for (const double end = thread_seconds() + seconds; thread_seconds() < end;) {
    for (std::size_t i = 0; i < accounts.size(); ++i) accounts[i] = static_cast<int>(i * 7919 % 509);
    std::sort(accounts.begin(), accounts.end(), [](int a, int b) { return a % 101 < b % 101; });
  }
}

int run(const std::string& mode, int count) {
  if (mode == "slow-host") {
    fake<int>("fake_context", 0);
    for (int step = 0; step < count; ++step) {
      nl::nvtx::Scope range{nl::nvtx::kDecodeStep, step};
      launches(4);
      settle_accounts(0.004);
      launches(4);
    }
  }
  if (mode == "generate" || mode == "generate-and-exit-now") {
    fake<int>("fake_context", 0);
    launches(5);  // outside of every stage
    generate(3, count);
    if (mode == "generate-and-exit-now") _exit(4);
  }
  if (mode == "generate-slowly") {
    fake<int>("fake_context", 0);
    for (int i = 0; i < 30; ++i) {
      generate(1, count);
      pause_ms(10);
    }
  }
  if (mode == "generate-on-threads") {
    fake<int>("fake_context", 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&] { generate(2, count); });
    for (std::thread& thread : threads) thread.join();
  }
  if (mode == "no-stage") {
    fake<int>("fake_context", 0);
    launches(20);
  }
  if (mode == "reset-and-go-on") {
    for (int i = 0; i < 2; ++i) {
      fake<int>("fake_context", 0);
      generate(1, count);
      fake("fake_device_reset");
      fake<int>("fake_context_gone", 0);
    }
  }
  if (mode == "second-gpu") {
    fake<int>("fake_context", 0);
    nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
    launch(kGemm, 16);
    fake<int>("fake_context", 1);
  }
  if (mode == "second-gpu") generate(1, count);
  if (mode == "capture") {
    fake<int>("fake_context", 0);
    fake<int>("fake_capture", 1);
    generate(1, count);
    fake<int>("fake_capture", 0);
    generate(1, count);
  }
  if (mode == "generate-in-its-mode") {  // of stream captures: it must stay what the program made it
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return 94;
    auto exchange = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuThreadExchangeStreamCaptureMode"));
    int kept = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
    exchange(&kept);
    fake<int>("fake_context", 0);
    generate(1, count);
    kept = 1;
    exchange(&kept);
    if (kept != 1) return 93;
  }
  if (mode == "no-config") {
    fake<int>("fake_context", 0);
    nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
    fake<const char*>("fake_launch_nothing", kGemm);
  }
  if (mode == "domains") {
    for (int i = 0; i < 20; ++i) {
      nvtxEventAttributes_t event{};
      event.version = NVTX_VERSION;
      event.size = sizeof event;
      event.messageType = NVTX_MESSAGE_TYPE_ASCII;
      event.message.ascii = "work";
      nvtxDomainHandle_t domain = nvtxDomainCreateA(("library " + std::to_string(i)).c_str());
      nvtxDomainRangePushEx(domain, &event);
      nvtxDomainRangePop(domain);
    }
    nvtxRangeEnd(0);
    fake<int>("fake_context", 0);
    generate(1, count);
  }
  if (mode == "fork-while-opening") {
    fake<int>("fake_context", 0);
    std::thread opens([&] { generate(1, count); });
    pause_ms(100);
    pid_t child = fork();
    if (child == 0) {
      generate(1, 1);
      _exit(0);
    }
    opens.join();
    for (int i = 0; i < 50; ++i, pause_ms(100))
      if (int child_status = 0; waitpid(child, &child_status, WNOHANG) == child) return child_status;
    kill(child, SIGKILL);
    return 90;
  }
  if (mode == "stages-until-the-end") {
    fake<int>("fake_context", 0);
    static std::atomic<int> generated{0};
    std::thread([] {
      for (;; ++generated) generate(1, 1);
    }).detach();
    while (generated < 10) pause_ms(1);
  }
  if (mode == "many-windows") {
    fake<int>("fake_context", 0);
    for (int i = 0; i < count; ++i) {
      nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
      launch(kGemm, 16);
    }
  }
  if (mode == "everything") everything();
  if (mode == "peer-copies") {  // the first cannot be: there is one GPU
    fake("fake_context", 0);
    copy(512, kPeerToPeer);
    count == 1 ? fake("fake_open_peer_memory") : fake("fake_context", 1);
    copy(1024, kPeerToPeer);
    fake("fake_context_gone", 1);
    copy(2048, kPeerToPeer);
  }
  if (mode == "graph") {
    auto make_node = [](std::uint64_t node, std::uint64_t original = 0) { fake("fake_make_node", node, original); };
    {
      nl::nvtx::Scope attention{"attention"};
      make_node(101);
    }
    {
      nl::nvtx::Scope mlp{"mlp"};
      make_node(102);
    }
    std::thread([&] { make_node(103); }).join();
    for (std::uint64_t node : {101, 102, 103}) make_node(node + 100, node);
    for (int step = 0; step < count; ++step)
      for (unsigned long node : {201ul, 202ul, 203ul, 999ul}) launch(kGemm, 2, 7, node);
  }
  if (mode == "launches") launches(count);
  if (mode == "launches-of-all-kinds") {
    launches(count);
    fake<std::uint32_t>("fake_launch_graph", 5);
    fake<std::uint32_t>("fake_launch_graph", 6);
    fake("fake_synchronize");
    copy(4096, kHostToDevice);
    std::thread([] { launches(1); }).join();
  }
  if (mode == "exit-now" || mode == "kill" || mode == "terminate") {
    launches(count);
    await_flush();
    launches(3);
    if (mode == "exit-now") _exit(3);
    raise(mode == "kill" ? SIGKILL : SIGTERM);
  }
  if (mode == "fork") {
    launches(count);
    nl::nvtx::mark("parent");
    if (fork() == 0) {
      launches(50);
      nl::nvtx::mark("child");
      std::exit(0);  // runs what was registered for the exit of the parent
    }
    wait(nullptr);
    launches(count);
  }
  if (mode == "unfinished") {
    launches(count);
    launch(kGemm, 8, 7, 0, 0);
    launches(1);
  }
  if (mode == "outlive") {
    static std::atomic<int> launched{0};
    std::thread([] {
      for (;; ++launched) {
        launches(1);
        std::this_thread::sleep_for(std::chrono::microseconds(1));  // otherwise no other thread may ever get the lock of the fake
      }
    }).detach();
    while (launched < 100) pause_ms(1);
  }
  if (mode == "threads") {
    std::thread one([&] { launches(count); }), two([&] { launches(count); });
    one.join();
    two.join();
  }
  if (mode == "waits") {
    fake("fake_devices");
    launch(kGemm, 8, 7);
    launch(kNorm, 8, 9);
    auto wait = [](std::uint32_t stream, std::uint32_t result = 0) { fake("fake_wait", stream, result); };
    for (std::uint32_t stream : {9, 7, 7, 0, 9}) wait(stream);
    std::thread([&] { wait(7); }).join();
    launch(kGemm, 8, 11);
    wait(11, 900);  // an error: it did not wait
    wait(11);
  }
  if (mode == "reset") {
    launches(count);
    fake("fake_device_reset");
    _exit(0);
  }
  if (mode == "names") {
    static std::string long_name = "_Z" + std::string(9000, 'x');
    launch(long_name.c_str());
    // The memory of a name is used again for another, as after a module was unloaded.
    static char reused[64];
    for (const char* name : {"first_kernel", "first_kernel_and_more", "second"}) {
      std::snprintf(reused, sizeof reused, "%s", name);
      launch(reused);
      await_flush();
    }
  }
  if (mode == "shapes")
    for (int i = 0; i < count; ++i) launch(kGemm, i + 1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  cupti = dlopen(std::getenv("FAKE_CUPTI"), RTLD_NOW);
  if (const char* driver = std::getenv("FAKE_CUDA"); driver != nullptr && dlopen(driver, RTLD_NOW) == nullptr) return 95;
  if (cupti == nullptr || argc < 2) return 98;
  if (std::getenv("CUDA_INJECTION64_PATH") != nullptr && !inject()) return 97;
  int status = run(argv[1], argc > 2 ? std::atoi(argv[2]) : 0);
  auto dirty = reinterpret_cast<int (*)()>(dlsym(cupti, "fake_saw_dirty_buffer"));
  return dirty() != 0 ? 96 : status;
}
