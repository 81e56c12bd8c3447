#include "analysis/figures/operators/iteration_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nl::analysis {
namespace {

// Nearest rank; `sorted` is not empty.
Ns percentile(const std::vector<Ns>& sorted, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

template <class Value>
std::optional<OperatorTimes> times_over(const std::vector<const OperatorStep*>& iterations, std::size_t call, Value value) {
  std::vector<Ns> values;
  for (const OperatorStep* each : iterations)
    if (const std::optional<Ns> ns = value(each->calls[call])) values.push_back(*ns);
  if (values.size() < 2) return std::nullopt;
  return times_of(std::move(values));
}

}  // namespace

OperatorTimes times_of(std::vector<Ns> values) {
  OperatorTimes times;
  times.count = values.size();
  if (values.empty()) return times;
  std::sort(values.begin(), values.end());
  for (const Ns value : values) times.total_ns += value;
  const std::size_t middle = values.size() / 2;
  const double upper = static_cast<double>(values[middle]);
  times.median_ns = values.size() % 2 == 1 ? upper : (upper + static_cast<double>(values[middle - 1])) / 2;
  times.min_ns = values.front();
  times.p10_ns = percentile(values, 0.1);
  times.p90_ns = percentile(values, 0.9);
  times.max_ns = values.back();
  return times;
}

bool same_calls(const OperatorStep& a, const OperatorStep& b) {
  return std::equal(
      a.calls.begin(), a.calls.end(), b.calls.begin(), b.calls.end(),
      [](const OperatorCall& left, const OperatorCall& right) { return left.name == right.name && left.depth == right.depth; });
}

void add_times_of(std::span<const OperatorStep> iterations, OperatorStep& step) {
  std::vector<const OperatorStep*> alike;
  for (const OperatorStep& each : iterations)
    if (same_calls(each, step)) alike.push_back(&each);
  step.iterations = std::max<std::size_t>(1, alike.size());
  std::vector<Ns> walls;
  for (const OperatorStep* each : alike)
    if (each->wall_ns) walls.push_back(*each->wall_ns);
  if (!walls.empty()) step.wall_ns = std::llround(times_of(std::move(walls)).median_ns);
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    step.calls[i].host_times = times_over(alike, i, [](const OperatorCall& call) { return call.host_ns; });
    step.calls[i].gpu_times = times_over(alike, i, [](const OperatorCall& call) { return call.gpu_recorded_ns; });
  }
}

}  // namespace nl::analysis
