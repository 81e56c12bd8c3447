#include <charconv>
#include <limits>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

using Read = Value (*)(const Subject&);

Value share_of_span(const Subject& s, const std::optional<Ns>& part) {
  if (!part || !s.totals->span_ns) return Value::not_captured();
  return Value::of(static_cast<double>(*part) / static_cast<double>(*s.totals->span_ns));
}

Value attribute(const Subject& s, const char* name) {
  const auto& attributes = s.run->model.attributes;
  const auto found = attributes.find(name);
  if (found == attributes.end()) return Value::not_captured();
  double number = 0;
  const char* end = found->second.data() + found->second.size();
  const auto [stopped, failed] = std::from_chars(found->second.data(), end, number);
  return failed == std::errc{} && stopped == end ? Value::of(number) : Value::not_captured();
}

const ClockSummary* clocks(const Subject& s) { return s.totals->clock_device ? &s.run->energy.devices[*s.totals->clock_device] : nullptr; }

template <auto Member>
Value clock(const Subject& s) {
  const ClockSummary* device = clocks(s);
  return device ? Value::of(device->*Member) : Value::not_captured();
}

template <auto Member>
Value covered(const Subject& s) {
  return Value::of(s.run->coverage.*Member);
}

double nothing() { return std::numeric_limits<double>::quiet_NaN(); }

Value top_kernel_share(const Subject& s) {
  if (!s.run->kernels) return Value::not_captured();
  const auto& working = s.totals->working.list;
  return Value::of(working.empty() ? nothing() : working.front().measured_share);
}

// Of 1000 rows, a damaged one is 0.001.
Value damaged_share(const Subject& s) {
  double read = 0, damaged = 0;
  for (const auto& [table, rows] : s.run->import_stats.rows_read) read += static_cast<double>(rows);
  for (const auto& [reason, rows] : s.run->import_stats.rows_damaged) damaged += static_cast<double>(rows);
  return Value::of(read > 0 ? damaged / read : nothing());
}

void add_whole(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, Capture capture, Place place, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, capture, place, help, read});
  };
  add("idle_share", Unit::kShare, Capture::kStages, Place::kPhases, "of `total_time`: no stage is open",
      [](const Subject& s) { return share_of_span(s, s.totals->idle_ns); });
  add("idle_time", Unit::kTime, Capture::kStages, Place::kPhases, "no stage is open",
      [](const Subject& s) { return Value::of(s.totals->idle_ns); });
  add("mixed_share", Unit::kShare, Capture::kStages, Place::kPhases, "of `total_time`: different stages of several threads overlap",
      [](const Subject& s) { return share_of_span(s, s.totals->mixed_ns); });
  add("ranges_without_gpu_share", Unit::kShare, Capture::kCuda, Place::kPhases, "of the stages' wall time: windows without any GPU work",
      [](const Subject& s) { return Value::of(s.run->phases.ranges_without_gpu_share); });
  add("gpu_without_range_share", Unit::kShare, Capture::kCuda, Place::kPhases, "of the GPU's busy time: outside every stage",
      [](const Subject& s) { return Value::of(s.run->phases.gpu_without_range_share); });
  add("gpu_busy_time", Unit::kTime, Capture::kCuda, Place::kCoverage, "union of GPU work over the whole capture; of several GPUs, the mean",
      covered<&Coverage::gpu_busy_ns>);
  add("kernel_sum_time", Unit::kTime, Capture::kCuda, Place::kCoverage, "plain sum of all kernels of the capture",
      covered<&Coverage::kernel_sum_ns>);
  add("in_stage_share", Unit::kShare, Capture::kCuda, Place::kCoverage, "of the kernel time: launched inside a stage",
      covered<&Coverage::in_stage_share>);
  add("unlinked_share", Unit::kShare, Capture::kCuda, Place::kCoverage, "of the kernel time: the launch call is not in the capture",
      covered<&Coverage::unlinked_share>);
  add("graph_only_share", Unit::kShare, Capture::kCuda, Place::kCoverage, "of the GPU time: CUDA graphs captured at graph level",
      covered<&Coverage::graph_only_share>);
  add("kernel_names", Unit::kCount, Capture::kCuda, Place::kKernels, "different kernels",
      [](const Subject& s) { return s.run->kernels ? Value::of(static_cast<double>(s.run->kernels->size())) : Value::not_captured(); });
  add("top_kernel_share", Unit::kShare, Capture::kCuda, Place::kKernels, "of its GPU's computing time: the kernel with the most",
      top_kernel_share);
  add("damaged_share", Unit::kShare, Capture::kAlways, Place::kImport, "of the capture's rows: damaged", damaged_share);
}

void add_iterations(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, Capture capture, Place place, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, capture, place, help, read});
  };
  add("stages", Unit::kCount, Capture::kAlways, Place::kStages, "stages in the capture",
      [](const Subject& s) { return Value::of(static_cast<double>(s.run->stages.size())); });
  add("iterations", Unit::kCount, Capture::kAlways, Place::kIterations, "iterations, including warm-up",
      [](const Subject& s) { return Value::of(static_cast<double>(s.run->iterations.count)); });
  add("model_file_iterations", Unit::kCount, Capture::kAlways, Place::kIterations,
      "unprofiled iterations of a model file (`profile`); 0 for other workloads",
      [](const Subject& s) { return Value::of(s.run->session ? static_cast<double>(s.run->session->unprofiled.count) : 0.0); });
  add("warmup_iterations", Unit::kCount, Capture::kAlways, Place::kIterations, "of them, warm-up: not measured",
      [](const Subject& s) { return Value::of(static_cast<double>(s.run->iterations.warmup)); });
  add("first_iteration_ratio", Unit::kNumber, Capture::kIterations, Place::kIterations,
      "wall time of the first iteration ÷ the median of the later measured ones",
      [](const Subject& s) { return Value::of(s.totals->first_iteration_ratio); });
  add("iteration_spread", Unit::kShare, Capture::kIterations, Place::kIterations,
      "(slowest − fastest) ÷ median of the measured iterations after the first",
      [](const Subject& s) { return Value::of(s.totals->iteration_spread); });
  add_figure_fields(RunMetricScope::kRun, RunPart::kLatency, fields);
}

void add_system(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, Capture capture, Place place, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, capture, place, help, read});
  };
  add_figure_fields(RunMetricScope::kRun, RunPart::kClocks, fields);
  fields.push_back({"throttle_reasons", Type::kText, Unit::kWords, Capture::kNvml, Place::kClocks, "why, most frequent first",
                    [](const Subject& s) { return clocks(s) ? Value::of_text(s.totals->throttle_reasons) : Value::not_captured(); }});
  add("power_mean", Unit::kWatts, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::power_mean_w>);
  add("power_max", Unit::kWatts, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::power_max_w>);
  add("sm_clock_min", Unit::kMegahertz, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::sm_clock_min_mhz>);
  add("sm_clock_median", Unit::kMegahertz, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::sm_clock_median_mhz>);
  add("sm_clock_max", Unit::kMegahertz, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::sm_clock_max_mhz>);
  add("temperature_max", Unit::kCelsius, Capture::kNvml, Place::kClocks, "of that GPU", clock<&ClockSummary::temperature_max_c>);
  add("worst_slowdown", Unit::kShare, Capture::kBare, Place::kPerturbation,
      "largest slowdown of a stage by profiling; undecidable ones left out",
      [](const Subject& s) { return Value::of(s.totals->worst_slowdown); });
  add("gpus", Unit::kCount, Capture::kAlways, Place::kHardware, "GPUs in the capture",
      [](const Subject& s) { return Value::of(static_cast<double>(s.run->hardware.gpus.size())); });
  add("batch_size", Unit::kCount, Capture::kModel, Place::kModel, "sequences at a time, as configured",
      [](const Subject& s) { return attribute(s, "batch_size"); });
  add("prompt_tokens", Unit::kCount, Capture::kModel, Place::kModel, "tokens of the prompt, as configured",
      [](const Subject& s) { return attribute(s, "prompt_tokens"); });
  add("experts", Unit::kCount, Capture::kModel, Place::kModel, "experts per layer, as configured; 0: none",
      [](const Subject& s) { return attribute(s, "experts"); });
  fields.push_back({"model", Type::kText, Unit::kWords, Capture::kAlways, Place::kModel, "the model's name",
                    [](const Subject& s) { return Value::of_text(s.run->model.name); }});
}

}  // namespace

void add_run_fields(std::vector<Field>& fields) {
  add_whole(fields);
  add_capture_communication_fields(fields);
  add_iterations(fields);
  add_system(fields);
  add_run_node_fields(fields);
}

}  // namespace nl::analysis::rules
