#include "analysis/account/launch_waits.h"

#include <algorithm>

namespace nl::analysis {

void LaunchWaitSum::add(const LaunchWaitSum& more) {
  for (std::size_t before = 0; before < kCallKinds; ++before)
    for (std::size_t launch = 0; launch < kCallKinds; ++launch) {
      Late& sum = late[before][launch];
      const Late& other = more.late[before][launch];
      sum.count += other.count;
      sum.starved_ns += other.starved_ns;
      sum.latency_ns += other.latency_ns;
      if (other.longest_ns <= sum.longest_ns) continue;
      sum.longest_ns = other.longest_ns;
      sum.longest_at_ns = other.longest_at_ns;
    }
  calls.add(more.calls);
  outside_calls_ns += more.outside_calls_ns;
}

LaunchWaits LaunchWaitSum::told(const Trace& trace) const {
  LaunchWaits out;
  out.outside_calls_ns = outside_calls_ns;
  for (std::size_t before = 0; before < kCallKinds; ++before)
    for (std::size_t launch = 0; launch < kCallKinds; ++launch) {
      const Late& sum = late[before][launch];
      out.starved_ns += sum.starved_ns;
      out.latency_ns += sum.latency_ns;
      if (sum.count > 0)
        out.late.push_back({static_cast<CallKind>(before), static_cast<CallKind>(launch), sum.count, sum.starved_ns, sum.latency_ns,
                            sum.longest_ns, sum.longest_at_ns});
    }
  std::stable_sort(out.late.begin(), out.late.end(),
                   [](const LateLaunches& a, const LateLaunches& b) { return a.wait_ns() > b.wait_ns(); });
  out.calls = calls.longest(trace);
  return out;
}

LaunchWaitTime::LaunchWaitTime(const Trace& trace, const CallsByThread& calls, std::size_t lanes)
    : other_calls_(trace, trace.other_calls), work_(calls, lanes), other_(other_calls_, lanes), kinds_(trace) {}

// `at`: a place among the thread's calls that is not behind the launch. A call around the launch is the launch's own.
CallKind LaunchWaitTime::kind_before(const ApiCall& launch, std::size_t at) {
  const auto thread = static_cast<std::uint32_t>(launch.thread);
  const CallsByThread& calls = work_.calls();
  while (at < calls.last(thread) && calls[at].start_ns < launch.start_ns) ++at;
  while (at > calls.first(thread)) {
    const ApiCall& call = calls[--at];
    if (call.start_ns >= launch.start_ns || call.end_ns() > launch.start_ns) continue;
    if (const CallKind kind = kinds_.of(call).kind; kind != CallKind::kOther) return kind;
  }
  return CallKind::kNone;
}

// Calls nest: a runtime call makes a driver call, and time inside both counts for the outer one.
Ns LaunchWaitTime::time_in_calls(std::size_t work, std::size_t other, const Gap& gap, LaunchWaitSum& sum) {
  const auto thread = static_cast<std::uint32_t>(gap.launch->thread);
  const CallsByThread &works = work_.calls(), &others = other_.calls();
  const std::size_t last_work = works.last(thread), last_other = others.last(thread);
  Ns time = 0, until = gap.start_ns;
  while (work < last_work || other < last_other) {
    const bool from_work = other == last_other || (work < last_work && works[work].start_ns <= others[other].start_ns);
    const ApiCall& call = from_work ? works[work++] : others[other++];
    if (call.start_ns >= gap.launch->start_ns) break;
    const Ns start = std::max(call.start_ns, until), end = std::min(call.end_ns(), gap.launch->start_ns);
    if (end <= start) continue;
    until = end;
    if (thread == gap.waiting_thread && kinds_.of(call).waits) continue;
    sum.calls.add(call.name, end - start);
    time += end - start;
  }
  return time;
}

void LaunchWaitTime::add(std::size_t lane, const Gap& gap, LaunchWaitSum& sum) {
  const auto thread = static_cast<std::uint32_t>(gap.launch->thread);
  const Ns wait_ns = gap.starved_ns + gap.latency_ns;
  if (wait_ns <= 0 || thread >= work_.calls().threads()) return;
  const std::size_t work = work_.first_ending_after(lane, thread, gap.start_ns),
                    other = other_.first_ending_after(lane, thread, gap.start_ns);
  const CallKind before = kind_before(*gap.launch, work);
  LaunchWaitSum::Late& late = sum.late[static_cast<std::size_t>(before)][static_cast<std::size_t>(kinds_.of(*gap.launch).kind)];
  ++late.count;
  late.starved_ns += gap.starved_ns;
  late.latency_ns += gap.latency_ns;
  if (wait_ns > late.longest_ns) {
    late.longest_ns = wait_ns;
    late.longest_at_ns = gap.start_ns;
  }
  if (gap.starved_ns > 0) sum.outside_calls_ns += std::max<Ns>(0, gap.starved_ns - time_in_calls(work, other, gap, sum));
}

}  // namespace nl::analysis
