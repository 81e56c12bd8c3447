#include "orchestrator/process/activity.h"

#include <signal.h>

#include <chrono>
#include <vector>

#include "orchestrator/process/output.h"
#include "orchestrator/process/progress_pipe.h"

namespace nl::orchestrator {
namespace {

using namespace std::chrono_literals;

std::mutex living_mutex;
std::vector<const Activity*> living;  // the newest last

bool is_newest(const Activity* activity) {
  const std::lock_guard lock(living_mutex);
  return living.back() == activity;
}

// A thread inherits what is blocked: signals are for those who wait for them.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Activity::Activity(std::string what) {
  tell_progress(what);
  if (!ProgressLine::possible()) return;
  {
    const std::lock_guard lock(living_mutex);
    living.push_back(this);
  }
  const BlockedSignals blocked;
  thread_.emplace([this, what = std::move(what)] { show(what); });
}

Activity::~Activity() {
  if (!thread_) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  ended_.notify_one();
  thread_->join();
  const std::lock_guard lock(living_mutex);
  std::erase(living, this);
}

void Activity::show(const std::string& what) {
  ProgressLine line(what);
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, 500ms, [this] { return over_; })) {
    if (is_newest(this)) line.update(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    else line.erase();
  }
}

}  // namespace nl::orchestrator
