#include "exporters/fact_tables/table.h"

namespace nl::exporters::fact_tables {

std::span<const Table> tables() {
  static const std::vector<Table> all = [] {
    std::vector<Table> made;
    for (const auto make : {runs_table, stages_table, kernels_table, collectives_table, ranks_table, collective_rates_table})
      made.push_back(make());
    return made;
  }();
  return all;
}

}  // namespace nl::exporters::fact_tables
