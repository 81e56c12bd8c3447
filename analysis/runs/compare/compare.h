#pragma once

#include <cstdint>
#include <span>

#include "model/comparison.h"
#include "model/run.h"

namespace nl::analysis {

struct CompareOptions {
  double minimum_effect = 0.01;   // relative: a smaller change of a stage is real, perhaps, and does not matter
  double significance = 0.05;     // of all lines that are tested together
  double one_run_floor = 0.07;    // relative: two single runs of one build may differ by that much
  double widest_interval = 0.05;  // relative: a wider one cannot say that nothing changed; the minimum effect where that is larger
  double throttled_share = 0.1;   // a run whose GPU was throttled for longer is left out
  std::uint64_t seed = 1;         // of the bootstrap
  bool force = false;             // also where the sides are not comparable
  bool other_commands = false;    // the sides are meant to be different commands
  std::string whole_stage = {};   // stands for a whole process, start-up included: it decides only where there is no other stage
};

// The runs of each side in any order; Provenance::captured_at says which came first. The result depends only on
// the runs; swapping the sides reverses it exactly.
Comparison compare(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options = {});

// Two comparisons of the same sides: how long they take, of unprofiled runs, and where the time goes, of profiled ones. Verdict, stages and
// headline are those of the first; what only a profile knows comes from the second.
Comparison with_cause(Comparison times, const Comparison& cause);

}  // namespace nl::analysis
