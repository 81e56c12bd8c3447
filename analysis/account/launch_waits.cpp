#include "analysis/account/launch_waits.h"

#include <algorithm>
#include <unordered_map>

namespace nl::analysis {
namespace {

Ns overlap_of_parts(const Spans& parts, Ns start_ns, Ns end_ns) {
  Ns sum = 0;
  for (const auto& [start, end] : parts) sum += std::max<Ns>(0, std::min(end, end_ns) - std::max(start, start_ns));
  return sum;
}

std::uint64_t key_of_thread(std::uint32_t pid, std::uint32_t tid) { return std::uint64_t{pid} << 32 | tid; }

// A collection stops every thread of its process: Python's lock is held meanwhile.
std::vector<std::vector<std::uint32_t>> collections_by_process(const Trace& trace) {
  std::vector<std::vector<std::uint32_t>> out(trace.processes.size());
  for (std::uint32_t i = 0; i < trace.host.collections.size(); ++i)
    for (std::size_t process = 0; process < out.size(); ++process)
      if (trace.processes[process].pid == trace.host.collections[i].pid) out[process].push_back(i);
  return out;
}

}  // namespace

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
const ApiCall* LaunchWaitTime::call_before(const ApiCall& launch, std::size_t at) {
  const auto thread = static_cast<std::uint32_t>(launch.thread);
  const CallsByThread& calls = work_.calls();
  while (at < calls.last(thread) && calls[at].start_ns < launch.start_ns) ++at;
  while (at > calls.first(thread)) {
    const ApiCall& call = calls[--at];
    if (call.start_ns >= launch.start_ns || call.end_ns() > launch.start_ns) continue;
    if (kinds_.of(call).kind != CallKind::kOther) return &call;
  }
  return nullptr;
}

CallKind LaunchWaitTime::kind_before(const ApiCall& launch, std::size_t at) {
  const ApiCall* call = call_before(launch, at);
  return call != nullptr ? kinds_.of(*call).kind : CallKind::kNone;
}

bool LaunchWaitTime::follows_wait(std::size_t lane, const ApiCall& launch, Ns start_ns) {
  const auto thread = static_cast<std::uint32_t>(launch.thread);
  if (thread >= work_.calls().threads()) return false;
  const ApiCall* call = call_before(launch, work_.first_ending_after(lane, thread, start_ns));
  return call != nullptr && kinds_.of(*call).waits;
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

std::vector<std::vector<std::uint32_t>> samples_by_thread(const Trace& trace) {
  std::vector<std::vector<std::uint32_t>> out(trace.threads.size());
  std::unordered_map<std::uint64_t, std::uint32_t> threads;
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i) {
    const Thread& thread = trace.threads[i];
    if (thread.process < trace.processes.size()) threads.try_emplace(key_of_thread(trace.processes[thread.process].pid, thread.tid), i);
  }
  for (std::uint32_t i = 0; i < trace.host.samples.size(); ++i) {
    const HostSample& sample = trace.host.samples[i];
    const auto found = threads.find(key_of_thread(sample.pid, sample.tid));
    if (found != threads.end() && sample.stack < trace.host.stacks.size() && !trace.host.stacks[sample.stack].empty())
      out[found->second].push_back(i);
  }
  return out;
}

HostWatch::HostWatch(const Trace& trace, std::size_t lanes, std::uint32_t targets)
    : trace_(trace), samples_(samples_by_thread(trace)), collections_(collections_by_process(trace)), os_calls_(trace, trace.os_calls),
      next_sample_(lanes, std::vector<std::size_t>(samples_.size(), 0)),
      next_collection_(lanes, std::vector<std::size_t>(collections_.size(), 0)), next_os_call_(os_calls_, lanes), hits_(targets) {}

std::vector<HostHits> HostWatch::take() {
  for (HostHits& hits : hits_) {  // a collection may lie in several waits, and several GPUs wait at a time
    std::sort(hits.collections.begin(), hits.collections.end());
    hits.collections.erase(std::unique(hits.collections.begin(), hits.collections.end()), hits.collections.end());
  }
  return std::move(hits_);
}

void HostWatch::add(std::size_t lane, std::uint32_t target, std::uint32_t thread, Ns start_ns, const Spans& parts) {
  if (parts.empty() || thread >= samples_.size()) return;
  HostHits& hits = hits_[target];
  add_samples(lane, thread, start_ns, parts, hits);
  add_collections(lane, thread, start_ns, parts, hits);
  add_os_calls(lane, thread, start_ns, parts, hits);
}

std::uint32_t HostWatch::watched(std::uint32_t launching, std::uint32_t staged) const {
  const auto sampled = [&](std::uint32_t thread) { return thread < samples_.size() && !samples_[thread].empty(); };
  if (sampled(launching) || !sampled(staged) || launching >= trace_.threads.size()) return launching;
  return trace_.threads[launching].process == trace_.threads[staged].process ? staged : launching;
}

void HostWatch::find(std::uint32_t thread, Ns start_ns, Ns end_ns, std::vector<std::uint32_t>& samples) const {
  if (thread >= samples_.size()) return;
  const auto earlier = [&](std::uint32_t sample, Ns time_ns) { return trace_.host.samples[sample].time_ns < time_ns; };
  auto at = std::lower_bound(samples_[thread].begin(), samples_[thread].end(), start_ns, earlier);
  for (; at != samples_[thread].end() && trace_.host.samples[*at].time_ns < end_ns; ++at) samples.push_back(*at);
}

void HostWatch::add_samples(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits) {
  const std::vector<std::uint32_t>& samples = samples_[thread];
  const auto time_of = [&](std::size_t at) { return trace_.host.samples[samples[at]].time_ns; };
  std::size_t& next = next_sample_[lane][thread];
  while (next < samples.size() && time_of(next) < start_ns) ++next;
  std::size_t at = next;
  for (const auto& [start, end] : parts) {
    while (at < samples.size() && time_of(at) < start) ++at;
    for (; at < samples.size() && time_of(at) < end; ++at) hits.samples.push_back(samples[at]);
  }
}

void HostWatch::add_collections(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits) {
  const std::uint32_t process = trace_.threads[thread].process;
  if (process >= collections_.size() || collections_[process].empty()) return;
  const std::vector<std::uint32_t>& collections = collections_[process];
  std::size_t& next = next_collection_[lane][process];
  while (next < collections.size() && trace_.host.collections[collections[next]].end_ns <= start_ns) ++next;
  for (std::size_t at = next; at < collections.size(); ++at) {
    const GarbageCollection& garbage = trace_.host.collections[collections[at]];
    if (garbage.start_ns >= parts.back().second) return;
    const Ns overlap_ns = overlap_of_parts(parts, garbage.start_ns, garbage.end_ns);
    if (overlap_ns == 0) continue;
    hits.collection_ns += overlap_ns;
    hits.collections.push_back(collections[at]);
  }
}

void HostWatch::add_os_calls(std::size_t lane, std::uint32_t thread, Ns start_ns, const Spans& parts, HostHits& hits) {
  if (trace_.os_calls.empty()) return;
  Ns until = start_ns;  // where calls nest, the outer one counts
  for (std::size_t at = next_os_call_.first_ending_after(lane, thread, start_ns); at < os_calls_.last(thread); ++at) {
    const ApiCall& call = os_calls_[at];
    if (call.start_ns >= parts.back().second) return;
    const Ns overlap_ns = overlap_of_parts(parts, std::max(call.start_ns, until), call.end_ns());
    until = std::max(until, call.end_ns());
    if (overlap_ns > 0) hits.os_calls.add(call.name, overlap_ns);
  }
}

}  // namespace nl::analysis
