#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/figures/serving/marks.h"

// How long each request was there, and what each moment of it was.
namespace nl::analysis::serving {

struct OwnStep {
  std::uint32_t step = 0;  // index into the worker's
  bool prefill = false;
  std::uint64_t tokens = 0;
};

inline constexpr std::uint32_t kNoWorker = std::numeric_limits<std::uint32_t>::max();

struct Life {
  std::uint32_t worker = kNoWorker;
  std::vector<OwnStep> own;     // by time
  Ns start_ns = 0, end_ns = 0;  // within the window
  Ns left_ns = 0;               // the scheduler has let it go; not after end_ns
  bool began_before = false;    // the window
  bool ended_after = false;
  bool runs_at_start = false;  // it was in no queue as the window began
  bool preempted_at_start = false;
};

struct Window {
  Ns start_ns = 0, end_ns = 0;
};

// The whole capture where requests are in it that began before or end after; else from the first mark to the last.
Window window_of(const Events& events, Ns capture_ns);

std::vector<Life> lives_of(Events& events, const Window& window);  // by request; counts damage

// What a step that only decodes takes: of a worker, by the number of its requests.
class DecodeTimes {
 public:
  explicit DecodeTimes(const Worker& worker);
  // The median of steps with as many requests; of fewer than three, of those with up to a quarter more or less. Nothing where these are
  // too few, too.
  std::optional<Ns> of(std::uint64_t decodes) const;

 private:
  std::optional<Ns> median_of(std::uint64_t decodes) const;

  std::vector<std::pair<std::uint64_t, Ns>> times_;  // by requests
  mutable std::map<std::uint64_t, std::optional<Ns>> known_;
};

// Disjoint, by time, from life.start_ns to life.end_ns without a hole.
std::vector<ServingSpan> spans_of(const Events& events, std::uint32_t request, const Life& life, const DecodeTimes* decode_times);

ServingTimes sum_of(const std::vector<ServingSpan>& spans);

}  // namespace nl::analysis::serving
