#pragma once

#include <string>

#include "model/run.h"

// The reports of a run, each the whole text of its file.
namespace nl::exporters {

// What was captured and how, where the time of each stage went, what limits it and what is not known.
std::string report_markdown(const Run& run);

// What a page shows beside the run.
struct PageParts {
  std::string detail = {};      // the bytes of detail.json.gz; empty: the run's one-iteration picture stands for it
  std::string trace_file = {};  // beside the page, with every slice; empty: there is none
};

// The same as one file that needs nothing else, neither a network nor JavaScript. The script in it draws the timeline, and
// sorts, filters and groups tables. What is long is cut with its rest summed, so that the file stays under 5 MB whatever was
// captured.
std::string report_html(const Run& run, const PageParts& parts = {});

// What the script of report.html needs of the run, as JSON that is safe inside a page: it contains no '<'.
std::string page_data(const Run& run, const std::string& trace_file);

// At most five sentences, at most three actions, then Environment, Aggregates, Per-Stage Timings (ms), MFU, Stage
// Takeaways, Top Operators, Top Kernels and an appendix, always all and in this order.
std::string stakeholder_markdown(const Run& run);

// The first five columns are for scripts and stay as they are: kernel_name, total_ms, calls, mean_ms, device, as plain
// numbers with a decimal point. In names only `|` and a `<` that would open a tag are escaped; a name that was shortened ends
// in [n], the number under which it is listed in full.
std::string kernels_markdown(const Run& run);

// The sampled stacks of the waits for launches, "stage;outer;inner 12" a line: what flamegraph.pl and speedscope read. Empty
// where there are none.
std::string folded_stacks(const Run& run);

// A section for each source of operators, then the model's layers.
std::string operators_markdown(const Run& run);

}  // namespace nl::exporters
