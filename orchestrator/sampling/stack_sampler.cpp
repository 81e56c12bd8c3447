#include "orchestrator/sampling/stack_sampler.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <thread>

#include "orchestrator/sampling/clock.h"
#include "orchestrator/sampling/perf_rings.h"
#include "orchestrator/sampling/sampled_processes.h"

namespace nl::orchestrator::sampling {
namespace {

constexpr int kDrainMs = 100;
constexpr std::int64_t kSettleNs = 20'000'000;  // a record may reach its ring a little after others of a later time reached theirs
constexpr std::size_t kMostSamples = 1'000'000;

}  // namespace

// The thread that empties the rings. Stacks are unwound at once, so that their bytes are kept for a moment only.
class StackSampler::Work {
 public:
  explicit Work(const SamplingRequest& request) : request_(request), processes_(*own_machine(), kMostSamples) {}
  ~Work() {
    stop();
    if (wake_ >= 0) close(wake_);
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  int start() {
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) return errno;
    if (const int error = rings_.open({.hertz = request_.hertz}); error != 0) return error;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);  // the thread inherits it: signals are the main thread's business
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return 0;
  }

  SampledStacks finish() {
    stop();
    rings_.close();
    SampledStacks out;
    out.error = failed_;
    const std::int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
    out.files = processes_.texts(request_.only_with, request_.hertz, now_ns, cost_ns_);
    out.samples = processes_.samples();
    out.lost = processes_.lost();
    return out;
  }

 private:
  void stop() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    stop_ = true;
    [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof one);
    thread_.join();
  }

  // Whatever goes wrong here, the workload and its capture go on.
  void run() {
    try {
      empty_rings();
    } catch (const std::exception&) {  // there is no memory left
      failed_ = ENOMEM;
    }
    cost_ns_ = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);
  }

  void empty_rings() {
    while (!stop_) {
      rings_.wait(wake_, kDrainMs);
      const std::int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
      take_new();
      process_until(static_cast<std::uint64_t>(now_ns - kSettleNs));
    }
    take_new();
    process_until(UINT64_MAX);
  }

  void take_new() {
    rings_.drain([this](std::span<const unsigned char> bytes) {
      if (auto record = record_of(bytes)) waiting_.push_back(std::move(*record));
    });
  }

  void process_until(std::uint64_t time_ns) {
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const PerfRecord& a, const PerfRecord& b) { return a.time_ns < b.time_ns; });
    const auto end = std::find_if(waiting_.begin(), waiting_.end(), [&](const PerfRecord& each) { return each.time_ns > time_ns; });
    for (auto record = waiting_.begin(); record != end; ++record) processes_.take(*record);
    waiting_.erase(waiting_.begin(), end);
  }

  SamplingRequest request_;
  PerfRings rings_;
  SampledProcesses processes_;
  std::vector<PerfRecord> waiting_;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  int wake_ = -1;
  std::int64_t cost_ns_ = 0;
  int failed_ = 0;
};

StackSampler::StackSampler(const SamplingRequest& request) : request_(request) {
  if (request.hertz <= 0) return;
  if (own_machine() == nullptr) {
    error_ = ENOSYS;
    return;
  }
  work_ = std::make_unique<Work>(request);
  error_ = work_->start();
  if (error_ != 0) work_.reset();
}

StackSampler::~StackSampler() = default;

SampledStacks StackSampler::finish() {
  if (!work_) return {.error = error_, .samples = 0, .lost = 0, .files = {}};
  return work_->finish();
}

}  // namespace nl::orchestrator::sampling
