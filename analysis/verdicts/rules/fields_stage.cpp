#include <algorithm>
#include <map>
#include <optional>

#include "analysis/verdicts/rules/fields.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

using A = StageActivity;
template <auto Member>
Value wall(const Subject& s) {
  return member_of_times<Member>(s.stage().wall);
}

template <auto Member>
Value of_stage(const Subject& s) {
  return Value::of(s.stage().*Member);
}

template <auto Member>
Value per_window(const Subject& s) {
  return member_of<&Subject::activity, Member>(s).over(s.stage().wall.count);
}

template <auto Member>
constexpr Read efficiency = member_of<&Subject::work, Member>;

template <auto Member>
constexpr Read slowdown = member_of<&Subject::slower, Member>;

Value slowdown_limit(const Subject& s) { return s.slower() != nullptr ? Value::of(s.run->perturbation.limit) : Value::not_captured(); }

// Where a stage has too few windows, another capture would not help: the value is none, not "not captured".
template <auto Member>
Value of_stage_or_none(const Subject& s) {
  return s.stage().*Member ? of_stage<Member>(s) : Value::none();
}

// What is known of prefill and decode holds only where something is generated.
Value kind_word(const Subject& s) {
  const bool generating = s.totals->generates;
  switch (nl::stage_kind(s.stage().name)) {
    case StageKind::kPrefill: return Value::of_text(generating ? "prefill" : "other");
    case StageKind::kDecode: return Value::of_text(generating ? "decode" : "other");
    case StageKind::kDecodeStep: return Value::of_text(generating ? "step" : "other");
    case StageKind::kCapture: return Value::of_text("capture");
    case StageKind::kRequest: return Value::of_text("request");
    default: return Value::of_text("other");
  }
}

// The program's own stages that it does most often are units, too.
Value is_unit(const Subject& s) { return Value::of_truth(!s.stage().name.empty() && s.stage().name == s.run->workload.verdict.unit_stage); }

// The highest percentile that the windows support, and which part of them takes so long.
std::pair<Value, Value> tail_of_windows(const Subject& s) {
  const TimeSummary& times = s.stage().wall;
  if (const auto p99 = times.p99()) return {Value::of(*p99), Value::of(0.01)};
  if (times.p95_ns) return {Value::of(*times.p95_ns), Value::of(0.05)};
  return {Value::none(), Value::none()};
}

Value has_steps(const Subject& s) { return Value::of_truth(nl::stage_kind(s.stage().name) == StageKind::kDecode && s.totals->has_steps); }

Value foreign_share(const Subject& s) {
  if (!s.stage().foreign_gpu_ns || !s.budget()) return Value::not_captured();
  return Value::of(*s.stage().foreign_gpu_ns).over(s.budget()->busy_ns());
}

Value overlap(const Subject& s) {
  if (!s.stage().gpu_busy_ns || !s.stage().gpu_sum_ns) return Value::not_captured();
  return Value::of(*s.stage().gpu_sum_ns).over(*s.stage().gpu_busy_ns);
}

Value device_imbalance(const Subject& s) {
  // By GPU, of all processes; a GPU that this stage leaves alone works for another. Of a window each: ranks may have a different number of them.
  // Without communication, in which a GPU waits for the others.
  std::map<std::int32_t, double> works;
  for (const StageDevice& gpu : s.stage().devices)
    if (const Ns work_ns = gpu.budget.busy_ns() - gpu.budget.communication_ns; work_ns > 0 && gpu.windows > 0)
      works[gpu.device] += static_cast<double>(work_ns) / static_cast<double>(gpu.windows);
  if (works.size() < 2) return Value::none();
  const auto [least, most] =
      std::minmax_element(works.begin(), works.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return Value::of(1 - least->second / most->second);
}

Value ideal_share(const Subject& s) { return efficiency<&StageEfficiency::ideal_ns>(s).over(s.stage().wall.mean_ns); }

Value limit(const Subject& s) { return s.work() && s.work()->limit ? Value::of_text(key_of(*s.work()->limit)) : Value::not_captured(); }

// The windows that are not slow, as if all were like them.
struct Usual {
  double scale = 1;  // all windows by these
  Budget budget;     // of these
  double of_all(Ns ns) const { return scale * static_cast<double>(ns); }
};

// Most slow windows have a call that loads GPU code: launches in time would save nothing of that. Where they have none they may be
// slow for their launches, as steps that run eagerly among others that replay a graph.
bool is_slow_by_loading(const StageEntry& stage) {
  const auto& slow = stage.slow_windows;
  return slow && slow->count < stage.wall.count && 2 * slow->module_loads.value_or(0) >= slow->count;
}

std::optional<Usual> usual(const Subject& s) {
  const Budget* all = s.budget();
  if (!all) return std::nullopt;
  Usual out{1, *all};
  if (!is_slow_by_loading(s.stage())) return out;
  const auto& slow = s.stage().slow_windows;
  const std::uint64_t windows = s.stage().wall.count;
  out.scale = static_cast<double>(windows) / static_cast<double>(windows - slow->count);
  for (const auto bin : {&Budget::wall_ns, &Budget::gpu_compute_ns, &Budget::launch_starved_ns, &Budget::launch_latency_ns})
    out.budget.*bin = std::max<Ns>(0, all->*bin - slow->budget.*bin);
  return out;
}

Value usual_time(const Subject& s) {
  const auto each = usual(s);
  return each ? Value::of(each->of_all(each->budget.wall_ns)) : Value::not_captured();
}

Value usual_launch_wait(const Subject& s) {
  const auto each = usual(s);
  return each ? Value::of(each->of_all(each->budget.launch_wait_ns())) : Value::not_captured();
}

// Without the recurring gaps in which the host does something else than launching.
Value launching_time(const Subject& s) {
  const auto each = usual(s);
  return each ? Value::of(launching_ns(s.stage(), each->of_all(each->budget.launch_wait_ns()))) : Value::not_captured();
}

Value usual_share(const Subject& s, Ns (*part)(const Budget&)) {
  const auto each = usual(s);
  if (!each) return Value::not_captured();
  return Value::of(part(each->budget)).over(each->budget.wall_ns);
}

Value slow_window_share(const Subject& s) {
  const auto each = usual(s);
  const Budget* all = s.budget();
  if (!each) return Value::not_captured();
  return all->wall_ns > 0 ? Value::of(std::max(0.0, 1 - each->of_all(each->budget.wall_ns) / static_cast<double>(all->wall_ns)))
                          : Value::none();
}

template <auto Member>
Value slow_loads(const Subject& s) {
  const auto& slow = s.stage().slow_windows;
  if (!s.budget() || (slow && !((*slow).*Member))) return Value::not_captured();
  return Value::of(slow ? *((*slow).*Member) : 0);
}

void add_slow_windows(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kSelf), of_budget(fields, Capture::kCuda, Place::kBudget),
      of_launches(fields, Capture::kCuda, Place::kLaunchWaits);
  add("slow_windows", Unit::kCount, "windows that take more than 1.5 times the median, where there are at least 8", [](const Subject& s) {
    if (!s.budget()) return Value::not_captured();
    return Value::of(s.stage().slow_windows ? s.stage().slow_windows->count : 0);
  });
  add.truth("slow_by_loading", "half of the slow windows or more have a call that loads GPU code; false where such calls were not captured",
            [](const Subject& s) { return s.budget() ? Value::of_truth(is_slow_by_loading(s.stage())) : Value::not_captured(); });
  add("usual_time", Unit::kTime, "`total_time`, if windows that are slow by loading took as long as the others on average", usual_time);
  add("slow_window_share", Unit::kShare, "of `total_time`: what these windows take beyond that", slow_window_share);
  of_budget("usual_launch_wait_time", Unit::kTime, "`launch_wait_time`, likewise: without what only these windows wait", usual_launch_wait);
  of_budget("usual_launch_wait_share", Unit::kShare, "`usual_launch_wait_time` ÷ `usual_time`",
            [](const Subject& s) { return usual_share(s, [](const Budget& budget) { return budget.launch_wait_ns(); }); });
  of_launches("launching_time", Unit::kTime,
              "`usual_launch_wait_time` without that in which the host does something else, by samples and gaps: the most that CUDA graphs "
              "or faster "
              "launches save",
              launching_time);
  of_launches("launching_share", Unit::kShare, "`launching_time` ÷ `usual_time`", [](const Subject& s) {
    const Value time = launching_time(s), all = usual_time(s);
    return time.known && all.known ? time.over(all.number) : Value::not_captured();
  });
  of_budget("overlap_time", Unit::kTime,
            "the most that is saved where no call waits for the GPU: the lesser of `sync_call_time` and `gpu_idle_time`",
            [](const Subject& s) {
              return s.budget() && s.activity() ? Value::of(overlap_ns(*s.budget(), *s.activity())) : Value::not_captured();
            });
  of_budget("usual_compute_share", Unit::kShare, "`gpu_compute_share`, likewise",
            [](const Subject& s) { return usual_share(s, [](const Budget& budget) { return budget.gpu_compute_ns; }); });
  add("module_loads", Unit::kCount, "in the slow windows: calls that load GPU code (cuModuleLoad, cuLibraryLoadData …)",
      slow_loads<&SlowWindows::module_loads>);
  add("module_load_time", Unit::kTime, "time inside these calls", slow_loads<&SlowWindows::module_load_ns>);
}

void add_windows(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kAlways, Place::kSelf), on_gpu(fields, Capture::kCuda, Place::kSelf);
  using S = StageEntry;
  add.text(
      "name", "prefill, decode, decode_step, or the name of the range", [](const Subject& s) { return Value::of_text(s.stage().name); },
      [](const Subject& s) { return stage_title(s.stage()); });
  add.text("kind",
           "prefill, decode and step of a program that generates; request (what encloses them), capture (there are no stages) or other",
           kind_word);
  add.truth("unit", "its windows are the units of what the program does: decode steps, training steps, batches, denoising steps, steps",
            is_unit);
  add.text(
      "each", "what a window of it is called: step, training step, batch, denoising step, or the name of the range",
      [](const Subject& s) { return Value::of_text(s.stage().name); }, [](const Subject& s) { return stage_noun(s.stage().name); });
  add.truth("has_steps", "this is decode, and it has decode_step ranges", has_steps);
  add("windows", Unit::kCount, "measured executions", [](const Subject& s) { return Value::of(s.stage().wall.count); });
  add("warmup_windows", Unit::kCount, "executions left out as warm-up", of_stage<&S::warmup_windows>);
  add("mean_time", Unit::kTime, "wall time of a window", wall<&TimeSummary::mean_ns>);
  add("median_time", Unit::kTime, "of a window", wall<&TimeSummary::median_ns>);
  add("p90_time", Unit::kTime, "of a window, from 20 windows on", wall<&TimeSummary::p90_ns>);
  add("p95_time", Unit::kTime, "of a window, from 20 windows on", wall<&TimeSummary::p95_ns>);
  add("p99_time", Unit::kTime, "of a window, from 100 windows on", wall<&TimeSummary::p99>);
  add("tail_time", Unit::kTime, "the highest percentile that the windows support: `p99_time`, or `p95_time` below 100 windows",
      [](const Subject& s) { return tail_of_windows(s).first; });
  add("tail_share", Unit::kShare, "of the windows: those that take `tail_time` or more",
      [](const Subject& s) { return tail_of_windows(s).second; });
  add("min_time", Unit::kTime, "of a window", wall<&TimeSummary::min_ns>);
  add("max_time", Unit::kTime, "of a window", wall<&TimeSummary::max_ns>);
  add("std_time", Unit::kTime, "standard deviation over the windows", wall<&TimeSummary::stddev_ns>);
  add("first_window_time", Unit::kTime, "of the first measured window", of_stage_or_none<&S::first_window_ns>);
  add("rest_median_time", Unit::kTime, "median of the measured windows after it", of_stage_or_none<&S::rest_median_ns>);
  add("first_in_iteration_time", Unit::kTime, "where iterations have several windows: median of their first windows",
      of_stage_or_none<&S::first_in_iteration_ns>);
  add("later_in_iteration_time", Unit::kTime, "median of the other windows", of_stage_or_none<&S::later_in_iteration_ns>);
  FieldGroup(fields, Capture::kStages, Place::kSelf)("run_share", Unit::kShare, "`total_time` ÷ the run's", [](const Subject& s) {
    return s.totals->span_ns ? Value::of(s.stage().wall.total_ns).over(*s.totals->span_ns) : Value::not_captured();
  });
  add("open_ranges", Unit::kCount, "ranges that never closed", of_stage<&S::open_ranges>);
  on_gpu("gpu_busy_time", Unit::kTime, "union of the GPU work launched in the windows; of several GPUs, the mean",
         of_stage<&S::gpu_busy_ns>);
  on_gpu.truth(
      "runs_ahead",
      "most of the GPU's time in its ranges is work that was launched before them: single ranges say nothing then, their mean does",
      [](const Subject& s) { return s.stage().foreign_gpu_ns ? Value::of_truth(s.stage().runs_ahead()) : Value::not_captured(); });
  on_gpu.truth("runs_on", "its ranges end before that work, because they do not wait for it",
               [](const Subject& s) { return s.stage().gpu_busy_ns ? Value::of_truth(s.stage().runs_on()) : Value::not_captured(); });
  on_gpu("overlap", Unit::kNumber, "plain sum of that work ÷ its union: 1 where nothing runs at the same time", overlap);
  on_gpu("foreign_share", Unit::kShare, "of the GPU time in the windows: launched outside them", foreign_share);
  on_gpu("device_imbalance", Unit::kShare,
         "1 − what the least busy GPU computes and copies in a window ÷ the busiest; no value with one GPU", device_imbalance);
  FieldGroup(fields, Capture::kModel, Place::kSelf)("tokens_per_window", Unit::kCount, "tokens of one window, where known",
                                                    of_stage<&S::tokens_per_window>);
  add_figure_fields(RunMetricScope::kStage, RunPart::kSelf, fields);
}

void add_per_window(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kActivity);
  add("launches_per_window", Unit::kCount, "`launches` ÷ `windows`", per_window<&A::launches>);
  add("syncs_per_window", Unit::kCount, "`sync_calls` ÷ `windows`", per_window<&A::sync_calls>);
  add("kernels_per_window", Unit::kCount, "`kernels` ÷ `windows`", per_window<&A::kernels>);
  add("h2d_per_window", Unit::kCount, "`h2d_copies` ÷ `windows`", per_window<&A::h2d_copies>);
  add("memsets_per_window", Unit::kCount, "`memsets` ÷ `windows`", per_window<&A::memsets>);
  add("gemms_per_window", Unit::kCount, "`gemm_kernels` ÷ `windows`", per_window<&A::gemm_kernels>);
  add("d2h_per_window", Unit::kCount, "`d2h_copies` ÷ `windows`", per_window<&A::d2h_copies>);
}

void add_efficiency(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kModel, Place::kEfficiency);
  using E = StageEfficiency;
  add_figure_fields(RunMetricScope::kStage, RunPart::kEfficiency, fields);
  add("mfu_busy", Unit::kShare, "the same over the GPU's compute time", efficiency<&E::mfu_busy>);
  add("mbu_busy", Unit::kShare, "the same over the GPU's compute time", efficiency<&E::mbu_busy>);
  add("flops", Unit::kFlops, "of one window, from the model's shape", efficiency<&E::flops>);
  add("bytes", Unit::kBytes, "read and written by one window, at least", efficiency<&E::bytes>);
  add("intensity", Unit::kNumber, "`flops` ÷ `bytes`", efficiency<&E::intensity>);
  add("ideal_time", Unit::kTime, "of one window at the hardware's limits", efficiency<&E::ideal_ns>);
  add("ideal_share", Unit::kShare, "`ideal_time` ÷ `mean_time`", ideal_share);
  add.text("limit", "compute or memory: what sets that limit", limit);
}

void add_cost(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kBare, Place::kSlowdown);
  add("slowdown", Unit::kShare, "slowdown by profiling: 7 % is 0.07", slowdown<&StageSlowdown::slowdown>);
  add("slowdown_low", Unit::kShare, "lower end of its 95 % range", slowdown<&StageSlowdown::low>);
  add("slowdown_high", Unit::kShare, "upper end of its 95 % range", slowdown<&StageSlowdown::high>);
  add("slowdown_limit", Unit::kShare, "what a slowdown is compared with: `perturbation.limit`", slowdown_limit);
  add_figure_fields(RunMetricScope::kStage, RunPart::kEnergy, fields);
  FieldGroup(fields, Capture::kNvml, Place::kEnergy)("power", Unit::kWatts, "mean power in its windows",
                                                     member_of<&Subject::joules, &StageEnergy::mean_power_w>);
}

}  // namespace

void add_stage_fields(std::vector<Field>& fields) {
  add_windows(fields);
  add_slow_windows(fields);
  add_stage_communication_fields(fields);
  add_host_fields(fields);
  add_per_window(fields);
  add_stage_copy_fields(fields);
  add_efficiency(fields);
  add_cost(fields);
  add_metric_fields(MetricPlace::kStage, fields);
  add_metric_fields(MetricPlace::kSampled, fields);
}

}  // namespace nl::analysis::rules
