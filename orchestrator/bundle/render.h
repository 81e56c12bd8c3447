#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/staging/iterations.h"
#include "exporters/perfetto/perfetto.h"
#include "exporters/report/reports.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::orchestrator {

inline constexpr const char* kTraceFile = "trace.pftrace";
inline constexpr const char* kDetailFile = "detail.json.gz";      // what report.html explores
inline constexpr const char* kTimelineFile = "timeline.pftrace";  // of run.json alone, where there is no trace

// Puts one file of a bundle where it belongs.
using FileWriter = std::function<void(const std::filesystem::path& relative, std::string_view text)>;

// The bytes of detail.json.gz, which report.html holds too: with fewer slices where they would not fit into the page.
std::string detail_file_of(const Trace& trace, const analysis::WarmupRule& warmup, const Run& run);
// Those of a bundle; empty where it has none, or a damaged one.
std::string read_detail_file(const std::filesystem::path& bundle);

// Every file that is made for people, from the run and its detail: report.md, report.html, stakeholder_summary.md, operators.md,
// kernels.md, and host_stacks.folded where the host was sampled. `run` and `report` write the same.
void write_reports(const Run& run, const exporters::PageParts& page, const FileWriter& write);

// trace.pftrace, whole or not at all, without holding it in memory. The note of what was left out is empty where
// nothing was. A capture without a single event leaves no file.
exporters::PerfettoSummary write_trace_file(const std::filesystem::path& file, const Trace& trace, const Run& run,
                                            const std::vector<PowerSample>* power = nullptr);

}  // namespace nl::orchestrator
