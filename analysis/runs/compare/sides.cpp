#include "analysis/runs/compare/sides.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace nl::analysis {
namespace {

bool throttled(const Run& run, double most) {
  return std::any_of(run.energy.devices.begin(), run.energy.devices.end(),
                     [&](const ClockSummary& gpu) { return gpu.throttled_share.value_or(0) > most; });
}

std::vector<const Run*> kept_runs(std::span<const Run> runs, double most_throttled, CompareSide& side) {
  std::vector<const Run*> kept;
  for (const Run& run : runs) {
    side.runs.push_back({run.run_id, run.name, run.provenance.captured_at, 0, throttled(run, most_throttled)});
    if (!side.runs.back().left_out) kept.push_back(&run);
  }
  if (!kept.empty()) return kept;
  for (const Run& run : runs) kept.push_back(&run);
  for (ComparedRun& run : side.runs) run.left_out = false;
  return kept;
}

// Of the steps of the same stage as the first one.
std::optional<MedianStep> middle_step(const std::vector<const Run*>& runs) {
  std::vector<const MedianStep*> steps;
  for (const Run* run : runs)
    if (run->median_step && (steps.empty() || run->median_step->stage == steps[0]->stage)) steps.push_back(&*run->median_step);
  if (steps.empty()) return std::nullopt;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const MedianStep* a, const MedianStep* b) { return a->wall_ns < b->wall_ns; });
  return **middle;
}

// Runs of one time have the mean of their places: which came first is not known.
double place_in(const std::vector<std::string>& times, const std::string& time) {
  const auto [first, last] = std::equal_range(times.begin(), times.end(), time);
  return (static_cast<double>(first - times.begin()) + 1 + static_cast<double>(last - times.begin())) / 2;
}

RunOrder run_order(SideOrder order) {
  switch (order) {
    case SideOrder::kUnknown: return RunOrder::kUnknown;
    case SideOrder::kPairs: return RunOrder::kPairs;
    case SideOrder::kMixed: return RunOrder::kInterleaved;
    case SideOrder::kBlocks: return RunOrder::kBlocks;
  }
  return RunOrder::kUnknown;
}

void set_places(Sides& sides) {
  std::vector<std::string> times;
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side) times.push_back(run->provenance.captured_at);
  std::sort(times.begin(), times.end());
  const bool known = times.size() > 2 && !times.front().empty() && times.front() != times.back();
  for (const Run* run : sides.a) sides.place_a.push_back(known ? place_in(times, run->provenance.captured_at) : 0);
  for (const Run* run : sides.b) sides.place_b.push_back(known ? place_in(times, run->provenance.captured_at) : 0);
  if (!known) return;
  sides.order = run_order(order_of(values_of(sides, [](const Run&) { return 0.0; })));
}

CompareBasis basis_of(std::size_t a, std::size_t b) {
  if (a == 0 || b == 0) return CompareBasis::kNothing;
  if (a == 1 && b == 1) return CompareBasis::kOneRunEach;
  return std::min(a, b) < kOwnSpread ? CompareBasis::kFewRuns : CompareBasis::kRuns;
}

void tell_places(const std::vector<double>& places, CompareSide& side) {
  std::size_t next = 0;
  for (ComparedRun& run : side.runs)
    if (!run.left_out) run.place = static_cast<std::uint64_t>(places[next++]);
}

}  // namespace

bool Sides::show_spread() const { return std::min(a.size(), b.size()) >= (order == RunOrder::kBlocks ? kBlockSpread : kOwnSpread); }

Sides choose_runs(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options, Comparison& comparison) {
  Sides sides;
  sides.a = kept_runs(a, options.throttled_share, comparison.a);
  sides.b = kept_runs(b, options.throttled_share, comparison.b);
  comparison.a.median_step = middle_step(sides.a);
  comparison.b.median_step = middle_step(sides.b);
  set_places(sides);
  sides.basis = basis_of(sides.a.size(), sides.b.size());
  tell_places(sides.place_a, comparison.a);
  tell_places(sides.place_b, comparison.b);
  comparison.order = sides.order;
  comparison.basis = sides.basis;
  return sides;
}

std::vector<OrderedValue> values_of(const Sides& sides, const FigureOfRun& figure) {
  std::vector<OrderedValue> values;
  const auto add = [&](const Run& run, double place, bool of_b) {
    const std::optional<double> value = figure(run);
    if (value && std::isfinite(*value)) values.push_back({*value, place, of_b});
  };
  for (std::size_t i = 0; i < sides.a.size(); ++i) add(*sides.a[i], sides.place_a[i], false);
  for (std::size_t i = 0; i < sides.b.size(); ++i) add(*sides.b[i], sides.place_b[i], true);
  return values;
}

const StageEntry* find_stage(const Run& run, const std::string& name) {
  const auto found = std::find_if(run.stages.begin(), run.stages.end(),
                                  [&](const StageEntry& stage) { return stage.name == name && stage.wall.count > 0; });
  return found != run.stages.end() ? &*found : nullptr;
}

std::vector<std::string> common_stages(const Sides& sides) {
  std::vector<std::string> names;
  const auto has = [](const std::vector<const Run*>& runs, const std::string& name) {
    return std::any_of(runs.begin(), runs.end(), [&](const Run* run) { return find_stage(*run, name) != nullptr; });
  };
  for (const auto* side : {&sides.a, &sides.b})
    for (const Run* run : *side)
      for (const StageEntry& stage : run->stages)
        if (has(sides.a, stage.name) && has(sides.b, stage.name)) add_once(names, stage.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace nl::analysis
