#include "analysis/trace/call_times.h"

#include <algorithm>
#include <string>

#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxCallNames = 20;

}  // namespace

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
