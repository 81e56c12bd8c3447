#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"

namespace nl::exporters::report_md {

std::string counters(const Run& run) {
  std::vector<MarkdownTable::Column> columns = {{"stage", false}, {"measured by", false}, {"windows", true}, {"a window on the GPU", true}};
  for (const MetricInfo* metric : columns_of(MetricPlace::kStage)) columns.push_back({std::string(metric->title), true});
  MarkdownTable table(columns);
  for (const auto& row : counter_rows(run)) {
    std::vector<std::string> cells = {markdown_text(row.stage), markdown_text(row.measured_by), row.windows, row.duration};
    for (const auto& [unit, value] : row.values) cells.push_back(metric_text(unit, value));
    table.add(cells);
  }
  std::string notes;
  for (const auto& remark : counter_remarks(run))
    notes += fmt::format("- {}{}\n", markdown_text(remark.text),
                         remark.command.empty() ? "" : " To capture it: " + markdown_code(remark.command));
  if (table.empty() && notes.empty()) return {};
  std::string text = "\n### The GPU's counters\n\n";
  if (!table.empty())
    text += std::string(kCounterLegend) + "\n\n" + table.text() + (notes.empty() ? "" : "\n");
  return text + notes;
}

}  // namespace nl::exporters::report_md
