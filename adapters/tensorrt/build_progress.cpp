#include "adapters/tensorrt/build_progress.h"

#include <fmt/format.h>

namespace nl::adapters::tensorrt {

BuildProgress::BuildProgress(std::function<void(const std::string&)> tell, std::function<void()> check_interrupt)
    : tell_(std::move(tell)), check_interrupt_(std::move(check_interrupt)) {}

void BuildProgress::phaseStart(const char* phase, const char*, std::int32_t steps) noexcept {
  const std::lock_guard lock(mutex_);
  steps_[phase] = steps;
}

bool BuildProgress::stepComplete(const char* phase, std::int32_t step) noexcept {
  const std::lock_guard lock(mutex_);
  if (interrupt_) return false;
  const auto now = std::chrono::steady_clock::now();
  try {
    check_interrupt_();
    if (now - told_ < std::chrono::seconds(1)) return true;
    told_ = now;
    tell_(fmt::format("building the engine: {}, step {} of {}", phase, step + 1, steps_[phase]));
  } catch (...) {
    interrupt_ = std::current_exception();
  }
  return !interrupt_;
}

void BuildProgress::phaseFinish(const char* phase) noexcept {
  const std::lock_guard lock(mutex_);
  steps_.erase(phase);
}

void BuildProgress::rethrow() const {
  if (interrupt_) std::rethrow_exception(interrupt_);
}

}  // namespace nl::adapters::tensorrt
