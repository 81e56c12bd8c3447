#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/statistics/confidence.h"
#include "analysis/statistics/time_order.h"

// The difference of two sides as an interval, and the verdict that follows from the interval alone. Values are logarithms: a difference is that
// of a ratio, and exchanged sides only turn its sign. docs/compare.md says why each method is used and how often its interval holds the truth.
namespace nl::analysis {

// How much runs of one build differ from each other, as the standard deviation of their logarithms, and how many degrees of freedom that figure is
// worth. It counts where a side has fewer than kOwnSpread runs.
struct Wander {
  double spread = 0.035;
  double degrees = 8;
};
inline constexpr std::size_t kOwnSpread = 3;    // runs a side that show their spread themselves
inline constexpr std::size_t kBlockSpread = 5;  // in blocks: with fewer, a straight drift and the spread cannot both be seen

// Both figures together, each by its degrees of freedom.
Wander pooled(const Wander& a, const Wander& b);

// What runs in the order of time say of it: neighbours differ by the noise, and only where the build changed by more. Nothing of fewer than three.
std::optional<Wander> wander_of(const std::vector<double>& logs_in_order);

enum class SideOrder : std::uint8_t {
  kUnknown,
  kPairs,   // each run of A has one of B beside it
  kMixed,   // in turns, without pairs
  kBlocks,  // all of one side before all of the other: a drift and a change look the same
};
SideOrder order_of(std::vector<OrderedValue> values);

struct Effect {
  double difference = 0;          // b − a; of one side alone its level
  double error = 0, degrees = 1;  // its standard error, by Student's distribution
  std::vector<double> pairs;      // differences of pairs, sorted; empty: not analysed as pairs
  std::vector<double> a, b;       // the runs, where their pairs have nothing in common: then the ranks of the runs count
  bool trend_known = false;
  double trend = 0, trend_p = 1;  // a place, and how likely chance alone gives it
  bool assumed_wander = false;    // the runs are too few to show their spread
  bool assumed_drift = false;     // captured one side after the other
  double plain_error = 0;         // without what was assumed of a drift

  Interval interval(double confidence) const;
  double p_value(double least = 0) const;  // that chance alone gives a difference so far beyond ±least
};

// Of one value a run. Nothing where a side has none.
std::optional<Effect> effect_of(std::vector<OrderedValue> logs, const Wander& wander);

// Of one run a side, from the windows of each in the order of time (not logarithms): how far the median of each is uncertain, and how much two
// runs differ.
std::optional<Effect> effect_of_windows(const std::vector<double>& a, const std::vector<double>& b, const Wander& wander,
                                        std::uint64_t seed);

// Of runs against an expected level that so many runs gave earlier.
Effect effect_against(double expected_log, std::size_t expected_runs, const std::vector<double>& logs, const Wander& wander);

// One side alone, by the same rules.
Effect level_of(const std::vector<double>& values, const Wander& wander);
Effect level_of_windows(const std::vector<double>& values, const Wander& wander, std::uint64_t seed);

// What an interval says of a smallest effect that counts, ±least.
enum class Decision : std::uint8_t {
  kUndecided,  // it holds effects that count and effects that do not
  kLess,       // all of it lies below −least
  kMore,       // all of it lies above least
  kUnchanged,  // all of it lies between
};
Decision decision_of(const Interval& interval, double least);

// How many runs a side would narrow the interval until it decides, if they scatter as these do and the difference stays; nothing where that is
// more than kMostRuns.
inline constexpr double kMostRuns = 1000;
std::optional<std::uint64_t> runs_to_decide(const Effect& effect, std::size_t runs, double least, double confidence);

}  // namespace nl::analysis
