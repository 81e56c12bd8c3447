#include <fmt/core.h>

#include "exporters/report/counter_text.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"

namespace nl::exporters::report_md {

std::string counters(const Run& run) {
  MarkdownTable table({{"stage", false},
                       {"measured by", false},
                       {"windows", true},
                       {"a window on the GPU", true},
                       {"DRAM read", true},
                       {"DRAM written", true},
                       {"DRAM %", true},
                       {"SM active %", true},
                       {"tensor %", true},
                       {"occupancy %", true}});
  for (const auto& row : counter_rows(run))
    table.add({markdown_text(row.stage), markdown_text(row.measured_by), row.windows, row.duration, row.dram_read,
               row.dram_written, percent_text(row.dram_pct), percent_text(row.sm_active_pct),
               percent_text(row.tensor_pct), percent_text(row.occupancy_pct)});
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
