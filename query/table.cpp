#include "query/table.h"

#include <algorithm>

namespace nl::query {

std::size_t Table::find(std::string_view column) const {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& each) { return each.name == column; });
  return found != columns.end() ? static_cast<std::size_t>(found - columns.begin()) : kNoColumn;
}

std::span<const Table> tables() {
  static const std::vector<Table> all = [] {
    std::vector<Table> made;
    for (const auto make :
         {slices_table, windows_table, gaps_table, kernels_table, kernel_stages_table, operators_table, layers_table, stacks_table,
          samples_table, counters_table, gpu_samples_table, findings_table, evidence_table, figures_table, requests_table, bills_table})
      made.push_back(make());
    return made;
  }();
  return all;
}

const Table* find_table(std::string_view name) {
  const auto all = tables();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Table& each) { return each.name == name; });
  return found != all.end() ? &*found : nullptr;
}

}  // namespace nl::query
