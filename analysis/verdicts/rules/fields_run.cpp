#include <charconv>

#include "analysis/verdicts/rules/fields.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

Value share_of_span(const Subject& s, const std::optional<Ns>& part) { return Value::of(part).over(s.totals->span_ns.value_or(0)); }

template <const char* Name>
Value attribute(const Subject& s) {
  const auto& attributes = s.run->model.attributes;
  const auto found = attributes.find(Name);
  if (found == attributes.end()) return Value::not_captured();
  double number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stopped, failed] = std::from_chars(found->second.data(), end, number);
  return failed == std::errc{} && stopped == end ? Value::of(number) : Value::not_captured();
}

const ClockSummary* clocks(const Subject& s) { return s.totals->clock_device ? &s.run->energy.devices[*s.totals->clock_device] : nullptr; }

template <auto Member>
constexpr Read clock = member_of<clocks, Member>;

const Coverage* coverage(const Subject& s) { return &s.run->coverage; }

template <auto Member>
constexpr Read covered = member_of<coverage, Member>;

Value top_kernel_share(const Subject& s) {
  if (!s.run->kernels) return Value::not_captured();
  const auto& working = s.totals->working.list;
  return working.empty() ? Value::none() : Value::of(working.front().measured_share);
}

// Of 1000 rows, a damaged one is 0.001.
Value damaged_share(const Subject& s) {
  std::uint64_t read = 0, damaged = 0;
  for (const auto& [table, rows] : s.run->import_stats.rows_read) read += rows;
  for (const auto& [reason, rows] : s.run->import_stats.rows_damaged) damaged += rows;
  return Value::of(damaged).over(read);
}

void add_whole(std::vector<Field>& fields) {
  const FieldGroup of_stages(fields, Capture::kStages, Place::kPhases), of_phases(fields, Capture::kCuda, Place::kPhases);
  const FieldGroup of_capture(fields, Capture::kCuda, Place::kCoverage), of_kernels(fields, Capture::kCuda, Place::kKernels);
  of_stages("idle_share", Unit::kShare, "of `total_time`: no stage is open",
            [](const Subject& s) { return share_of_span(s, s.totals->idle_ns); });
  of_stages("idle_time", Unit::kTime, "no stage is open", [](const Subject& s) { return Value::of(s.totals->idle_ns); });
  of_stages("mixed_share", Unit::kShare, "of `total_time`: different stages of several threads overlap",
            [](const Subject& s) { return share_of_span(s, s.totals->mixed_ns); });
  of_phases("ranges_without_gpu_share", Unit::kShare, "of the stages' wall time: windows without any GPU work",
            [](const Subject& s) { return Value::of(s.run->phases.ranges_without_gpu_share); });
  of_phases("gpu_without_range_share", Unit::kShare, "of the GPU's busy time: outside every stage",
            [](const Subject& s) { return Value::of(s.run->phases.gpu_without_range_share); });
  of_capture("gpu_busy_time", Unit::kTime, "union of GPU work over the whole capture; of several GPUs, the mean",
             covered<&Coverage::gpu_busy_ns>);
  of_capture("kernel_sum_time", Unit::kTime, "plain sum of all kernels of the capture", covered<&Coverage::kernel_sum_ns>);
  of_capture("in_stage_share", Unit::kShare, "of the kernel time: launched inside a stage", covered<&Coverage::in_stage_share>);
  of_capture("unlinked_share", Unit::kShare, "of the kernel time: the launch call is not in the capture",
             covered<&Coverage::unlinked_share>);
  of_capture("graph_only_share", Unit::kShare, "of the GPU time: CUDA graphs captured at graph level",
             covered<&Coverage::graph_only_share>);
  of_kernels("kernel_names", Unit::kCount, "different kernels",
             [](const Subject& s) { return s.run->kernels ? Value::of(s.run->kernels->size()) : Value::not_captured(); });
  of_kernels("top_kernel_share", Unit::kShare, "of its GPU's computing time: the kernel with the most", top_kernel_share);
  FieldGroup(fields, Capture::kAlways, Place::kImport)("damaged_share", Unit::kShare, "of the capture's rows: damaged", damaged_share);
}

void add_iterations(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kAlways, Place::kIterations), compared(fields, Capture::kIterations, Place::kIterations);
  FieldGroup(fields, Capture::kAlways, Place::kStages)("stages", Unit::kCount, "stages in the capture",
                                                       [](const Subject& s) { return Value::of(s.run->stages.size()); });
  add("iterations", Unit::kCount, "iterations, including warm-up", [](const Subject& s) { return Value::of(s.run->iterations.count); });
  add("model_file_iterations", Unit::kCount, "unprofiled iterations of a model file (`profile`); 0 for other workloads",
      [](const Subject& s) { return Value::of(s.run->session ? s.run->session->unprofiled.count : 0); });
  add("warmup_iterations", Unit::kCount, "of them, warm-up: not measured",
      [](const Subject& s) { return Value::of(s.run->iterations.warmup); });
  compared("first_iteration_ratio", Unit::kNumber, "wall time of the first iteration ÷ the median of the later measured ones",
           [](const Subject& s) { return Value::of(s.totals->first_iteration_ratio); });
  compared("iteration_spread", Unit::kShare, "(slowest − fastest) ÷ median of the measured iterations after the first",
           [](const Subject& s) { return Value::of(s.totals->iteration_spread); });
  add_figure_fields(RunMetricScope::kRun, RunPart::kLatency, fields);
}

constexpr char kBatchSize[] = "batch_size", kPromptTokens[] = "prompt_tokens", kExperts[] = "experts";

void add_system(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kNvml, Place::kClocks), of_model(fields, Capture::kModel, Place::kModel);
  add_figure_fields(RunMetricScope::kRun, RunPart::kClocks, fields);
  add.text("throttle_reasons", "why, most frequent first",
           [](const Subject& s) { return clocks(s) ? Value::of_text(s.totals->throttle_reasons) : Value::not_captured(); });
  add("clock_samples", Unit::kCount, "readings of that GPU under load", clock<&ClockSummary::samples>);
  add("power_limit", Unit::kWatts, "of that GPU, as enforced", clock<&ClockSummary::power_limit_w>);
  add("power_mean", Unit::kWatts, "of that GPU", clock<&ClockSummary::power_mean_w>);
  add("power_max", Unit::kWatts, "of that GPU", clock<&ClockSummary::power_max_w>);
  add("sm_clock_min", Unit::kMegahertz, "of that GPU", clock<&ClockSummary::sm_clock_min_mhz>);
  add("sm_clock_median", Unit::kMegahertz, "of that GPU", clock<&ClockSummary::sm_clock_median_mhz>);
  add("sm_clock_max", Unit::kMegahertz, "of that GPU", clock<&ClockSummary::sm_clock_max_mhz>);
  add("temperature_max", Unit::kCelsius, "of that GPU", clock<&ClockSummary::temperature_max_c>);
  FieldGroup(fields, Capture::kBare, Place::kPerturbation)("worst_slowdown", Unit::kShare,
                                                           "largest slowdown of a stage by profiling; undecidable ones left out",
                                                           [](const Subject& s) { return Value::of(s.totals->worst_slowdown); });
  FieldGroup(fields, Capture::kAlways, Place::kHardware)("gpus", Unit::kCount, "GPUs in the capture",
                                                         [](const Subject& s) { return Value::of(s.run->hardware.gpus.size()); });
  of_model("batch_size", Unit::kCount, "sequences at a time, as configured", attribute<kBatchSize>);
  of_model("prompt_tokens", Unit::kCount, "tokens of the prompt, as configured", attribute<kPromptTokens>);
  of_model("experts", Unit::kCount, "experts per layer, as configured; 0: none", attribute<kExperts>);
  const FieldGroup of_workload(fields, Capture::kAlways, Place::kWorkload);
  of_workload.text("workload_kind",
                   "what kind of program it is: generation, serving, encoding, training, diffusion, collective_steps or unknown",
                   [](const Subject& s) { return Value::of_text(key_of(s.run->workload.verdict.kind)); });
  of_workload.truth("generates", "the program answers prompts: its stages are prefill and decode, or of its own",
                    [](const Subject& s) { return Value::of_truth(s.totals->generates); });
  FieldGroup(fields, Capture::kAlways, Place::kModel).text("model", "the model's name", [](const Subject& s) {
    return Value::of_text(s.run->model.name);
  });
}

}  // namespace

void add_run_fields(std::vector<Field>& fields) {
  add_whole(fields);
  add_capture_communication_fields(fields);
  add_iterations(fields);
  add_system(fields);
  add_run_node_fields(fields);
  add_software_fields(fields);
  add_serving_fields(fields);
}

}  // namespace nl::analysis::rules
