#include "analysis/trace/api_kind.h"

#include <algorithm>
#include <numeric>

namespace nl::analysis {

CallsByThread::CallsByThread(const Trace& trace, const std::vector<ApiCall>& calls) : calls_(calls), first_(trace.threads.size() + 1, 0) {
  const auto earlier = [](const ApiCall& a, const ApiCall& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
  };
  if (!std::is_sorted(calls.begin(), calls.end(), earlier)) {
    order_.resize(calls.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return earlier(calls[a], calls[b]); });
  }
  // Calls of a thread that the trace does not list come last and belong to nobody.
  for (const ApiCall& call : calls)
    if (call.thread < trace.threads.size()) ++first_[call.thread + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

}  // namespace nl::analysis
