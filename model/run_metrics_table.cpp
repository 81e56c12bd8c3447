#include "model/run_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "model/headline.h"
#include "model/rank_shares.h"
#include "model/words.h"

namespace nl {
namespace {

using Figure = std::optional<double>;
using Of = const MetricSubject&;

Figure ratio(double part, double whole) { return whole > 0 ? Figure(part / whole) : std::nullopt; }

template <auto Times, auto Member>  // a member of Latency, a member of TimeSummary; a percentile may have no value
Figure latency(Of of) {
  const auto& times = of.run.latency.*Times;
  return times && times->count > 0 ? Figure(std::invoke(Member, *times)) : std::nullopt;
}

Figure prefill_unprofiled(Of of) { return of.run.latency.ttft ? std::nullopt : first_token_figure(of.run).unprofiled; }

// The share of the time from the first stage to the last.
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
Figure window(Of of) {
  return of.stage->wall.count > 0 ? Figure(std::invoke(Member, of.stage->wall)) : std::nullopt;
}

// A bin of the budget, of one window on average.
template <auto Member>
Figure bin(Of of) {
  const auto& budget = of.stage->budget;
  return budget ? ratio(static_cast<double>((*budget).*Member), static_cast<double>(of.stage->wall.count)) : std::nullopt;
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

// Of a window of the stage that is the ranks' step: the mean over the ranks.
template <auto Part>
Figure rank_part(Of of) {
  if (!are_rank_steps(of.run, of.stage->name)) return std::nullopt;
  const Figure share = rank_share(of.run, Part);
  return share ? Figure(*share * of.stage->wall.mean_ns) : std::nullopt;
}

template <auto Member>
Figure kernel_call(Of of) {
  return of.kernel->time.count > 0 ? Figure(of.kernel->time.*Member) : std::nullopt;
}

Figure inference(Of of) {
  const auto& session = of.run.session;
  return session && session->unprofiled.count > 0 ? Figure(session->unprofiled.median_ns) : std::nullopt;
}

Figure load(Of of) { return of.run.session ? Figure(static_cast<double>(of.run.session->load_ns)) : std::nullopt; }

// Of the requests of a window of serving: what so many of them do not exceed.
template <ServingLatency::Figure Which, int Percent>
Figure request_quantile(Of of) {
  if (!of.run.serving) return std::nullopt;
  for (const ServingLatency& latency : of.run.serving->latencies)
    for (const ServingLatency::Quantile& each : latency.quantiles)
      if (latency.figure == Which && std::abs(each.share * 100 - Percent) < 0.01) return each.ns;
  return std::nullopt;
}

// Of a request that began and ended in the window, on average.
template <ServingPart Part>
Figure request_part(Of of) {
  if (!of.run.serving) return std::nullopt;
  const ServingTail& tail = of.run.serving->tail;
  return ratio(static_cast<double>(tail.judged_times[Part]), static_cast<double>(tail.judged));
}

constexpr auto kTable = [] {
  using enum RunMetricScope;
  using enum FigureUnit;
  using enum Better;
  using enum MetricBasis;
  using enum CaptureNeed;
  using enum RunPart;
  using T = TimeSummary;
  constexpr auto kMs = kMilliseconds;
  using Row = RunMetricInfo;
  // Rows that differ in little: of the times that requests are judged by, and of the bins of a stage's budget.
  const auto latency_row = [](auto key, auto title, auto help, auto read, FigureUses uses = {}) {
    return Row(kRun, key, title, kMilliseconds, kLower, kTraced, kStages, kLatency, help, read, uses);
  };
  using Latencies = ServingLatency::Figure;
  const auto request_row = [](auto key, auto title, auto help, auto read, FigureUses uses = {}) {
    return Row(kRun, key, title, kMilliseconds, kLower, kTraced, kRequests, kServing, help, read, uses);
  };
  const auto bin_row = [](auto key, auto title, auto read) {
    return Row(kStage, key, title, kMilliseconds, kLower, kTraced, kCuda, kSelf, "of a window: this bin of the budget", read);
  };
  return std::to_array<RunMetricInfo>({
      latency_row("prefill_ms", "Prefill time", "start of an iteration to the end of its prefill, mean",
                  latency<&Latency::prefill, &T::mean_ns>),
      latency_row("prefill_median_ms", "Prefill time", "start of an iteration to the end of its prefill, median",
                  latency<&Latency::prefill, &T::median_ns>, {.rule = "prefill_time", .compare = "prefill", .expected = true}),
      Row(kRun, "prefill_unprofiled_ms", "Prefill time", kMs, kLower, kUnprofiled, kBare, kLatency,
          "start of an iteration to the end of its prefill, mean without what tracing adds", prefill_unprofiled, {.expected = true}),
      latency_row("ttft_ms", "Time to first token", "time to first token, where a request's arrival is known, mean",
                  latency<&Latency::ttft, &T::mean_ns>, {.summary = "time to first token, mean; null: no request's arrival is known"}),
      latency_row("ttft_median_ms", "Time to first token", "time to first token, where a request's arrival is known, median",
                  latency<&Latency::ttft, &T::median_ns>, {.rule = "ttft", .compare = "ttft", .expected = true}),
      latency_row("ttft_p90_ms", "Time to first token", "time to first token, 90th percentile, from 20 requests on",
                  latency<&Latency::ttft, &T::p90_ns>),
      latency_row("ttft_p95_ms", "Time to first token", "time to first token, 95th percentile, from 20 requests on",
                  latency<&Latency::ttft, &T::p95_ns>),
      latency_row("ttft_p99_ms", "Time to first token", "time to first token, 99th percentile, from 100 requests on",
                  latency<&Latency::ttft, &T::p99>),
      latency_row("tpot_ms", "Time per output token", "time per output token, mean", latency<&Latency::tpot, &T::mean_ns>,
                  {.summary = "time per output token, mean, of the traced run; null: not known"}),
      latency_row("tpot_median_ms", "Time per output token", "time per output token, median", latency<&Latency::tpot, &T::median_ns>,
                  {.rule = "tpot", .compare = "tpot", .expected = true}),
      latency_row("tpot_p90_ms", "Time per output token", "time per output token, 90th percentile, from 20 windows of decode on",
                  latency<&Latency::tpot, &T::p90_ns>),
      latency_row("tpot_p95_ms", "Time per output token", "time per output token, 95th percentile, from 20 windows of decode on",
                  latency<&Latency::tpot, &T::p95_ns>),
      latency_row("tpot_p99_ms", "Time per output token", "time per output token, 99th percentile, from 100 windows of decode on",
                  latency<&Latency::tpot, &T::p99>),
      Row(kRun, "tpot_unprofiled_ms", "Time per output token", kMs, kLower, kUnprofiled, kBare, kLatency,
          "time per output token, mean without what tracing adds", [](Of of) { return per_token_figure(of.run).unprofiled; },
          {.summary = "likewise, without what tracing adds; null: no unprofiled run", .expected = true}),
      Row(kRun, "tokens_per_s", "Output tokens per second", kTokensPerSecond, kHigher, kTraced, kModel, kLatency,
          "output tokens of all sequences per second", [](Of of) { return of.run.latency.output_tokens_per_s; },
          {.summary = "output tokens of all sequences per second, of the traced run; null: not known",
           .rule = "output_tokens_per_s",
           .compare = "output_tokens_per_s",
           .expected = true}),
      Row(kRun, "tokens_unprofiled_per_s", "Output tokens per second", kTokensPerSecond, kHigher, kUnprofiled, kBare, kLatency,
          "output tokens of all sequences per second, without what tracing adds",
          [](Of of) { return output_rate_figure(of.run).unprofiled; }, {.expected = true}),
      Row(kRun, "gpu_busy_share", "GPU busy", kShare, kHigher, kTraced, kCuda, kSelf,
          "of the time from the first stage to the last: the GPU works", gpu_busy_share,
          {.summary = "of the time from the first stage to the last: the GPU works; null: not captured"}),
      Row(kRun, "mfu", "MFU", kUtilisation, kHigher, kTraced, kModel, kEfficiency,
          "model FLOPs utilisation of prefill and decode together, by their times", generation<&StageEfficiency::mfu>,
          {.summary = "model FLOPs utilisation of prefill and decode together, 1: the peak; null: not known", .expected = true}),
      Row(kRun, "mbu", "MBU", kUtilisation, kHigher, kTraced, kModel, kEfficiency,
          "model bandwidth utilisation of prefill and decode together, by their times", generation<&StageEfficiency::mbu>,
          {.summary = "model bandwidth utilisation, likewise", .expected = true}),
      Row(kRun, "joules_per_token", "Energy per token", kJoules, kLower, kEnergyPass, kNvml, kEnergy, "of decode, else of its steps",
          [](Of of) { return joules_per_token(of.run); },
          {.summary = "GPU energy of an output token; null: not measured", .expected = true}),
      Row(kRun, "throttled_share", "Throttled", kShare, kLower, kEnergyPass, kNvml, kClocks,
          "of the samples under load: clocks reduced, on the GPU with the most", most_throttled, {.rule = "throttled_share"}),
      Row(kRun, "inference_ms", "Inference time", kMs, kLower, kUnprofiled, kAlways, kSelf, "of a model file: an iteration, median",
          inference, {.expected = true}),
      Row(kRun, "load_ms", "Load time", kMs, kLower, kUnprofiled, kAlways, kSelf, "of a model file: loading it", load),

      request_row("request_median_ms", "Request", "from the arrival of a request until all of its text is made, median",
                  request_quantile<Latencies::kTotal, 50>, {.compare = "request_time", .expected = true}),
      request_row("request_p90_ms", "Request", "likewise, 90th percentile, from 20 requests on", request_quantile<Latencies::kTotal, 90>),
      request_row("request_p99_ms", "Request", "likewise, 99th percentile, from 100 requests on", request_quantile<Latencies::kTotal, 99>,
                  {.compare = "request_time_p99", .expected = true}),
      request_row("request_ttft_median_ms", "First token of a request", "from the arrival of a request to its first token, median",
                  request_quantile<Latencies::kTtft, 50>, {.compare = "request_ttft", .expected = true}),
      request_row("request_ttft_p99_ms", "First token of a request", "likewise, 99th percentile, from 100 requests on",
                  request_quantile<Latencies::kTtft, 99>),
      request_row("request_tpot_median_ms", "Token of a request",
                  "from its first token until all of its text is made, ÷ (tokens − 1), median", request_quantile<Latencies::kTpot, 50>,
                  {.compare = "request_tpot", .expected = true}),
      request_row("request_queue_ms", "Queue of a request", "from its arrival to its first step, mean", request_part<ServingPart::kQueue>,
                  {.compare = "request_queue"}),
      request_row("request_prefill_ms", "Prefill of a request", "steps that compute its prompt, mean", request_part<ServingPart::kPrefill>,
                  {.compare = "request_prefill"}),
      request_row("request_decode_ms", "Decode of a request", "steps that write its tokens, without interference, mean",
                  request_part<ServingPart::kDecode>, {.compare = "request_decode"}),
      request_row("request_interference_ms", "Interference of a request", "what prompts of others add to its steps, mean",
                  request_part<ServingPart::kInterference>, {.compare = "request_interference"}),
      request_row("request_preemption_ms", "Preemption of a request", "waiting without its blocks, and computing again, mean",
                  request_part<ServingPart::kPreemption>, {.compare = "request_preemption"}),
      request_row("request_between_steps_ms", "Time between steps of a request", "no step runs although it waits for one, mean",
                  request_part<ServingPart::kBetweenSteps>, {.compare = "request_between_steps"}),
      request_row("request_detokenising_ms", "Detokenising of a request",
                  "from its end in the scheduler until all of its text is made, mean", request_part<ServingPart::kDetokenising>,
                  {.compare = "request_detokenising"}),

      Row(kStage, "median_ms", "Window", kMs, kLower, kTraced, kStages, kSelf, "wall time of a window, median", window<&T::median_ns>,
          {.expected = true}),
      Row(kStage, "mean_ms", "Window", kMs, kLower, kTraced, kStages, kSelf, "wall time of a window, mean", window<&T::mean_ns>),
      Row(kStage, "p90_ms", "Window", kMs, kLower, kTraced, kStages, kSelf, "wall time of a window, 90th percentile, from 20 windows on",
          window<&T::p90_ns>),
      Row(kStage, "p95_ms", "Window", kMs, kLower, kTraced, kStages, kSelf, "wall time of a window, 95th percentile, from 20 windows on",
          window<&T::p95_ns>),
      Row(kStage, "p99_ms", "Window", kMs, kLower, kTraced, kStages, kSelf, "wall time of a window, 99th percentile, from 100 windows on",
          window<&T::p99>),
      Row(kStage, "unprofiled_ms", "Window, unprofiled", kMs, kLower, kUnprofiled, kBare, kSelf,
          "wall time of a window, median of the unprofiled passes", [](Of of) { return unprofiled_ns(of.run, *of.stage); }),
      bin_row("gpu_compute_ms", "GPU compute", bin<&Budget::gpu_compute_ns>),
      bin_row("communication_ms", "Exposed communication", bin<&Budget::communication_ns>),
      bin_row("exposed_copy_ms", "Exposed copy", bin<&Budget::exposed_copy_ns>),
      bin_row("queue_wait_ms", "Queue wait", bin<&Budget::queue_wait_ns>),
      bin_row("sync_blocked_ms", "Sync-blocked", bin<&Budget::sync_blocked_ns>),
      bin_row("launch_starved_ms", "Launch-starved", bin<&Budget::launch_starved_ns>),
      bin_row("launch_latency_ms", "Launch latency", bin<&Budget::launch_latency_ns>),
      bin_row("other_host_ms", "Other host work", bin<&Budget::other_host_ns>),
      Row(kStage, "rank_wait_ms", "Waiting for other ranks", kMs, kLower, kTraced, kCuda, kSelf,
          "of a window: the last rank has not come to a collective, and nothing is computed, the mean over the ranks",
          rank_part<&RankBudget::wait_ns>, {.compare = "rank_wait"}),
      Row(kStage, "rank_exchange_ms", "Exchange between ranks", kMs, kLower, kTraced, kCuda, kSelf,
          "of a window: all ranks have come to a collective, and nothing is computed, the mean over the ranks",
          rank_part<&RankBudget::exchange_ns>, {.compare = "rank_exchange"}),
      Row(kStage, "gpu_busy_share", "GPU busy", kShare, kHigher, kTraced, kCuda, kSelf, "of a window: the GPU works", stage_busy_share),
      Row(kStage, "kernels", "Kernels", kCount, kLower, kTraced, kCuda, kSelf, "launched by a window", stage_kernels),
      Row(kStage, "tokens_per_s", "Tokens per second", kTokensPerSecond, kHigher, kTraced, kModel, kSelf, "tokens of a window ÷ its time",
          [](Of of) { return of.stage->tokens_per_s; }, {.rule = "tokens_per_s", .compare = "tokens_per_s"}),
      Row(kStage, "mfu", "MFU", kUtilisation, kHigher, kTraced, kModel, kEfficiency,
          "model FLOPs utilisation: of the dense peak, over the wall time", stage_efficiency<&StageEfficiency::mfu>,
          {.rule = "mfu", .compare = "mfu"}),
      Row(kStage, "mbu", "MBU", kUtilisation, kHigher, kTraced, kModel, kEfficiency,
          "model bandwidth utilisation: of the memory's peak, over the wall time", stage_efficiency<&StageEfficiency::mbu>,
          {.rule = "mbu", .compare = "mbu"}),
      Row(kStage, "joules", "Energy per window", kJoules, kLower, kEnergyPass, kNvml, kEnergy, "energy of a window",
          stage_energy<&StageEnergy::joules_per_window>, {.rule = "joules_per_window", .compare = "joules_per_window"}),
      Row(kStage, "joules_per_token", "Energy per token", kJoules, kLower, kEnergyPass, kNvml, kEnergy, "energy of a window ÷ its tokens",
          stage_energy<&StageEnergy::joules_per_token>, {.rule = "joules_per_token", .compare = "joules_per_token"}),

      Row(kKernel, "median_us", "Kernel time", kMicroseconds, kLower, kTraced, kCuda, kSelf, "a call, median, warm-up included",
          kernel_call<&T::median_ns>),
      Row(kKernel, "mean_us", "Kernel time", kMicroseconds, kLower, kTraced, kCuda, kSelf, "a call, mean, warm-up included",
          kernel_call<&T::mean_ns>),
  });
}();

}  // namespace

std::span<const RunMetricInfo> run_metric_table() { return kTable; }

}  // namespace nl
