// A program that the collector's tests run with the collector injected: one mode per argument.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvToolsExt.h>

#include "nvtx/nl_nvtx.hpp"

namespace {

void everything() {
  nvtxNameOsThreadA(static_cast<std::uint32_t>(gettid()), "the main thread");
  nl::nvtx::mark("begin");
  nl::nvtx::tokens(256, 2);
  {
    nl::nvtx::Scope prefill{nl::nvtx::kPrefill};
    nl::nvtx::Layer layer{"model.layers.0", "Block"};
    nl::nvtx::Operator op{"attention", 3};
  }
  {
    nl::nvtx::Scope decode{nl::nvtx::kDecodeAll};
    for (int i = 0; i < 3; ++i) nl::nvtx::Scope step{nl::nvtx::kDecodeStep, i};
  }
  nvtxRangePushA("LLM@prefill");
  nvtxRangePushW(L"größe 大 🙂");
  nvtxRangePop();
  nvtxRangePushW(L"\x7f\x80\u07ff\u0800\uffff\U00010000");  // the last and the first of each length in UTF-8
  nvtxRangePop();
  nvtxRangePop();
  nvtxMarkA("default mark");

  nvtxDomainHandle_t domain = nvtxDomainCreateA("other");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  event.messageType = NVTX_MESSAGE_UNKNOWN;
  nvtxDomainRangePushEx(domain, &event);  // a range without a name
  nvtxDomainRangePop(domain);

  nvtxRangeEnd(nvtxRangeStartA("same thread"));
  nvtxRangeId_t crossing = nvtxRangeStartA("crossing");
  std::thread([&] {
    nvtxRangePushA("worker");
    nvtxRangeEnd(crossing);
    nvtxRangePop();
  }).join();
  nvtxRangePushA("left open");
  nvtxRangeStartA("never ended");
  nvtxMarkA("last");
}

void pairs(const char* name, int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

void threads(int count, int each) {
  std::vector<std::thread> all;
  for (int t = 0; t < count; ++t)
    all.emplace_back([=] {
      std::string outer = "thread " + std::to_string(t);
      nvtxRangePushA(outer.c_str());
      for (int i = 0; i < each; ++i) {
        nl::nvtx::Scope step{nl::nvtx::kDecodeStep, i};
        nl::nvtx::Operator op{i % 2 == 0 ? "even" : "odd"};
      }
      nvtxRangePop();
    });
  for (std::thread& thread : all) thread.join();
}

// Names come first, so that the child must write strings that only the parent had met.
void fork_children() {
  pairs("parent", 5);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("before fork");
  for (int i = 0; i < 2; ++i) {
    pid_t child = fork();
    if (child == 0) {
      pairs("parent", 2);
      nvtxEventAttributes_t event = nl::nvtx::detail::event("child", i);
      nvtxDomainRangePushEx(domain, &event);
      nvtxDomainRangePop(domain);
      std::thread([] { pairs("child thread", 1); }).join();
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  pairs("after fork", 3);
}

void die_while_busy() {
  std::atomic<int> ready{0};
  for (int t = 0; t < 3; ++t)
    std::thread([&ready] {
      for (bool first = true;; first = false) {
        pairs("busy", 1000);
        if (first) ++ready;
      }
    }).detach();
  while (ready < 3) std::this_thread::yield();
  kill(getpid(), SIGKILL);
}

// Each name is met for the first time: more of them than the collector's table has room for at first.
void names(int count) {
  for (int i = 0; i < count; ++i) pairs(("name " + std::to_string(i)).c_str(), 1);
  for (int i = 0; i < count; ++i) pairs(("name " + std::to_string(i)).c_str(), 1);
}

// The handler interrupts the recorder itself again and again, and uses NVTX too.
void signals(int count) {
  pairs("first", 1);  // NVTX itself does not bear a signal while it loads the collector
  struct sigaction action{};
  action.sa_handler = [](int) { pairs("in handler", 1); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  itimerval often{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < count; ++i) pairs(("name " + std::to_string(i % 5000)).c_str(), 1);
  itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

// In the child the thread that forked is the only one; it ends, and one that it made goes on.
void fork_in_thread() {
  std::thread([] {
    pairs("before", 3);
    pid_t child = fork();
    if (child == 0) {
      pairs("child", 2);
      std::thread([] {
        for (int i = 0; i < 20; ++i) std::thread([] { pairs("grandchild", 1); }).join();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        pairs("last", 1);
        _exit(0);
      }).detach();
      pthread_exit(nullptr);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) _exit(9);
  }).join();
  pairs("after", 1);
}

// What a daemon does: closes every descriptor, leaves its folder, opens files under the freed numbers.
int daemonise() {
  pairs("before", 10);
  for (int fd = 3; fd < 64; ++fd) close(fd);
  std::string name = (std::filesystem::temp_directory_path() / "nl-collector-XXXXXX").string();
  int mine = mkstemp(name.data());
  if (mine < 0 || chdir("/") != 0) return 4;
  pairs("after", 10000);
  off_t size = lseek(mine, 0, SEEK_END);
  unlink(name.c_str());
  return size == 0 ? 0 : 5;
}

int check_depths() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("depths");
  nvtxEventAttributes_t event = nl::nvtx::detail::event("x");
  bool right = nvtxRangePushA("a") == 0 && nvtxRangePushA("b") == 1 && nvtxDomainRangePushEx(domain, &event) == 0 && nvtxRangePop() == 1 &&
               nvtxDomainRangePop(domain) == 0 && nvtxRangePop() == 0 && nvtxRangePop() < 0;
  return right ? 0 : 6;
}

void measure(int count) {
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) {
    nl::nvtx::Scope step{nl::nvtx::kDecodeStep, i};
  }
  auto time = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f ns per push/pop pair\n", std::chrono::duration<double, std::nano>(time).count() / count);
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (mode == "everything") everything();
  else if (mode == "pairs") pairs("pair", count);
  else if (mode == "threads") threads(count, argc > 3 ? std::atoi(argv[3]) : 0);
  else if (mode == "short-threads")
    for (int i = 0; i < count; ++i) std::thread([] { pairs("short", 1); }).join();
  else if (mode == "fork") fork_children();
  else if (mode == "names") names(count);
  else if (mode == "signals") signals(count);
  else if (mode == "fork-in-thread") fork_in_thread();
  else if (mode == "cut") {  // a character of three bytes lies over the cut, two or one byte of it before
    for (std::size_t before : {4096u, 4095u, 4094u, 4093u}) pairs((std::string(before, 'x') + "大大").c_str(), 1);
  } else if (mode == "exec-self") {
    pairs("pair", 1);
    if (count > 0) execl(argv[0], argv[0], "exec-self", std::to_string(count - 1).c_str(), nullptr);
  } else if (mode == "_exit") {
    pairs("pair", count);
    nvtxRangePushA("open");
    _exit(3);
  } else if (mode == "kill") {
    pairs("pair", count);
    nvtxRangePushA("open");
    kill(getpid(), SIGKILL);
  } else if (mode == "kill-busy") die_while_busy();
  else if (mode == "daemon") return daemonise();
  else if (mode == "depths") return check_depths();
  else if (mode == "limit") {
    rlimit limit{100 * 1024, 100 * 1024};
    setrlimit(RLIMIT_FSIZE, &limit);
    pairs("pair", count);
  } else if (mode == "long") {
    pairs(std::string(100'000, 'x').c_str(), 1);
  } else if (mode == "measure") measure(count);
  else return 2;
  return 0;
}
