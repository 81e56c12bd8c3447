#include "analysis/staging/found/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <unordered_map>

#include "analysis/staging/found/steps.h"
#include "analysis/staging/found/work.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/gpu_order.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kFewestSteps = 3;
constexpr std::size_t kMostStepLevels = 16;
constexpr double kLeastRegular = 0.6;       // share of the steps
constexpr std::uint64_t kLeastCovered = 3;  // one part in so many of the thread's GPU time is in its steps
constexpr std::size_t kManyParts = 5;       // of a step: fewer are parts of it, as the stages of an integrator
constexpr std::size_t kOften = 8;           // so often repeats a step; what repeats less is what steps are part of

// What one thread shows at its best level, or why it shows nothing.
struct ThreadVerdict {
  Generation generation;
  double confidence = 0;  // that it generates
  double repetition = 0;  // that what repeats are steps, of whatever kind; 0: too few, or too different
  StageKind unit = StageKind::kStep;
  std::uint32_t period = 0;
  Code trouble = Code::kStepsNotRepeated;
  std::size_t repeats = 0;  // of it
  std::uint32_t kernels_of_step = 0;
  std::uint64_t covered_ns = 0;  // of the GPU's time, by prefill and steps
  std::uint64_t whole_ns = 0;    // the GPU's time for all that the thread launched
};

double confidence_of(const StepCut& cut, const Generation& generation) {
  const double prefilled = static_cast<double>(generation.prefilled_runs) / static_cast<double>(generation.runs);
  return cut.regular * (0.5 + 0.2 * cut.after_wait + 0.15 * cut.after_pause + 0.1 * prefilled);
}

// The steps as they were cut, whatever they are for.
std::vector<Generation::Step> plain_steps(const StepCut& cut) {
  std::vector<Generation::Step> steps;
  for (const StepRun& run : cut.runs)
    for (std::size_t i = 0; i < run.starts.size(); ++i) steps.push_back({run.starts[i], run.end_of(i), false, i + 1 == run.starts.size()});
  return steps;
}

// Copies alone are not steps: weights are loaded so.
std::uint32_t kernels_of_step(const WorkAmounts& amounts, const StepCut& cut) {
  const StepRun& run = cut.runs[cut.runs.size() / 2];
  const WorkAmount amount = amounts.between(run.starts[0], run.end_of(0));
  return amount.kernels + amount.graphs;
}

ThreadVerdict judge_level(const Trace& trace, const WorkSequence& sequence, const Neighbourhoods& neighbourhoods,
                          const WorkAmounts& amounts, const Level& level) {
  const StepCut cut = cut_steps(trace, sequence, amounts, neighbourhoods, level);
  ThreadVerdict verdict;
  verdict.period = level.period;
  verdict.repeats = cut.steps;
  if (cut.steps < kFewestSteps || cut.regular < kLeastRegular) {
    verdict.trouble = Code::kStepsTooFew;
    verdict.repeats = static_cast<std::size_t>(std::lround(cut.regular * static_cast<double>(cut.steps)));
    return verdict;
  }
  verdict.generation = find_generation(trace, sequence, amounts, cut);
  for (const Generation::Step& step : verdict.generation.steps) verdict.covered_ns += amounts.between(step.first, step.last).gpu_ns;
  const Generation& found = verdict.generation;
  if (found.training_kernels * 2 > found.decode_steps + found.prefills) verdict.trouble = Code::kStepsOfTraining;
  else if (found.products == 0) verdict.trouble = Code::kStepsWithoutProducts;
  else if (found.prefilled_runs * 10 < found.runs * 6) verdict.trouble = Code::kStepsWithoutPrefill;
  else if (found.decode_steps < kFewestSteps) verdict.trouble = Code::kStepsTooFew;
  else if (!found.looks_up || !found.chooses) verdict.trouble = Code::kStepsWithoutTokens;
  else verdict.confidence = confidence_of(cut, found);
  if (verdict.confidence > 0) return verdict;
  verdict.kernels_of_step = kernels_of_step(amounts, cut);
  if (verdict.kernels_of_step > 0) verdict.repetition = cut.regular * (0.6 + 0.2 * cut.after_wait + 0.2 * cut.after_pause);
  verdict.unit = verdict.trouble == Code::kStepsOfTraining ? StageKind::kTrainStep : StageKind::kStep;
  verdict.generation.steps = plain_steps(cut);
  return verdict;
}

using StepList = std::vector<Generation::Step>;

// Places of a sequence where the thread waits or copies to the host, within the steps.
std::size_t waits_in(const WorkSequence& sequence, const StepList& steps) {
  std::size_t waits = 0;
  for (const Generation::Step& step : steps)
    for (std::uint32_t i = step.first; i < step.last; ++i) waits += sequence.waits_at(i);
  return waits;
}

// Parts that lie in none of the steps.
std::size_t parts_outside(const StepList& parts, const StepList& steps) {
  std::size_t outside = 0;
  auto step = steps.begin();
  for (const Generation::Step& part : parts) {
    while (step != steps.end() && step->last <= part.first) ++step;
    outside += step == steps.end() || part.last <= step->first;
  }
  return outside;
}

// Without matrix products there are no layers. What repeats many times within a step may be the steps themselves, with an output that is
// written every so often, or the iterations of a solver. One kernel alone is not a step. Where some of them lie outside, they are the steps: no solver ends in its middle. Where
// the longer one reads something back that its parts do not, either may be.
ThreadVerdict steps_or_parts(const WorkSequence& sequence, ThreadVerdict best, const std::vector<ThreadVerdict>& verdicts) {
  if (best.trouble != Code::kStepsWithoutProducts) return best;
  const ThreadVerdict* part = nullptr;
  for (const ThreadVerdict& each : verdicts)
    if (each.trouble == best.trouble && each.repeats >= kManyParts * best.repeats && each.kernels_of_step > 1 &&
        (part == nullptr || each.period > part->period))
      part = &each;
  if (part == nullptr) return best;
  const StepList &steps = best.generation.steps, &parts = part->generation.steps;
  const std::size_t outside = parts_outside(parts, steps);
  if (outside >= 2) return *part;
  StepList inside = parts;
  std::erase_if(inside, [&](const Generation::Step& each) { return each.last <= steps.front().first || each.first >= steps.back().last; });
  if (waits_in(sequence, steps) <= waits_in(sequence, inside)) return best;
  best.repetition = 0;
  best.trouble = Code::kStepsNested;
  return best;
}

// Of a program that is not known to generate. Layers repeat within a step, and steps within an epoch, a request or an image: the step is
// the longest that repeats often. Where nothing does, it is what repeats the most.
ThreadVerdict best_steps(const WorkSequence& sequence, std::vector<ThreadVerdict> verdicts) {
  const ThreadVerdict most = *std::max_element(verdicts.begin(), verdicts.end(), [](const ThreadVerdict& a, const ThreadVerdict& b) {
    return std::pair(a.repetition > 0, a.covered_ns) < std::pair(b.repetition > 0, b.covered_ns);
  });
  if (most.repetition == 0) return most;
  std::erase_if(verdicts, [&](const ThreadVerdict& v) { return v.repetition == 0 || v.covered_ns < most.covered_ns / 10 * 8; });
  const auto rank = [](const ThreadVerdict& v) {
    const bool often = v.repeats >= kOften;
    return std::tuple(often, often ? v.period : 0, v.repeats);
  };
  const ThreadVerdict best = *std::max_element(verdicts.begin(), verdicts.end(),
                                               [&](const ThreadVerdict& a, const ThreadVerdict& b) { return rank(a) < rank(b); });
  return best.repeats < kOften ? best : steps_or_parts(sequence, best, verdicts);
}

// The one whose steps cover the most of the GPU's time. What repeats each step also repeats every second one, and a part of it may: of nearly the
// same, the surest and then the shortest. Requests repeat as well: their steps have more prefills before them than they have.
ThreadVerdict best_of(std::vector<ThreadVerdict> verdicts) {
  // Each step looks up the embedding of its token, and no layer does.
  if (std::any_of(verdicts.begin(), verdicts.end(), [](const ThreadVerdict& v) { return v.confidence > 0 && v.generation.looks_up; }))
    std::erase_if(verdicts, [](const ThreadVerdict& v) { return v.confidence > 0 && !v.generation.looks_up; });
  const auto more = [](const ThreadVerdict& a, const ThreadVerdict& b) {
    return std::pair(a.confidence > 0, a.covered_ns) < std::pair(b.confidence > 0, b.covered_ns);
  };
  const ThreadVerdict most = *std::max_element(verdicts.begin(), verdicts.end(), more);
  std::erase_if(verdicts, [&](const ThreadVerdict& v) {
    return (v.confidence > 0) != (most.confidence > 0) || v.covered_ns < most.covered_ns / 10 * 8;
  });
  const auto rank = [](const ThreadVerdict& v) {
    const auto prefills = static_cast<std::int64_t>(std::min<std::size_t>(v.generation.prefilled_runs, kFewestSteps));
    return std::pair(std::lround(v.confidence * 10) + prefills, -static_cast<std::int64_t>(v.period));
  };
  return *std::max_element(verdicts.begin(), verdicts.end(),
                           [&](const ThreadVerdict& a, const ThreadVerdict& b) { return rank(a) < rank(b); });
}

ThreadVerdict judge_thread(const Trace& trace, const WorkSequence& sequence) {
  ThreadVerdict none;
  const WorkAmounts amounts(trace, sequence);
  none.whole_ns = amounts.gpu_ns_before(static_cast<std::uint32_t>(sequence.size()));
  const Neighbourhoods neighbourhoods(sequence, amounts);
  if (neighbourhoods.too_many()) return none;
  std::vector<Level> levels = find_levels(neighbourhoods);
  std::erase_if(levels, [&](const Level& level) {
    return level.covered_ns < none.whole_ns / 50 && level.repeats * level.period < sequence.size() / 10;
  });
  std::stable_sort(levels.begin(), levels.end(), [&](const Level& a, const Level& b) { return a.covered_ns > b.covered_ns; });
  if (levels.size() > kMostStepLevels) levels.resize(kMostStepLevels);
  if (levels.empty()) return none;
  std::vector<ThreadVerdict> verdicts;
  for (const Level& level : levels) verdicts.push_back(judge_level(trace, sequence, neighbourhoods, amounts, level));
  const bool generates = std::any_of(verdicts.begin(), verdicts.end(), [](const ThreadVerdict& v) { return v.confidence > 0; });
  ThreadVerdict best = generates ? best_of(std::move(verdicts)) : best_steps(sequence, std::move(verdicts));
  best.whole_ns = none.whole_ns;
  if (best.covered_ns < best.whole_ns / kLeastCovered) best.repetition = 0;
  return best;
}

// A step lasts from its first launch to the first launch of the next. The last step of a run lasts to the end of its wait, or to the end of
// its work where the host does not wait.
class StepTimes {
 public:
  StepTimes(const Trace& trace, const WorkSequence& sequence, const std::vector<Generation::Step>& steps)
      : trace_(trace), sequence_(sequence), steps_(steps) {
    for (const Generation::Step& step : steps)
      if (step.ends_run && wait_after(step) == kNone) ends_.emplace(sequence.calls[step.last - 1], 0);
    if (ends_.empty()) return;
    each_gpu_work(trace, [&](const auto& work) {
      if (const auto found = ends_.find(work.api); found != ends_.end()) found->second = std::max(found->second, end_of(work));
    });
  }
  Ns start_ns(std::size_t step) const { return call(steps_[step].first).start_ns; }
  Ns end_ns(std::size_t step) const {
    const Generation::Step& each = steps_[step];
    if (!each.ends_run) return call(each.last).start_ns;
    const std::uint32_t wait = wait_after(each);
    const Ns end_ns =
        wait != kNone ? call(wait).end_ns() : std::max(call(each.last - 1).end_ns(), ends_.at(sequence_.calls[each.last - 1]));
    return step + 1 < steps_.size() ? std::min(end_ns, start_ns(step + 1)) : end_ns;
  }

 private:
  const ApiCall& call(std::uint32_t place) const { return trace_.api_calls[sequence_.calls[place]]; }
  std::uint32_t wait_after(const Generation::Step& step) const {
    if (sequence_.symbols[step.last - 1] == WorkSequence::kWait) return step.last - 1;
    return step.last < sequence_.size() && sequence_.symbols[step.last] == WorkSequence::kWait ? step.last : kNone;
  }
  const Trace& trace_;
  const WorkSequence& sequence_;
  const std::vector<Generation::Step>& steps_;
  std::unordered_map<std::uint32_t, Ns> ends_;  // by call that no wait follows: when the last of its work ends on the GPU
};

void append_stages(const Trace& trace, const WorkSequence& sequence, const std::vector<Generation::Step>& steps, StageKind unit,
                   std::vector<FoundStage>& out) {
  const StepTimes times(trace, sequence, steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    out.push_back(
        {times.start_ns(i), times.end_ns(i), sequence.thread, std::string(key_of(steps[i].prefill ? StageKind::kPrefill : unit)), {}});
}

// What was seen on the thread with the most GPU time.
Remark trouble_seen(const ThreadVerdict& verdict) {
  if (verdict.trouble == Code::kStepsNotRepeated) return {verdict.trouble, {}};
  return {verdict.trouble, {std::to_string(verdict.period), std::to_string(verdict.repeats)}};
}

struct ThreadSteps {
  WorkSequence sequence;
  ThreadVerdict verdict;
};

// How often launches of one thread follow those of the other.
std::size_t changes_between(const Trace& trace, const WorkSequence& a, const WorkSequence& b) {
  std::size_t changes = 0, i = 0, j = 0;
  bool first = true, of_a = true;
  while (i < a.size() || j < b.size()) {
    const bool next_a = j == b.size() || (i < a.size() && trace.api_calls[a.calls[i]].start_ns <= trace.api_calls[b.calls[j]].start_ns);
    changes += !first && next_a != of_a;
    of_a = next_a, first = false;
    ++(next_a ? i : j);
  }
  return changes;
}

// A thread that works while another one waits for it, as autograd's does, launches a part of the other one's steps.
bool helps(const Trace& trace, const ThreadSteps& helper, const ThreadSteps& owner) {
  if (process_slot_of_thread(trace, helper.sequence.thread) != process_slot_of_thread(trace, owner.sequence.thread)) return false;
  constexpr std::size_t kFewTurns = 6;
  const std::size_t steps = std::max(helper.verdict.repeats, owner.verdict.repeats);
  return changes_between(trace, helper.sequence, owner.sequence) <= kFewTurns * (steps + 1);
}

// The thread that launches first is the one whose steps they are.
void leave_out_helpers(const Trace& trace, std::vector<ThreadSteps>& threads) {
  std::stable_sort(threads.begin(), threads.end(), [&](const ThreadSteps& a, const ThreadSteps& b) {
    return trace.api_calls[a.sequence.calls.front()].start_ns < trace.api_calls[b.sequence.calls.front()].start_ns;
  });
  std::vector<ThreadSteps> owners;
  for (ThreadSteps& each : threads) {
    const auto owner = std::find_if(owners.begin(), owners.end(), [&](const ThreadSteps& other) { return helps(trace, each, other); });
    if (owner == owners.end()) owners.push_back(std::move(each));
    else if (each.verdict.unit == StageKind::kTrainStep) owner->verdict.unit = StageKind::kTrainStep;  // its kernels tell
  }
  threads = std::move(owners);
}

// Prefill and decode, where any thread generates.
void add_generation(const Trace& trace, const std::vector<ThreadSteps>& threads, FoundStages& out) {
  std::size_t prefills = 0, steps = 0;
  std::uint32_t period = 0;
  for (const ThreadSteps& thread : threads) {
    const Generation& found = thread.verdict.generation;
    append_stages(trace, thread.sequence, found.steps, StageKind::kDecodeStep, out.stages);
    out.origin.confidence += thread.verdict.confidence * static_cast<double>(found.decode_steps);
    prefills += found.prefills;
    steps += found.decode_steps;
    period = std::max(period, thread.verdict.period);
  }
  out.origin.confidence /= static_cast<double>(steps);
  out.notes.push_back(
      {Code::kStagesInferred,
       {std::to_string(prefills), std::to_string(steps), std::to_string(period), fmt::format("{:.2f}", out.origin.confidence)}});
}

// Steps of whatever kind, of the threads that put the most on the GPU.
void add_steps(const Trace& trace, std::vector<ThreadSteps> threads, FoundStages& out) {
  leave_out_helpers(trace, threads);
  std::uint64_t most_ns = 0;
  for (const ThreadSteps& thread : threads) most_ns = std::max(most_ns, thread.verdict.whole_ns);
  std::erase_if(threads, [&](const ThreadSteps& thread) { return thread.verdict.whole_ns < most_ns / 10; });
  std::size_t steps = 0;
  std::uint32_t period = 0;
  StageKind unit = StageKind::kStep;
  for (const ThreadSteps& thread : threads) {
    const ThreadVerdict& verdict = thread.verdict;
    append_stages(trace, thread.sequence, verdict.generation.steps, verdict.unit, out.stages);
    out.origin.confidence += verdict.repetition * static_cast<double>(verdict.generation.steps.size());
    steps += verdict.generation.steps.size();
    period = std::max(period, verdict.period);
    if (verdict.unit != StageKind::kStep) unit = verdict.unit;
  }
  out.origin.confidence /= static_cast<double>(steps);
  out.notes.push_back(
      {Code::kStepsInferred,
       {std::string(key_of(unit)), std::to_string(steps), std::to_string(period), fmt::format("{:.2f}", out.origin.confidence)}});
}

}  // namespace

FoundStages infer_stages(const Trace& trace) {
  FoundStages out;
  out.origin = {StageSource::kInferred, 0};
  std::vector<ThreadSteps> generating, repeating;
  ThreadVerdict seen;  // on the thread with the most GPU time that shows no tokens
  bool any = false;
  for (WorkSequence& sequence : work_sequences(trace)) {
    ThreadVerdict verdict = judge_thread(trace, sequence);
    if (verdict.confidence == 0 && (!any || verdict.whole_ns > seen.whole_ns)) seen = verdict, any = true;
    if (verdict.confidence > 0) generating.push_back({std::move(sequence), std::move(verdict)});
    else if (verdict.repetition > 0) repeating.push_back({std::move(sequence), std::move(verdict)});
  }
  if (!generating.empty()) {
    add_generation(trace, generating, out);
    return out;
  }
  if (!repeating.empty()) add_steps(trace, std::move(repeating), out);
  if (any) out.notes.push_back(trouble_seen(seen));
  return out;
}

}  // namespace nl::analysis
