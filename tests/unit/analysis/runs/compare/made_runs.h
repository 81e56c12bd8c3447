#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/run.h"

// Small runs with known figures, for comparing.
namespace nl::test {

struct MadeKernel {
  std::string name;
  Ns in_step_ns = 0;
  std::uint64_t calls = 1;  // in a step
};

// A run of decode steps of these lengths. The kernels are what a step launches; the rest of it the GPU waits for launches.
inline Run made_run(const std::vector<Ns>& steps, const std::vector<MadeKernel>& kernels = {}, const std::string& captured_at = {}) {
  Run run;
  run.run_id = "run " + captured_at;
  run.provenance.captured_at = captured_at;
  run.hardware.gpus = {Device{}};
  run.hardware.gpus[0].name = "NVIDIA H200";
  StageEntry stage;
  stage.name = "decode_step";
  stage.wall.count = steps.size();
  for (const Ns step : steps) stage.wall.total_ns += step;
  std::vector<Ns> sorted = steps;
  std::sort(sorted.begin(), sorted.end());
  if (!steps.empty()) stage.wall.median_ns = static_cast<double>(sorted[sorted.size() / 2] + sorted[(sorted.size() - 1) / 2]) / 2;
  stage.series = {steps, 1, 0};
  stage.tokens_per_window = 1;
  stage.gpu_sum_ns = 0;
  run.kernels.emplace();
  const auto windows = static_cast<Ns>(steps.size());
  for (const MadeKernel& made : kernels) {
    KernelEntry kernel;
    kernel.name = kernel.short_name = made.name;
    kernel.measured = {{stage.name, made.in_step_ns * windows, made.calls * steps.size()}};
    *stage.gpu_sum_ns += made.in_step_ns * windows;
    run.kernels->push_back(std::move(kernel));
  }
  stage.gpu_busy_ns = stage.gpu_sum_ns;
  stage.budget = Budget{};
  stage.budget->wall_ns = stage.wall.total_ns;
  stage.budget->gpu_compute_ns = *stage.gpu_sum_ns;
  stage.budget->launch_starved_ns = stage.wall.total_ns - *stage.gpu_sum_ns;
  run.stages = {stage};
  return run;
}

// "2026-01-01T00:07:00.000Z": the seventh.
inline std::string at_place(int place) {
  return "2026-01-01T00:" + std::string(place < 10 ? "0" : "") + std::to_string(place) + ":00.000Z";
}

// Steps around a length, by a wobble that has no trend.
inline std::vector<Ns> steps_around(Ns length, int count = 40, int salt = 0) {
  std::vector<Ns> steps;
  for (int i = 0; i < count; ++i) steps.push_back(length + length / 1000 * ((i * 37 + salt * 11) % 21 - 10));
  return steps;
}

}  // namespace nl::test
