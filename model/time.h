#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace nl {

using Ns = std::int64_t;  // nanoseconds, of a duration or since the start of the capture

// "2026-11-15T01:02:03Z", with milliseconds where there are any
std::string utc_text(std::chrono::system_clock::time_point time);
inline std::string utc_text(std::int64_t epoch_ns) {
  return utc_text(std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::nanoseconds(epoch_ns))));
}

}  // namespace nl
