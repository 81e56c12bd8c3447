#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"

namespace nl::exporters::html {

std::string remark_markup(const Remark& remark) {
  return text(remark.text) + (remark.command.empty() ? "" : " To capture it: <code>" + text(remark.command) + "</code>");
}

std::string counters(const Run& run) {
  std::vector<Table::Column> columns = {{"Stage"}, {"Measured by"}, {"Windows", true}, {"A window on the GPU", true}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kStage)) columns.push_back({column_title(*metric), true});
  Table table("The GPU's counters", columns);
  for (const auto& row : counter_rows(run)) {
    std::vector<Cell> cells = {text_cell(row.stage), text_cell(row.measured_by), text_cell(row.windows), text_cell(row.duration)};
    for (const auto& [unit, value] : row.values)
      cells.push_back(unit == MetricUnit::kPercent ? percent_cell(value) : text_cell(metric_text(unit, value)));
    table.add(cells);
  }
  std::string notes;
  for (const auto& remark : counter_remarks(run))
    notes += fmt::format("<li>{}</li>", remark_markup(remark));
  if (table.empty() && notes.empty()) return {};
  return "<h3>The GPU's counters</h3>\n" +
         (table.empty() ? std::string() : paragraph(kCounterLegend) + table.markup()) +
         (notes.empty() ? "" : "<ul class=\"notes\">" + notes + "</ul>\n");
}

}  // namespace nl::exporters::html
