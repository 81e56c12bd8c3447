#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/reports.h"
#include "model/evidence.h"
#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

inline constexpr const char* kTraceFile = "trace.pftrace";
inline constexpr const char* kDetailFile = "detail.json.gz";      // what report.html explores
inline constexpr const char* kTimelineFile = "timeline.pftrace";  // of run.json alone, where there is no trace

// The input files of a workload, as inputs.yaml has them.
struct Input {
  std::string path;                         // as configured
  std::optional<std::uint64_t> size_bytes;  // nothing: it was not looked at
  std::string sha256;                       // empty: not known
  std::optional<std::size_t> files;         // of a folder
};

// workload.inputs as they are now, hashed; paths are relative to where the workload is started. A folder's digest is that
// of its listing, as `find . -xtype f | LC_ALL=C sort | xargs -d '\n' sha256sum | sha256sum` prints it. Error(kConfig) where one is not
// there, before any is hashed; Ctrl-C ends us.
std::vector<Input> read_inputs(const WorkloadOptions& workload);

// Only the names of the inputs, for captures that were made elsewhere.
std::vector<Input> name_inputs(const WorkloadOptions& workload);

// {count, inputs: [{path, size_bytes, sha256, files}]}
std::string inputs_yaml(const std::vector<Input>& inputs);

// config.yaml and inputs.yaml: known before anything runs, so written before.
void write_configuration(const Bundle& bundle, const Config& config, const std::vector<Input>& inputs);

// The tables of `nsys stats`, where they are wanted: beside the analysis, which keeps one processor busy.
std::future<void> write_stats(const Bundle& bundle, const Config& config, const Trace& trace);

// trace.pftrace, where it is wanted, and detail.json.gz. Returns what had to be left out of the trace.
std::optional<Remark> write_trace_files(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

// Everything else, the manifest last; run.json is validated against its schema before it is written. Returns its text.
std::string write_bundle(const Bundle& bundle, const Config& config, const Evidence& evidence, const Run& run);

// Puts one file of a bundle where it belongs.
using FileWriter = std::function<void(const std::filesystem::path& relative, std::string_view text)>;

// The bytes of detail.json.gz of a bundle; empty where it has none, or a damaged one.
std::string read_detail_file(const std::filesystem::path& bundle);

// Every file that is made for people, from the run and its detail: report.md, report.html, stakeholder_summary.md, operators.md,
// kernels.md, and host_stacks.folded where the host was sampled. `run` and `report` write the same.
void write_reports(const Run& run, const exporters::PageParts& page, const FileWriter& write);

}  // namespace nl::orchestrator
