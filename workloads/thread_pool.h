#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nl::llm {

// Runs one loop at a time, its indices dealt out in equal, contiguous shares.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // body(begin, end) on every thread, the caller's among them; returns when all are done.
  void run(int count, const std::function<void(int, int)>& body);

 private:
  void work(int index);
  void share(int index);

  int threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable begin_, end_;
  const std::function<void(int, int)>* body_ = nullptr;
  int count_ = 0;
  int pending_ = 0;
  unsigned round_ = 0;
  bool stopping_ = false;
};

}  // namespace nl::llm
