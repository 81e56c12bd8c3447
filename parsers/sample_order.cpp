#include "parsers/sample_order.h"

#include <algorithm>
#include <map>
#include <utility>

namespace nl::parsers {
namespace {

Ns median_period(const std::vector<HostSample>& samples) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ns> latest;
  std::vector<Ns> periods;
  for (const HostSample& sample : samples) {
    const auto [before, first] = latest.try_emplace({sample.pid, sample.tid}, sample.time_ns);
    if (!first) periods.push_back(sample.time_ns - std::exchange(before->second, sample.time_ns));
  }
  if (periods.empty()) return 0;
  const auto half = periods.begin() + static_cast<std::ptrdiff_t>(periods.size() / 2);
  std::nth_element(periods.begin(), half, periods.end());
  return *half;
}

}  // namespace

void order_samples(HostSamples& host) {
  std::stable_sort(host.samples.begin(), host.samples.end(),
                   [](const HostSample& a, const HostSample& b) { return a.time_ns < b.time_ns; });
  std::stable_sort(host.collections.begin(), host.collections.end(),
                   [](const GarbageCollection& a, const GarbageCollection& b) { return a.start_ns < b.start_ns; });
  host.period_ns = median_period(host.samples);
}

}  // namespace nl::parsers
