#include "parsers/kineto/links.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "model/cuda_calls.h"

namespace nl::parsers {

std::uint32_t KinetoLinks::correlation(std::optional<std::int64_t> id) {
  return id && *id > 0 && *id < std::int64_t{kNone} ? static_cast<std::uint32_t>(*id) : kNone;
}

void KinetoLinks::add_call(Ns start_ns, Ns duration_ns, std::uint32_t thread, StringId name, std::optional<std::int64_t> correlation_id) {
  const auto [found, added] = stats_.try_emplace(name.value, trace_.api_stats.size());
  if (added) trace_.api_stats.push_back({name, {}});
  trace_.api_stats[found->second].durations.add(duration_ns);
  ApiCall call;
  call.start_ns = start_ns;
  call.duration_ns = static_cast<std::uint64_t>(duration_ns) & kMaxPackedDurationNs;
  call.thread = thread & 0xFFFFF;
  call.name = name;
  call.correlation = correlation(correlation_id);
  trace_.api_calls.push_back(call);
}

void KinetoLinks::keep_calls() {
  std::unordered_set<std::uint32_t> launched;
  for (const Kernel& kernel : trace_.kernels) launched.insert(kernel.api);
  for (const MemOp& op : trace_.mem_ops) launched.insert(op.api);
  launched.erase(kNone);
  std::erase_if(trace_.api_calls, [&](const ApiCall& call) {
    if (launched.contains(call.correlation) || !cuda_call(trace_.strings[call.name]).launches) return false;
    if (static_cast<Ns>(call.duration_ns) >= kLongCallNs) trace_.other_calls.push_back(call);
    return true;
  });
  for (std::vector<ApiCall>* calls : {&trace_.api_calls, &trace_.other_calls})
    std::sort(calls->begin(), calls->end(), [](const ApiCall& a, const ApiCall& b) {
      return std::tuple(a.thread, a.start_ns, a.correlation) < std::tuple(b.thread, b.start_ns, b.correlation);
    });
}

std::uint32_t KinetoLinks::call_of(std::uint32_t correlation_id) const {
  const auto found = calls_.find(correlation_id);
  return found == calls_.end() ? kNone : found->second;
}

void KinetoLinks::join() {
  keep_calls();
  const auto process = [&](const ApiCall& call) { return trace_.threads[call.thread].process; };
  for (std::uint32_t i = 0; i < trace_.api_calls.size(); ++i) {
    const ApiCall& call = trace_.api_calls[i];
    if (call.correlation == kNone) continue;
    const auto [found, added] = calls_.try_emplace(call.correlation, i);
    if (added || found->second == kNone || process(trace_.api_calls[found->second]) == process(call)) continue;
    found->second = kNone;  // traces of several processes in one file, and a kernel does not say whose it is
    ++ambiguous_;
  }
  for (Kernel& kernel : trace_.kernels) kernel.api = kernel.api == kNone ? kNone : call_of(kernel.api);
  for (MemOp& op : trace_.mem_ops) op.api = op.api == kNone ? kNone : call_of(op.api);
  if (ambiguous_ > 0) trace_.stats.rows_damaged[{Code::kSharedCorrelation}] += ambiguous_;
}

}  // namespace nl::parsers
