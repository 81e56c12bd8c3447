#include "orchestrator/capture/nsys_argv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/capture/tool_arguments.h"

namespace nl::orchestrator {
namespace {

void add_capture_range(const NsysOptions& options, ToolArguments& arguments) {
  const auto range = choice<CaptureRange>(options.capture_range);
  if (range == CaptureRange::kNone) return;
  arguments.add("--capture-range", options.capture_range, "the whole run is captured");
  // The tool's own default ends the workload together with the range.
  arguments.add("--capture-range-end", options.capture_range_end, "the workload ends with the range");
  if (range != CaptureRange::kNvtx) return;
  arguments.add("--nvtx-capture", options.nvtx_capture, "the whole run is captured");
  // Otherwise only registered strings start a capture; PyTorch and most C++ code push plain ones.
  arguments.add("--env-var", "NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "only registered strings start the capture");
}

}  // namespace

std::vector<std::string> nsys_profile_argv(const Config& config, const Tool& nsys, const std::filesystem::path& output_stem,
                                           std::vector<Remark>& adaptations) {
  const NsysOptions& options = config.nsys;
  ToolArguments arguments("nsys", nsys, ToolArguments::Values::kJoined, adaptations);
  arguments.push("profile");
  arguments.add("--trace", fmt::format("{}", fmt::join(options.trace, ",")), "its own default is traced");
  arguments.add("--sample", options.sample, "its own default applies");
  arguments.add("--cpuctxsw", options.cpuctxsw, "its own default applies");
  arguments.add("--cuda-graph-trace", options.cuda_graph_trace, "kernels inside CUDA graphs are shown or hidden as it pleases");
  if (choice<PytorchRanges>(options.pytorch) != PytorchRanges::kNone)
    arguments.add("--pytorch", options.pytorch, "PyTorch operators are not in the trace");
  add_capture_range(options, arguments);
  arguments.add("--wait", "all", "it may not wait for re-parented children");
  arguments.add("--force-overwrite", "true", "an older report may stay in place");
  arguments.add("--output", output_stem.string(), "the report lands in the current folder");
  for (const auto& extra : options.extra_args) arguments.push(extra);
  return arguments.take();
}

std::vector<std::string> nsys_export_argv(const Tool& nsys, const std::filesystem::path& report, const std::filesystem::path& sqlite) {
  std::vector<std::string> argv = {nsys.path.string(), "export", "--type=sqlite", "--force-overwrite=true"};
  // Lazy is the default today and announced to change; an empty table would read as "captured, but none".
  if (nsys.has_export_option("--lazy")) argv.push_back("--lazy=true");
  if (nsys.has_export_option("--quiet")) argv.push_back("--quiet=true");
  argv.push_back("--output=" + sqlite.string());
  argv.push_back(report.string());
  return argv;
}

}  // namespace nl::orchestrator
