#include "analysis/figures/operators/range_work.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace nl::analysis {

std::vector<std::uint32_t> by_time(const RangeTally& tally, const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < tally.groups.size(); ++i)
    if (tally.groups[i].calls > 0) order.push_back(i);
  const auto rank = [&](std::uint32_t i) {
    return std::tuple(-tally.groups[i].cuda_self_ns, -tally.groups[i].self_ns, std::string_view(names[i]));
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return rank(a) < rank(b); });
  return order;
}

std::vector<OperatorKernel> top_work(const Trace& trace, const GroupTime& time, std::size_t top) {
  std::vector<OperatorKernel> work;
  for (const auto& [name, sum] : time.kernels)
    work.push_back({name == kGraphName ? std::string("(CUDA graph)") : trace.strings[StringId{name}], sum.calls, sum.total_ns});
  std::sort(work.begin(), work.end(), [](const OperatorKernel& a, const OperatorKernel& b) {
    return std::tuple(-a.total_ns, std::string_view(a.name)) < std::tuple(-b.total_ns, std::string_view(b.name));
  });
  if (work.size() > top) work.resize(top);
  return work;
}

}  // namespace nl::analysis
