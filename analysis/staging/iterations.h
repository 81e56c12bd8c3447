#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/staging/windows.h"
#include "model/run.h"
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

// `walls`: at least one. At least one iteration is left that is not warm-up.
WarmupVerdict judge_warmup(const std::vector<Ns>& walls, const WarmupRule& rule);
std::string warmup_rule_text(const WarmupRule& rule);

// The iterations of all threads. A new one begins with each window of the thread's leading stage: the one that
// begins first, or prefill where that one is there only once and prompts come again and again (a model is loaded once).
// Decode steps lead nothing: where a thread has nothing else, all of them are one iteration.
struct IterationPlan {
  struct Span {
    Ns start_ns = 0, end_ns = 0;
    std::uint32_t thread = kNone;
    bool warmup = false;
    Ns wall_ns() const { return end_ns - start_ns; }
  };
  std::vector<Span> spans;  // by thread, then start
  std::string rule;         // in words, with the numbers that decided

  // Whether a range that begins then belongs to a warm-up iteration.
  bool in_warmup(std::uint32_t thread, Ns start_ns) const;
  std::uint32_t find(std::uint32_t thread, Ns start_ns) const;  // index into spans; kNone before the first
};

// Sets the windows' iterations and warm-up, and adds the decode windows that are derived from steps.
IterationPlan plan_iterations(const Trace& trace, const StageTable& table, const WarmupRule& rule, std::vector<Window>& windows);

Iterations list_iterations(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows);

}  // namespace nl::analysis
