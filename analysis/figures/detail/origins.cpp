#include "analysis/figures/detail/origins.h"

namespace nl::analysis {
namespace {

Catalogue first_catalogue(const Trace& trace) {
  const std::vector<RangeSource> sources = range_sources(trace);
  if (!sources.empty()) return catalogue_of(trace, sources.front());
  Catalogue none;
  none.items.item_of_range.assign(trace.ranges.size(), kNone);
  return none;
}

std::vector<std::uint32_t> groups_of_ranges(const Catalogue& catalogue) {
  std::vector<std::uint32_t> groups = catalogue.items.item_of_range;
  for (std::uint32_t& item : groups)
    if (item != kNone) item = catalogue.items.group_of_item[item];
  return groups;
}

std::uint32_t innermost_of_two(const InnermostItem& items, const WorkOrigin& from, const WorkOrigin& launch) {
  if (!items.any()) return kNone;
  const std::uint32_t item = items.of(from);
  return item != kNone || from == launch ? item : items.of(launch);
}

}  // namespace

Origins::Origins(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start)
    : catalogue_(first_catalogue(trace)), operator_of_range_(groups_of_ranges(catalogue_)), layers_(layer_ranges(trace)),
      operators_(trace, operator_of_range_, ranges_by_start), innermost_layers_(trace, layers_.of_range, ranges_by_start) {}

std::uint32_t Origins::operator_of(const WorkOrigin& from, const WorkOrigin& launch) {
  const std::uint32_t found = innermost_of_two(operators_, from, launch);
  return found == kNone ? kNone : used_operators_.number(found, catalogue_.names[found]);
}

std::uint32_t Origins::layer_of(const WorkOrigin& from, const WorkOrigin& launch) {
  const std::uint32_t found = innermost_of_two(innermost_layers_, from, launch);
  return found == kNone ? kNone : used_layers_.number(found, layers_.names[found]);
}

}  // namespace nl::analysis
