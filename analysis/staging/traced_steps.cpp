#include "analysis/staging/traced_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/staging/staged_trace.h"

namespace nl::analysis {
namespace {

// Work that starts later after the call that launched it has returned had to wait for something.
constexpr Ns kReadyNs = 20'000;

constexpr Ns kNoWork = std::numeric_limits<Ns>::max();

// When each span was traced, and from when on the GPU cannot run work from before it. Work of one queue runs in the order of its launches: the
// first of a span begins only once that from before has ended.
class TracingSpans {
 public:
  explicit TracingSpans(const Trace& trace) : trace_(trace), spans_(trace.duty->spans), first_work_(spans_.size()) {
    for (const Kernel& kernel : trace.kernels) add(kernel.start_ns, static_cast<std::uint32_t>(kernel.queue), kernel.api);
    for (const MemOp& op : trace.mem_ops) add(op.start_ns, op.queue, op.api);
    for (const GraphRun& run : trace.graph_runs) add(run.start_ns, run.queue, run.api);
    for (const Range& range : trace.ranges) {
      const std::uint32_t process = range.thread < trace.threads.size() ? trace.threads[range.thread].process : kNone;
      const auto [found, is_new] = first_range_.try_emplace(process, range.start_ns);
      if (!is_new) found->second = std::min(found->second, range.start_ns);
    }
    for (std::size_t i = 0; i < spans_.size(); ++i) ready_ns_.push_back(ready_of(i));
  }

  bool has(std::uint32_t process) const {
    return std::any_of(spans_.begin(), spans_.end(), [&](const TracedSpan& span) { return span.process == process; });
  }

  // The span that a step which begins then is traced in.
  std::uint32_t find(std::uint32_t process, Ns begin_ns) const {
    auto after = std::upper_bound(spans_.begin(), spans_.end(), std::pair(process, begin_ns),
                                  [](const auto& key, const TracedSpan& span) { return key < std::pair(span.process, span.start_ns); });
    if (after == spans_.begin()) return kNone;
    const TracedSpan& span = *--after;
    const bool traced = span.process == process && begin_ns < span.last_begin_ns;
    return traced ? static_cast<std::uint32_t>(after - spans_.begin()) : kNone;
  }

  WindowTracing tracing_of(std::uint32_t span, Ns start_ns, Ns end_ns) const {
    if (span == kNone) return WindowTracing::kUntraced;
    if (end_ns > spans_[span].end_ns) return WindowTracing::kCut;
    return start_ns < ready_ns_[span] ? WindowTracing::kUnseen : WindowTracing::kTraced;
  }

 private:
  struct FirstWork {
    Ns launched_ns = kNoWork, late_ns = 0, start_ns = 0;
  };

  void add(Ns start_ns, std::uint32_t queue, std::uint32_t api) {
    if (queue >= trace_.queues.size()) return;
    const bool called = api < trace_.api_calls.size();
    const Ns launched_ns = called ? trace_.api_calls[api].start_ns : start_ns;
    const std::uint32_t span = find(trace_.queues[queue].process, launched_ns);
    if (span == kNone || launched_ns >= first_work_[span].launched_ns) return;
    // Without its call it is not known how long it waited.
    first_work_[span] = {launched_ns, called ? start_ns - trace_.api_calls[api].end_ns() : kNoWork, start_ns};
  }

  Ns ready_of(std::size_t span) const {
    const auto range = first_range_.find(spans_[span].process);
    // Nothing ran before: a capture that traced from the start, and no window of a program that had run for hours.
    const bool first = (span == 0 || spans_[span - 1].process != spans_[span].process) && range != first_range_.end() &&
                       spans_[span].start_ns <= range->second;
    const FirstWork& work = first_work_[span];
    return first || work.launched_ns == kNoWork || work.late_ns <= kReadyNs ? spans_[span].start_ns : work.start_ns;
  }

  const Trace& trace_;
  const std::vector<TracedSpan>& spans_;
  std::map<std::uint32_t, Ns> first_range_;  // of each process
  std::vector<FirstWork> first_work_;
  std::vector<Ns> ready_ns_;
};

std::uint32_t process_of(const Trace& trace, std::uint32_t thread) {
  return thread < trace.threads.size() ? trace.threads[thread].process : kNone;
}

// The windows of each stage that came first and were all traced are no random choice.
void find_always(const Trace& trace, std::vector<SampledWindow>& windows) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> by_stage;
  for (std::size_t i = 0; i < windows.size(); ++i) by_stage[{process_of(trace, windows[i].thread), windows[i].stage.value}].push_back(i);
  for (auto& [stage, places] : by_stage) {
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return windows[a].start_ns < windows[b].start_ns; });
    const auto drawn =
        std::find_if(places.begin(), places.end(), [&](std::size_t i) { return windows[i].tracing == WindowTracing::kUntraced; });
    std::set<std::uint32_t> rows;
    for (auto place = drawn; place != places.end(); ++place)
      if (windows[*place].tracing == WindowTracing::kTraced && !windows[*place].warmup) rows.insert(windows[*place].span);
    if (rows.size() < kEnoughRows) continue;
    for (auto place = places.begin(); place != drawn; ++place)
      if (windows[*place].tracing == WindowTracing::kTraced) windows[*place].tracing = WindowTracing::kAlways;
  }
}

std::vector<SampledWindow> sampled_windows(Trace& trace, const StagedTrace& staged, const TracingSpans& spans) {
  std::vector<SampledWindow> out;
  for (const Window& window : staged.windows) {
    const std::uint32_t process = process_of(trace, window.thread);
    if (window.derived || !spans.has(process)) continue;
    const std::uint32_t span = spans.find(process, window.start_ns);
    out.push_back({window.start_ns, window.wall_ns(), trace.strings.intern(staged.table.stages()[window.stage]), window.thread, span,
                   spans.tracing_of(span, window.start_ns, window.end_ns), window.warmup});
  }
  find_always(trace, out);
  return out;
}

// Windows whose inside is left out, too: by thread and start.
class AlwaysTraced {
 public:
  explicit AlwaysTraced(const std::vector<SampledWindow>& windows) {
    for (const SampledWindow& window : windows)
      if (window.tracing == WindowTracing::kAlways) add(window);
  }
  bool has(std::uint32_t thread, Ns start_ns) const {
    const auto after = ends_.upper_bound({thread, start_ns});
    return after != ends_.begin() && std::prev(after)->first.first == thread && start_ns < std::prev(after)->second;
  }

 private:
  void add(const SampledWindow& window) {
    Ns& end_ns = ends_.try_emplace({window.thread, window.start_ns}, window.start_ns).first->second;
    end_ns = std::max(end_ns, window.start_ns + window.wall_ns);
  }
  std::map<std::pair<std::uint32_t, Ns>, Ns> ends_;
};

}  // namespace

bool is_traced(const Trace& trace, std::uint32_t process, Ns start_ns, Ns end_ns) {
  if (!trace.duty) return true;
  const std::vector<TracedSpan>& spans = trace.duty->spans;
  const auto after = std::upper_bound(spans.begin(), spans.end(), std::pair(process, start_ns),
                                      [](const auto& key, const TracedSpan& span) { return key < std::pair(span.process, span.start_ns); });
  return after != spans.begin() && std::prev(after)->process == process && end_ns <= std::prev(after)->end_ns;
}

void keep_traced_steps(Trace& trace, const WarmupRule& warmup, PausedBy by) {
  if (!trace.duty || has_traced_steps(trace)) return;
  std::sort(trace.duty->spans.begin(), trace.duty->spans.end(),
            [](const TracedSpan& a, const TracedSpan& b) { return std::pair(a.process, a.start_ns) < std::pair(b.process, b.start_ns); });
  const TracingSpans spans(trace);
  const StagedTrace staged(trace, warmup);
  std::vector<SampledWindow> windows = sampled_windows(trace, staged, spans);
  if (windows.empty()) return;  // nothing says which steps were traced
  const auto in_pause = [](const SampledWindow& window) { return window.tracing == WindowTracing::kUntraced; };
  if (by == PausedBy::kDuty && std::none_of(windows.begin(), windows.end(), in_pause)) return trace.duty.reset();
  const AlwaysTraced left_out(windows);
  const auto kept = std::stable_partition(trace.ranges.begin(), trace.ranges.end(), [&](const Range& range) {
    const std::uint32_t process = process_of(trace, range.thread);
    if (!spans.has(process)) return true;
    const std::uint32_t span = spans.find(process, range.start_ns);
    return !(range.open || spans.tracing_of(span, range.start_ns, range.end_ns) != WindowTracing::kTraced ||
             staged.plan.in_warmup(range.thread, range.start_ns) || left_out.has(range.thread, range.start_ns));
  });
  trace.duty->left_out.assign(kept, trace.ranges.end());
  trace.ranges.erase(kept, trace.ranges.end());
  trace.duty->windows = std::move(windows);
}

}  // namespace nl::analysis
