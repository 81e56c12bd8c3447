#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/figures/counters/sampling.h"

namespace nl::analysis {
namespace {

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kNotIssued = "_not_issued";

// CUPTI counts the samples of "…_not_issued" under the reason itself too.
std::vector<StallShare> shares_of(const std::map<std::string, std::uint64_t>& reasons) {
  std::vector<StallShare> shares;
  double total = 0;
  for (const auto& [name, samples] : reasons) {
    std::string_view reason = name;
    if (samples == 0 || !reason.starts_with(kPrefix) || reason.ends_with(kNotIssued)) continue;
    reason.remove_prefix(kPrefix.size());
    shares.push_back({std::string(reason), samples, 0});
    total += static_cast<double>(samples);
  }
  for (StallShare& each : shares) each.share = static_cast<double>(each.samples) / total;
  std::sort(shares.begin(), shares.end(),
            [](const StallShare& a, const StallShare& b) { return a.samples != b.samples ? a.samples > b.samples : a.reason < b.reason; });
  return shares;
}

}  // namespace

bool add_stalls(const Trace& trace, std::vector<KernelEntry>& kernels) {
  bool any = false;
  std::map<std::pair<std::string_view, std::int32_t>, const StallSample*> sampled;
  for (const StallSample& each : trace.stalls) sampled.emplace(std::pair(std::string_view(each.kernel), each.device), &each);
  for (KernelEntry& kernel : kernels) {
    const auto found = sampled.find(std::pair(std::string_view(kernel.symbol()), kernel.device));
    if (found == sampled.end()) continue;
    kernel.stalls = shares_of(found->second->reasons);
    any = true;
  }
  return any;
}

}  // namespace nl::analysis
