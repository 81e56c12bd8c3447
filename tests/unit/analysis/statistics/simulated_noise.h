#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "analysis/statistics/time_order.h"

// Runs of one build as logarithms of their times, in the order of time, with the noise that machines have.
namespace nl::test {

enum class Noise : std::uint8_t {
  kNormal,      // 2 % from run to run
  kAlike,       // each run resembles the one before: AR(1) 0.6, 2 %
  kTwoClocks,   // half of the runs 8 % slower, at random, and 0.5 %
  kFewSlow,     // a fifth of the runs 8 % slower, at random, and 0.5 %
  kHeavyTails,  // Student's distribution with two degrees of freedom, 1 %
  kOutliers,    // one run in ten takes 10 to 40 % longer, and 1 %
  kDrift,       // 5 % from the first run to the last, and 1 %
  kWalk,        // wanders by 1 % a run
  kRhythm,      // ± 3 % in a rhythm of four runs, and 1 %
  kSkewed,      // an exponential tail of 2 % above, and none below
  kSticky,      // two clocks 8 % apart, each kept for five runs on average, and 0.5 %
};
inline constexpr Noise kNoises[] = {Noise::kNormal,   Noise::kAlike, Noise::kTwoClocks, Noise::kFewSlow, Noise::kHeavyTails,
                                    Noise::kOutliers, Noise::kDrift, Noise::kWalk,      Noise::kRhythm};
// Nothing was tuned on these: whether it holds for other noise, too.
inline constexpr Noise kHeldOut[] = {Noise::kSkewed, Noise::kSticky};
std::string title_of(Noise noise);

std::vector<double> noisy_runs(Noise noise, std::size_t runs, std::mt19937_64& random);

enum class Turns : std::uint8_t {
  kPairs,   // A and B side by side, which first is drawn
  kBlocks,  // all of A, then all of B
};

// Two sides of these runs, half each; B's are longer by `effect`, a logarithm.
std::vector<analysis::OrderedValue> two_sides(const std::vector<double>& runs, Turns turns, double effect, std::mt19937_64& random);

}  // namespace nl::test
