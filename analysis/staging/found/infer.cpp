#include "analysis/staging/found/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "analysis/staging/found/steps.h"
#include "analysis/staging/found/work.h"
#include "analysis/trace/gpu_order.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kFewestSteps = 3;
constexpr std::size_t kMostStepLevels = 16;
constexpr double kLeastRegular = 0.6;  // share of the steps

// What one thread shows at its best level, or why it shows nothing.
struct ThreadVerdict {
  Generation generation;
  double confidence = 0;
  std::uint32_t period = 0;
  Code trouble = Code::kStepsNotRepeated;
  std::size_t repeats = 0;       // of it
  std::uint64_t covered_ns = 0;  // of the GPU's time, by prefill and steps
  std::uint64_t whole_ns = 0;    // the GPU's time for all that the thread launched
};

double confidence_of(const StepCut& cut, const Generation& generation) {
  const double prefilled = static_cast<double>(generation.prefilled_runs) / static_cast<double>(generation.runs);
  return cut.regular * (0.5 + 0.2 * cut.after_wait + 0.15 * cut.after_pause + 0.1 * prefilled);
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
  else verdict.confidence = confidence_of(cut, found);
  return verdict;
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
  ThreadVerdict best = best_of(std::move(verdicts));
  best.whole_ns = none.whole_ns;
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

void append_stages(const Trace& trace, const WorkSequence& sequence, const std::vector<Generation::Step>& steps,
                   std::vector<FoundStage>& out) {
  const StepTimes times(trace, sequence, steps);
  for (std::size_t i = 0; i < steps.size(); ++i)
    out.push_back({times.start_ns(i),
                   times.end_ns(i),
                   sequence.thread,
                   std::string(key_of(steps[i].prefill ? StageKind::kPrefill : StageKind::kDecodeStep)),
                   {}});
}

// What was seen on the thread with the most GPU time.
Remark trouble_seen(const ThreadVerdict& verdict) {
  if (verdict.trouble == Code::kStepsNotRepeated) return {verdict.trouble, {}};
  return {verdict.trouble, {std::to_string(verdict.period), std::to_string(verdict.repeats)}};
}

}  // namespace

FoundStages infer_stages(const Trace& trace) {
  FoundStages out;
  out.origin = {StageSource::kInferred, 0};
  ThreadVerdict seen;
  bool any = false;
  std::size_t prefills = 0, steps = 0;
  std::uint32_t period = 0;
  for (const WorkSequence& sequence : work_sequences(trace)) {
    const ThreadVerdict verdict = judge_thread(trace, sequence);
    if (verdict.confidence == 0) {
      if (!any || verdict.whole_ns > seen.whole_ns) seen = verdict;
      any = true;
      continue;
    }
    const Generation& found = verdict.generation;
    append_stages(trace, sequence, found.steps, out.stages);
    out.origin.confidence += verdict.confidence * static_cast<double>(found.decode_steps);
    prefills += found.prefills;
    steps += found.decode_steps;
    period = std::max(period, verdict.period);
  }
  if (steps > 0) {
    out.origin.confidence /= static_cast<double>(steps);
    out.notes.push_back(
        {Code::kStagesInferred,
         {std::to_string(prefills), std::to_string(steps), std::to_string(period), fmt::format("{:.2f}", out.origin.confidence)}});
  } else if (any) {
    out.notes.push_back(trouble_seen(seen));
  }
  return out;
}

}  // namespace nl::analysis
