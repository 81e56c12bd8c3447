#include "model/run_metrics.h"

#include <algorithm>

#include "model/headline.h"
#include "model/words.h"

namespace nl {
namespace {

using Figure = std::optional<double>;
using Of = const MetricSubject&;

Figure milliseconds(const Figure& ns) { return ns ? Figure(*ns / 1e6) : std::nullopt; }
Figure ratio(double part, double whole) { return whole > 0 ? Figure(part / whole) : std::nullopt; }

template <auto Times>  // a member of Latency
const TimeSummary* latency(Of of) {
  const auto& times = of.run.latency.*Times;
  return times && times->count > 0 ? &*times : nullptr;
}

template <auto Times>
Figure mean_ms(Of of) {
  return latency<Times>(of) ? Figure(latency<Times>(of)->mean_ns / 1e6) : std::nullopt;
}
template <auto Times>
Figure median_ms(Of of) {
  return latency<Times>(of) ? Figure(latency<Times>(of)->median_ns / 1e6) : std::nullopt;
}
template <auto Times>
Figure p99_ms(Of of) {
  return latency<Times>(of) ? Figure(static_cast<double>(latency<Times>(of)->p99_ns) / 1e6) : std::nullopt;
}

Figure prefill_unprofiled(Of of) { return of.run.latency.ttft ? std::nullopt : milliseconds(first_token_figure(of.run).unprofiled); }

// Of the time from the first stage to the last.
Figure gpu_busy_share(Of of) {
  if (is_incomplete(of.run)) return std::nullopt;
  Ns busy = 0, wall = 0;
  for (const Phase& phase : of.run.phases.phases)
    if (phase.budget) busy += phase.budget->busy_ns(), wall += phase.budget->wall_ns;
  return ratio(static_cast<double>(busy), static_cast<double>(wall));
}

const StageEfficiency* efficiency_of(const Run& run, std::string_view stage) {
  const auto found = std::find_if(run.efficiency.begin(), run.efficiency.end(), [&](const auto& each) { return each.stage == stage; });
  return found != run.efficiency.end() ? &*found : nullptr;
}

// Of prefill and decoding together: each stage's share of the peak, by its time.
template <auto Member>
Figure generation(Of of) {
  double weighted = 0, wall = 0;
  for (const StageKind kind : {StageKind::kPrefill, StageKind::kDecode}) {
    const StageEntry* stage = stage_named(of.run, key_of(kind));
    if (stage == nullptr && kind == StageKind::kDecode) stage = stage_named(of.run, key_of(StageKind::kDecodeStep));
    const StageEfficiency* efficiency = stage ? efficiency_of(of.run, stage->name) : nullptr;
    if (efficiency == nullptr || !(efficiency->*Member)) continue;
    const double time = stage->wall.mean_ns * static_cast<double>(stage->wall.count);
    weighted += *(efficiency->*Member) * time, wall += time;
  }
  return ratio(weighted, wall);
}

Figure most_throttled(Of of) {
  Figure most;
  for (const ClockSummary& device : of.run.energy.devices)
    if (device.throttled_share) most = std::max(most.value_or(0), *device.throttled_share);
  return most;
}

template <auto Member>
Figure stage_ms(Of of) {
  return of.stage->wall.count > 0 ? Figure(static_cast<double>(of.stage->wall.*Member) / 1e6) : std::nullopt;
}

// A bin of the budget, of one window on average.
template <auto Member>
Figure bin_ms(Of of) {
  const auto& budget = of.stage->budget;
  return budget ? milliseconds(ratio(static_cast<double>((*budget).*Member), static_cast<double>(of.stage->wall.count))) : std::nullopt;
}

Figure stage_busy_share(Of of) {
  const auto& budget = of.stage->budget;
  return budget ? ratio(static_cast<double>(budget->busy_ns()), static_cast<double>(budget->wall_ns)) : std::nullopt;
}

template <auto Member>
Figure stage_efficiency(Of of) {
  const StageEfficiency* efficiency = efficiency_of(of.run, of.stage->name);
  return efficiency ? efficiency->*Member : std::nullopt;
}

template <auto Member>
Figure stage_energy(Of of) {
  for (const StageEnergy& energy : of.run.energy.stages)
    if (energy.stage == of.stage->name) return energy.*Member;
  return std::nullopt;
}

Figure stage_kernels(Of of) {
  const auto& calls = of.stage->kernel_calls;
  return calls ? ratio(static_cast<double>(*calls), static_cast<double>(of.stage->wall.count)) : std::nullopt;
}

template <auto Member>
Figure kernel_us(Of of) {
  return of.kernel->time.count > 0 ? Figure(of.kernel->time.*Member / 1e3) : std::nullopt;
}

Figure session_ms(Of of) {
  const auto& session = of.run.session;
  return session && session->unprofiled.count > 0 ? Figure(session->unprofiled.median_ns / 1e6) : std::nullopt;
}

constexpr auto kOfRun = RunMetricScope::kRun;
constexpr auto kOfStage = RunMetricScope::kStage;
constexpr auto kOfKernel = RunMetricScope::kKernel;
constexpr auto kLower = Better::kLower;
constexpr auto kHigher = Better::kHigher;
constexpr auto kTraced = MetricBasis::kTraced;
constexpr auto kUnprofiled = MetricBasis::kUnprofiled;
constexpr auto kEnergy = MetricBasis::kEnergyPass;

constexpr RunMetricInfo kTable[] = {
    {kOfRun, "ttft_ms", "ms", kLower, kTraced, "time to first token, mean; where a request's arrival is known", mean_ms<&Latency::ttft>},
    {kOfRun, "ttft_median_ms", "ms", kLower, kTraced, "likewise, median", median_ms<&Latency::ttft>},
    {kOfRun, "ttft_p99_ms", "ms", kLower, kTraced, "likewise, 99th percentile", p99_ms<&Latency::ttft>},
    {kOfRun, "prefill_ms", "ms", kLower, kTraced, "start of an iteration to the end of its prefill, mean", mean_ms<&Latency::prefill>},
    {kOfRun, "prefill_median_ms", "ms", kLower, kTraced, "likewise, median", median_ms<&Latency::prefill>},
    {kOfRun, "prefill_unprofiled_ms", "ms", kLower, kUnprofiled, "likewise, mean without what tracing adds", prefill_unprofiled},
    {kOfRun, "tpot_ms", "ms", kLower, kTraced, "time per output token, mean", mean_ms<&Latency::tpot>},
    {kOfRun, "tpot_median_ms", "ms", kLower, kTraced, "likewise, median", median_ms<&Latency::tpot>},
    {kOfRun, "tpot_p99_ms", "ms", kLower, kTraced, "likewise, 99th percentile", p99_ms<&Latency::tpot>},
    {kOfRun, "tpot_unprofiled_ms", "ms", kLower, kUnprofiled, "likewise, mean without what tracing adds",
     [](Of of) { return milliseconds(per_token_figure(of.run).unprofiled); }},
    {kOfRun, "tokens_per_s", "tokens/s", kHigher, kTraced, "output tokens of all sequences per second",
     [](Of of) { return of.run.latency.output_tokens_per_s; }},
    {kOfRun, "tokens_unprofiled_per_s", "tokens/s", kHigher, kUnprofiled, "likewise, without what tracing adds",
     [](Of of) { return output_rate_figure(of.run).unprofiled; }},
    {kOfRun, "gpu_busy_share", "", kHigher, kTraced, "of the time from the first stage to the last: the GPU works", gpu_busy_share},
    {kOfRun, "mfu", "", kHigher, kTraced, "of prefill and decode together, by their times", generation<&StageEfficiency::mfu>},
    {kOfRun, "mbu", "", kHigher, kTraced, "likewise", generation<&StageEfficiency::mbu>},
    {kOfRun, "joules_per_token", "J", kLower, kEnergy, "of decode, else of its steps", [](Of of) { return joules_per_token(of.run); }},
    {kOfRun, "throttled_share", "", kLower, kEnergy, "of the samples under load: clocks reduced, on the GPU with the most", most_throttled},
    {kOfRun, "inference_ms", "ms", kLower, kUnprofiled, "of a model file: an iteration, median", session_ms},
    {kOfRun, "load_ms", "ms", kLower, kUnprofiled, "of a model file: loading it",
     [](Of of) { return of.run.session ? Figure(static_cast<double>(of.run.session->load_ns) / 1e6) : std::nullopt; }},

    {kOfStage, "median_ms", "ms", kLower, kTraced, "a window, median", stage_ms<&TimeSummary::median_ns>},
    {kOfStage, "mean_ms", "ms", kLower, kTraced, "likewise, mean", stage_ms<&TimeSummary::mean_ns>},
    {kOfStage, "p99_ms", "ms", kLower, kTraced, "likewise, 99th percentile", stage_ms<&TimeSummary::p99_ns>},
    {kOfStage, "unprofiled_ms", "ms", kLower, kUnprofiled, "likewise, median of the unprofiled passes",
     [](Of of) { return milliseconds(unprofiled_ns(of.run, *of.stage)); }},
    {kOfStage, "gpu_compute_ms", "ms", kLower, kTraced, "of a window: this bin of the budget", bin_ms<&Budget::gpu_compute_ns>},
    {kOfStage, "communication_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::communication_ns>},
    {kOfStage, "exposed_copy_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::exposed_copy_ns>},
    {kOfStage, "queue_wait_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::queue_wait_ns>},
    {kOfStage, "sync_blocked_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::sync_blocked_ns>},
    {kOfStage, "launch_starved_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::launch_starved_ns>},
    {kOfStage, "launch_latency_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::launch_latency_ns>},
    {kOfStage, "other_host_ms", "ms", kLower, kTraced, "likewise", bin_ms<&Budget::other_host_ns>},
    {kOfStage, "gpu_busy_share", "", kHigher, kTraced, "of a window: the GPU works", stage_busy_share},
    {kOfStage, "kernels", "", kLower, kTraced, "launched by a window", stage_kernels},
    {kOfStage, "tokens_per_s", "tokens/s", kHigher, kTraced, "tokens of a window ÷ its time", [](Of of) { return of.stage->tokens_per_s; }},
    {kOfStage, "mfu", "", kHigher, kTraced, "model FLOPs utilisation", stage_efficiency<&StageEfficiency::mfu>},
    {kOfStage, "mbu", "", kHigher, kTraced, "model bandwidth utilisation", stage_efficiency<&StageEfficiency::mbu>},
    {kOfStage, "joules", "J", kLower, kEnergy, "a window", stage_energy<&StageEnergy::joules_per_window>},
    {kOfStage, "joules_per_token", "J", kLower, kEnergy, "of its tokens", stage_energy<&StageEnergy::joules_per_token>},

    {kOfKernel, "median_us", "µs", kLower, kTraced, "a call, median, warm-up included", kernel_us<&TimeSummary::median_ns>},
    {kOfKernel, "mean_us", "µs", kLower, kTraced, "likewise, mean", kernel_us<&TimeSummary::mean_ns>},
};

}  // namespace

std::span<const RunMetricInfo> run_metric_table() { return kTable; }

}  // namespace nl
