#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "analysis/sampling.h"

namespace nl {
namespace {

constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
constexpr std::string_view kNotIssued = "_not_issued";

struct Twins {
  std::uint64_t all = 0, not_issued = 0;
};

using Reasons = std::map<std::string_view, Twins>;

Reasons reasons_of(const std::map<std::string, std::uint64_t>& reasons) {
  Reasons by_reason;
  for (const auto& [name, samples] : reasons) {
    std::string_view reason = name;
    if (!reason.starts_with(kPrefix)) continue;
    reason.remove_prefix(kPrefix.size());
    const bool not_issued = reason.ends_with(kNotIssued);
    if (not_issued) reason.remove_suffix(kNotIssued.size());
    (not_issued ? by_reason[reason].not_issued : by_reason[reason].all) += samples;
  }
  return by_reason;
}

bool twins_are_parts(const Trace& trace) {
  return std::all_of(trace.stalls.begin(), trace.stalls.end(), [](const StallSample& kernel) {
    const Reasons reasons = reasons_of(kernel.reasons);
    return std::all_of(reasons.begin(), reasons.end(), [](const auto& each) { return each.second.not_issued <= each.second.all; });
  });
}

std::vector<StallShare> shares_of(const Reasons& by_reason, bool twins_are_parts) {
  std::vector<StallShare> shares;
  double total = 0;
  for (const auto& [reason, twins] : by_reason) {
    const std::uint64_t samples = twins.all + (twins_are_parts ? 0 : twins.not_issued);
    if (samples == 0) continue;
    shares.push_back({std::string(reason), samples, 0});
    total += static_cast<double>(samples);
  }
  for (StallShare& each : shares) each.share = static_cast<double>(each.samples) / total;
  std::sort(shares.begin(), shares.end(), [](const StallShare& a, const StallShare& b) {
    return a.samples != b.samples ? a.samples > b.samples : a.reason < b.reason;
  });
  return shares;
}

}  // namespace

void fill_stalls(const Trace& trace, Run& run) {
  if (!run.kernels || trace.stalls.empty()) return;
  const bool parts = twins_are_parts(trace);
  bool any = false;
  std::map<std::pair<std::string_view, std::int32_t>, const StallSample*> sampled;
  for (const StallSample& each : trace.stalls) sampled.emplace(std::pair(std::string_view(each.kernel), each.device), &each);
  for (KernelEntry& kernel : *run.kernels) {
    // C functions have no mangled name of their own.
    const std::string& name = kernel.mangled_name.empty() ? kernel.name : kernel.mangled_name;
    const auto found = sampled.find(std::pair(std::string_view(name), kernel.device));
    if (found == sampled.end()) continue;
    kernel.stalls = shares_of(reasons_of(found->second->reasons), parts);
    any = true;
  }
  if (!any) run.import_stats.notes.push_back("stalls were sampled, but of no kernel of the trace");
}

}  // namespace nl
