#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/time.h"

namespace nl::analysis {

struct WarmupRule {
  enum class Mode {
    kAuto,   // leading iterations that take longer than `factor` times the median of those after them
    kNone,   // every iteration is measured
    kCount,  // the first `count` of each thread
  };
  Mode mode = Mode::kAuto;
  std::uint64_t count = 0;
  double factor = 1.5;
};

// How many of a thread's iterations are warm-up, and by which numbers, in words.
struct WarmupVerdict {
  std::size_t warmup = 0;
  std::string why;
};

// `walls`: at least one. Never all of them are warm-up.
WarmupVerdict judge_warmup(const std::vector<Ns>& walls, const WarmupRule& rule);
std::string warmup_rule_text(const WarmupRule& rule);

}  // namespace nl::analysis
