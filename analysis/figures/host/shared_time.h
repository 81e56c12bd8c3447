#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "model/host_code.h"

namespace nl::analysis {

// A time that samples share out among what they fall on; nothing of it where they are too few.
class SharedTime {
 public:
  SharedTime(Ns time_ns, std::uint64_t samples) : time_ns_(time_ns), all_(samples) {}
  std::optional<Ns> of(std::uint64_t samples) const {
    if (all_ < kMinHostSamples) return std::nullopt;
    return static_cast<Ns>(std::llround(static_cast<double>(time_ns_) * static_cast<double>(samples) / static_cast<double>(all_)));
  }
  // Of parts that follow each other: once all samples are given away, so is the time, to the nanosecond.
  std::optional<Ns> next(std::uint64_t samples) {
    const auto before = of(given_), after = of(given_ += samples);
    return before && after ? std::optional(*after - *before) : std::nullopt;
  }

 private:
  Ns time_ns_;
  std::uint64_t all_, given_ = 0;
};

}  // namespace nl::analysis
