#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/trace.h"

namespace nl::parsers {

// Processes, threads, queues and kernel shapes of a trace, numbered as they are met in a JSON trace.
class TracePlaces {
 public:
  explicit TracePlaces(Trace& trace) : trace_(trace) {}

  std::uint32_t thread(std::int64_t pid, std::int64_t tid);
  std::uint32_t queue(std::int64_t device, std::int64_t context, std::int64_t stream);
  std::uint32_t shape(const KernelShape& shape);
  // Names may come before or after what they name.
  void name(std::int64_t pid, std::optional<std::int64_t> tid, std::string_view name);
  // Call it once everything is read.
  void finish();

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;
  Trace& trace_;
  std::map<std::int64_t, std::uint32_t> processes_;
  std::map<Place, std::uint32_t> threads_;
  std::map<Queue, std::uint32_t> queues_;
  std::map<KernelShape, std::uint32_t> shapes_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<Place, std::string> thread_names_;
  Place last_place_;
  std::uint32_t last_thread_ = kNone;
};

// What is wrong with an event's times.
inline std::optional<Code> damage_of(std::optional<Ns> start_ns, std::optional<Ns> duration_ns) {
  if (!start_ns || !duration_ns) return Code::kNoTime;
  if (*duration_ns < 0) return Code::kEndsBeforeStart;
  // Half of what there is leaves room for every sum and difference of two times.
  constexpr Ns kLatest = std::numeric_limits<Ns>::max() / 2;
  const bool possible = *duration_ns <= kMaxPackedDurationNs && *start_ns <= kLatest && *start_ns >= -kLatest;
  return possible ? std::nullopt : std::optional(Code::kImpossibleTime);
}

}  // namespace nl::parsers
