#include "analysis/runs/compare/parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/runs/compare/kernel_pairs.h"
#include "analysis/statistics/confidence.h"

namespace nl::analysis {

// How many GPUs the process has that runs on this one. The windows of every process count, so that processes must not be divided by again.
double gpus_of_process(const StageEntry& stage, std::int32_t device) {
  const auto found =
      std::find_if(stage.devices.begin(), stage.devices.end(), [&](const StageDevice& each) { return each.device == device; });
  if (found == stage.devices.end()) return 1;
  return static_cast<double>(
      std::count_if(stage.devices.begin(), stage.devices.end(), [&](const StageDevice& each) { return each.pid == found->pid; }));
}

// The kernels of one stage of a run, by symbol: time and calls of a window. Of several GPUs of a process the mean, as a stage's other figures.
struct WindowKernels {
  std::map<std::string, ComparedKernel> kernels;

  WindowKernels(const Run& run, const StageEntry& stage) {
    for (const KernelEntry& entry : *run.kernels)
      for (const StageLaunches& launches : entry.measured) {
        if (launches.stage != stage.name) continue;
        const double share = 1 / (static_cast<double>(stage.wall.count) * gpus_of_process(stage, entry.device));
        ComparedKernel& kernel = kernels[entry.symbol()];
        kernel.name = entry.name;
        kernel.short_name = entry.short_name;
        kernel.calls += share * static_cast<double>(launches.calls);
        kernel.time_ns += share * static_cast<double>(launches.total_ns);
      }
  }
};

// All runs of a side that have the stage.
struct SideKernels {
  std::vector<std::optional<WindowKernels>> runs;  // as Sides has them; empty: no kernels of this stage captured
  std::vector<PairedKernel> kernels;               // means over these runs

  SideKernels(const std::vector<const Run*>& all, const std::string& stage) {
    std::map<std::string, ComparedKernel> together;
    double known = 0;
    for (const Run* run : all) {
      const StageEntry* entry = find_stage(*run, stage);
      runs.emplace_back();
      if (entry == nullptr || !run->kernels) continue;
      runs.back().emplace(*run, *entry);
      ++known;
      for (const auto& [symbol, kernel] : runs.back()->kernels) add(kernel, together[symbol]);
    }
    for (auto& [symbol, kernel] : together) {
      kernel.calls /= known;
      kernel.time_ns /= known;
      kernels.push_back(describe_kernel(std::move(kernel), symbol));
    }
    for (const Run* run : all) add_sites(*run, stage);
  }

  std::optional<double> time_of(std::size_t run, const std::vector<std::size_t>& group) const {
    if (!runs[run]) return std::nullopt;
    double sum = 0;
    for (const std::size_t i : group)
      if (const auto found = runs[run]->kernels.find(kernels[i].symbol); found != runs[run]->kernels.end()) sum += found->second.time_ns;
    return sum;
  }
  double total_ns() const {
    double sum = 0;
    for (const PairedKernel& kernel : kernels) sum += kernel.seen.time_ns;
    return sum;
  }

 private:
  static void add(const ComparedKernel& kernel, ComparedKernel& sum) {
    sum.name = kernel.name;
    sum.short_name = kernel.short_name;
    sum.calls += kernel.calls;
    sum.time_ns += kernel.time_ns;
  }

  // Where the representative step of the stage launches each kernel: "aten::mm|model.layers.0.mlp|2|0", the third of its like there, its
  // first kernel.
  void add_sites(const Run& run, const std::string& stage) {
    std::map<std::string, PairedKernel*> by_name;
    for (PairedKernel& kernel : kernels) by_name[kernel.seen.name] = &kernel;
    for (const OperatorStep& step : run.operator_steps) {
      if (step.stage != stage) continue;
      std::map<std::pair<std::string, std::string>, std::size_t> seen;
      for (const OperatorCall& call : step.calls) {
        const std::size_t nth = seen[{call.name, call.layer}]++;
        for (std::size_t i = 0; i < call.kernels.size(); ++i) {
          const auto kernel = by_name.find(call.kernels[i].name);
          if (kernel == by_name.end()) continue;
          kernel->second->sites.insert(call.name + "|" + call.layer + "|" + std::to_string(nth) + "|" + std::to_string(i));
          kernel->second->add_operator(call);
        }
      }
    }
  }
};

namespace {

// The group in the order of time, most first; and what its pair shows.
std::vector<ComparedKernel> seen_of(const std::vector<PairedKernel>& kernels, const std::vector<std::size_t>& group) {
  std::vector<ComparedKernel> seen;
  for (const std::size_t i : group) seen.push_back(kernels[i].seen);
  std::sort(seen.begin(), seen.end(),
            [](const ComparedKernel& a, const ComparedKernel& b) { return std::tie(b.time_ns, a.name) < std::tie(a.time_ns, b.name); });
  return seen;
}

// The name that stands for a pair: the same one from either side.
std::string key_of_pair(const KernelPair& pair) {
  if (pair.a.empty() || pair.b.empty()) return (pair.a.empty() ? pair.b : pair.a).front().name;
  return std::min(pair.a.front().name, pair.b.front().name);
}

}  // namespace

class StagePairs {
 public:
  StageKernels result;

  StagePairs(const Sides& sides, const std::string& stage) : sides_(sides), a_(sides.a, stage), b_(sides.b, stage) {
    result.stage = stage;
    for (KernelMatchUp& match : match_kernels(a_.kernels, b_.kernels)) {
      KernelPair pair;
      pair.a = seen_of(a_.kernels, match.a);
      pair.b = seen_of(b_.kernels, match.b);
      pair.paired_by = match.paired_by;
      pair.relation = match.relation;
      pair.fit_for_tuning = match.fit_for_tuning;
      pair.line.key = key_of_pair(pair);
      pair.line.stage = stage;
      pair.line.figure = CompareFigure::kKernelTime;
      matches_.push_back(std::move(match));
      result.pairs.push_back(std::move(pair));
    }
    set_shares();
  }

  bool captured() const { return !a_.kernels.empty() || !b_.kernels.empty(); }
  std::size_t size() const { return matches_.size(); }
  CompareLine& line(std::size_t i) { return result.pairs[i].line; }

  // One value a run: the time of the pair's kernels in a window.
  std::vector<OrderedValue> values(std::size_t i) const {
    std::vector<OrderedValue> values;
    for (std::size_t run = 0; run < sides_.a.size(); ++run)
      if (const auto time = a_.time_of(run, matches_[i].a)) values.push_back({*time, sides_.place_a[run], false});
    for (std::size_t run = 0; run < sides_.b.size(); ++run)
      if (const auto time = b_.time_of(run, matches_[i].b)) values.push_back({*time, sides_.place_b[run], true});
    return values;
  }

  StageKernels take() {
    std::sort(result.pairs.begin(), result.pairs.end(), [](const KernelPair& a, const KernelPair& b) {
      const double x = std::abs(difference_of(a.line)), y = std::abs(difference_of(b.line));
      return std::tie(y, a.line.key) < std::tie(x, b.line.key);
    });
    return std::move(result);
  }

 private:
  void set_shares() {
    const double total_a = a_.total_ns(), total_b = b_.total_ns();
    for (const KernelPair& pair : result.pairs) {
      if (pair.a.empty() || pair.b.empty()) continue;
      for (const ComparedKernel& kernel : pair.a) result.paired_share_a += total_a > 0 ? kernel.time_ns / total_a : 0;
      for (const ComparedKernel& kernel : pair.b) result.paired_share_b += total_b > 0 ? kernel.time_ns / total_b : 0;
    }
  }

  const Sides& sides_;
  SideKernels a_, b_;
  std::vector<KernelMatchUp> matches_;
};

KernelComparison::KernelComparison(const Sides& sides) {
  for (const std::string& name : common_stages(sides)) {
    StagePairs stage(sides, name);
    if (stage.captured()) stages_.push_back(std::move(stage));
  }
}

KernelComparison::~KernelComparison() = default;

std::map<std::string, double> KernelComparison::p_values(const Judge& judge) const {
  std::map<std::string, double> by_stage;
  for (const StagePairs& stage : stages_) {
    std::vector<double> p_values;
    for (std::size_t i = 0; i < stage.size(); ++i)
      if (const auto p = judge.p_value(stage.values(i))) p_values.push_back(*p);
    const std::vector<double> q = q_values(std::move(p_values));
    if (!q.empty()) by_stage[stage.result.stage] = *std::min_element(q.begin(), q.end());  // the least q-value is Simes' p-value of all
  }
  return by_stage;
}

std::vector<StageKernels> KernelComparison::decide(const Judge& judge, const RunLines& run) {
  std::vector<LineTest> tests;
  double entered = 0;
  for (StagePairs& stage : stages_) {
    const std::optional<LineReason> why_not = why_not_entered(run, stage.result.stage);
    stage.result.entered = !why_not || std::count(run.kernels_changed.begin(), run.kernels_changed.end(), stage.result.stage) > 0;
    if (!stage.result.entered) stage.result.why_not = why_not;
    entered += stage.result.entered;
    for (std::size_t i = 0; i < stage.size(); ++i) {
      if (stage.result.entered) tests.push_back(judge.measure(std::move(stage.line(i)), stage.values(i)));
      else stage.line(i) = Judge::glance(std::move(stage.line(i)), stage.values(i), *why_not);
    }
  }
  judge.decide(tests, entered > 0 ? static_cast<double>(stages_.size()) / entered : 1);  // Benjamini and Bogomolov 2014
  auto next = tests.begin();
  std::vector<StageKernels> result;
  for (StagePairs& stage : stages_) {
    for (std::size_t i = 0; i < stage.size() && stage.result.entered; ++i) stage.line(i) = std::move((next++)->line);
    for (KernelPair& pair : stage.result.pairs) {
      if (pair.paired_by != KernelPairing::kRank || !changed(pair.line)) continue;
      pair.line.verdict = CompareVerdict::kUndecidable;  // a guess that differs does not mean that the kernel changed
      pair.line.reason = LineReason::kRankOnly;
    }
    result.push_back(stage.take());
  }
  return result;
}

}  // namespace nl::analysis
