#include "analysis/runs/compare/whole_capture.h"

#include <algorithm>

#include "model/words.h"

namespace nl::analysis {
namespace {

// The steady part of a capture in which no stage was found is none.
bool has_stages(const Run& run) {
  return std::any_of(run.stages.begin(), run.stages.end(),
                     [](const StageEntry& stage) { return stage.wall.count > 0 && stage_kind(stage.name) != StageKind::kCapture; });
}

bool has_steady_part(const Run& run) {
  return std::any_of(run.stages.begin(), run.stages.end(),
                     [](const StageEntry& stage) { return stage.wall.count > 0 && stage_kind(stage.name) == StageKind::kCapture; });
}

Ns kernel_time(const Run& run) {
  Ns sum = 0;
  if (run.kernels)
    for (const KernelEntry& kernel : *run.kernels) sum += kernel.time.total_ns;
  return sum;
}

Run as_whole_capture(Run run) {
  const Ns time_ns = kernel_time(run);
  run.stages.clear();
  if (time_ns <= 0) return run;
  StageEntry& stage = run.stages.emplace_back();
  stage.name = kWholeCapture;
  const auto value = static_cast<double>(time_ns);
  stage.wall = {1, time_ns, value, value, time_ns, time_ns, time_ns, 0};
  stage.budget = Budget{};
  stage.budget->wall_ns = stage.budget->gpu_compute_ns = time_ns;
  for (KernelEntry& kernel : *run.kernels) {
    kernel.measured = {{kWholeCapture, kernel.time.total_ns, kernel.time.count}};
    kernel.measured_ns = kernel.time.total_ns;
    kernel.measured_calls = kernel.time.count;
  }
  return run;
}

}  // namespace

bool any_has_stages(std::span<const Run> runs) { return std::any_of(runs.begin(), runs.end(), has_stages); }

bool only_whole_captures(std::span<const Run> a, std::span<const Run> b) {
  const bool unmarked = !any_has_stages(a) || !any_has_stages(b);
  const auto computes = [](const Run& run) { return kernel_time(run) > 0; };
  const bool steady = std::any_of(a.begin(), a.end(), has_steady_part) && std::any_of(b.begin(), b.end(), has_steady_part);
  return unmarked && !steady && std::any_of(a.begin(), a.end(), computes) && std::any_of(b.begin(), b.end(), computes);
}

std::vector<Run> as_whole_captures(std::span<const Run> runs) {
  std::vector<Run> whole;
  for (const Run& run : runs) whole.push_back(as_whole_capture(run));
  return whole;
}

void tell_as_gpu_work(Comparison& comparison) {
  for (CompareLine& line : comparison.stages.lines)
    if (line.figure == CompareFigure::kWall) line.figure = CompareFigure::kGpuWork;
  comparison.budget = {{}, LineReason::kNotCaptured};
}

}  // namespace nl::analysis
