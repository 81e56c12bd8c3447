#include "adapters/tensorrt/log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace nl::adapters::tensorrt {

constexpr std::size_t kFirst = 2, kLast = 3;

void Log::log(Severity severity, const char* line) noexcept {
  if (severity > Severity::kERROR) return;
  const std::lock_guard lock(mutex_);
  const bool known = std::find(errors_.begin(), errors_.end(), line) != errors_.end();
  if (known) return;
  if (errors_.size() == kFirst + kLast) errors_.erase(errors_.begin() + kFirst);
  errors_.emplace_back(line);
}

std::string Log::take_errors() {
  const std::lock_guard lock(mutex_);
  std::string lines = fmt::format("{}", fmt::join(errors_, "; "));
  errors_.clear();
  return lines;
}

std::string quoted(Log& log) {
  const std::string lines = log.take_errors();
  return lines.empty() ? lines : " (TensorRT: " + lines + ")";
}

}  // namespace nl::adapters::tensorrt
