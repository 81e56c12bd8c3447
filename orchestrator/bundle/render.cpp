#include "orchestrator/bundle/render.h"

#include <algorithm>

#include "analysis/figures/detail/detail.h"
#include "exporters/detail/detail_json.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/whole_file.h"

namespace nl::orchestrator {

namespace {

constexpr std::size_t kMostDetailBytes = 2'400'000;  // 3.2 MB as text: the page has 5 MB in all
constexpr std::size_t kFewestSlices = 10'000;

}  // namespace

std::string detail_file_of(const Trace& trace, const analysis::WarmupRule& warmup, const Run& run) {
  const analysis::Spans cited = analysis::cited_moments(run);
  analysis::DetailLimits limits;
  std::string file = exporters::detail_file(analysis::make_detail(trace, warmup, cited, limits));
  while (file.size() > kMostDetailBytes && limits.slices > kFewestSlices) {
    limits.slices /= 2;
    limits.buckets = std::max(512u, limits.buckets / 2);
    file = exporters::detail_file(analysis::make_detail(trace, warmup, cited, limits));
  }
  return file.size() > kMostDetailBytes ? std::string() : file;
}

std::string read_detail_file(const std::filesystem::path& bundle) {
  std::error_code ignored;
  const std::filesystem::path file = bundle / kDetailFile;
  if (!std::filesystem::is_regular_file(file, ignored) || std::filesystem::file_size(file, ignored) > kMostDetailBytes) return {};
  std::string bytes = read_run_text(file);
  return exporters::is_detail_file(bytes) ? bytes : std::string();
}

void write_reports(const Run& run, const exporters::PageParts& page, const FileWriter& write) {
  write("report.md", exporters::report_markdown(run));
  write("report.html", exporters::report_html(run, page));
  write("stakeholder_summary.md", exporters::stakeholder_markdown(run));
  write("operators.md", exporters::operators_markdown(run));
  write("kernels.md", exporters::kernels_markdown(run));
  if (const std::string stacks = exporters::folded_stacks(run); !stacks.empty()) write("host_stacks.folded", stacks);
}

exporters::PerfettoSummary write_trace_file(const std::filesystem::path& file, const Trace& trace, const Run& run,
                                            const std::vector<PowerSample>* power) {
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
