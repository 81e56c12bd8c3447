#include "workloads/thread_pool.h"

#include <algorithm>
#include <cstdint>

namespace nl::llm {

ThreadPool::ThreadPool(int threads) : threads_(std::max(threads, 1)) {
  for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begin_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run(int count, const std::function<void(int, int)>& body) {
  if (threads_ == 1) return body(0, count);
  {
    std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    pending_ = threads_ - 1;
    ++round_;
  }
  begin_.notify_all();
  share(0);
  std::unique_lock lock(mutex_);
  end_.wait(lock, [this] { return pending_ == 0; });
}

void ThreadPool::share(int index) {
  auto at = [this](int i) { return static_cast<int>(std::int64_t{count_} * i / threads_); };
  if (at(index) < at(index + 1)) (*body_)(at(index), at(index + 1));
}

void ThreadPool::work(int index) {
  for (unsigned seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    share(index);
    std::lock_guard lock(mutex_);
    if (--pending_ == 0) end_.notify_one();
  }
}

}  // namespace nl::llm
