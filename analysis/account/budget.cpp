#include "analysis/account/budget.h"

#include <algorithm>
#include <utility>

#include "analysis/staging/windows.h"

namespace nl::analysis {

LaneTime::Kind& LaneTime::kind(std::optional<Collective> which) {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& each) { return each.which == which; });
  if (found != kinds_.end()) return *found;
  return kinds_.emplace_back(Kind{which, {}, compute_});
}

void LaneTime::add_communication(const LaneWork& work) {
  for (const std::optional<Collective> which : {std::optional<Collective>(), work.communication}) {
    Kind& each = kind(which);
    each.alone.add(work.start_ns, work.end_ns);
    each.with_compute.add(work.start_ns, work.end_ns);
  }
}

LaneTime::Mark LaneTime::at(Ns time_ns) const {
  Mark mark{busy_.before(time_ns), compute_.before(time_ns), {}};
  for (const Kind& each : kinds_) mark.kinds.push_back({each.alone.before(time_ns), each.with_compute.before(time_ns)});
  return mark;
}

LaneTime::Span LaneTime::since(const Mark& mark, Ns time_ns, CommunicationSums& kinds) const {
  Span span;
  span.busy_ns = busy_.before(time_ns) - mark.busy_ns;
  span.compute_ns = compute_.before(time_ns) - mark.compute_ns;
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const Mark::Kind before = i < mark.kinds.size() ? mark.kinds[i] : Mark::Kind{0, mark.compute_ns};
    const Ns alone = kinds_[i].alone.before(time_ns) - before.alone_ns;
    const Ns exposed = kinds_[i].with_compute.before(time_ns) - before.with_compute_ns - span.compute_ns;
    if (!kinds_[i].which) {
      span.communication_ns = alone;
      span.exposed_communication_ns = exposed;
      continue;
    }
    CommunicationSum& sum = kinds[static_cast<std::size_t>(*kinds_[i].which)];
    sum.time_ns += alone;
    sum.exposed_ns += exposed;
  }
  return span;
}

WaitingTime::WaitingTime(const Trace& trace, const CallsByThread& calls, std::size_t lanes) : calls_(calls, lanes), kinds_(trace) {}

template <class Visit>
void WaitingTime::each_wait(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns, Visit visit) {
  const CallsByThread& calls = calls_.calls();
  if (thread >= calls.threads()) return;
  Ns until = start_ns;  // calls nest: a runtime call makes a driver call
  for (std::size_t i = calls_.first_ending_after(lane, thread, start_ns); i < calls.last(thread) && calls[i].start_ns < end_ns; ++i) {
    const ApiCall& call = calls[i];
    if (call.end_ns() <= until || !kinds_.of(call).waits) continue;
    const Ns end = std::min(call.end_ns(), end_ns);
    const Ns start = std::max(call.start_ns, until);
    if (end <= start) continue;
    visit(start, end);
    until = end;
  }
}

Ns WaitingTime::within(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns) {
  Ns waited = 0;
  each_wait(lane, thread, start_ns, end_ns, [&](Ns start, Ns end) { waited += end - start; });
  return waited;
}

void WaitingTime::rest(std::size_t lane, std::uint32_t thread, Ns start_ns, Ns end_ns, Spans& parts) {
  parts.clear();
  Ns at = start_ns;
  each_wait(lane, thread, start_ns, end_ns, [&](Ns start, Ns end) {
    if (start > at) parts.emplace_back(at, start);
    at = end;
  });
  if (end_ns > at) parts.emplace_back(at, end_ns);
}

BudgetSweep::BudgetSweep(const Trace& trace, const GpuLanes& lanes, std::vector<BudgetSpan> spans, std::uint32_t targets,
                         std::vector<bool> staged, IdleListener* listener)
    : trace_(trace), spans_(std::move(spans)), busy_(spans_.size(), false), spans_of_process_(process_slots(trace)),
      staged_(std::move(staged)), targets_(targets), calls_(trace), waiting_(trace, calls_, lanes.size() + spans_of_process_.size()),
      launch_waits_(trace, calls_, lanes.size() + spans_of_process_.size()), listener_(listener) {
  std::stable_sort(spans_.begin(), spans_.end(), [](const BudgetSpan& a, const BudgetSpan& b) { return a.start_ns < b.start_ns; });
  for (std::uint32_t i = 0; i < spans_.size(); ++i) spans_of_process_[spans_[i].process].push_back(i);
  std::vector<bool> works(spans_of_process_.size(), false);
  for (const GpuLane& lane : lanes) {
    works[lane.process] = true;
    add_lane(lane);
  }
  for (std::uint32_t process = 0; process < works.size(); ++process)
    if (!works[process] && !spans_of_process_[process].empty()) add_lane({process, 0, kNoDevice});
  if (HostWatch::worthwhile(trace)) host_.emplace(trace, lanes_.size(), targets_);
}

void BudgetSweep::add_lane(const GpuLane& lane) {
  Lane& added = lanes_.emplace_back();
  added.number = static_cast<std::uint32_t>(lanes_.size() - 1);
  added.spans = &spans_of_process_[lane.process];
  sums_.lanes.push_back(lane);
  sums_.sums.emplace_back(targets_);
  sums_.gaps.emplace_back(targets_);
  sums_.totals.emplace_back();
}

void BudgetSweep::open_until(Lane& lane, Ns time_ns) {
  for (; lane.next < lane.spans->size() && spans_[(*lane.spans)[lane.next]].start_ns <= time_ns; ++lane.next) {
    OpenSpan& open = lane.open.emplace_back();
    open.span = (*lane.spans)[lane.next];
    const BudgetSpan& span = spans_[open.span];
    open.before = lane.time.at(span.start_ns);
    lane.first_end_ns = std::min(lane.first_end_ns, span.end_ns);
  }
}

void BudgetSweep::close(const Lane& lane, const OpenSpan& open) {
  const BudgetSpan& span = spans_[open.span];
  BudgetSum& sum = sum_of(lane, span);
  const LaneTime::Span done = lane.time.since(open.before, span.end_ns, sum.communication);
  sum.budget.wall_ns += span.end_ns - span.start_ns;
  sum.budget.gpu_compute_ns += done.compute_ns;
  sum.budget.communication_ns += done.exposed_communication_ns;
  sum.budget.exposed_copy_ns += done.busy_ns - done.compute_ns - done.exposed_communication_ns;
  sum.overlapped_communication_ns += done.communication_ns - done.exposed_communication_ns;
  if (!span.window) return;
  ++sum.windows;
  sum.own_gpu_ns += open.own.total_ns();
  sums_.gaps[lane.number][span.target].close(span.end_ns - span.start_ns - done.busy_ns);
  if (done.busy_ns > 0) busy_[open.span] = true;
}

void BudgetSweep::close_until(Lane& lane, Ns time_ns) {
  if (lane.first_end_ns > time_ns) return;
  lane.first_end_ns = std::numeric_limits<Ns>::max();
  std::erase_if(lane.open, [&](const OpenSpan& open) {
    const Ns end_ns = spans_[open.span].end_ns;
    if (end_ns <= time_ns) {
      close(lane, open);
      return true;
    }
    lane.first_end_ns = std::min(lane.first_end_ns, end_ns);
    return false;
  });
}

BudgetSweep::Gap BudgetSweep::gap_before(const Lane& lane, const LaneWork& work) const {
  Gap gap;
  gap.start_ns = lane.time.busy_until_ns();
  gap.end_ns = work.start_ns;
  gap.before = lane.last_name;
  gap.after = work.name;
  gap.residual = work.api >= trace_.api_calls.size();
  if (gap.residual) return gap;
  gap.launch = &trace_.api_calls[work.api];
  gap.queued = gap.launch_ns() <= gap.start_ns;
  return gap;
}

void BudgetSweep::charge(const Lane& lane, const OpenSpan& open, const Gap& gap) {
  const BudgetSpan& span = spans_[open.span];
  const Ns start = std::max(gap.start_ns, span.start_ns), end = std::min(gap.end_ns, span.end_ns);
  if (end <= start) return;
  BudgetSum& sum = sum_of(lane, span);
  if (end - start > sum.longest_gap_ns) {
    sum.longest_gap_ns = end - start;
    sum.longest_gap_at_ns = start;
  }
  Budget& budget = sum.budget;
  const Budget before = budget;
  if (gap.residual) {
    budget.residual_ns += end - start;
    tell(lane, span, BudgetBin::kResidual, start, end);
  } else if (gap.queued) {
    budget.queue_wait_ns += end - start;
    tell(lane, span, BudgetBin::kQueueWait, start, end);
  } else {
    charge_host(lane, span, gap, start, end);
  }
  if (span.window) note(lane, open, gap, start, end, before);
}

// Remembers a part of a gap by its place in the window. `before`: the budget without it.
void BudgetSweep::note(const Lane& lane, const OpenSpan& open, const Gap& gap, Ns start_ns, Ns end_ns, const Budget& before) {
  const BudgetSpan& span = spans_[open.span];
  GapTable& table = sums_.gaps[lane.number][span.target];
  table.count_gap();
  if (gap.launch && !gap.queued) table.add_late(end_ns - start_ns);
  if (end_ns - start_ns < GapTable::least_ns(span.end_ns - span.start_ns)) return;
  GapTable::Gap noted{open.span, gap.before, gap.after, start_ns == span.start_ns || end_ns == span.end_ns, 0, {}, 0};
  if (!noted.at_edge) noted.place = open.works;
  const Budget& after = sum_of(lane, span).budget;
  for (const BudgetBinKey& bin : kBudgetBinKeys) noted.budget.*bin.time_ns = after.*bin.time_ns - before.*bin.time_ns;
  noted.budget.wall_ns = end_ns - start_ns;
  if (gap.launch && launch_waits_.follows_wait(lane.number, *gap.launch, start_ns)) noted.after_wait_ns = end_ns - start_ns;
  std::vector<std::uint32_t>& samples = table.add(noted);
  if (!host_) return;
  const std::uint32_t thread = gap.launch ? host_->watched(static_cast<std::uint32_t>(gap.launch->thread), span.thread) : span.thread;
  host_->find(thread, start_ns, end_ns, samples);
}

// Idle until a launch that the GPU could have used earlier.
void BudgetSweep::charge_host(const Lane& lane, const BudgetSpan& span, const Gap& gap, Ns start_ns, Ns end_ns) {
  BudgetSum& sum = sum_of(lane, span);
  const Ns launched = gap.launch ? std::clamp(gap.launch_ns(), start_ns, end_ns) : end_ns;
  sum.budget.launch_latency_ns += end_ns - launched;
  const Ns waited = waiting_.within(lane.number, span.thread, start_ns, launched);
  sum.budget.sync_blocked_ns += waited;
  const Ns rest_ns = launched - start_ns - waited;
  const bool launches_on = gap.launch && gap.launch_ns() < span.launch_end_ns;
  (launches_on ? sum.budget.launch_starved_ns : sum.budget.other_host_ns) += rest_ns;
  if (listener_ != nullptr) tell_host(lane, span, launches_on, start_ns, launched);
  tell(lane, span, BudgetBin::kLaunchLatency, launched, end_ns);
  if (!launches_on || !span.window) return;
  launch_waits_.add(lane.number, {start_ns, gap.launch, rest_ns, end_ns - launched, span.thread}, sum.launch_waits);
  if (!host_ || rest_ns <= 0) return;
  waiting_.rest(lane.number, span.thread, start_ns, launched, parts_);
  host_->add(lane.number, span.target, host_->watched(static_cast<std::uint32_t>(gap.launch->thread), span.thread), start_ns, parts_);
}

void BudgetSweep::tell(const Lane& lane, const BudgetSpan& span, BudgetBin bin, Ns start_ns, Ns end_ns) {
  if (listener_ == nullptr || end_ns <= start_ns) return;
  listener_->idle(lane.number, static_cast<std::uint32_t>(&span - spans_.data()), bin, start_ns, end_ns);
}

// Until the launch: where the thread waits for the GPU, and the rest.
void BudgetSweep::tell_host(const Lane& lane, const BudgetSpan& span, bool launches_on, Ns start_ns, Ns end_ns) {
  waiting_.rest(lane.number, span.thread, start_ns, end_ns, parts_);
  Ns at = start_ns;
  for (const auto& [start, end] : parts_) {
    tell(lane, span, BudgetBin::kSyncBlocked, at, start);
    tell(lane, span, launches_on ? BudgetBin::kLaunchStarved : BudgetBin::kOtherHost, start, end);
    at = end;
  }
  tell(lane, span, BudgetBin::kSyncBlocked, at, end_ns);
}

void BudgetSweep::charge(Lane& lane, const Gap& gap) {
  for (const OpenSpan& open : lane.open) charge(lane, open, gap);
}

// What starts in the windows. A window's own work: launched within it by a call of its thread, or of one without windows. What runs
// already as the window begins is not its own, whatever the clocks say.
void BudgetSweep::count(Lane& lane, const LaneWork& work) {
  if (work.communication) sums_.totals[lane.number].communication[static_cast<std::size_t>(*work.communication)].count_in(work);
  const ApiCall* call = work.api < trace_.api_calls.size() ? &trace_.api_calls[work.api] : nullptr;
  for (OpenSpan& open : lane.open) {
    const BudgetSpan& span = spans_[open.span];
    if (!span.window) continue;
    ++open.works;
    BudgetSum& sum = sum_of(lane, span);
    if (work.kernel) sum.kernel_sum_ns += work.end_ns - work.start_ns;
    if (work.communication) sum.communication[static_cast<std::size_t>(*work.communication)].count_in(work);
    const bool own = call != nullptr && (call->thread == span.thread || !(call->thread < staged_.size() && staged_[call->thread])) &&
                     call->start_ns >= span.start_ns && call->end_ns() <= span.end_ns;
    if (own) open.own.add(work.start_ns, std::min(work.end_ns, span.end_ns));
  }
}

void BudgetSweep::add(std::uint32_t number, LaneWork work) {
  work.end_ns = std::max(work.start_ns, work.end_ns);
  Lane& lane = lanes_[number];
  open_until(lane, work.start_ns);
  if (work.start_ns > lane.time.busy_until_ns()) charge(lane, gap_before(lane, work));
  close_until(lane, work.start_ns);
  if (work.end_ns >= lane.time.busy_until_ns()) lane.last_name = work.name;
  lane.time.add(work);
  count(lane, work);
}

BudgetSums BudgetSweep::finish() {
  constexpr Ns kEver = std::numeric_limits<Ns>::max();
  for (Lane& lane : lanes_) {
    open_until(lane, kEver);
    Gap rest;
    rest.start_ns = lane.time.busy_until_ns();
    rest.end_ns = kEver;
    rest.before = lane.last_name;
    charge(lane, rest);
    close_until(lane, kEver);
    LaneTotal& total = sums_.totals[lane.number];
    const LaneTime::Span all = lane.time.since({}, kEver, total.communication);
    total.busy_ns = all.busy_ns;
    total.communication_ns = all.exposed_communication_ns;
    total.overlapped_communication_ns = all.communication_ns - all.exposed_communication_ns;
  }
  sums_.silent_wall_ns.assign(targets_, 0);
  for (std::size_t i = 0; i < spans_.size(); ++i)
    if (spans_[i].window && !busy_[i]) sums_.silent_wall_ns[spans_[i].target] += spans_[i].end_ns - spans_[i].start_ns;
  if (host_) sums_.host = host_->take();
  return std::move(sums_);
}

}  // namespace nl::analysis
