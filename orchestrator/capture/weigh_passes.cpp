#include "orchestrator/capture/weigh_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "orchestrator/config/warmup_rule.h"

namespace nl::orchestrator {
namespace {

Ns duration_of(const Run& run, const std::string& pass) {
  Ns duration_ns = 0;
  for (const PassRecord& record : run.provenance.passes)
    if (record.name == pass && record.outcome == "ok") duration_ns = record.duration_ns;
  return duration_ns;
}

std::string why_not_compared(const Config& config, const Plan& plan, const Repeats& repeats) {
  if (plan.traced_by == kByRanges) return "the capture itself ran unprofiled: there is nothing to weigh";
  if (config.perturbation.repeats == 0)
    return "no unprofiled pass was run (perturbation.repeats is 0); --set perturbation.repeats=3 runs some";
  if (std::none_of(plan.passes.begin(), plan.passes.end(), [](const Pass& pass) { return pass.name == "bare"; }))
    return "the collector, which times the unprofiled passes, was not found (nl-stage doctor)";
  return repeats.notes.empty() ? "no unprofiled pass was run" : repeats.notes[0];
}

Perturbation weigh(const Config& config, const Plan& plan, const Capture& capture, const Trace& trace, const Run& run) {
  const Repeats& repeats = capture.repeats;
  std::vector<analysis::PassTimes> passes = repeats.before;
  const bool traced = plan.traced_by != kByCupti || trace.has_kernel_data;
  if (passes.empty() || !traced) {
    Perturbation none;
    none.note = passes.empty() ? why_not_compared(config, plan, repeats) : "the collector recorded no GPU work: there is no trace to tell the cost of";
    none.notes = repeats.notes;
    return none;
  }
  if (capture.any()) passes.push_back(analysis::pass_times(tracer_of(plan), trace, warmup_rule(config), duration_of(run, tracer_of(plan))));
  passes.insert(passes.end(), repeats.after.begin(), repeats.after.end());
  if (const Ns ncu_ns = duration_of(run, "ncu"); ncu_ns > 0) passes.push_back({"ncu", {}, ncu_ns});
  Perturbation result = analysis::compare_passes(passes);
  result.notes.insert(result.notes.end(), repeats.notes.begin(), repeats.notes.end());
  return result;
}

bool ran_graph(const Trace& trace, std::int32_t device) {
  return std::any_of(trace.graph_runs.begin(), trace.graph_runs.end(),
                     [&](const GraphRun& run) { return run.queue < trace.queues.size() && trace.queues[run.queue].device == device; });
}

// The meters' numbers of the GPUs that ran kernels, or graphs of them; all where that is not known.
std::set<std::int32_t> used_devices(const Trace& trace, const Run& run, const std::vector<std::string>& uuids) {
  std::set<std::int32_t> used;
  if (!run.kernels) return used;
  for (const Device& device : trace.devices) {
    const bool busy = std::any_of(run.kernels->begin(), run.kernels->end(),
                                  [&](const KernelEntry& kernel) { return kernel.device == device.id; }) ||
                      ran_graph(trace, device.id);
    // NVML: "GPU-03332c53-ff42-…", nsys: the same without its beginning.
    for (std::size_t i = 0; busy && !device.uuid.empty() && i < uuids.size(); ++i)
      if (uuids[i].ends_with(device.uuid)) used.insert(static_cast<std::int32_t>(i));
  }
  return used;
}

void keep_used(analysis::SampledPass& pass, const std::set<std::int32_t>& used) {
  if (!used.empty())
    std::erase_if(pass.samples, [&](const PowerSample& sample) { return !used.contains(sample.device); });
}

void add_tokens(analysis::SampledPass& pass, const Run& run) {
  for (analysis::StageWindows& stage : pass.stages)
    for (const StageEntry& entry : run.stages)
      if (entry.name == stage.stage) stage.tokens_per_window = entry.tokens_per_window;
}

Energy weigh_energy(const Config& config, const Plan& plan, const Capture& capture, const Trace& trace,
                    const std::vector<std::string>& uuids, const Run& run) {
  std::vector<analysis::SampledPass> passes = capture.repeats.bare_power;
  std::string name = "bare";
  // Unprofiled where there is such a pass: tracing costs energy too.
  if (passes.empty()) {
    name = tracer_of(plan);
    passes.push_back({capture.power, analysis::stage_windows(trace, warmup_rule(config), {})});
  }
  const auto used = used_devices(trace, run, uuids);
  for (analysis::SampledPass& pass : passes) {
    keep_used(pass, used);
    add_tokens(pass, run);
  }
  Energy energy = analysis::measure_energy(name, passes);
  if (used.empty() && uuids.size() > 1 && energy.note.empty())
    energy.note =
        fmt::format("which GPUs the workload used is not known: the joules are those of all {}", uuids.size());
  return energy;
}

void add_number(std::string& text, const std::optional<double>& value) {
  text += ',';
  if (value) text += fmt::format("{:.12g}", *value);
}

void add_row(std::string& text, const std::string& pass, const PowerSample& sample) {
  text += fmt::format("{},{},{}", pass, sample.utc_ns, sample.device);
  for (const auto& value : {sample.power_w, sample.energy_j, sample.sm_clock_mhz, sample.memory_clock_mhz,
                            sample.temperature_c, sample.gpu_utilisation})
    add_number(text, value);
  text += sample.throttle_reasons ? fmt::format(",0x{:x}\n", *sample.throttle_reasons) : ",\n";
}

}  // namespace

std::unique_ptr<PowerSampler> open_power_sampler(const Config& config, const Toolset& tools, Verdict& verdict,
                                                 Run& run) {
  if (config.energy.enabled == "off") {
    run.energy.note = "switched off (energy.enabled)";
    return nullptr;
  }
  std::string trouble = tools.gpu_trouble;
  std::unique_ptr<PowerMeter> meter = tools.nvml ? open_nvml_meter(*tools.nvml, trouble) : nullptr;
  if (meter) return std::make_unique<PowerSampler>(std::move(meter), config.energy.interval_ms);
  run.energy.note = "NVML does not answer" + (trouble.empty() ? "" : ": " + trouble);
  if (config.energy.enabled == "on")
    verdict.add(ErrorKind::kCapture, "energy.enabled is on, but no GPU's meter can be read", run.energy.note,
                "nl-stage doctor says where NVML was looked for; --set energy.enabled=auto does without");
  return nullptr;
}

std::string samples_csv(const std::vector<std::pair<std::string, const std::vector<PowerSample>*>>& passes,
                        std::size_t most_rows) {
  std::size_t rows = 0;
  for (const auto& [name, samples] : passes) rows += samples->size();
  const std::size_t stride = std::max<std::size_t>((rows + most_rows - 1) / most_rows, 1);
  std::string text =
      "pass,utc_ns,device,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,temperature_c,gpu_utilisation,"
      "throttle_reasons\n";
  for (const auto& [name, samples] : passes) {
    std::size_t reading = 0;  // the rows of one moment stay together
    for (std::size_t i = 0; i < samples->size(); ++i) {
      if (i > 0 && (*samples)[i].utc_ns != (*samples)[i - 1].utc_ns) ++reading;
      if (reading % stride == 0) add_row(text, name, (*samples)[i]);
    }
  }
  return text;
}

void weigh_passes(const Config& config, const Plan& plan, const Capture& capture, const Trace& trace,
                  const PowerSampler* sampler, const Bundle& bundle, Run& run) {
  run.perturbation = weigh(config, plan, capture, trace, run);
  if (sampler == nullptr) return;
  run.energy = weigh_energy(config, plan, capture, trace, sampler->uuids(), run);
  std::vector<std::pair<std::string, const std::vector<PowerSample>*>> sampled;
  for (std::size_t i = 0; i < capture.repeats.bare_power.size(); ++i)
    sampled.emplace_back(fmt::format("bare-{}", i + 1), &capture.repeats.bare_power[i].samples);
  if (!capture.power.empty())
    sampled.emplace_back(tracer_of(plan), &capture.power);
  if (!sampled.empty()) bundle.write("energy/samples.csv", samples_csv(sampled));
}

}  // namespace nl::orchestrator
