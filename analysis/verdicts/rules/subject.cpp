#include "analysis/verdicts/rules/subject.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl::analysis::rules {
namespace {

std::optional<std::size_t> main_sample(const KernelEntry& kernel) {
  std::optional<std::size_t> best;
  const auto time = [&](std::size_t i) {
    return static_cast<double>(kernel.ncu[i].nsys_median_ns) * static_cast<double>(kernel.ncu[i].nsys_calls);
  };
  for (std::size_t i = 0; i < kernel.ncu.size(); ++i)
    if (!best || time(i) > time(*best)) best = i;
  return best;
}

template <class Items, class Matches>
std::optional<std::size_t> index_of(const Items& items, Matches matches) {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  if (found == items.end()) return std::nullopt;
  return static_cast<std::size_t>(found - items.begin());
}

Subject stage_subject(const Run& run, const RunTotals& totals, std::size_t i) {
  Subject subject{&run, &totals, RuleScope::kStage, i, 0, {}, {}, {}, {}, {}};
  const auto same = [&](const auto& each) { return each.stage == run.stages[i].name; };
  subject.efficiency = index_of(run.efficiency, same);
  subject.slowdown =
      index_of(run.perturbation.stages, [&](const auto& each) { return same(each) && is_tracer(each.profiler) && each.slowdown; });
  subject.energy = index_of(run.energy.stages, same);
  return subject;
}

Subject kernel_subject(const Run& run, const RunTotals& totals, std::size_t i) {
  Subject subject{&run, &totals, RuleScope::kKernel, i, 0, {}, {}, {}, {}, {}};
  subject.sample = main_sample((*run.kernels)[i]);
  if (subject.sample)
    subject.point = index_of(run.roofline.points, [&](const RooflinePoint& point) {
      return point.ncu_id == subject.ncu()->ncu_id &&
             (point.kernel == subject.kernel().name || point.kernel == subject.ncu()->ncu_kernel_name);
    });
  return subject;
}

}  // namespace

const Budget* Subject::budget() const {
  if (scope == RuleScope::kStage) return stage().budget ? &*stage().budget : nullptr;
  return totals->budget ? &*totals->budget : nullptr;
}

const StageActivity* Subject::activity() const {
  if (scope == RuleScope::kStage) {
    const StageTotals& of_one_gpu = totals->stages[index];
    const auto& activity = of_one_gpu.gpus > 1 ? of_one_gpu.activity : stage().activity;
    return activity ? &*activity : nullptr;
  }
  return totals->activity ? &*totals->activity : nullptr;
}

std::optional<Ns> Subject::time_ns() const {
  switch (scope) {
    case RuleScope::kRun: return totals->span_ns;
    case RuleScope::kStage: return stage().wall.total_ns;
    case RuleScope::kKernel: return kernel().time.total_ns;
    case RuleScope::kOperator: return op().cuda_total_ns ? *op().cuda_total_ns : op().total_ns;
  }
  return std::nullopt;
}

std::string Subject::name() const {
  switch (scope) {
    case RuleScope::kRun: break;
    case RuleScope::kStage: return stage().name;
    case RuleScope::kKernel: return kernel().name;
    case RuleScope::kOperator: return op().name;
  }
  return "";
}

std::vector<Subject> subjects_of(const Run& run, const RunTotals& totals, RuleScope scope) {
  std::vector<Subject> subjects;
  switch (scope) {
    case RuleScope::kRun: subjects.push_back(Subject{&run, &totals, scope, 0, 0, {}, {}, {}, {}, {}}); break;
    case RuleScope::kStage:
      for (std::size_t i = 0; i < run.stages.size(); ++i)
        if (!encloses_others(run, run.stages[i])) subjects.push_back(stage_subject(run, totals, i));
      break;
    case RuleScope::kKernel:
      for (const WorkingKernel& kernel : totals.working.list) subjects.push_back(kernel_subject(run, totals, kernel.index));
      break;
    case RuleScope::kOperator:
      for (std::size_t t = 0; t < run.operators.size(); ++t)
        for (std::size_t i = 0; i < run.operators[t].entries.size(); ++i)
          subjects.push_back(Subject{&run, &totals, scope, i, t, {}, {}, {}, {}, {}});
      break;
  }
  return subjects;
}

std::string pointer_to(const Subject& subject, Place place) {
  std::string self;
  switch (subject.scope) {
    case RuleScope::kRun: self = "/phases"; break;
    case RuleScope::kStage: self = fmt::format("/stages/{}", subject.index); break;
    case RuleScope::kKernel: self = fmt::format("/kernels/{}", subject.index); break;
    case RuleScope::kOperator: self = fmt::format("/operators/{}/entries/{}", subject.table, subject.index); break;
  }
  const bool stage = subject.scope == RuleScope::kStage;
  switch (place) {
    case Place::kSelf: return self;
    case Place::kBudget: return stage ? (subject.budget() ? self + "/budget" : self) : "/phases";
    case Place::kActivity:
    case Place::kGap: return stage ? (subject.activity() ? self + "/activity" : self) : "/stages";
    case Place::kEfficiency: return subject.efficiency ? fmt::format("/efficiency/{}", *subject.efficiency) : self;
    case Place::kSlowdown: return subject.slowdown ? fmt::format("/perturbation/stages/{}", *subject.slowdown) : "/perturbation";
    case Place::kEnergy: return subject.energy ? fmt::format("/energy/stages/{}", *subject.energy) : "/energy";
    case Place::kNcu: return subject.sample ? fmt::format("{}/ncu/{}", self, *subject.sample) : self;
    case Place::kRoofline: return subject.point ? fmt::format("/roofline/points/{}", *subject.point) : self;
    case Place::kStages: return "/stages";
    case Place::kKernels: return "/kernels";
    case Place::kCoverage: return "/coverage";
    case Place::kPhases: return "/phases";
    case Place::kIterations: return "/iterations";
    case Place::kLatency: return "/latency";
    case Place::kServing: return "/serving";
    case Place::kRankHang: return "/rank_hang";
    case Place::kPerturbation: return "/perturbation";
    case Place::kClocks: return subject.totals->clock_device ? fmt::format("/energy/devices/{}", *subject.totals->clock_device) : "/energy";
    case Place::kModel: return "/model";
    case Place::kWorkload: return "/workload";
    case Place::kHardware: return "/hardware";
    case Place::kSoftware: return "/software";
    case Place::kProblems: return "/problems";
    case Place::kImport: return "/import_stats";
    case Place::kCounters: return stage && subject.stage().counters ? self + "/counters" : self;
    case Place::kLaunchWaits: return stage && subject.stage().launch_waits ? self + "/launch_waits" : self;
    case Place::kHostCode: return stage && subject.stage().host_code ? self + "/host_code" : self;
    case Place::kRecurringGaps: return stage && !subject.stage().gaps.empty() ? self + "/gaps/0" : self;
    case Place::kNodes: {
      const auto step = nodes_step(subject);
      return step ? fmt::format("/operator_steps/{}", *step) : "/operator_steps";
    }
    case Place::kSampling: return stage && subject.stage().sampling ? self + "/sampling" : self;
  }
  return self;
}

}  // namespace nl::analysis::rules
