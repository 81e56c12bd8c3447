#pragma once

#include <vector>

#include "analysis/runs/compare/sides.h"

namespace nl::analysis {

// A line on its way to its verdict: measured alone, decided together with the lines that are tested with it.
struct LineTest {
  CompareLine line;
  double plain_p = 1;  // as if the order of the runs did not matter
  double trend = 0, trend_p = 1;
  std::optional<double> reach;  // of the 95 % interval around the change, by Student: the bootstrap's is coarse for few runs
};

// How lines are measured and decided. docs/compare.md has the rules.
class Judge {
 public:
  Judge(const Sides& sides, const CompareOptions& options);

  // The medians of both sides, their change and how likely chance gives it, of one value a run.
  LineTest measure(CompareLine line, std::vector<OrderedValue> values) const;
  // The same decision for one run a side, from the windows of each in the order of time.
  LineTest measure_windows(CompareLine line, const std::vector<double>& a, const std::vector<double>& b) const;
  // Only the medians, for a line that is not tested, and the reason.
  static CompareLine glance(CompareLine line, const std::vector<OrderedValue>& values, LineReason why);

  // How likely chance gives the difference, the order of the runs taken into account; nothing where the values do not suffice.
  std::optional<double> p_value(const std::vector<OrderedValue>& values) const;

  bool significant(const CompareLine& line) const { return line.q_value && *line.q_value <= options_.significance; }

  // Decides all lines that are tested together. `floor_decides`: with one value a side and no spread, the floor for single runs decides.
  // `families`: the lines were chosen out of this many times as many lines; their q-values grow by that factor.
  void decide(std::vector<LineTest>& tests, bool floor_decides, double families = 1) const;

 private:
  void decide(LineTest& test, bool floor_decides) const;
  void decide_tested(LineTest& test) const;
  double student_95(double degrees_of_freedom) const;
  double least_effect(const CompareLine& line) const;
  void take_trend_out(double trend, std::vector<OrderedValue>& values) const;
  void set_spread(const std::vector<double>& a, const std::vector<double>& b, const SideEffect& effect, LineTest& test) const;
  void set_intervals(const std::vector<double>& a, const std::vector<double>& b, CompareLine& line) const;

  const Sides& sides_;
  const CompareOptions& options_;
  double most_degrees_ = 0, most_student_ = 0;  // of lines that all runs have: their t is looked up once
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
// True where the change is real, even if it is too small to matter.
inline bool is_real(const CompareLine& line) { return changed(line) || line.reason == LineReason::kBelowMinimum; }

}  // namespace nl::analysis
