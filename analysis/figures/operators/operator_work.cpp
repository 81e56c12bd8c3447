#include "analysis/figures/operators/operator_work.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <unordered_map>

#include "analysis/figures/operators/step_windows.h"
#include "model/words.h"

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

// Times and calls of the steps, each as often as its step comes in the clean pass: no whole numbers until the end.
class TallySums {
 public:
  explicit TallySums(const RangeItems& items) : items_(items), item_sums_(items.group_of_item.size()), group_sums_(items.groups) {}

  std::uint32_t stage(const std::string& name) { return number_of_stage(stages_, name); }

  void add_host(const RangeTally& host, double weight, std::uint32_t stage) {
    for (std::size_t i = 0; i < item_sums_.size(); ++i) add_host(item_sums_[i], host.items[i], weight);
    for (std::size_t i = 0; i < group_sums_.size(); ++i) {
      const double self_ns = weight * static_cast<double>(host.groups[i].self_ns);
      add_host(group_sums_[i], host.groups[i], weight);
      group_sums_[i].self_ns += self_ns;
      if (self_ns > 0) group_sums_[i].stage_self_ns[stage] += self_ns;
    }
  }

  // `around`: items, outermost first.
  void add_work(const std::vector<std::uint32_t>& around, std::uint32_t name, double time_ns, double weight, std::uint32_t stage) {
    GroupSum& self = group_sums_[items_.group_of_item[around.back()]];
    self.cuda_self_ns += time_ns * weight;
    self.stage_cuda_self_ns[stage] += time_ns * weight;
    cuda_ns_ += time_ns * weight;
    std::set<std::uint32_t> items(around.begin(), around.end()), groups;
    for (const std::uint32_t item : items) {
      item_sums_[item].cuda_ns += time_ns * weight;
      groups.insert(items_.group_of_item[item]);
    }
    for (const std::uint32_t group : groups) {
      group_sums_[group].cuda_ns += time_ns * weight;
      auto& [calls, total_ns] = group_sums_[group].kernels[name];
      calls += weight;
      total_ns += time_ns * weight;
    }
  }

  // One whose work a CUDA graph replays: nothing of it runs on the host.
  void add_replayed(std::uint32_t item, double weight) {
    item_sums_[item].calls += weight;
    group_sums_[items_.group_of_item[item]].calls += weight;
  }

  RangeTally result(double clean_gpu_ns) const {
    RangeTally out;
    for (const Sum& sum : item_sums_) out.items.push_back(item_time(sum));
    for (const GroupSum& sum : group_sums_) out.groups.push_back(group_time(sum));
    out.stages = stages_;
    out.cuda_ns = std::llround(cuda_ns_);
    out.capture_cuda_ns = std::llround(clean_gpu_ns);
    return out;
  }

 private:
  struct Sum {
    double calls = 0, total_ns = 0, cuda_ns = 0;
  };
  struct GroupSum : Sum {
    double self_ns = 0, cuda_self_ns = 0;
    std::unordered_map<std::uint32_t, std::pair<double, double>> kernels;  // calls and time
    std::unordered_map<std::uint32_t, double> stage_self_ns, stage_cuda_self_ns;
  };
  static void add_host(Sum& sum, const ItemTime& time, double weight) {
    sum.calls += weight * static_cast<double>(time.calls);
    sum.total_ns += weight * static_cast<double>(time.total_ns);
  }
  static ItemTime item_time(const Sum& sum) {
    return {static_cast<std::uint64_t>(std::llround(sum.calls)), std::llround(sum.total_ns), std::llround(sum.cuda_ns)};
  }
  static GroupTime group_time(const GroupSum& sum) {
    GroupTime time;
    static_cast<ItemTime&>(time) = item_time(sum);
    time.self_ns = std::llround(sum.self_ns);
    time.cuda_self_ns = std::llround(sum.cuda_self_ns);
    for (const auto& [name, work] : sum.kernels)
      time.kernels[name] = {static_cast<std::uint64_t>(std::llround(work.first)), std::llround(work.second)};
    for (const auto& [stage, ns] : sum.stage_self_ns) time.stage_self_ns[stage] = std::llround(ns);
    for (const auto& [stage, ns] : sum.stage_cuda_self_ns) time.stage_cuda_self_ns[stage] = std::llround(ns);
    return time;
  }

  const RangeItems& items_;
  std::vector<Sum> item_sums_;
  std::vector<GroupSum> group_sums_;
  std::vector<std::string> stages_;
  double cuda_ns_ = 0;
};

OperatorWork::OperatorWork(const Trace& trace, const StepWindows& windows, const RangeItems& operators, const CleanTimes& clean)
    : trace_(trace), windows_(windows), clean_(clean), index_(trace) {
  choose_windows(operators);
  collect_rows();
}

void OperatorWork::choose_windows(const RangeItems& operators) {
  const std::vector<bool> chosen = operators_by_window(trace_, windows_, operators, index_).chosen;
  stage_of_window_.assign(windows_.all().size(), kNone);
  for (const std::string& name : windows_.stages()) {
    const CleanTimes::Stage* clean = clean_.stage(name);
    Stage stage{name, 0, 0, 0, clean};
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const StepWindow& window = windows_.all()[i];
      if (!chosen[i] || window.stage != name || clean == nullptr || clean->windows == 0) continue;
      stage_of_window_[i] = static_cast<std::uint32_t>(stages_.size());
      ++stage.windows;
      stage.wall_ns += static_cast<double>(window.end_ns - window.start_ns);
    }
    if (stage.windows == 0) continue;
    stage.weight = static_cast<double>(clean->windows) / static_cast<double>(stage.windows);
    stages_.push_back(stage);
  }
}

// Work of one name and several launch configurations takes its times by them. A few steps may not meet all: a cache that grows takes
// longer with every step. So the times of a name are stretched to its mean in the clean pass.
void OperatorWork::collect_rows() {
  std::map<std::pair<std::string, std::string>, std::pair<double, std::uint64_t>> met;
  visit_work(trace_, [&](const WorkRow& row) {
    const std::uint32_t window = windows_.find(row.launch.thread, row.launch.start_ns, row.launch.end_ns);
    if (window == kNone || stage_of_window_[window] == kNone) return;
    rows_.push_back({row, window, 0});
    const std::string& stage = windows_.all()[window].stage;
    const auto mean_ns = clean_.mean_of(stage, trace_, row);
    if (!mean_ns) return;
    auto& [total_ns, calls] = met[{stage, name_of_work(trace_, row.name)}];
    total_ns += *mean_ns;
    ++calls;
  });
  for (const auto& [work, sum] : met)
    if (sum.first > 0) factors_[work] = *clean_.mean_of_name(work.first, work.second) * static_cast<double>(sum.second) / sum.first;
  for (Row& row : rows_) {
    const Stage& stage = stages_[stage_of_window_[row.window]];
    row.time_ns = time_of(stage.name, row.work);
    all_ns_ += row.time_ns * stage.weight;
    if (!clean_.mean_of_name(stage.name, name_of_work(trace_, row.work.name))) recorded_ns_ += row.time_ns * stage.weight;
  }
}

double OperatorWork::time_of(const std::string& stage, const WorkRow& row) const {
  const auto mean_ns = clean_.mean_of(stage, trace_, row);
  if (!mean_ns) return static_cast<double>(row.duration_ns);
  const auto factor = factors_.find({stage, name_of_work(trace_, row.name)});
  return factor == factors_.end() ? *mean_ns : *mean_ns * factor->second;
}

double OperatorWork::recorded_share() const { return all_ns_ > 0 ? recorded_ns_ / all_ns_ : 0; }

void OperatorWork::add_host(const RangeItems& items, TallySums& sums) const {
  for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
    RangeItems here = items;
    for (std::size_t i = 0; i < here.item_of_range.size(); ++i) {
      if (here.item_of_range[i] == kNone) continue;
      const Range& range = trace_.ranges[i];
      const std::uint32_t window = windows_.find(range.thread, range.start_ns, range.end_ns);
      if (window == kNone || stage_of_window_[window] != stage) here.item_of_range[i] = kNone;
    }
    sums.add_host(tally_host_ranges(trace_, here), stages_[stage].weight, sums.stage(stages_[stage].name));
  }
}

RangeTally OperatorWork::tally(const RangeItems& items) const {
  TallySums sums(items);
  add_host(items, sums);
  std::vector<std::uint32_t> around, chain;
  std::set<std::pair<std::uint32_t, std::uint32_t>> replayed;  // window and range
  for (const Row& row : rows_) {
    const Stage& stage = stages_[stage_of_window_[row.window]];
    index_.enclosing(row.work.origin.thread, row.work.origin.start_ns, row.work.origin.end_ns, around);
    chain.clear();
    for (const std::uint32_t range : around) {
      const std::uint32_t item = items.item_of_range[range];
      if (item == kNone) continue;
      chain.push_back(item);
      if (row.work.origin != row.work.launch && replayed.insert({row.window, range}).second) sums.add_replayed(item, stage.weight);
    }
    if (!chain.empty()) sums.add_work(chain, row.work.name, row.time_ns, stage.weight, sums.stage(stage.name));
  }
  double clean_gpu_ns = 0;
  for (const Stage& stage : stages_) clean_gpu_ns += stage.clean->gpu_ns;
  return sums.result(clean_gpu_ns);
}

}  // namespace nl::analysis
