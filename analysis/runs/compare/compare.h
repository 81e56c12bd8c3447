#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "analysis/statistics/difference.h"
#include "model/comparison.h"
#include "model/run.h"

namespace nl::analysis {

// How much runs of one workload differ from each other, by what was recorded of it.
struct RecordedWander {
  Wander wander;
  std::uint64_t runs = 0;
};

struct CompareOptions {
  double minimum_effect = 0.01;  // relative: the smallest effect that counts
  double significance = 0.05;    // of the main line, and of all others together
  double throttled_share = 0.1;  // a run whose GPU was throttled for longer is left out
  std::uint64_t seed = 1;        // of the bootstrap
  bool force = false;            // also where the sides are not comparable
  bool other_commands = false;   // the sides are meant to be different commands
  std::string whole_stage = {};  // stands for a whole process, start-up included: it decides only where there is no other stage
  // Asked for the main stage where the runs are too few to show their spread. Nothing: a spread is assumed.
  std::function<std::optional<RecordedWander>(const Run& run, const std::string& stage)> recorded = {};
};

// The runs of each side in any order; Provenance::captured_at says which came first. The result depends only on
// the runs; swapping the sides reverses it exactly.
Comparison compare(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options = {});

// Two comparisons of the same sides: how long they take, of unprofiled runs, and where the time goes, of profiled ones. Verdict, stages and
// headline are those of the first; what only a profile knows comes from the second.
Comparison with_cause(Comparison times, const Comparison& cause);

}  // namespace nl::analysis
