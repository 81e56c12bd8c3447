#include "analysis/figures/serving/lives.h"

#include <algorithm>

#include "analysis/statistics/time_summary.h"

namespace nl::analysis::serving {
namespace {

using enum ServingPart;

constexpr std::uint64_t kAll = 1ULL << 62;  // tokens
constexpr std::size_t kLeastSteps = 3;      // whose median says what a step takes

bool unfinished(const Events& events, const RequestEvents& request) {
  if (request.detokenised_ns) return false;
  return !request.finished_ns || (events.any_detokenised && request.end != RequestEnd::kCancelled);
}

// When it is first told of, besides its steps.
std::optional<Ns> first_told(const RequestEvents& request) {
  std::optional<Ns> first;
  const auto look = [&](const std::optional<Ns>& at) {
    if (at && (!first || *at < *first)) first = at;
  };
  for (const auto* at : {&request.arrived_ns, &request.queued_ns, &request.first_token_ns, &request.finished_ns, &request.detokenised_ns})
    look(*at);
  if (!request.scheduled.empty()) look(request.scheduled.front().first);
  if (!request.preempted.empty()) look(request.preempted.front().first);
  return first;
}

void give_steps(Events& events, std::vector<Life>& lives) {
  // By time over all workers: a request is of the worker that has its first step.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> steps;
  for (std::uint32_t worker = 0; worker < events.workers.size(); ++worker)
    for (std::uint32_t step = 0; step < events.workers[worker].steps.size(); ++step) steps.emplace_back(worker, step);
  const auto start = [&](const auto& at) { return events.workers[at.first].steps[at.second].start_ns; };
  std::stable_sort(steps.begin(), steps.end(), [&](const auto& a, const auto& b) { return start(a) < start(b); });
  for (const auto& [worker, step] : steps)
    for (const StepEntry& entry : events.workers[worker].steps[step].entries) {
      Life& life = lives[entry.request];
      if (life.worker == kNoWorker) life.worker = worker;
      if (life.worker == worker) life.own.push_back({step, entry.prefill, entry.tokens});
      else ++events.damage[ServingDamage::kOtherWorker];
    }
}

void find_start(Events& events, const RequestEvents& request, const Window& window, Life& life) {
  if (request.arrived_ns) {
    life.start_ns = std::clamp(*request.arrived_ns, window.start_ns, window.end_ns);
    return;
  }
  life.began_before = true;
  life.start_ns = window.start_ns;
  if (request.queued_ns) {  // it came within the window, and the mark of that is lost
    ++events.damage[ServingDamage::kNotArrived];
    life.start_ns = std::clamp(*request.queued_ns, window.start_ns, window.end_ns);
    return;
  }
  // Before its first step after the queue, and after each preemption, it is scheduled.
  const Ns first_step_ns = life.own.empty() ? window.end_ns : events.workers[life.worker].steps[life.own.front().step].start_ns;
  const bool scheduled_first = !request.scheduled.empty() && request.scheduled.front().first <= first_step_ns &&
                               (request.preempted.empty() || request.scheduled.front().first < request.preempted.front().first);
  life.preempted_at_start = scheduled_first && request.scheduled.front().second > 0;
  life.runs_at_start = !scheduled_first;
}

void find_end(Events& events, const RequestEvents& request, const Window& window, Life& life) {
  life.ended_after = unfinished(events, request);
  Ns end_ns = window.end_ns;
  if (request.detokenised_ns) end_ns = *request.detokenised_ns;
  else if (!life.ended_after) end_ns = *request.finished_ns;
  if (end_ns < life.start_ns) ++events.damage[ServingDamage::kBackwards];
  life.end_ns = std::clamp(end_ns, life.start_ns, std::max(life.start_ns, window.end_ns));
  life.left_ns = std::clamp(request.finished_ns.value_or(end_ns), life.start_ns, life.end_ns);
}

// Writes the spans of one request, one behind the other.
class Tiler {
 public:
  Tiler(const Events& events, const RequestEvents& request, const Life& life, const DecodeTimes* decode_times)
      : request_(request), life_(life), decode_times_(decode_times), at_ns_(life.start_ns) {
    if (life.preempted_at_start) recompute_ = kAll;
    if (life.worker != kNoWorker) steps_ = &events.workers[life.worker].steps;
  }

  std::vector<ServingSpan> spans() {
    bool queued = !life_.runs_at_start && !life_.preempted_at_start;
    bool preempted = life_.preempted_at_start;
    Ns own_start_ns = std::numeric_limits<Ns>::min();  // of the own step before
    for (const OwnStep& own : life_.own) {
      const Step& step = (*steps_)[own.step];
      if (step.end_ns <= life_.start_ns) continue;
      if (queued) add(kQueue, step.start_ns);
      else wait_for_step(preempted, own_start_ns, step.start_ns, true);
      queued = preempted = false;
      add_own(own, step);
      own_start_ns = step.start_ns;
    }
    if (queued) add(kQueue, life_.left_ns);
    else wait_for_step(preempted, own_start_ns, life_.left_ns, life_.ended_after && !request_.finished_ns);
    add(kDetokenising, life_.end_ns);
    return std::move(spans_);
  }

 private:
  // Up to that time, as far as it is not there yet.
  void add(ServingPart part, Ns until_ns) {
    until_ns = std::min(until_ns, life_.end_ns);
    if (until_ns <= at_ns_) return;
    if (!spans_.empty() && spans_.back().part == part) spans_.back().end_ns = until_ns;
    else spans_.push_back({at_ns_, until_ns, part});
    at_ns_ = until_ns;
  }

  // Between two of its own steps. From a preemption on nothing else matters.
  void wait_for_step(bool preempted, Ns after_ns, Ns until_ns, bool more_to_come) {
    const auto found = std::lower_bound(request_.preempted.begin(), request_.preempted.end(), after_ns,
                                        [](const auto& each, Ns time_ns) { return each.first < time_ns; });
    const bool taken = found != request_.preempted.end() && found->first < until_ns;
    if (taken) recompute_ = std::max(life_.began_before ? found->second : 0, computed_ + recompute_), computed_ = 0;
    const Ns free_until_ns = preempted ? at_ns_ : taken ? std::max(found->first, at_ns_) : until_ns;
    if (more_to_come || taken) pass_steps(free_until_ns);
    else add(kBetweenSteps, free_until_ns);
    add(kPreemption, preempted || taken ? until_ns : at_ns_);
  }

  // The steps of others, and the time between them.
  void pass_steps(Ns until_ns) {
    if (steps_ == nullptr) return add(kBetweenSteps, until_ns);
    auto step =
        std::lower_bound(steps_->begin(), steps_->end(), at_ns_, [](const Step& each, Ns time_ns) { return each.end_ns <= time_ns; });
    for (; step != steps_->end() && step->start_ns < until_ns; ++step) {
      add(kBetweenSteps, std::min(step->start_ns, until_ns));
      add(step->kind() == ServingStepKind::kPrefill ? kInterference : kOtherSteps, std::min(step->end_ns, until_ns));
    }
    add(kBetweenSteps, until_ns);
  }

  void add_own(const OwnStep& own, const Step& step) {
    computed_ += own.tokens;
    if (own.prefill) {
      add(recompute_ > 0 ? kPreemption : kPrefill, step.end_ns);
      recompute_ -= std::min(recompute_, own.tokens);
      return;
    }
    recompute_ = 0;
    if (step.prefill_tokens == 0) return add(kDecode, step.end_ns);
    const auto alone_ns = decode_times_ != nullptr ? decode_times_->of(step.decodes) : std::nullopt;
    if (!alone_ns) return add(kUndivided, step.end_ns);
    add(kDecode, std::min(step.end_ns, step.start_ns + *alone_ns));
    add(kInterference, step.end_ns);
  }

  const RequestEvents& request_;
  const Life& life_;
  const DecodeTimes* decode_times_;
  const std::vector<Step>* steps_ = nullptr;
  std::vector<ServingSpan> spans_;
  Ns at_ns_;
  std::uint64_t computed_ = 0, recompute_ = 0;  // tokens
};

}  // namespace

Window window_of(const Events& events, Ns capture_ns) {
  Window window{events.first_ns, events.last_ns};
  for (const RequestEvents& request : events.requests) {
    const auto first_ns = first_told(request);
    if (!request.arrived_ns && (!first_ns || *first_ns != request.queued_ns)) window.start_ns = std::min<Ns>(0, events.first_ns);
    if (unfinished(events, request)) window.end_ns = std::max(capture_ns, events.last_ns);
  }
  return window;
}

std::vector<Life> lives_of(Events& events, const Window& window) {
  std::vector<Life> lives(events.requests.size());
  give_steps(events, lives);
  for (std::size_t i = 0; i < lives.size(); ++i) {
    find_start(events, events.requests[i], window, lives[i]);
    find_end(events, events.requests[i], window, lives[i]);
  }
  return lives;
}

DecodeTimes::DecodeTimes(const Worker& worker) {
  for (const Step& step : worker.steps)
    if (step.kind() == ServingStepKind::kDecode) times_.emplace_back(step.decodes, step.end_ns - step.start_ns);
  std::sort(times_.begin(), times_.end());
}

std::optional<Ns> DecodeTimes::of(std::uint64_t decodes) const {
  const auto [found, is_new] = known_.try_emplace(decodes);
  if (is_new) found->second = median_of(decodes);
  return found->second;
}

std::optional<Ns> DecodeTimes::median_of(std::uint64_t decodes) const {
  const std::uint64_t near = std::max<std::uint64_t>(1, decodes / 4);
  for (const std::uint64_t off : {std::uint64_t{0}, near}) {
    const auto first = std::lower_bound(times_.begin(), times_.end(), std::pair(decodes - std::min(decodes, off), Ns{0}));
    const auto last = std::lower_bound(times_.begin(), times_.end(), std::pair(decodes + off + 1, Ns{0}));
    if (last - first < static_cast<std::ptrdiff_t>(kLeastSteps)) continue;
    std::vector<Ns> times;
    for (auto each = first; each != last; ++each) times.push_back(each->second);
    return static_cast<Ns>(median_in_place(times));
  }
  return std::nullopt;
}

std::vector<ServingSpan> spans_of(const Events& events, std::uint32_t request, const Life& life, const DecodeTimes* decode_times) {
  return Tiler(events, events.requests[request], life, decode_times).spans();
}

ServingTimes sum_of(const std::vector<ServingSpan>& spans) {
  ServingTimes times;
  for (const ServingSpan& span : spans) times[span.part] += span.end_ns - span.start_ns;
  return times;
}

}  // namespace nl::analysis::serving
