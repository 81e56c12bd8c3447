#include "analysis/verdicts/rules/subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/account/gpu_mean.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

void total_phases(const Run& run, RunTotals& totals) {
  if (run.phases.span_ns <= 0) return;
  totals.span_ns = run.phases.span_ns;
  totals.idle_ns = 0;
  totals.mixed_ns = 0;
  Budget sum;
  bool all = true;
  for (const Phase& phase : run.phases.phases) {
    if (stage_kind(phase.name) == StageKind::kIdle) *totals.idle_ns += phase.wall_ns;
    if (stage_kind(phase.name) == StageKind::kMixed) *totals.mixed_ns += phase.wall_ns;
    if (phase.budget) add_budget(sum, *phase.budget);
    else all = all && phase.wall_ns == 0;
  }
  if (all && !run.phases.phases.empty()) totals.budget = sum;
}

bool has_stage(const Run& run, StageKind kind) {
  return std::any_of(run.stages.begin(), run.stages.end(), [&](const StageEntry& stage) { return stage_kind(stage.name) == kind; });
}

// A request encloses the other stages: what is said of them is not said of it again.
bool encloses_others(const Run& run, const StageEntry& stage) {
  return stage_kind(stage.name) == StageKind::kRequest && (has_stage(run, StageKind::kPrefill) || has_stage(run, StageKind::kDecode));
}

// Stages that lie inside others, as sampling does, are no phase: no instant is theirs alone.
bool lies_inside_others(const Run& run, const StageEntry& stage) {
  const auto& phases = run.phases.phases;
  return !phases.empty() && std::none_of(phases.begin(), phases.end(), [&](const Phase& phase) { return phase.name == stage.name; });
}

// The stages whose sum is the run: steps lie inside decode, and others may lie inside each other, too.
std::vector<const StageEntry*> stages_side_by_side(const Run& run, const std::optional<Ns>& span_ns) {
  const bool decode = has_stage(run, StageKind::kDecode);
  std::vector<const StageEntry*> stages;
  Ns walls_ns = 0;
  for (const StageEntry& stage : run.stages) {
    if ((decode && stage_kind(stage.name) == StageKind::kDecodeStep) || encloses_others(run, stage)) continue;
    stages.push_back(&stage);
    walls_ns += stage.wall.total_ns;
  }
  if (!span_ns || walls_ns <= *span_ns) return stages;
  std::erase_if(stages, [&](const StageEntry* stage) { return lies_inside_others(run, *stage); });
  return stages;
}

void total_activity(const Run& run, RunTotals& totals) {
  StageActivity sum;
  Ns walls_ns = 0;
  const auto stages = stages_side_by_side(run, totals.span_ns);
  for (const StageEntry* stage : stages) {
    const auto& activity = totals.stages[static_cast<std::size_t>(stage - run.stages.data())].activity;
    if (!activity) return;
    add_activity(sum, *activity);
    walls_ns += stage->wall.total_ns;
  }
  if (!stages.empty() && (!totals.span_ns || walls_ns <= *totals.span_ns)) totals.activity = sum;
}

void total_iterations(const Run& run, RunTotals& totals) {
  const auto& list = run.iterations.list;
  if (list.size() < 3) return;  // a first one, and two to compare it with
  std::vector<Ns> rest;
  for (auto each = list.begin() + 1; each != list.end(); ++each)
    if (!each->warmup) rest.push_back(each->wall_ns);
  if (rest.size() < 2) return;
  std::sort(rest.begin(), rest.end());
  const double median = static_cast<double>(rest[rest.size() / 2]);
  if (median <= 0) return;
  totals.first_iteration_ratio = static_cast<double>(list.front().wall_ns) / median;
  totals.iteration_spread = static_cast<double>(rest.back() - rest.front()) / median;
}

// ncu replays kernels: its passes say nothing about the times in the report.
bool is_tracer(PassKind profiler) { return profiler == PassKind::kNsys || profiler == PassKind::kCollector; }

void total_system(const Run& run, RunTotals& totals) {
  for (const StageSlowdown& stage : run.perturbation.stages)
    if (is_tracer(stage.profiler) && stage.slowdown && stage.verdict != SlowdownVerdict::kUndecidable)
      totals.worst_slowdown = std::max(totals.worst_slowdown.value_or(*stage.slowdown), *stage.slowdown);
  for (std::size_t i = 0; i < run.energy.devices.size(); ++i) {
    const ClockSummary& device = run.energy.devices[i];
    if (!totals.clock_device) totals.clock_device = i;
    if (!device.throttled_share || (totals.throttled_share && *device.throttled_share <= *totals.throttled_share)) continue;
    totals.throttled_share = device.throttled_share;
    totals.clock_device = i;
  }
  if (!totals.clock_device) return;
  for (const auto& reason : run.energy.devices[*totals.clock_device].throttle_reasons)
    totals.throttle_reasons += (totals.throttle_reasons.empty() ? "" : ", ") + reason;
}

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

double paced_part(const Budget& budget) {
  const Ns host_ns = budget.launch_wait_ns() + budget.sync_blocked_ns + budget.other_host_ns;
  return budget.wall_ns > 0 ? 1 - static_cast<double>(host_ns) / static_cast<double>(budget.wall_ns) : 1;
}

double RunTotals::steps_per(const StageEntry& stage) const {
  if (stage_kind(stage.name) == StageKind::kDecodeStep) return 1;
  return has_steps && stage.wall.count > 0 ? steps / static_cast<double>(stage.wall.count) : 0;
}

RunTotals total(const Run& run) {
  RunTotals totals;
  for (const StageEntry& stage : run.stages)
    if (stage_kind(stage.name) == StageKind::kDecodeStep) totals.steps += static_cast<double>(stage.wall.count);
  totals.has_steps =
      std::any_of(run.stages.begin(), run.stages.end(), [](const auto& stage) { return stage_kind(stage.name) == StageKind::kDecodeStep; });
  totals.incomplete = is_incomplete(run);
  total_gpus(run, totals);
  total_phases(run, totals);
  total_activity(run, totals);
  total_iterations(run, totals);
  total_system(run, totals);
  for (const OperatorTable& table : run.operators) totals.nodes.push_back(total_nodes(run, table));
  if (const auto kernels_ns = kernel_time_ns(run); totals.budget && kernels_ns && *kernels_ns > 0)
    totals.measured_part =
        std::min(1.0, static_cast<double>(totals.budget->gpu_compute_ns + totals.budget->communication_ns) / *kernels_ns);
  if (totals.budget) totals.gpu_paced_part = paced_part(*totals.budget);
  totals.working = working_kernels(run);
  totals.working_place.assign(run.kernels ? run.kernels->size() : 0, totals.working.list.size());
  for (std::size_t i = 0; i < totals.working.list.size(); ++i) totals.working_place[totals.working.list[i].index] = i;
  return totals;
}

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
    case Place::kPerturbation: return "/perturbation";
    case Place::kClocks: return subject.totals->clock_device ? fmt::format("/energy/devices/{}", *subject.totals->clock_device) : "/energy";
    case Place::kModel: return "/model";
    case Place::kHardware: return "/hardware";
    case Place::kImport: return "/import_stats";
    case Place::kCounters: return stage && subject.stage().counters ? self + "/counters" : self;
    case Place::kLaunchWaits: return stage && subject.stage().launch_waits ? self + "/launch_waits" : self;
    case Place::kHostCode: return stage && subject.stage().host_code ? self + "/host_code" : self;
    case Place::kNodes: {
      const auto step = nodes_step(subject);
      return step ? fmt::format("/operator_steps/{}", *step) : "/operator_steps";
    }
    case Place::kSampling: return stage && subject.stage().sampling ? self + "/sampling" : self;
  }
  return self;
}

}  // namespace nl::analysis::rules
