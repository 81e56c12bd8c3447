#include "analysis/runs/compare/waterfall.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "model/stage.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMostKernels = 12;

struct Part {
  WaterfallRow row;
  double a = 0, b = 0;
};

// The bins of a window, mean over the runs; nothing where no run has them.
std::optional<std::vector<double>> mean_bins(const std::vector<const Run*>& runs, const std::string& stage) {
  std::vector<double> bins(kBudgetBinKeys.size());
  double known = 0;
  for (const Run* run : runs) {
    const StageEntry* entry = find_stage(*run, stage);
    if (entry == nullptr || !entry->budget) continue;
    ++known;
    for (std::size_t i = 0; i < bins.size(); ++i)
      bins[i] += static_cast<double>((*entry->budget).*kBudgetBinKeys[i].time_ns) / static_cast<double>(entry->wall.count);
  }
  if (known == 0) return std::nullopt;
  for (double& bin : bins) bin /= known;
  return bins;
}

double time_of(const std::vector<ComparedKernel>& kernels) {
  double sum = 0;
  for (const ComparedKernel& kernel : kernels) sum += kernel.time_ns;
  return sum;
}

// The pairs with the largest differences; what is left of the computing time is one row.
std::vector<Part> kernel_parts(const StageKernels& kernels, double compute_a, double compute_b) {
  std::vector<Part> parts;
  for (const KernelPair& pair : kernels.pairs)
    parts.push_back({{WaterfallPart::kKernels, pair.line.key, pair.relation, 0, 0}, time_of(pair.a), time_of(pair.b)});
  std::stable_sort(parts.begin(), parts.end(), [](const Part& x, const Part& y) { return std::abs(x.b - x.a) > std::abs(y.b - y.a); });
  if (parts.size() > kMostKernels) parts.resize(kMostKernels);
  Part rest{{WaterfallPart::kOtherKernels, {}, KernelRelation::kSame, 0, 0}, compute_a, compute_b};
  for (const Part& part : parts) {
    rest.a -= part.a;
    rest.b -= part.b;
  }
  parts.push_back(rest);
  return parts;
}

// Whole nanoseconds that add up to the rounded sum: the running sum is rounded, not the parts.
Ns round_parts(std::vector<Part>& parts, double Part::* exact, Ns WaterfallRow::* whole) {
  double sum = 0;
  Ns told = 0;
  for (Part& part : parts) {
    sum += part.*exact;
    const Ns now = std::llround(sum);
    part.row.*whole = now - told;
    told = now;
  }
  return told;
}

const StageKernels* kernels_of(const std::vector<StageKernels>& kernels, const std::string& stage) {
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const StageKernels& each) { return each.stage == stage; });
  return found != kernels.end() ? &*found : nullptr;
}

}  // namespace

std::optional<Waterfall> waterfall_of(const Sides& sides, const std::string& stage, const std::vector<StageKernels>& kernels) {
  const auto a = mean_bins(sides.a, stage), b = mean_bins(sides.b, stage);
  if (!a || !b) return std::nullopt;
  std::vector<Part> parts;
  const StageKernels* of_stage = kernels_of(kernels, stage);
  for (std::size_t i = 0; i < a->size(); ++i) {
    const BudgetBinKey& bin = kBudgetBinKeys[i];
    if (bin.time_ns == &Budget::gpu_compute_ns && of_stage != nullptr) {
      for (Part& part : kernel_parts(*of_stage, (*a)[i], (*b)[i])) parts.push_back(std::move(part));
      continue;
    }
    if ((*a)[i] != 0 || (*b)[i] != 0) parts.push_back({{WaterfallPart::kBin, bin.key, KernelRelation::kSame, 0, 0}, (*a)[i], (*b)[i]});
  }
  Waterfall waterfall;
  waterfall.stage = stage;
  waterfall.a_ns = round_parts(parts, &Part::a, &WaterfallRow::a_ns);
  waterfall.b_ns = round_parts(parts, &Part::b, &WaterfallRow::b_ns);
  for (Part& part : parts) waterfall.rows.push_back(std::move(part.row));
  const auto rank = [](const WaterfallRow& row) { return std::tuple(row.part, -std::abs(row.b_ns - row.a_ns), std::string_view(row.key)); };
  std::stable_sort(waterfall.rows.begin(), waterfall.rows.end(),
                   [&](const WaterfallRow& x, const WaterfallRow& y) { return rank(x) < rank(y); });
  return waterfall;
}

}  // namespace nl::analysis
