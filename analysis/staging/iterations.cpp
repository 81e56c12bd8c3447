#include "analysis/staging/iterations.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "analysis/staging/shared_warmup.h"

namespace nl::analysis {
namespace {

// The median of the values from each place on to the last.
std::vector<double> suffix_medians(const std::vector<Ns>& values) {
  std::priority_queue<Ns> low;  // the smaller half, one more at most
  std::priority_queue<Ns, std::vector<Ns>, std::greater<Ns>> high;
  std::vector<double> medians(values.size());
  for (std::size_t i = values.size(); i-- > 0;) {
    low.push(values[i]);
    high.push(low.top());
    low.pop();
    if (high.size() > low.size()) {
      low.push(high.top());
      high.pop();
    }
    const bool odd = low.size() > high.size();
    medians[i] = odd ? static_cast<double>(low.top()) : (static_cast<double>(low.top()) + static_cast<double>(high.top())) / 2;
  }
  return medians;
}

double ms(double ns) { return ns / 1e6; }

WarmupVerdict judge_auto(const std::vector<Ns>& walls, double factor) {
  WarmupVerdict verdict;
  const std::vector<double> medians = suffix_medians(walls);
  const std::size_t most = std::min((walls.size() + 1) / 2, walls.size() - 1);
  while (verdict.warmup<most&& static_cast<double>(walls[verdict.warmup])> factor * medians[verdict.warmup + 1]) ++verdict.warmup;
  if (walls.size() < 2) {
    verdict.why = "the only iteration is measured";
  } else if (verdict.warmup == 0) {
    verdict.why = fmt::format("none of {} (first {:.3f} ms, median of the others {:.3f} ms)", walls.size(),
                              ms(static_cast<double>(walls[0])), ms(medians[1]));
  } else {
    verdict.why = fmt::format("{} of {} (first {:.3f} ms, median of the measured {:.3f} ms)", verdict.warmup, walls.size(),
                              ms(static_cast<double>(walls[0])), ms(medians[verdict.warmup]));
  }
  return verdict;
}

WarmupVerdict judge_count(const std::vector<Ns>& walls, std::uint64_t count) {
  WarmupVerdict verdict;
  verdict.warmup = static_cast<std::size_t>(std::min<std::uint64_t>(count, walls.size() - 1));
  verdict.why = fmt::format("{} of {}", verdict.warmup, walls.size());
  if (verdict.warmup < count) verdict.why += ", because one must be measured";
  return verdict;
}

using Span = IterationPlan::Span;

// The windows of one thread, first and last excluded, in their order.
struct ThreadWindows {
  std::vector<Window>::const_iterator first, last;
};

template <class Visit>
void each_thread(const std::vector<Window>& windows, Visit visit) {
  for (auto first = windows.begin(); first != windows.end();) {
    auto last = std::find_if(first, windows.end(), [&](const Window& w) { return w.thread != first->thread; });
    visit(ThreadWindows{first, last});
    first = last;
  }
}

// Whether each prompt begins an iteration: several of them, with decoding in between wherever there is any.
bool prompts_lead(const ThreadWindows& thread, std::uint32_t prefill, std::uint32_t decode, std::uint32_t steps) {
  std::size_t prompts = 0, answered = 0;
  bool decoded = false, decodes = false;
  for (auto window = thread.first; window != thread.last; ++window) {
    if (window->stage == decode || window->stage == steps) decoded = decodes = true;
    if (window->stage != prefill) continue;
    ++prompts;
    answered += decoded;
    decoded = false;
  }
  return prompts > 1 && (!decodes || answered > 0);
}

std::uint32_t leading_stage(const StageTable& table, const ThreadWindows& thread) {
  const std::uint32_t steps = table.find(StageKind::kDecodeStep), decode = table.find(StageKind::kDecode);
  const std::uint32_t prefill = table.find(StageKind::kPrefill);
  Ns covered_until = std::numeric_limits<Ns>::min();
  for (auto window = thread.first; window != thread.last; ++window) {
    const bool nested = window->end_ns <= covered_until && window != thread.first;
    covered_until = std::max(covered_until, window->end_ns);
    if (nested || window->stage == steps) continue;
    const auto times = std::count_if(thread.first, thread.last, [&](const Window& w) { return w.stage == window->stage; });
    if (prefill != kNone && times == 1 && prompts_lead(thread, prefill, decode, steps)) return prefill;
    return window->stage;
  }
  return kNone;
}

// Where a step comes before the first leading window, the capture began in the middle of an iteration.
void add_spans(const StageTable& table, const ThreadWindows& thread, std::vector<Span>& spans) {
  const std::uint32_t leader = leading_stage(table, thread);
  const std::uint32_t steps = table.find(StageKind::kDecodeStep);
  const std::size_t before = spans.size();
  for (auto window = thread.first; window != thread.last; ++window) {
    const bool begins = window->stage == leader || (spans.size() == before && window->stage == steps);
    if (begins) spans.push_back({window->start_ns, window->end_ns, window->thread, false});
  }
}

constexpr std::size_t kThreadsInRule = 4;

void mark_warmup(const Trace& trace, const WarmupRule& rule, IterationPlan& plan) {
  if (plan.spans.empty()) {
    plan.rule = "no iterations: the capture has no closed stage ranges";
    return;
  }
  plan.rule = warmup_rule_text(rule);
  const bool one_thread = plan.spans.front().thread == plan.spans.back().thread;
  std::size_t threads = 0;
  for (std::size_t first = 0, last = 0; first < plan.spans.size(); first = last) {
    std::vector<Ns> walls;
    for (last = first; last < plan.spans.size() && plan.spans[last].thread == plan.spans[first].thread; ++last)
      walls.push_back(plan.spans[last].wall_ns());
    const WarmupVerdict verdict = judge_warmup(walls, rule);
    for (std::size_t i = first; i < first + verdict.warmup; ++i) plan.spans[i].warmup = true;
    if (++threads > kThreadsInRule) continue;
    const std::uint32_t thread = plan.spans[first].thread;
    const std::string whose = one_thread                      ? ""
                              : thread < trace.threads.size() ? fmt::format(" on thread {}", trace.threads[thread].tid)
                                                              : " on an unknown thread";
    plan.rule += fmt::format("{}{}{}", threads == 1 ? ": " : "; ", verdict.why, whose);
  }
  if (threads > kThreadsInRule) plan.rule += fmt::format("; and {} more threads", threads - kThreadsInRule);
  if (rule.mode != WarmupRule::Mode::kAuto) return;
  if (const std::size_t more = share_warmup(trace, plan); more > 0)
    plan.rule += fmt::format("; and {} beside the warm-up of other ranks that share collectives", more);
}

// Decode without ranges of its own is, in each iteration of a thread, the time from its first step to its last.
void add_derived_decode(const StageTable& table, std::size_t iterations, std::vector<Window>& windows) {
  const std::uint32_t steps = table.find(StageKind::kDecodeStep), decode = table.find(StageKind::kDecode);
  if (steps == kNone || decode == kNone) return;
  std::vector<Window> derived;
  each_thread(windows, [&](const ThreadWindows& thread) {
    if (std::any_of(thread.first, thread.last, [&](const Window& w) { return w.stage == decode; })) return;
    std::uint32_t last = static_cast<std::uint32_t>(iterations);
    for (auto window = thread.first; window != thread.last; ++window) {
      if (window->stage != steps) continue;
      if (window->iteration != last) {
        derived.push_back(*window);
        derived.back().stage = decode;
        derived.back().derived = true;
        last = window->iteration;
      } else if (derived.back().tokens && window->tokens) {
        *derived.back().tokens += *window->tokens;
      } else {
        derived.back().tokens.reset();
      }
      derived.back().end_ns = std::max(derived.back().end_ns, window->end_ns);
    }
  });
  windows.insert(windows.begin(), derived.begin(), derived.end());
  std::stable_sort(windows.begin(), windows.end(), earlier_on_thread);  // a derived one before its only step
}

}  // namespace

std::string warmup_rule_text(const WarmupRule& rule) {
  switch (rule.mode) {
    case WarmupRule::Mode::kNone: return "the configuration sets no warm-up";
    case WarmupRule::Mode::kCount: return fmt::format("the configuration sets the first {} iterations as warm-up", rule.count);
    case WarmupRule::Mode::kAuto: break;
  }
  return fmt::format("leading iterations longer than {:g} × the median of the later ones are warm-up, at most half of all", rule.factor);
}

WarmupVerdict judge_warmup(const std::vector<Ns>& walls, const WarmupRule& rule) {
  switch (rule.mode) {
    case WarmupRule::Mode::kNone: return {0, fmt::format("{} measured", walls.size())};
    case WarmupRule::Mode::kCount: return judge_count(walls, rule.count);
    case WarmupRule::Mode::kAuto: break;
  }
  return judge_auto(walls, rule.factor);
}

std::uint32_t IterationPlan::find(std::uint32_t thread, Ns start_ns) const {
  const auto after = std::upper_bound(spans.begin(), spans.end(), std::pair(thread, start_ns),
                                      [](const auto& key, const Span& span) { return key < std::pair(span.thread, span.start_ns); });
  if (after == spans.begin() || (after - 1)->thread != thread) return kNone;
  return static_cast<std::uint32_t>(after - 1 - spans.begin());
}

bool IterationPlan::in_warmup(std::uint32_t thread, Ns start_ns) const {
  const std::uint32_t iteration = find(thread, start_ns);
  return iteration != kNone && spans[iteration].warmup;
}

IterationPlan plan_iterations(const Trace& trace, const StageTable& table, const WarmupRule& rule, std::vector<Window>& windows) {
  IterationPlan plan;
  each_thread(windows, [&](const ThreadWindows& thread) { add_spans(table, thread, plan.spans); });
  for (Window& window : windows) {
    window.iteration = plan.find(window.thread, window.start_ns);
    if (window.iteration == kNone) continue;
    Span& span = plan.spans[window.iteration];
    span.end_ns = std::max(span.end_ns, window.end_ns);
  }
  mark_warmup(trace, rule, plan);
  for (Window& window : windows) window.warmup = window.iteration != kNone && plan.spans[window.iteration].warmup;
  add_derived_decode(table, plan.spans.size(), windows);
  return plan;
}

Iterations list_iterations(const Trace& trace, const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows) {
  Iterations result;
  result.count = plan.spans.size();
  result.rule = plan.rule;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < plan.spans.size(); ++i) {
    result.warmup += plan.spans[i].warmup;
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return plan.spans[a].start_ns < plan.spans[b].start_ns; });
  if (order.size() > kMaxListedIterations) order.resize(kMaxListedIterations);
  std::vector<std::uint32_t> place(plan.spans.size(), kNone);
  for (const std::uint32_t i : order) {
    place[i] = static_cast<std::uint32_t>(result.list.size());
    const Span& span = plan.spans[i];
    Iteration& iteration = result.list.emplace_back();
    iteration.start_ns = span.start_ns;
    iteration.wall_ns = span.wall_ns();
    iteration.warmup = span.warmup;
    if (span.thread >= trace.threads.size()) continue;
    iteration.tid = trace.threads[span.thread].tid;
    const std::uint32_t process = trace.threads[span.thread].process;
    if (process < trace.processes.size()) iteration.pid = trace.processes[process].pid;
  }
  for (const Window& window : windows) {
    if (window.iteration == kNone || place[window.iteration] == kNone) continue;
    auto& stages = result.list[place[window.iteration]].stages;
    const std::string& name = table.stages()[window.stage];
    auto found = std::find_if(stages.begin(), stages.end(), [&](const auto& stage) { return stage.first == name; });
    if (found == stages.end()) found = stages.insert(stages.end(), {name, 0});
    found->second += window.wall_ns();
  }
  return result;
}

}  // namespace nl::analysis
