#include "analysis/figures/counters/ncu_match.h"
#include "analysis/trace/kernel_class.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/figures/counters/metric_values.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/kernel_names.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

constexpr const char* kRegisters = "launch__registers_per_thread";

std::string describe(const NcuLaunch& launch, const char* why) {
  return fmt::format("{} grid ({}, {}, {}) block ({}, {}, {}): {}", launch.kernel_name, launch.grid.x, launch.grid.y, launch.grid.z,
                     launch.block.x, launch.block.y, launch.block.z, why);
}

// ncu adds to every set the device's attributes, the peaks it computes percentages with, and each metric's
// minimum and maximum over the units; the bundle keeps them in the CSV, run.json leaves them out.
bool worth_keeping(const std::string& metric, const std::map<std::string, double>& all) {
  for (const char* prefix : {"device__", "c2clink__", "nvlink__", "numa__", "profiler__", "derived_temp", "derived__pct_", "launch__"})
    if (metric.compare(0, std::string_view(prefix).size(), prefix) == 0)
      return metric == kRegisters || metric == "launch__waves_per_multiprocessor";
  if (metric.find(".peak_sustained") != std::string::npos) return false;
  for (const char* rollup : {".min", ".max", ".sum"}) {
    const auto at = metric.find(rollup);
    if (at == std::string::npos) continue;
    std::string average = metric;
    average.replace(at, 4, ".avg");
    const bool repeats_average = rollup != std::string_view(".sum") || metric.find(".pct_of_peak") != std::string::npos;
    if (repeats_average && all.count(average) > 0) return false;
  }
  return !metric.ends_with("_internal_activity.avg.pct_of_peak_sustained_elapsed");
}

void fill_metrics(const NcuLaunch& launch, NcuSample& sample) {
  const auto& metrics = launch.metrics;
  if (const auto ns = first_metric(metrics, {"gpu__time_duration.sum", "gpu__time_duration.max", "gpu__time_duration.avg"}))
    sample.ncu_duration_ns = std::llround(*ns);
  sample.values = metric_values(MetricPlace::kLaunch, metrics);
  sample.bound_by = classify_bound(sample.values[Metric::kSm], memory_throughput(metrics)).by;
  for (const auto& [name, value] : metrics)
    if (worth_keeping(name, metrics)) sample.metrics.emplace(name, value);
  if (sample.bound_by == Bound::kMemory) sample.bound_memory = busiest_memory(metrics);
}

std::optional<std::string> innermost_stage(const NcuLaunch& launch) {
  std::optional<std::string> stage;
  for (const NcuRange& range : launch.ranges)
    if (std::string found = nvtx::stage_of(range.domain, range.name); !found.empty()) stage = std::move(found);
  return stage;
}

// What identifies the nsys launches that a sample is compared with.
struct ShapeKey {
  StringId name, mangled_name;
  Dim3 grid, block;
  std::int32_t device = 0;
  auto operator<=>(const ShapeKey&) const = default;
};

// The names of the trace and what was launched under them.
class LaunchedShapes {
 public:
  explicit LaunchedShapes(const Trace& trace) : names_(distinct_names(trace, pairs_)) {
    std::set<std::pair<std::uint32_t, std::int32_t>> launched;
    for (const Kernel& kernel : trace.kernels) {
      const std::int32_t device = trace.queues[kernel.queue].device;
      if (last_ == std::pair(kernel.shape, device)) continue;  // runs of one kernel are common
      last_ = {kernel.shape, device};
      launched.insert(last_);
      devices_.insert(device);
    }
    for (const auto& [shape, device] : launched) {
      const KernelShape& s = trace.shapes[shape];
      const auto [known, added] = registers_.try_emplace({s.name, s.mangled_name, s.grid, s.block, device}, s.registers_per_thread);
      if (!added && known->second != s.registers_per_thread) known->second = 0;
    }
  }

  struct Found {
    KernelMatch how = KernelMatch::kNone;
    std::vector<ShapeKey> shapes = {};  // all of one name
    std::uint32_t registers = 0;        // a thread, by the trace; 0: not known, or not the same for all
    const char* why_not = nullptr;
  };
  Found find(const NcuLaunch& launch) const {
    const auto names = names_.find(launch.kernel_name);
    if (names.entries.empty()) return {.why_not = "the trace has no kernel of this name"};
    // Two tools number one device alike, unless one of them saw only that one.
    const std::int32_t device = devices_.size() == 1 ? *devices_.begin() : launch.device;
    Found found;
    found.how = names.how;
    for (const std::size_t i : names.entries) {
      const ShapeKey key{pairs_[i].first, pairs_[i].second, launch.grid, launch.block, device};
      const auto launched = registers_.find(key);
      if (launched == registers_.end()) continue;
      found.registers = found.shapes.empty() || found.registers == launched->second ? launched->second : 0;
      found.shapes.push_back(key);
    }
    if (found.shapes.empty()) found.why_not = "the trace has this kernel, but not with this grid, block and device";
    const auto other = [&](const ShapeKey& key) { return key.name != found.shapes[0].name; };
    if (std::any_of(found.shapes.begin(), found.shapes.end(), other))
      found.why_not = "several kernels of the capture match; export with --print-kernel-base mangled";
    return found;
  }

 private:
  static KernelNames distinct_names(const Trace& trace, std::vector<std::pair<StringId, StringId>>& pairs) {
    std::map<std::pair<StringId, StringId>, StringId> distinct;
    for (const KernelShape& shape : trace.shapes) distinct.try_emplace({shape.name, shape.mangled_name}, shape.short_name);
    std::vector<KernelNames::Entry> entries;
    for (const auto& [pair, short_name] : distinct) {
      pairs.push_back(pair);
      entries.push_back({trace.strings[pair.first], trace.strings[pair.second], trace.strings[short_name]});
    }
    return KernelNames(std::move(entries));
  }

  std::vector<std::pair<StringId, StringId>> pairs_;
  KernelNames names_;
  std::map<ShapeKey, std::uint32_t> registers_;  // of each shape that was launched
  std::set<std::int32_t> devices_;
  std::pair<std::uint32_t, std::int32_t> last_{kNone, 0};
};

struct Pending {
  const NcuLaunch* launch = nullptr;
  KernelEntry* entry = nullptr;
  LaunchedShapes::Found found;
};

// The durations of nsys' launches of the shapes that ncu profiled.
std::map<ShapeKey, std::vector<Ns>> nsys_durations(const Trace& trace, const std::vector<Pending>& pending) {
  std::map<ShapeKey, std::vector<Ns>> durations;
  for (const auto& each : pending)
    for (const auto& key : each.found.shapes) durations[key];
  std::set<std::uint32_t> wanted_names;
  for (const auto& [key, values] : durations) wanted_names.insert(key.name.value);
  std::vector<char> wanted(trace.shapes.size());
  for (std::size_t i = 0; i < trace.shapes.size(); ++i) wanted[i] = wanted_names.count(trace.shapes[i].name.value) > 0;
  for (const Kernel& kernel : trace.kernels) {
    if (!wanted[kernel.shape]) continue;
    const KernelShape& shape = trace.shapes[kernel.shape];
    const auto found = durations.find({shape.name, shape.mangled_name, shape.grid, shape.block, trace.queues[kernel.queue].device});
    if (found != durations.end()) found->second.push_back(static_cast<Ns>(kernel.duration_ns));
  }
  return durations;
}

// The same launch from another page of the same report: an id that this kernel has already, of the same
// shape, and the same duration as far as the details page prints it (two decimals of a µs).
bool same_launch(const NcuSample& a, const NcuSample& b) {
  if (a.measured_by != b.measured_by || a.ncu_id != b.ncu_id || a.grid != b.grid || a.block != b.block || a.stage != b.stage) return false;
  if (!a.ncu_duration_ns || !b.ncu_duration_ns) return true;
  return std::abs(*a.ncu_duration_ns - *b.ncu_duration_ns) <= 5 + *a.ncu_duration_ns / 100;
}

void fill_gaps(NcuSample& into, const NcuSample& from) {
  const auto fill = [](auto& field, const auto& value) {
    if (!field) field = value;
  };
  fill(into.ncu_duration_ns, from.ncu_duration_ns);
  fill(into.durations_agree, from.durations_agree);
  for (const MetricInfo& info : metrics_of(MetricPlace::kLaunch)) fill(into.values[info.metric], from.values[info.metric]);
  fill(into.bound_by, from.bound_by);
  fill(into.bound_memory, from.bound_memory);
  into.metrics.insert(from.metrics.begin(), from.metrics.end());
}

void attach(KernelEntry& entry, NcuSample sample) {
  entry.ncu_note.reset();
  const auto known = std::find_if(entry.ncu.begin(), entry.ncu.end(), [&](const auto& each) { return same_launch(each, sample); });
  if (known != entry.ncu.end()) fill_gaps(*known, sample);
  else entry.ncu.push_back(std::move(sample));
}

// ncu times a launch alone, between flushes of the pipeline, and at whatever clock the card then has: on an
// H200 it read up to 1.3 µs more than nsys for kernels of 1 to 3 µs, and within a tenth for long ones. Half as
// much again and 2 µs on top is outside what was seen for the same kernel, and inside for another one seldom.
std::optional<bool> durations_agree(const NcuSample& sample) {
  if (!sample.ncu_duration_ns) return std::nullopt;
  const Ns ncu = *sample.ncu_duration_ns;
  return ncu * 3 >= sample.nsys_min_ns * 2 && ncu <= sample.nsys_max_ns + sample.nsys_max_ns / 2 + 2000;
}

NcuSample make_sample(const Pending& pending, const std::map<ShapeKey, std::vector<Ns>>& durations) {
  const NcuLaunch& launch = *pending.launch;
  NcuSample sample;
  sample.ncu_id = launch.id;
  sample.ncu_kernel_name = launch.kernel_name;
  sample.matched_by = pending.found.how;
  sample.grid = launch.grid;
  sample.block = launch.block;
  sample.stage = innermost_stage(launch);
  std::vector<Ns> values;
  for (const auto& key : pending.found.shapes) {
    const auto& some = durations.at(key);
    values.insert(values.end(), some.begin(), some.end());
  }
  const TimeSummary time = summarise_times(values);
  sample.nsys_median_ns = std::llround(time.median_ns);
  sample.nsys_min_ns = time.min_ns;
  sample.nsys_max_ns = time.max_ns;
  sample.nsys_calls = time.count;
  fill_metrics(launch, sample);
  // Not counted but known: CUPTI's counters come without it, as do ncu's small sets.
  if (pending.found.registers > 0) sample.metrics.try_emplace(kRegisters, pending.found.registers);
  sample.durations_agree = durations_agree(sample);
  return sample;
}

// As far as ncu alone knows it.
void add_launch(const NcuLaunch& launch, KernelEntry& entry, std::vector<Ns>& durations) {
  Pending pending;
  pending.launch = &launch;
  NcuSample sample = make_sample(pending, {});
  sample.measured_by = Meter::kNcu;
  sample.matched_by = KernelMatch::kName;
  sample.durations_agree.reset();  // there is no other
  if (sample.ncu_duration_ns) durations.push_back(*sample.ncu_duration_ns);
  if (sample.stage) {
    auto split =
        std::find_if(entry.stages.begin(), entry.stages.end(), [&](const StageSplit& each) { return each.stage == *sample.stage; });
    if (split == entry.stages.end()) split = entry.stages.insert(split, {*sample.stage, 0, 0});
    split->total_ns += sample.ncu_duration_ns.value_or(0);
    ++split->calls;
  }
  attach(entry, std::move(sample));
}

}  // namespace

std::vector<KernelEntry> ncu_kernels(const NcuReport& ncu) {
  std::map<std::pair<std::string, std::int32_t>, std::pair<KernelEntry, std::vector<Ns>>> entries;
  for (const NcuLaunch& launch : ncu.launches) {
    auto& [entry, durations] = entries[{launch.kernel_name, launch.device}];
    entry.name = launch.kernel_name;
    entry.short_name = kernel_function(entry.name);
    entry.kind = classify_kernel(entry.name);
    entry.device = launch.device;
    entry.selected = true;
    add_launch(launch, entry, durations);
  }
  std::map<std::int32_t, Ns> all_ns;  // by GPU
  std::vector<KernelEntry> kernels;
  for (auto& [key, found] : entries) {
    found.first.time = summarise_times(found.second);
    all_ns[found.first.device] += found.first.time.total_ns;
    kernels.push_back(std::move(found.first));
  }
  for (KernelEntry& entry : kernels)
    if (all_ns[entry.device] > 0) entry.gpu_share = static_cast<double>(entry.time.total_ns) / static_cast<double>(all_ns[entry.device]);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelEntry& a, const KernelEntry& b) { return a.time.total_ns > b.time.total_ns; });
  return kernels;
}

NcuMatch match_ncu(const NcuReport& ncu, const Trace& trace, std::vector<KernelEntry>& kernels, Meter measured_by) {
  NcuMatch result;
  const LaunchedShapes shapes(trace);
  std::map<std::pair<std::string_view, std::int32_t>, KernelEntry*> entries;
  for (KernelEntry& entry : kernels) entries.emplace(std::pair(std::string_view(entry.name), entry.device), &entry);
  std::vector<Pending> pending;
  for (const NcuLaunch& launch : ncu.launches) {
    auto found = shapes.find(launch);
    if (found.why_not != nullptr) {
      result.unmatched_launches.push_back(describe(launch, found.why_not));
      continue;
    }
    const ShapeKey& key = found.shapes.front();
    const auto entry = entries.find(std::pair(std::string_view(trace.strings[key.name]), key.device));
    if (entry == entries.end()) result.unmatched_launches.push_back(describe(launch, "the run has no such kernel"));
    else pending.push_back({&launch, entry->second, std::move(found)});
  }
  const auto durations = nsys_durations(trace, pending);
  for (const Pending& each : pending) {
    NcuSample sample = make_sample(each, durations);
    sample.measured_by = measured_by;
    attach(*each.entry, std::move(sample));
  }
  result.matched = pending.size();
  return result;
}

}  // namespace nl::analysis
