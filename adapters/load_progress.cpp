#include "adapters/load_progress.h"

#include <fmt/format.h>

namespace nl::adapters {

LoadProgress::LoadProgress(std::string what, std::function<void(const std::string&)> say, std::chrono::milliseconds every)
    : what_(std::move(what)), say_(std::move(say)), every_(every), speaker_([this] { speak(); }) {}

LoadProgress::~LoadProgress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  speaker_.join();
}

void LoadProgress::speak() {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, every_, [this] { return done_; })) {
    const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    say_(fmt::format("still loading {}, {} s", what_, passed.count()));
  }
}

}  // namespace nl::adapters
