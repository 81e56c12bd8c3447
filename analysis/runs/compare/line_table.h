#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/runs/compare/run_lines.h"

namespace nl::analysis {

// Gathers the lines of one section. Those inside a stage that changed are tested together; all others have their medians, and why.
class LineTable {
 public:
  LineTable(const Sides& sides, const Judge& judge) : sides_(sides), judge_(judge) {}

  void add(CompareLine line, const std::optional<LineReason>& why_not, const FigureOfRun& figure);
  // Decides what is tested. `kept`: so many lines, those with the largest difference.
  CompareSection take(std::size_t kept = 200);

 private:
  const Sides& sides_;
  const Judge& judge_;
  std::vector<LineTest> tested_;
  std::vector<CompareLine> seen_;
};

// B's median less A's; what a side lacks counts as nothing.
double difference_of(const CompareLine& line);
void sort_by_difference(std::vector<CompareLine>& lines);

}  // namespace nl::analysis
