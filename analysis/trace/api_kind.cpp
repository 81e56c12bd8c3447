#include "analysis/trace/api_kind.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "analysis/trace/merge_runs.h"
#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxCallNames = 20;

}  // namespace

CallsByThread::CallsByThread(const Trace& trace, const std::vector<ApiCall>& calls) : calls_(calls), first_(trace.threads.size() + 1, 0) {
  const auto earlier = [](const ApiCall& a, const ApiCall& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.start_ns < b.start_ns;
  };
  if (!std::is_sorted(calls.begin(), calls.end(), earlier)) {
    order_.resize(calls.size());
    std::iota(order_.begin(), order_.end(), 0u);
    merge_runs(order_, [&](std::uint32_t a, std::uint32_t b) { return earlier(calls[a], calls[b]); });
  }
  // Calls of a thread that the trace does not list come last and belong to no thread.
  for (const ApiCall& call : calls)
    if (call.thread < trace.threads.size()) ++first_[call.thread + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

void CallTimes::add(StringId name, Ns time_ns, std::uint64_t count) {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const Call& each) { return each.name == name; });
  Call& call = found != calls_.end() ? *found : calls_.emplace_back(Call{name, 0, 0});
  call.count += count;
  call.time_ns += time_ns;
}

void CallTimes::add(const CallTimes& more) {
  for (const Call& each : more.calls_) add(each.name, each.time_ns, each.count);
}

std::vector<WaitCall> CallTimes::longest(const Trace& trace) const {
  std::vector<WaitCall> out;
  for (const Call& each : calls_) out.push_back({std::string(without_api_version(trace.strings[each.name])), each.count, each.time_ns});
  std::stable_sort(out.begin(), out.end(), [](const WaitCall& a, const WaitCall& b) { return a.time_ns > b.time_ns; });
  if (out.size() > kMaxCallNames) out.resize(kMaxCallNames);
  return out;
}

}  // namespace nl::analysis
