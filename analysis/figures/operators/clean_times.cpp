#include "analysis/figures/operators/clean_times.h"

#include <tuple>

namespace nl::analysis {

CleanTimes::Size CleanTimes::size_of(const Trace& trace, const WorkRow& row) {
  if (row.shape == kNone) return {{}, {}, row.bytes};
  return {trace.shapes[row.shape].grid, trace.shapes[row.shape].block, 0};
}

// Rows are many, and what they are few: they are added up by number first.
CleanTimes::CleanTimes(const Trace& trace, const StepWindows& windows) {
  for (const StepWindow& window : windows.all()) {
    if (window.warmup) continue;
    Stage& stage = stages_[window.stage];
    ++stage.windows;
    stage.wall_ns += static_cast<double>(window.end_ns - window.start_ns);
  }
  std::map<std::string, std::uint32_t> ids;
  std::vector<std::uint32_t> stage_of_window;
  for (const StepWindow& window : windows.all())
    stage_of_window.push_back(ids.try_emplace(window.stage, static_cast<std::uint32_t>(ids.size())).first->second);
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>, Sum> rows;
  visit_work(trace, [&](const WorkRow& row) {
    const std::uint32_t window = windows.find(row.launch.thread, row.launch.start_ns, row.launch.end_ns);
    if (window == kNone || windows.all()[window].warmup) return;
    rows[{stage_of_window[window], row.name, row.shape, row.bytes}].add(static_cast<double>(row.duration_ns), 1);
  });
  std::vector<std::string> names(ids.size());
  for (const auto& [name, id] : ids) names[id] = name;
  for (const auto& [key, sum] : rows) {
    const auto& [stage, name, shape, bytes] = key;
    const Name work(names[stage], name_of_work(trace, name));
    stages_[work.first].gpu_ns += sum.total_ns;
    names_[work].add(sum.total_ns, sum.calls);
    sizes_[{work, size_of(trace, {name, shape, bytes, 0, {}, {}})}].add(sum.total_ns, sum.calls);
  }
}

const CleanTimes::Stage* CleanTimes::stage(const std::string& name) const {
  const auto found = stages_.find(name);
  return found == stages_.end() ? nullptr : &found->second;
}

std::optional<double> CleanTimes::mean_of_name(const std::string& stage, const std::string& name) const {
  const auto found = names_.find({stage, name});
  if (found == names_.end()) return std::nullopt;
  return found->second.mean();
}

std::optional<double> CleanTimes::mean_of(const std::string& stage, const Trace& trace, const WorkRow& row) const {
  const Name work(stage, name_of_work(trace, row.name));
  const auto found = sizes_.find({work, size_of(trace, row)});
  return found == sizes_.end() ? mean_of_name(work.first, work.second) : found->second.mean();
}

}  // namespace nl::analysis
