#include "analysis/staging/found/work_amount.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <string>

#include "analysis/trace/kernel_class.h"

namespace nl::analysis {
namespace {

struct ShapeTraits {
  bool product = false, training = false;
  std::uint32_t blocks = 0;  // logarithm in sixteenths
};

std::uint32_t sixteenths(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::lround(16 * std::log2(static_cast<double>(std::max<std::uint64_t>(value, 1)))));
}

bool trains(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* word : {"backward", "_bwd", "bwd_", "adam", "wgrad", "dgrad", "optimizer", "gradinput", "grad_input", "sgd"})
    if (name.find(word) != std::string::npos) return true;
  return false;
}

std::vector<ShapeTraits> traits_of(const Trace& trace) {
  std::vector<ShapeTraits> traits;
  traits.reserve(trace.shapes.size());
  for (const KernelShape& shape : trace.shapes) {
    const std::string& name = trace.strings[shape.name];
    const KernelClass kind = classify_kernel(name);
    const std::uint64_t blocks = std::uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
    traits.push_back({kind == KernelClass::kGemm || kind == KernelClass::kAttention, trains(name), sixteenths(blocks)});
  }
  return traits;
}

double mean_log2(std::uint32_t sum, std::uint32_t count) { return count == 0 ? 0 : static_cast<double>(sum) / 16 / count; }

}  // namespace

WorkAmounts::WorkAmounts(const Trace& trace, const WorkSequence& sequence) : sums_(sequence.size() + 1) {
  if (sequence.size() == 0) return;
  const std::uint32_t first = sequence.calls.front(), last = sequence.calls.back();
  // A call that launches and waits stands in the sequence twice: its work is at the first of the two.
  std::vector<std::uint32_t> place(last - first + 1, kNone);
  for (std::uint32_t i = static_cast<std::uint32_t>(sequence.size()); i-- > 0;) place[sequence.calls[i] - first] = i;
  const auto sum_of = [&](std::uint32_t api) -> Sum* {
    if (api < first || api > last || place[api - first] == kNone) return nullptr;
    return &sums_[place[api - first] + 1];
  };
  const std::vector<ShapeTraits> traits = traits_of(trace);
  for (const Kernel& kernel : trace.kernels) {
    Sum* sum = sum_of(kernel.api);
    if (sum == nullptr || kernel.shape >= traits.size()) continue;
    const ShapeTraits& shape = traits[kernel.shape];
    ++sum->kernels;
    sum->products += shape.product;
    sum->training += shape.training;
    sum->blocks += shape.blocks;
    sum->times += static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(kernel.duration_ns))) * 16;
    sum->gpu_ns += kernel.duration_ns;
  }
  for (const GraphRun& run : trace.graph_runs) {
    Sum* sum = sum_of(run.api);
    if (sum == nullptr) continue;
    ++sum->graphs;
    ++sum->products;
    sum->gpu_ns += static_cast<std::uint64_t>(std::max<Ns>(0, run.end_ns - run.start_ns));
  }
  for (std::size_t i = 1; i < sums_.size(); ++i) {
    const Sum& before = sums_[i - 1];
    Sum& sum = sums_[i];
    sum = {sum.kernels + before.kernels, sum.graphs + before.graphs, sum.products + before.products, sum.training + before.training,
           sum.blocks + before.blocks,   sum.times + before.times,   sum.gpu_ns + before.gpu_ns};
  }
}

WorkAmount WorkAmounts::between(std::uint32_t first, std::uint32_t last) const {
  const Sum &from = sums_[first], &to = sums_[last];
  WorkAmount amount;
  amount.kernels = to.kernels - from.kernels;
  amount.graphs = to.graphs - from.graphs;
  amount.products = to.products - from.products;
  amount.training = to.training - from.training;
  amount.gpu_ns = to.gpu_ns - from.gpu_ns;
  amount.blocks_log2 = mean_log2(to.blocks - from.blocks, amount.kernels);
  amount.ns_log2 = mean_log2(to.times - from.times, amount.kernels);
  return amount;
}

bool has_more_rows(const WorkAmount& amount, const WorkAmount& step) {
  constexpr double kMore = 0.4, kLess = -0.3;  // of a logarithm: a third more, a fifth less
  if (step.graphs > 0 || step.kernels == 0 || amount.kernels == 0) return amount.gpu_ns * 10 > step.gpu_ns * 13;
  const double blocks = amount.blocks_log2 - step.blocks_log2, times = amount.ns_log2 - step.ns_log2;
  return (blocks > kMore && times > kLess) || (times > kMore && blocks > kLess);
}

}  // namespace nl::analysis
