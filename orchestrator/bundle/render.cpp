#include "orchestrator/bundle/render.h"

#include "exporters/report/reports.h"
#include "orchestrator/bundle/whole_file.h"

namespace nl::orchestrator {

void write_reports(const Run& run, const FileWriter& write) {
  write("report.md", exporters::report_markdown(run));
  write("report.html", exporters::report_html(run));
  write("stakeholder_summary.md", exporters::stakeholder_markdown(run));
  write("operators.md", exporters::operators_markdown(run));
  write("kernels.md", exporters::kernels_markdown(run));
  if (const std::string stacks = exporters::folded_stacks(run); !stacks.empty()) write("host_stacks.folded", stacks);
}

exporters::PerfettoSummary write_trace_file(const std::filesystem::path& file, const Trace& trace, const Run& run, const std::vector<PowerSample>* power) {
  exporters::PerfettoOptions options;
  options.run = &run;
  options.power = power;
  exporters::focus_on_measured(run, options);
  WholeFile out(file);
  exporters::PerfettoSummary summary = exporters::write_perfetto(trace, [&](std::string_view piece) { out.append(piece); }, options);
  if (summary.events > 0) out.commit();
  return summary;
}

}  // namespace nl::orchestrator
