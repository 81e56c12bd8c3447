#include "analysis/budget/budget.h"

#include <algorithm>

#include "analysis/stages/windows.h"

namespace nl::analysis {

WaitingTime::WaitingTime(const Trace& trace) : calls_(trace), kinds_(trace), at_(calls_.threads()) {
  for (std::uint32_t i = 0; i < at_.size(); ++i) at_[i] = calls_.first(i);
}

Ns WaitingTime::within(std::uint32_t thread, Ns start_ns, Ns end_ns) {
  if (thread >= at_.size()) return 0;
  const std::size_t last = calls_.last(thread);
  std::size_t& at = at_[thread];
  while (at < last && calls_[at].end_ns() <= start_ns) ++at;
  Ns waited = 0, until = start_ns;  // calls nest: a runtime call makes a driver call
  for (std::size_t i = at; i < last && calls_[i].start_ns < end_ns; ++i) {
    const ApiCall& call = calls_[i];
    if (call.end_ns() <= until || !kinds_.of(call).waits) continue;
    const Ns end = std::min(call.end_ns(), end_ns);
    const Ns start = std::max(call.start_ns, until);
    if (end <= start) continue;
    waited += end - start;
    until = end;
  }
  return waited;
}

BudgetSweep::BudgetSweep(const Trace& trace, std::vector<BudgetSpan> spans, std::uint32_t targets,
                         std::uint32_t devices)
    : trace_(trace), waiting_(trace), processes_(process_slots(trace)), sums_(targets) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const BudgetSpan& a, const BudgetSpan& b) { return a.start_ns < b.start_ns; });
  for (const BudgetSpan& span : spans) processes_[span.process].spans.push_back(span);
  for (Process& process : processes_) process.devices.resize(devices);
  for (BudgetSum& sum : sums_) sum.device_busy_ns.resize(devices);
}

void BudgetSweep::open_until(Process& process, Ns time_ns) {
  for (; process.next < process.spans.size() && process.spans[process.next].start_ns <= time_ns; ++process.next) {
    const BudgetSpan& span = process.spans[process.next];
    OpenSpan& open = process.open.emplace_back();
    open.span = span;
    open.compute_before_ns = process.compute.before(span.start_ns);
    open.busy_before_ns = process.busy.before(span.start_ns);
    if (span.window)
      for (const CoveredTime& device : process.devices) open.device_before_ns.push_back(device.before(span.start_ns));
    process.first_end_ns = std::min(process.first_end_ns, span.end_ns);
  }
}

void BudgetSweep::close(const Process& process, const OpenSpan& open) {
  const BudgetSpan& span = open.span;
  BudgetSum& sum = sums_[span.target];
  const Ns busy = process.busy.before(span.end_ns) - open.busy_before_ns;
  const Ns compute = process.compute.before(span.end_ns) - open.compute_before_ns;
  sum.budget.wall_ns += span.end_ns - span.start_ns;
  sum.budget.gpu_compute_ns += compute;
  sum.budget.exposed_copy_ns += busy - compute;
  if (!span.window) return;
  sum.own_gpu_ns += open.own.total_ns();
  if (busy == 0) sum.silent_wall_ns += span.end_ns - span.start_ns;
  for (std::size_t i = 0; i < process.devices.size(); ++i)
    sum.device_busy_ns[i] += process.devices[i].before(span.end_ns) - open.device_before_ns[i];
}

void BudgetSweep::close_until(Process& process, Ns time_ns) {
  if (process.first_end_ns > time_ns) return;
  process.first_end_ns = std::numeric_limits<Ns>::max();
  std::erase_if(process.open, [&](const OpenSpan& open) {
    if (open.span.end_ns <= time_ns) {
      close(process, open);
      return true;
    }
    process.first_end_ns = std::min(process.first_end_ns, open.span.end_ns);
    return false;
  });
}

BudgetSweep::Gap BudgetSweep::gap_before(const Process& process, Ns start_ns, std::uint32_t api) const {
  Gap gap;
  gap.start_ns = process.busy.until_ns();
  gap.end_ns = start_ns;
  gap.residual = api >= trace_.api_calls.size();
  if (gap.residual) return gap;
  // No work starts before its launch: where two clocks say so, it was launched as it started.
  gap.launch_ns = std::min(trace_.api_calls[api].start_ns, start_ns);
  gap.queued = *gap.launch_ns <= gap.start_ns;
  return gap;
}

void BudgetSweep::charge(const BudgetSpan& span, const Gap& gap) {
  const Ns start = std::max(gap.start_ns, span.start_ns), end = std::min(gap.end_ns, span.end_ns);
  if (end <= start) return;
  BudgetSum& sum = sums_[span.target];
  if (end - start > sum.longest_gap_ns) {
    sum.longest_gap_ns = end - start;
    sum.longest_gap_at_ns = start;
  }
  Budget& budget = sum.budget;
  if (gap.residual) {
    budget.residual_ns += end - start;
  } else if (gap.queued) {
    budget.queue_wait_ns += end - start;
  } else {
    const Ns launched = gap.launch_ns ? std::clamp(*gap.launch_ns, start, end) : end;
    budget.launch_latency_ns += end - launched;
    const Ns waited = waiting_.within(span.thread, start, launched);
    budget.sync_blocked_ns += waited;
    const bool launches_on = gap.launch_ns && *gap.launch_ns < span.launch_end_ns;
    (launches_on ? budget.launch_starved_ns : budget.other_host_ns) += launched - start - waited;
  }
}

void BudgetSweep::charge(Process& process, const Gap& gap) {
  for (const OpenSpan& open : process.open) charge(open.span, gap);
}

// A window's own work: launched by a call of its thread that lies within it. What runs already as the window
// begins is not its own, whatever the clocks say.
void BudgetSweep::claim(Process& process, Ns start_ns, Ns end_ns, std::uint32_t api) {
  if (api >= trace_.api_calls.size()) return;
  const ApiCall& call = trace_.api_calls[api];
  for (OpenSpan& open : process.open) {
    const BudgetSpan& span = open.span;
    if (!span.window || call.thread != span.thread) continue;
    if (call.start_ns < span.start_ns || call.end_ns() > span.end_ns) continue;
    open.own.add(start_ns, std::min(end_ns, span.end_ns));
  }
}

void BudgetSweep::add(std::uint32_t process_number, Ns start_ns, Ns end_ns, std::uint32_t api, std::uint32_t device,
                      bool compute) {
  end_ns = std::max(start_ns, end_ns);
  Process& process = processes_[process_number];
  open_until(process, start_ns);
  if (start_ns > process.busy.until_ns()) charge(process, gap_before(process, start_ns, api));
  close_until(process, start_ns);
  process.busy.add(start_ns, end_ns);
  if (compute) process.compute.add(start_ns, end_ns);
  process.devices[device].add(start_ns, end_ns);
  claim(process, start_ns, end_ns, api);
}

std::vector<BudgetSum> BudgetSweep::finish() {
  constexpr Ns kEver = std::numeric_limits<Ns>::max();
  for (Process& process : processes_) {
    open_until(process, kEver);
    Gap rest;
    rest.start_ns = process.busy.until_ns();
    rest.end_ns = kEver;
    charge(process, rest);
    close_until(process, kEver);
  }
  return std::move(sums_);
}

Ns BudgetSweep::busy_ns() const {
  Ns busy = 0;
  for (const Process& process : processes_) busy += process.busy.total_ns();
  return busy;
}

}  // namespace nl::analysis
