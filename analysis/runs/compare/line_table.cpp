#include "analysis/runs/compare/line_table.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace nl::analysis {

void LineTable::add(CompareLine line, const std::optional<LineReason>& why_not, const FigureOfRun& figure) {
  std::vector<OrderedValue> values = values_of(sides_, figure);
  if (std::all_of(values.begin(), values.end(), [](const OrderedValue& each) { return each.value == 0; })) return;
  if (why_not) seen_.push_back(Judge::glance(std::move(line), values, *why_not));
  else tested_.push_back(judge_.measure(std::move(line), std::move(values)));
}

CompareSection LineTable::take(std::size_t kept) {
  judge_.decide(tested_, true);
  CompareSection section;
  for (LineTest& test : tested_) section.lines.push_back(std::move(test.line));
  section.lines.insert(section.lines.end(), seen_.begin(), seen_.end());
  if (section.lines.empty()) section.missing = LineReason::kNotCaptured;
  sort_by_difference(section.lines);
  if (section.lines.size() > kept) section.lines.resize(kept);
  return section;
}

double difference_of(const CompareLine& line) { return (line.b ? line.b->median : 0) - (line.a ? line.a->median : 0); }

void sort_by_difference(std::vector<CompareLine>& lines) {
  const auto rank = [](const CompareLine& line) {
    return std::tuple(-std::abs(difference_of(line)), std::string_view(line.stage), std::string_view(line.key), line.figure);
  };
  std::sort(lines.begin(), lines.end(), [&](const CompareLine& a, const CompareLine& b) { return rank(a) < rank(b); });
}

}  // namespace nl::analysis
