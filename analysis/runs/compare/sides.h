#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analysis/runs/compare/compare.h"
#include "analysis/statistics/time_order.h"

namespace nl::analysis {

// The runs of both sides that count, and in which order they were captured.
struct Sides {
  std::vector<const Run*> a, b;          // without throttled ones, unless that is all there is
  std::vector<double> place_a, place_b;  // in the order of capture over both sides, from 1; all 0: not known
  RunOrder order = RunOrder::kUnknown;
  CompareBasis basis = CompareBasis::kNothing;

  bool one_each() const { return basis == CompareBasis::kOneRunEach; }
  bool show_spread() const;  // false: too few runs, or too few for blocks, so that how much runs differ is taken from others
};

// Also fills in the runs of the comparison: which were left out, and their places.
Sides choose_runs(std::span<const Run> a, std::span<const Run> b, const CompareOptions& options, Comparison& comparison);

// One figure of each run that has it as a finite number, with the run's place.
using FigureOfRun = std::function<std::optional<double>(const Run&)>;
std::vector<OrderedValue> values_of(const Sides& sides, const FigureOfRun& figure);

const StageEntry* find_stage(const Run& run, const std::string& name);
// The stages that at least one run of each side has with measured windows, sorted by name so that swapping the sides changes nothing.
std::vector<std::string> common_stages(const Sides& sides);

}  // namespace nl::analysis
