#include "orchestrator/capture/tool_arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace nl::orchestrator {
namespace {

// A command line of nsys or ncu. An option that the found version lacks is left out, and said in `adaptations`.
class ToolArguments {
 public:
  enum class Values { kJoined, kApart };  // --option=value, as nsys takes it; --option value, as ncu does

  ToolArguments(std::string name, const Tool& tool, Values values, std::vector<Remark>& adaptations)
      : name_(std::move(name)), tool_(tool), values_(values), adaptations_(adaptations), argv_{tool.path.string()} {}

  // `instead` says what the pass does without the option.
  void add(const std::string& option, const std::string& value, const std::string& instead) {
    if (!tool_.has_option(option)) return add_once(adaptations_, {Code::kOptionLeftOut, {name_, tool_.version.text(), option, instead}});
    if (values_ == Values::kJoined) return push(option + "=" + value);
    push(option, value);
  }
  template <class... Words>
  void push(const Words&... words) {
    (argv_.push_back(words), ...);
  }
  std::vector<std::string> take() { return std::move(argv_); }

 private:
  std::string name_;
  const Tool& tool_;
  Values values_;
  std::vector<Remark>& adaptations_;
  std::vector<std::string> argv_;
};

// Linux takes 128 KiB in one argument.
constexpr std::size_t kLongestExpression = 100 * 1024;

std::string escaped(const std::string& name) {
  std::string text;
  for (char c : name) {
    if (std::string_view(".^$|()[]{}*+?\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

const std::string& name_of(const KernelChoice& kernel, KernelNameBase base) {
  switch (base) {
    case KernelNameBase::kMangled: return kernel.mangled_name;
    case KernelNameBase::kFunction: return kernel.short_name;
    case KernelNameBase::kDemangled: break;
  }
  return kernel.name;
}

std::string expression_of(const NcuRequest& request, KernelNameBase base) {
  std::set<std::string> seen;
  std::string names;
  for (const auto& kernel : request.kernels) {
    const std::string& name = name_of(kernel, base);
    if (name.empty() || !seen.insert(name).second) continue;
    names += (names.empty() ? "" : "|") + escaped(name);
  }
  return names.empty() ? "" : "regex:^(" + names + ")$";
}

void add_what(const NcuOptions& options, ToolArguments& arguments) {
  if (!options.set.empty()) arguments.push("--set", options.set);
  for (const auto& section : options.sections) arguments.push("--section", section);
  if (!options.metrics.empty()) arguments.push("--metrics", fmt::format("{}", fmt::join(options.metrics, ",")));
}

void add_which(const NcuOptions& options, const NameFilter& names, const std::vector<std::string>& nvtx_include, ToolArguments& arguments) {
  arguments.push("--nvtx");  // also without a filter: the report then says in which ranges a launch was
  for (const auto& expression : nvtx_include) arguments.push("--nvtx-include", expression);
  if (!names.expression.empty()) arguments.push("--kernel-name-base", word_of(names.base), "--kernel-name", names.expression);
  arguments.add("--filter-mode", options.filter_mode, "the launch count holds for all kernels together");
  if (options.launch_skip > 0) arguments.add("--launch-skip", std::to_string(options.launch_skip), "no launch is skipped");
  arguments.add("--launch-count", std::to_string(options.launch_count), "every launch is measured");
}

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

NameFilter ncu_name_filter(const NcuRequest& request, std::vector<Remark>& adaptations) {
  KernelNameBase base = request.kernel_name_base;
  const bool all_mangled =
      std::all_of(request.kernels.begin(), request.kernels.end(), [](const KernelChoice& kernel) { return !kernel.mangled_name.empty(); });
  if (base == KernelNameBase::kMangled && !all_mangled) {
    add_once(adaptations, {Code::kNoMangledNames});
    base = KernelNameBase::kFunction;
  }
  NameFilter filter{base, expression_of(request, base)};
  if (filter.expression.size() > kLongestExpression && base != KernelNameBase::kFunction) {
    add_once(adaptations, {Code::kNamesTooLong, {std::to_string(filter.expression.size())}});
    filter = {KernelNameBase::kFunction, expression_of(request, KernelNameBase::kFunction)};
  }
  if (filter.expression.size() > kLongestExpression) {
    add_once(adaptations, {Code::kEveryKernel});
    filter.expression.clear();
  }
  return filter;
}

std::vector<std::string> ncu_profile_argv(const Config& config, const Tool& ncu, const std::filesystem::path& output_stem,
                                          const NameFilter& names, const std::vector<std::string>& nvtx_include,
                                          std::vector<Remark>& adaptations) {
  const NcuOptions& options = config.ncu;
  NcuOptions which = options;
  if (choice<LaunchFilter>(options.filter_mode) == LaunchFilter::kPerLaunchConfig && !ncu.has_option("--filter-mode")) {
    // One launch in all would be the wrong answer; a few for each name that was asked for is near enough.
    which.launch_count = options.launch_count * config.run.top_n_kernels * 4;
  }
  ToolArguments arguments("ncu", ncu, ToolArguments::Values::kApart, adaptations);
  arguments.add("--target-processes", options.target_processes, "only the application itself is measured");
  add_which(which, names, nvtx_include, arguments);
  arguments.add("--replay-mode", options.replay_mode, "its own default applies");
  arguments.add("--graph-profiling", options.graph_profiling, "kernels inside CUDA graphs may not be measured");
  arguments.add("--clock-control", options.clock_control, "clocks are locked to base while measuring");
  arguments.add("--cache-control", options.cache_control, "caches are emptied before each pass");
  add_what(options, arguments);
  if (!options.import_sass && ncu.has_option("--import-sass")) arguments.add("--import-sass", "no", "");
  arguments.push("--force-overwrite", "--export", output_stem.string());
  for (const auto& extra : options.extra_args) arguments.push(extra);
  return arguments.take();
}

std::vector<std::string> ncu_export_argv(const Tool& ncu, const std::filesystem::path& report, const std::string& page) {
  std::vector<std::string> argv = {ncu.path.string(), "--import", report.string(), "--csv", "--page", page};
  if (ncu.has_option("--print-units")) argv.insert(argv.end(), {"--print-units", "base"});
  // Mangled names are what nsys and ncu agree on; demangled ones may be shortened.
  if (ncu.has_option("--print-kernel-base")) argv.insert(argv.end(), {"--print-kernel-base", "mangled"});
  return argv;
}

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
