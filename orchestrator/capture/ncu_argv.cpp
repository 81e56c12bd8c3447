#include "orchestrator/capture/ncu_argv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "orchestrator/capture/tool_arguments.h"

namespace nl::orchestrator {
namespace {

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
  if (!options.set.empty()) {
    arguments.push("--set");
    arguments.push(options.set);
  }
  for (const auto& section : options.sections) {
    arguments.push("--section");
    arguments.push(section);
  }
  if (options.metrics.empty()) return;
  arguments.push("--metrics");
  arguments.push(fmt::format("{}", fmt::join(options.metrics, ",")));
}

void add_which(const NcuOptions& options, const NameFilter& names, const std::vector<std::string>& nvtx_include, ToolArguments& arguments) {
  arguments.push("--nvtx");  // also without a filter: the report then says in which ranges a launch was
  for (const auto& expression : nvtx_include) {
    arguments.push("--nvtx-include");
    arguments.push(expression);
  }
  if (!names.expression.empty()) {
    arguments.push("--kernel-name-base");
    arguments.push(word_of(names.base));
    arguments.push("--kernel-name");
    arguments.push(names.expression);
  }
  arguments.add("--filter-mode", options.filter_mode, "the launch count holds for all kernels together");
  if (options.launch_skip > 0) arguments.add("--launch-skip", std::to_string(options.launch_skip), "no launch is skipped");
  arguments.add("--launch-count", std::to_string(options.launch_count), "every launch is measured");
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
  arguments.push("--force-overwrite");
  arguments.push("--export");
  arguments.push(output_stem.string());
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

}  // namespace nl::orchestrator
