#include "exporters/fact_tables/figures.h"

#include "model/words.h"

namespace nl::exporters::fact_tables {
namespace {

constexpr const char* kShareUnit = "of 1";

std::string unit_name(FigureUnit unit) {
  if (unit == FigureUnit::kShare || unit == FigureUnit::kUtilisation) return kShareUnit;
  return std::string(key_of(unit));
}

}  // namespace

void add_figures(std::vector<Column>& columns, RunMetricScope scope) {
  for (const RunMetricInfo& info : run_metric_table())
    if (info.scope == scope)
      columns.push_back({std::string(info.key), Type::kReal, unit_name(info.unit), std::string(info.help),
                         [&info](const Row& row) { return number(figure_value(info, {row.run, row.stage, row.kernel})); }});
}

void add_counters(std::vector<Column>& columns, const std::string& prefix, MetricPlace place, const MetricValues* (*read)(const Row&)) {
  for (const MetricInfo& info : metrics_of(place))
    columns.push_back({prefix + std::string(info.key), Type::kReal, std::string(key_of(info.unit)), std::string(info.help),
                       [&info, read](const Row& row) {
                         const MetricValues* values = read(row);
                         return values != nullptr ? number((*values)[info.metric]) : Value();
                       }});
}

}  // namespace nl::exporters::fact_tables
