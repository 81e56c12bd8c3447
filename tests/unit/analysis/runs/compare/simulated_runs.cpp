#include "tests/unit/analysis/runs/compare/simulated_runs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/figures/stages/stage_entries.h"
#include "analysis/staging/iterations.h"
#include "analysis/staging/windows.h"
#include "analysis/statistics/time_summary.h"
#include "analysis/trace/range_index.h"
#include "model/words.h"

namespace nl::test {
namespace {

constexpr std::size_t kBlock = 8;  // steps that follow each other stay together

// The factor by which the host and the GPU of one run are slower.
struct Pace {
  double host = 1, gpu = 1;
};

std::vector<Pace> paces(std::size_t runs, const RunNoise& noise, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<Pace> all;
  double walked = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const double way = runs > 1 ? static_cast<double>(i) / static_cast<double>(runs - 1) : 0;
    walked += noise.walk * normal(random);
    all.push_back({std::exp(noise.host * normal(random) + noise.host_drift * way + walked),
                   std::exp(noise.gpu * normal(random) + noise.gpu_drift * way)});
  }
  return all;
}

struct StepSums {
  std::vector<std::pair<Ns, Ns>> windows;
  std::vector<double> kernel_ns;
  double gpu_ns = 0;
};

StepSums draw_steps(const CapturedSteps& captured, const Pace& pace, std::mt19937_64& random, double slowdown, std::size_t slowed) {
  StepSums sums;
  sums.kernel_ns.resize(captured.kernels.size());
  std::uniform_int_distribution<std::size_t> any(0, captured.steps.size() - 1);
  Ns now = 0;
  while (sums.windows.size() < captured.steps.size())
    for (std::size_t from = any(random), i = 0; i < kBlock && sums.windows.size() < captured.steps.size(); ++i) {
      const CapturedStep& step = captured.steps[(from + i) % captured.steps.size()];
      double before_ns = 0, after_ns = 0;
      for (std::size_t k = 0; k < step.kernel_ns.size(); ++k) {
        const double ns = static_cast<double>(step.kernel_ns[k]) * pace.gpu * (k == slowed ? 1 + slowdown : 1);
        before_ns += static_cast<double>(step.kernel_ns[k]);
        after_ns += ns;
        sums.kernel_ns[k] += ns;
      }
      const double host_ns = std::max(0.0, static_cast<double>(step.wall_ns) - before_ns);
      sums.gpu_ns += after_ns;
      sums.windows.emplace_back(now, static_cast<Ns>(host_ns * pace.host + after_ns));
      now += sums.windows.back().second;
    }
  return sums;
}

StageEntry stage_of(const StepSums& sums) {
  StageEntry stage;
  stage.name = key_of(StageKind::kDecodeStep);
  std::vector<Ns> walls;
  for (const auto& [start, wall] : sums.windows) walls.push_back(wall);
  stage.wall = analysis::summarise_times(walls);
  stage.series = analysis::window_series(sums.windows);
  stage.gpu_sum_ns = stage.gpu_busy_ns = static_cast<Ns>(sums.gpu_ns);
  stage.budget = Budget{};
  stage.budget->wall_ns = stage.wall.total_ns;
  stage.budget->gpu_compute_ns = *stage.gpu_sum_ns;
  stage.budget->launch_starved_ns = stage.wall.total_ns - *stage.gpu_sum_ns;
  stage.tokens_per_window = 1;
  stage.tokens_per_s = 1e9 / stage.wall.mean_ns;
  return stage;
}

Run run_of(const CapturedSteps& captured, const StepSums& sums, std::size_t place) {
  Run run;
  run.stages = {stage_of(sums)};
  run.latency.tpot = run.stages[0].wall;
  run.kernels.emplace();
  for (std::size_t k = 0; k < captured.kernels.size(); ++k) {
    KernelEntry kernel;
    kernel.name = captured.kernels[k];
    kernel.measured = {{run.stages[0].name, static_cast<Ns>(sums.kernel_ns[k]), sums.windows.size()}};
    run.kernels->push_back(std::move(kernel));
  }
  const auto two_digits = [](std::size_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  run.provenance.captured_at = "2026-01-01T" + two_digits(place / 60) + ":" + two_digits(place % 60) + ":00.000Z";
  run.run_id = run.provenance.captured_at;
  return run;
}

// ABBA ABBA …, or all of A before all of B.
bool is_b(std::size_t place, std::size_t runs_a_side, Order order) {
  return order == Order::kBlocks ? place >= runs_a_side : place % 4 == 1 || place % 4 == 2;
}

// In the order of their calls.
std::vector<std::uint32_t> launched_in(const Trace& trace, const analysis::Window& window) {
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t i = 0; i < trace.kernels.size(); ++i) {
    if (trace.kernels[i].api == kNone) continue;
    const ApiCall& call = trace.api_calls[trace.kernels[i].api];
    if (call.thread == window.thread && call.start_ns >= window.start_ns && call.end_ns() <= window.end_ns) kernels.push_back(i);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return trace.kernels[a].api < trace.kernels[b].api; });
  return kernels;
}

}  // namespace

std::size_t CapturedSteps::longest_kernel() const {
  std::vector<Ns> sums(kernels.size());
  for (const CapturedStep& step : steps)
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += step.kernel_ns[k];
  return static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
}

CapturedSteps captured_steps(const Trace& trace) {
  const analysis::StageTable table(trace);
  std::vector<analysis::Window> windows = analysis::find_windows(trace, table);
  analysis::plan_iterations(trace, table, {}, windows);
  CapturedSteps captured;
  std::map<std::string, std::size_t> numbers;
  std::vector<std::map<std::size_t, Ns>> sums;
  for (const analysis::Window& window : windows) {
    if (window.warmup || stage_kind(table.stages()[window.stage]) != StageKind::kDecodeStep) continue;
    captured.steps.push_back({window.wall_ns(), {}});
    auto& of_step = sums.emplace_back();
    for (const std::uint32_t i : launched_in(trace, window)) {
      const Kernel& kernel = trace.kernels[i];
      const auto number = numbers.try_emplace(trace.strings[trace.shapes[kernel.shape].name], numbers.size()).first->second;
      of_step[number] += static_cast<Ns>(kernel.duration_ns);
    }
  }
  captured.kernels.resize(numbers.size());
  for (const auto& [name, number] : numbers) captured.kernels[number] = name;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    captured.steps[i].kernel_ns.resize(numbers.size());
    for (const auto& [number, ns] : sums[i]) captured.steps[i].kernel_ns[number] = ns;
  }
  return captured;
}

SimulatedSides simulate(const CapturedSteps& captured, std::size_t runs_a_side, Order order, const RunNoise& noise, std::mt19937_64& random,
                        double slowdown, std::size_t slowed) {
  SimulatedSides sides;
  const std::vector<Pace> pace = paces(2 * runs_a_side, noise, random);
  for (std::size_t place = 0; place < pace.size(); ++place) {
    // Of two runs, the second is B's; ABBA needs four for its pattern, and what is left of it goes to the side that lacks one.
    bool b = is_b(place, runs_a_side, order);
    if (sides.a.size() == runs_a_side) b = true;
    if (sides.b.size() == runs_a_side) b = false;
    const StepSums sums = draw_steps(captured, pace[place], random, b ? slowdown : 0, slowed);
    (b ? sides.b : sides.a).push_back(run_of(captured, sums, place + 1));
  }
  return sides;
}

}  // namespace nl::test
