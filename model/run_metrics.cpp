#include "model/run_metrics.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_set>

#include "model/comparison.h"
#include "model/headline.h"
#include "model/strings.h"
#include "model/words.h"

namespace nl {
namespace {

constexpr std::string_view prefix_of(RunMetricScope scope) {
  constexpr std::string_view kPrefixes[] = {"", "stage.", "kernel."};
  return kPrefixes[static_cast<std::size_t>(scope)];
}

// Names come out of captures: what a shell, a terminal or YAML would take for more than a name becomes '_'.
std::string name_in_key(std::string_view name) {
  std::string out(name);
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-.:/+").find(c) != std::string_view::npos;
  };
  std::replace_if(out.begin(), out.end(), [&](char c) { return !plain(c); }, '_');
  return out;
}

class MetricList {
 public:
  explicit MetricList(const Run& run)
      : energy_unprofiled_(from_key<PassKind>(run.energy.pass) == PassKind::kUnprofiled), incomplete_(is_incomplete(run)) {}

  void add(RunMetricScope scope, const std::string& name, const MetricSubject& subject) {
    for (const RunMetricInfo& info : run_metric_table()) {
      if (info.scope != scope || (incomplete_ && info.basis == MetricBasis::kTraced)) continue;
      const auto value = figure_value(info, subject);
      if (!value) continue;
      std::string key = fmt::format("{}{}{}", prefix_of(scope), name, info.key);
      if (keys_.insert(key).second) metrics_.push_back({std::move(key), *value, &info, unprofiled(info)});
    }
  }
  std::vector<RunMetric> take() { return std::move(metrics_); }

 private:
  bool unprofiled(const RunMetricInfo& info) const {
    return info.basis == MetricBasis::kUnprofiled || (info.basis == MetricBasis::kEnergyPass && energy_unprofiled_);
  }
  bool energy_unprofiled_;
  bool incomplete_;                       // of half a trace nothing is compared with others
  std::unordered_set<std::string> keys_;  // two names may be spelled alike in keys: the first has it
  std::vector<RunMetric> metrics_;
};

// The GPUs with kernels, in their order. Where kernels were not captured: all that the capture names.
std::vector<std::int32_t> working_devices(const Run& run) {
  std::set<std::int32_t> ids;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) ids.insert(kernel.device);
  if (ids.empty())
    for (const Device& gpu : run.hardware.gpus) ids.insert(gpu.id);
  return {ids.begin(), ids.end()};
}

// "gpu1." behind the name of a kernel on the second GPU; nothing on the first, whatever its number.
std::string device_in_key(const std::vector<std::int32_t>& devices, std::int32_t device) {
  const auto at = std::find(devices.begin(), devices.end(), device) - devices.begin();
  return at == 0 ? "" : fmt::format("gpu{}.", at);
}

}  // namespace

std::string key_pattern(const RunMetricInfo& info, std::string_view name) {
  if (info.scope == RunMetricScope::kRun) return std::string(info.key);
  return fmt::format("{}{}.{}", prefix_of(info.scope), name, info.key);
}

const RunMetricInfo* find_metric(std::string_view key) {
  for (const RunMetricInfo& info : run_metric_table()) {
    if (!key.ends_with(info.key)) continue;
    const std::string_view head = key.substr(0, key.size() - info.key.size()), prefix = prefix_of(info.scope);  // "stage.decode.", "stage."
    if (info.scope == RunMetricScope::kRun ? head.empty()
                                           : head.starts_with(prefix) && head.ends_with('.') && head.size() > prefix.size() + 1)
      return &info;
  }
  return nullptr;
}

const RunMetricInfo* find_compared(std::string_view compare) {
  const auto table = run_metric_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const RunMetricInfo& info) { return !compare.empty() && info.uses.compare == compare; });
  return found != table.end() ? &*found : nullptr;
}

std::span<const std::string_view> compare_figure_keys() {
  static const std::vector<std::string_view> kAll = [] {
    std::vector<std::string_view> keys(kKeys<CompareFigure>.begin(), kKeys<CompareFigure>.end());
    for (const RunMetricInfo& info : run_metric_table())
      if (!info.uses.compare.empty() && std::find(keys.begin(), keys.end(), info.uses.compare) == keys.end())
        keys.push_back(info.uses.compare);
    return keys;
  }();
  return kAll;
}

MetricUnit measured_unit(FigureUnit unit) {
  constexpr MetricUnit kNs = MetricUnit::kNanoseconds, kNone = MetricUnit::kNone;
  constexpr MetricUnit kUnits[] = {kNs, kNs, MetricUnit::kPerSecond, kNone, kNone, kNone, MetricUnit::kJoules};
  return kUnits[static_cast<std::size_t>(unit)];
}

std::optional<double> figure_value(const RunMetricInfo& info, const MetricSubject& subject) {
  const auto value = info.read(subject);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  return *value / (info.unit == FigureUnit::kMilliseconds ? 1e6 : info.unit == FigureUnit::kMicroseconds ? 1e3 : 1);
}

std::string figure_title(std::string_view key) { return std::string(find_metric(key)->title); }

std::optional<double> figure_value(const Run& run, std::string_view key) { return figure_value(*find_metric(key), {run}); }

std::string kernel_key(const KernelEntry& kernel) {
  const std::string& short_name = kernel.short_name.empty() ? kernel.name : kernel.short_name;
  if (short_name == kernel.symbol()) return name_in_key(short_name);
  return name_in_key(short_name) + "~" + stable_hash_text(kernel.symbol(), 8);
}

std::string stage_key(std::string_view stage, std::string_view figure) {
  return fmt::format("{}{}.{}", prefix_of(RunMetricScope::kStage), name_in_key(stage), figure);
}

std::vector<RunMetric> run_metrics(const Run& run, std::size_t most_kernels) {
  MetricList list(run);
  list.add(RunMetricScope::kRun, "", {run});
  for (const StageEntry& stage : run.stages) list.add(RunMetricScope::kStage, name_in_key(stage.name) + ".", {run, &stage});
  if (!run.kernels) return list.take();
  const auto devices = working_devices(run);
  for (std::size_t i = 0; i < std::min(most_kernels, run.kernels->size()); ++i) {
    const KernelEntry& kernel = (*run.kernels)[i];
    list.add(RunMetricScope::kKernel, kernel_key(kernel) + "." + device_in_key(devices, kernel.device), {run, nullptr, &kernel});
  }
  return list.take();
}

std::string hardware_key(const Run& run) {
  std::map<std::string, int> names;
  const auto devices = working_devices(run);
  for (const Device& gpu : run.hardware.gpus)
    if (!gpu.name.empty() && std::find(devices.begin(), devices.end(), gpu.id) != devices.end()) ++names[gpu.name];
  std::string out;
  for (const auto& [name, count] : names) out += (out.empty() ? "" : " + ") + (count > 1 ? fmt::format("{} x {}", count, name) : name);
  return out.empty() ? run.hardware.cpu_model : out;
}

}  // namespace nl
