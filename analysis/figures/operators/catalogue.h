#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "analysis/trace/operator_names.h"
#include "model/trace.h"

namespace nl::analysis {

// Who made a range that stands for an operator.
enum RangeSource { kTorchRanges, kKinetoRanges, kOnnxRuntimeRanges, kMarkedRanges, kOtherRanges, kRangeSources, kNoSource = kRangeSources };

const char* source_name(RangeSource source, const Trace& trace);

// What follows "LLM.ops@" in a range's name, for that domain; nothing where the name does not begin so.
std::optional<std::string_view> literal_name(std::string_view name, std::string_view domain);

// A range as an operator: its source, its name without numbers, its shape.
struct ClassifiedRange {
  RangeSource source = kNoSource;
  std::string_view domain;  // to be shown with the name
  OperatorName name;
};
ClassifiedRange classify_range(const Trace& trace, const Range& range);

// The operators of one source, numbered as they are met.
struct Catalogue {
  RangeItems items;
  std::vector<std::string> names;   // by group
  std::vector<std::string> shapes;  // by item

  std::uint32_t item(const ClassifiedRange& range);

 private:
  std::uint32_t group(std::string_view domain, std::string_view name);

  std::unordered_map<std::string, std::uint32_t> group_ids_, item_ids_;
  std::string key_;
};
// The sources that the trace has, the best first. Ranges that mark no operators are used only where no operators are marked.
std::vector<RangeSource> range_sources(const Trace& trace);
Catalogue catalogue_of(const Trace& trace, RangeSource source);

}  // namespace nl::analysis
