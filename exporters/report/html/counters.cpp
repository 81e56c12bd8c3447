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
  Table table("The GPU's counters", {{"Stage"},
                                     {"Measured by"},
                                     {"Windows", true},
                                     {"A window on the GPU", true},
                                     {"DRAM read", true},
                                     {"DRAM written", true},
                                     {"DRAM %", true},
                                     {"SM active %", true},
                                     {"Tensor %", true},
                                     {"Occupancy %", true}});
  for (const auto& row : counter_rows(run))
    table.add({text_cell(row.stage), text_cell(row.measured_by), text_cell(row.windows), text_cell(row.duration),
               text_cell(row.dram_read), text_cell(row.dram_written), percent_cell(row.dram_pct),
               percent_cell(row.sm_active_pct), percent_cell(row.tensor_pct), percent_cell(row.occupancy_pct)});
  std::string notes;
  for (const auto& remark : counter_remarks(run))
    notes += fmt::format("<li>{}</li>", remark_markup(remark));
  if (table.empty() && notes.empty()) return {};
  return "<h3>The GPU's counters</h3>\n" +
         (table.empty() ? std::string() : paragraph(kCounterLegend) + table.markup()) +
         (notes.empty() ? "" : "<ul class=\"notes\">" + notes + "</ul>\n");
}

}  // namespace nl::exporters::html
