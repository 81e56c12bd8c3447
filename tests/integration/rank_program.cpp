// One rank of a program of several: each step computes, and then meets the others. Like the driver, it loads what CUDA_INJECTION64_PATH names;
// FAKE_CUPTI is the library that stands in for the GPU. Rank, size and meeting place come from the environment, as a launcher tells them.
//
//   rank_program STEPS [late=RANK] [fails=RANK@STEP] [crashes=RANK@STEP] [pause=MS]
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "nvtx/nl_nvtx.hpp"

namespace {

constexpr const char* kGemm = "_Z4gemmILi128EEvPKfS1_Pfi";
constexpr const char* kNorm = "_Z8rms_normPKfPfi";
constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
constexpr std::uint64_t kMs = 1'000'000, kTransferNs = 50'000;

int number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) std::fprintf(stderr, "%s is not set\n", variable), std::exit(97);
  return std::atoi(text);
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void all_of(ssize_t got, std::size_t wanted) {
  if (got != static_cast<ssize_t>(wanted))
    for (;;) pause();  // as a collective whose other side is gone
}

// All ranks give the time at which they come, and are told the time at which the last one did.
class Meeting {
 public:
  Meeting(int rank, int size) : rank_(rank), size_(size) {
    if (std::getenv("MASTER_ADDR") == nullptr) std::exit(97);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(number("MASTER_PORT")));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // the nodes of a test are one machine
    rank_ == 0 ? wait_for_all(address) : reach(address);
  }

  std::uint64_t meet(std::uint64_t came) {
    std::uint64_t last = came;
    if (rank_ != 0) {
      all_of(send(peers_[0], &came, sizeof came, MSG_NOSIGNAL), sizeof came);
      all_of(recv(peers_[0], &last, sizeof last, MSG_WAITALL), sizeof last);
      return last;
    }
    for (const int peer : peers_) {
      std::uint64_t theirs = 0;
      all_of(recv(peer, &theirs, sizeof theirs, MSG_WAITALL), sizeof theirs);
      last = std::max(last, theirs);
    }
    for (const int peer : peers_) all_of(send(peer, &last, sizeof last, MSG_NOSIGNAL), sizeof last);
    return last;
  }

 private:
  void wait_for_all(const sockaddr_in& address) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(listener, size_) != 0) std::exit(96);
    while (static_cast<int>(peers_.size()) < size_ - 1) peers_.push_back(accept(listener, nullptr, nullptr));
  }

  void reach(const sockaddr_in& address) {
    for (int attempt = 0; attempt < 3000; ++attempt) {
      const int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      if (connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return peers_.push_back(peer);
      close(peer);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::exit(95);
  }

  int rank_, size_;
  std::vector<int> peers_;
};

using Ran = void (*)(const char*, std::uint32_t, std::uint64_t, std::uint64_t);

Ran with_gpu() {
  const char* injection = std::getenv("CUDA_INJECTION64_PATH");
  void* collector = injection != nullptr ? dlopen(injection, RTLD_NOW) : nullptr;
  auto entry = collector != nullptr ? reinterpret_cast<int (*)()>(dlsym(collector, "InitializeInjection")) : nullptr;
  const char* cupti = std::getenv("FAKE_CUPTI");
  void* fake = cupti != nullptr ? dlopen(cupti, RTLD_NOW) : nullptr;
  if (entry == nullptr || fake == nullptr || entry() != 1) return nullptr;
  return reinterpret_cast<Ran>(dlsym(fake, "fake_ran"));
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> told;
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    told[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  const int rank = number("RANK"), size = number("WORLD_SIZE"), steps = count > 1 ? std::atoi(words[1]) : 10;
  const auto here = [&](const char* what, int step) { return told[what] == std::to_string(rank) + "@" + std::to_string(step); };
  const Ran ran = with_gpu();
  Meeting meeting(rank, size);
  const auto pause_ms = std::chrono::milliseconds(told.contains("pause") ? std::atoi(told["pause"].c_str()) : 2);
  for (int step = 0; step < steps; ++step) {
    nl::nvtx::Scope scope{nl::nvtx::kDecodeStep, step};
    if (here("fails", step)) std::fprintf(stderr, "rank %d cannot go on\n", rank), std::exit(3);
    if (here("crashes", step)) raise(SIGSEGV);
    const std::uint64_t begin = now(), computes = kMs + (told["late"] == std::to_string(rank) ? kMs : 0);
    std::this_thread::sleep_for(pause_ms);
    // What its GPU did: the same in each step, however busy this machine is.
    const std::uint64_t base = meeting.meet(begin), came = base + computes;
    const std::uint64_t last = meeting.meet(came);
    if (ran == nullptr) continue;
    ran(kNorm, 7, base, base + kMs / 4);
    ran(kGemm, 7, base + kMs / 4, came);
    ran(kAllReduce, 9, came, last + kTransferNs + static_cast<std::uint64_t>((rank * 7 + step * 5) % 11) * 200);
  }
  std::printf("rank %d of %d\n", rank, size);
  return 0;
}
