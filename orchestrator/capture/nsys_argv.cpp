#include "orchestrator/capture/nsys_argv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "orchestrator/capture/plan.h"

namespace nl::orchestrator {
namespace {

class NsysArguments {
 public:
  NsysArguments(const Tool& nsys, std::vector<Remark>& adaptations) : nsys_(nsys), adaptations_(adaptations) {}

  // `instead` says what the pass does without the option.
  void add(const std::string& option, const std::string& value, const std::string& instead) {
    if (nsys_.has_option(option)) {
      argv_.push_back(option + "=" + value);
      return;
    }
    add_once(adaptations_, {Code::kOptionLeftOut, {"nsys", nsys_.version.text(), option, instead}});
  }
  void push(std::string word) { argv_.push_back(std::move(word)); }
  std::vector<std::string> take() { return std::move(argv_); }

 private:
  const Tool& nsys_;
  std::vector<Remark>& adaptations_;
  std::vector<std::string> argv_;
};

void add_capture_range(const NsysOptions& options, NsysArguments& arguments) {
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

std::vector<std::string> nsys_profile_argv(const Config& config, const Tool& nsys,
                                           const std::filesystem::path& output_stem,
                                           std::vector<Remark>& adaptations) {
  const NsysOptions& options = config.nsys;
  NsysArguments arguments(nsys, adaptations);
  arguments.push(nsys.path.string());
  arguments.push("profile");
  arguments.add("--trace", fmt::format("{}", fmt::join(options.trace, ",")), "its own default is traced");
  arguments.add("--sample", options.sample, "its own default applies");
  arguments.add("--cpuctxsw", options.cpuctxsw, "its own default applies");
  arguments.add("--cuda-graph-trace", options.cuda_graph_trace,
                "kernels inside CUDA graphs are shown or hidden as it pleases");
  if (choice<PytorchRanges>(options.pytorch) != PytorchRanges::kNone) arguments.add("--pytorch", options.pytorch, "PyTorch operators are not in the trace");
  add_capture_range(options, arguments);
  arguments.add("--wait", "all", "it may not wait for re-parented children");
  arguments.add("--force-overwrite", "true", "an older report may stay in place");
  arguments.add("--output", output_stem.string(), "the report lands in the current folder");
  for (const auto& extra : options.extra_args) arguments.push(extra);
  return arguments.take();
}

std::vector<std::string> nsys_export_argv(const Tool& nsys, const std::filesystem::path& report,
                                          const std::filesystem::path& sqlite) {
  std::vector<std::string> argv = {nsys.path.string(), "export", "--type=sqlite", "--force-overwrite=true"};
  // Lazy is the default today and announced to change; an empty table would read as "captured, but none".
  if (nsys.has_export_option("--lazy")) argv.push_back("--lazy=true");
  if (nsys.has_export_option("--quiet")) argv.push_back("--quiet=true");
  argv.push_back("--output=" + sqlite.string());
  argv.push_back(report.string());
  return argv;
}

}  // namespace nl::orchestrator
