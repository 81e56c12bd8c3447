#pragma once

#include <vector>

#include "analysis/runs/compare/sides.h"
#include "analysis/statistics/difference.h"

namespace nl::analysis {

// A line on its way to its verdict: measured alone, decided together with the lines that are tested with it.
struct LineTest {
  CompareLine line;
  std::optional<Effect> effect;  // empty: a side has no value, or not all of them are above zero
};

// How lines are measured and decided. docs/compare.md has the rules.
class Judge {
 public:
  Judge(const Sides& sides, const CompareOptions& options, const Wander& wander) : sides_(sides), options_(options), wander_(wander) {}

  // The medians of both sides and their difference, of one value a run.
  LineTest measure(CompareLine line, std::vector<OrderedValue> values) const;
  // The same for one run a side, from the windows of each in the order of time.
  LineTest measure_windows(CompareLine line, const std::vector<double>& a, const std::vector<double>& b) const;
  // Only the medians, for a line that is not tested, and the reason.
  static CompareLine glance(CompareLine line, const std::vector<OrderedValue>& values, LineReason why);

  // How likely chance gives the difference, the order of the runs taken into account; nothing where the values do not suffice.
  std::optional<double> p_value(const std::vector<OrderedValue>& values) const;

  bool significant(const CompareLine& line) const { return line.q_value && *line.q_value <= options_.significance; }

  // Decides all lines that are told together. The more of them there are beside those that changed, the wider their intervals (Benjamini and
  // Yekutieli 2005), so that of the changes told one in twenty at most is none. `families`: the lines were chosen out of this many times as many.
  void decide(std::vector<LineTest>& tests, double families = 1) const;

 private:
  void decide(LineTest& test, double confidence) const;
  LineReason why_undecided(const LineTest& test, double confidence) const;
  double least_effect() const;

  const Sides& sides_;
  const CompareOptions& options_;
  Wander wander_;
};

// B's median less A's; a missing side counts as zero.
inline double difference_of(const CompareLine& line) { return (line.b ? line.b->median : 0) - (line.a ? line.a->median : 0); }
// Why there is nothing to compare: one side lacks it, or both.
inline LineReason why_not_captured(bool in_a, bool in_b) {
  if (in_a == in_b) return LineReason::kNotCaptured;
  return in_a ? LineReason::kNotCapturedB : LineReason::kNotCapturedA;
}
// True where the verdict says that something changed.
inline bool changed(const CompareLine& line) {
  return line.verdict == CompareVerdict::kImproved || line.verdict == CompareVerdict::kRegressed;
}
// True where the interval excludes that nothing changed, even if the change is too small to matter.
inline bool is_real(const CompareLine& line) {
  return changed(line) || (line.change && line.change->low && (*line.change->low > 0 || *line.change->high < 0));
}

}  // namespace nl::analysis
