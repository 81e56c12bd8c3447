// A program that is recorded: steps with marks, as an engine makes them, for so long. recorded_program MS [WORD...]
//   idle      every other step launches nothing      slow      every 40th step takes twenty times as long
//   child     a child of fork makes steps, too       cleared   a child that is started with an empty environment does
//   unmarked  steps have no marks                    quiet     nothing at all
//   forks     every 20th step makes a child that records a range and ends
//   busy      steps do nothing but that
//   hangs     a step takes 2.5 s, and launches all the time
//   nccl      each step calls three collectives, as NCCL marks them
//   ahead     a child calls one collective before its first step; "stage": four in each step, as another stage of a pipeline
//   small     batches of 2 requests, in place of 8; from the 100th step on of 8
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nvtx/nl_nvtx.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds, std::chrono::milliseconds;

void (*launch)(const char*, int, std::uint32_t, std::uint64_t, int) = nullptr;

// As the driver does: it loads what CUDA_INJECTION64_PATH names.
void start_cuda() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  const char* fake = std::getenv("FAKE_CUPTI");
  void* collector = path != nullptr && fake != nullptr ? dlopen(path, RTLD_NOW) : nullptr;
  auto entry = collector != nullptr ? reinterpret_cast<int (*)()>(dlsym(collector, "InitializeInjection")) : nullptr;
  if (entry == nullptr) return;
  entry();
  void* cupti = dlopen(fake, RTLD_NOW);
  launch = reinterpret_cast<decltype(launch)>(dlsym(cupti, "fake_launch"));
}

std::string requests(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += (i == 1 ? "" : ",") + std::to_string(i) + ":decode:1";
  return text;
}

void fork_once() {
  const pid_t child = fork();
  if (child == 0) {
    {
      nl::nvtx::Scope range{"in the child"};
    }
    _exit(0);  // as the children of Python's multiprocessing; the stand-in for CUPTI would wait for a lock of the parent at exit()
  }
  waitpid(child, nullptr, 0);
}

void push(nvtxDomainHandle_t domain, const char* name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = sizeof event;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(domain, &event);
}

void call_collectives(int count) {
  static nvtxDomainHandle_t nccl = nvtxDomainCreateA("NCCL");
  for (int i = 0; i < count; ++i) {
    push(nccl, "ncclAllReduce");
    nvtxDomainRangePop(nccl);
  }
}

void make_steps(milliseconds time, const std::set<std::string>& words) {
  nvtxDomainHandle_t engine = nvtxDomainCreateA("engine");
  const Clock::time_point end = Clock::now() + time;
  for (int i = 0; Clock::now() < end; ++i) {
    const int batch = words.contains("small") && i < 100 ? 2 : 8;
    if (!words.contains("unmarked")) nl::nvtx::mark(("step index=" + std::to_string(i) + " requests=" + requests(batch)).c_str());
    const std::string name = "execute_context_0(0)_generation_" + std::to_string(batch) + "(" + std::to_string(batch) + ")";
    push(engine, name.c_str());
    if (words.contains("nccl")) call_collectives(words.contains("stage") ? 4 : 3);
    if (launch != nullptr && !(words.contains("idle") && i % 2 == 1)) launch("_Z4gemmPf", batch, 7, 0, 1);
    for (int rest = words.contains("hangs") ? 250 : 0; rest > 0; --rest, std::this_thread::sleep_for(milliseconds(10)))
      if (launch != nullptr) launch("_Z4gemmPf", batch, 7, 0, 1);
    const bool slow = words.contains("slow") && i % 40 == 39;
    if (!words.contains("busy")) std::this_thread::sleep_for(slow ? microseconds(40'000) : microseconds(2'000));
    nvtxDomainRangePop(engine);
    if (words.contains("forks") && i % 20 == 19) fork_once();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const milliseconds time(std::atoi(arguments[1]));
  std::set<std::string> words(arguments + 2, arguments + count);
  start_cuda();
  pid_t child = 0;
  if (words.contains("cleared") && (child = fork()) == 0) {
    char steps[] = "unmarked";
    char* next[] = {arguments[0], arguments[1], steps, nullptr};
    char* none[] = {nullptr};
    execve(arguments[0], next, none);
    _exit(98);
  }
  const bool stage = words.erase("stage") > 0;
  if (words.contains("child") && (child = fork()) == 0) {
    if (stage) words.insert("stage");
    launch = nullptr;  // CUDA is the parent's
    if (words.contains("ahead")) call_collectives(1);
    make_steps(time, words);
    std::exit(0);
  }
  std::printf("ready %d %d\n", static_cast<int>(getpid()), static_cast<int>(child));
  std::fflush(stdout);
  if (words.contains("quiet")) {
    nl::nvtx::mark("here");
    std::this_thread::sleep_for(time);
  } else {
    make_steps(time, words);
  }
  if (child > 0) waitpid(child, nullptr, 0);
  return 0;
}
