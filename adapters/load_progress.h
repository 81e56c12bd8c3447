#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace nl::adapters {

// While it lives, says every few seconds for how long something has been loading, from a thread of its own: the libraries load a model in one
// call, which may take minutes.
class LoadProgress {
 public:
  LoadProgress(std::string what, std::function<void(const std::string&)> say, std::chrono::milliseconds every = std::chrono::seconds(5));
  ~LoadProgress();
  LoadProgress(const LoadProgress&) = delete;
  LoadProgress& operator=(const LoadProgress&) = delete;

 private:
  void speak();

  std::string what_;
  std::function<void(const std::string&)> say_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread speaker_;
};

}  // namespace nl::adapters
