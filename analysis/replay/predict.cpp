#include "analysis/replay/predict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/replay/excerpt.h"
#include "analysis/replay/strip.h"
#include "analysis/statistics/bootstrap.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/gpu_order.h"
#include "model/parallel.h"

namespace nl::analysis {
namespace {

constexpr double kMostReplayError = 0.05;
// How far a prediction may be off, as a logarithm: so much where the GPU binds, so much where the host does, whose speed differs from one process to the
// next, so much of the logarithm of what changes, the tracer's part and the chance of samples. All together times kReach, by which nine in ten of the
// predictions of docs/whatif.md have the measured time in their interval.
constexpr double kLeastReach = 0.03, kLeastReachOfHost = 0.08, kReachOfChange = 0.1, kReach = 1.8;
constexpr double kMostLaunchNs = 12'000;  // that a tracer was seen to add to a launch
constexpr double kMostOfKnown = 1.5;      // and as many times what is known of it
constexpr double kLeastSaving = 0.005;    // of the stage: less is not worth a row

// Of a part that is replayed: the median of so many windows is known to a sixth of what one of them varies. Short ones are taken until they have so
// much work.
constexpr std::size_t kEnoughReplayed = 64, kEnoughWorkReplayed = 20'000;

// How much work of the GPUs begins before the start or the end of a window.
class StartedWork {
 public:
  StartedWork(const Trace& trace, const Spans& windows) {
    for (const auto& [start, end] : windows) {
      times_.push_back(start);
      times_.push_back(end);
    }
    std::sort(times_.begin(), times_.end());
    before_.resize(times_.size() + 1);
    each_gpu_work(trace, [&](const auto& work) { ++before_[place_of(work.start_ns)]; });
    std::partial_sum(before_.begin(), before_.end(), before_.begin());
  }
  std::size_t before(Ns time_ns) const {
    return before_[static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time_ns) - times_.begin())];
  }

 private:
  // Of the first time that it is before.
  std::size_t place_of(Ns start_ns) const {
    return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), start_ns) - times_.begin());
  }

  std::vector<Ns> times_;            // sorted
  std::vector<std::size_t> before_;  // by place in times_
};

// Of a stage, without warm-up.
Spans windows_by_start(const StagedTrace& staged, const std::string& stage) {
  const std::uint32_t found = staged.table.find(stage);
  Spans windows;
  for (const Window& window : staged.windows)
    if (window.stage == found && !window.warmup) windows.emplace_back(window.start_ns, window.end_ns);
  std::sort(windows.begin(), windows.end());
  return windows;
}

}  // namespace

std::size_t Predictor::works_in_middle_window(const StagedTrace& staged, const std::string& stage) {
  const Spans windows = windows_by_start(staged, stage);
  if (windows.empty()) return 0;
  const std::pair<Ns, Ns> middle = windows[windows.size() / 2];
  const StartedWork works(staged.trace, {middle});
  return works.before(middle.second) - works.before(middle.first);
}

// Whole windows of the stage, from one in the middle to both sides, with at most so much work in them; nothing where all of the trace is replayed.
std::optional<std::pair<Ns, Ns>> Predictor::part_of(const StagedTrace& staged, const PredictorOptions& options) {
  if (gpu_work_count(staged.trace) <= options.most_works) return std::nullopt;
  const Spans windows = windows_by_start(staged, options.around);
  if (windows.empty()) return std::nullopt;
  const StartedWork works(staged.trace, windows);
  std::size_t first = windows.size() / 2, last = first;
  while (first > 0 || last + 1 < windows.size()) {
    const std::size_t wider_first = first > 0 ? first - 1 : 0, wider_last = std::min(last + 1, windows.size() - 1);
    const std::size_t wider_works = works.before(windows[wider_last].second) - works.before(windows[wider_first].first);
    if (wider_works > options.most_works || (last - first >= kEnoughReplayed && wider_works > kEnoughWorkReplayed)) break;
    first = wider_first;
    last = wider_last;
  }
  return std::pair(windows[first].first, windows[last].second);
}

// The graph of a part is built with some of what is around it, which its first and last events wait for.
ReplayGraph Predictor::graph_of(const StagedTrace& staged, const PredictorOptions& options) {
  const std::optional<std::pair<Ns, Ns>> part = part_of(staged, options);
  if (!part) return replay_graph(staged.trace);
  const auto [from_ns, to_ns] = *part;
  const Ns around_ns = (to_ns - from_ns) / 8;
  return excerpt(replay_graph(staged.trace, from_ns - around_ns, to_ns + around_ns), from_ns, to_ns);
}

Predictor::Predictor(const StagedTrace& staged, const PredictorOptions& options)
    : staged_(staged), unperturbed_(graph_of(staged, options)), windows_(staged.table.stages().size()), now_(staged.table.stages().size()),
      interval_scale_(options.interval_scale) {
  const TracerPart& tracer = options.tracer;
  const std::optional<UnprofiledWindow>& unprofiled = options.unprofiled;
  add_windows(unperturbed_);
  const auto each_stage = [&](const ReplayGraph& graph, auto&& set) {
    const Replayed replayed = replay(graph);
    for (std::size_t i = 0; i < now_.size(); ++i) set(now_[i], median_window(static_cast<std::uint32_t>(i), graph, replayed));
  };
  each_stage(unperturbed_, [](Now& now, double median) { now.measured_ns = median; });
  std::vector<Ns> delays;
  for (ReplayWork& work : unperturbed_.works) delays.push_back(std::exchange(work.delay_ns, 0));
  each_stage(unperturbed_,
             [](Now& now, double median) { now.replay_error = now.measured_ns > 0 ? std::abs(median / now.measured_ns - 1) : 0; });
  for (std::size_t i = 0; i < delays.size(); ++i) unperturbed_.works[i].delay_ns = delays[i];
  const auto without_tracer = [&](double launch_ns, auto&& set) {
    ReplayGraph graph = unperturbed_;
    make_change(WithoutTracer{launch_ns}, staged_, graph);
    each_stage(graph, set);
  };
  double launch_ns = (tracer.low_ns + tracer.high_ns) / 2;
  if (unprofiled) {
    launch_ns = fitted_launch_ns(*unprofiled, tracer);
  } else if (tracer.high_ns > tracer.low_ns) {
    without_tracer(tracer.low_ns, [](Now& now, double median) { now.most_unperturbed_ns = median; });
    without_tracer(tracer.high_ns, [](Now& now, double median) { now.least_unperturbed_ns = median; });
  }
  if (launch_ns > 0) make_change(WithoutTracer{launch_ns}, staged_, unperturbed_);
  each_stage(unperturbed_, [](Now& now, double median) { now.unperturbed_ns = median; });
  if (!unprofiled) return;
  const double fitted = now_[staged.table.find(unprofiled->stage)].unperturbed_ns;
  if (fitted > 0) scale_ = unprofiled->ns / fitted;
}

double Predictor::fitted_launch_ns(const UnprofiledWindow& unprofiled, const TracerPart& tracer) const {
  constexpr int kHalvings = 7;           // to a hundredth of the most
  constexpr double kInsensitive = 0.02;  // of the window: what is left where the GPU binds tells nothing of launches
  const std::uint32_t stage = staged_.table.find(unprofiled.stage);
  const auto window_without = [&](double launch_ns) {
    ReplayGraph graph = unperturbed_;
    make_change(WithoutTracer{launch_ns}, staged_, graph);
    return median_window(stage, graph, replay(graph));
  };
  const double known = (tracer.low_ns + tracer.high_ns) / 2;
  double low = 0, high = std::max(kMostLaunchNs, kMostOfKnown * tracer.high_ns);
  if (now_[stage].measured_ns - window_without(high) < kInsensitive * now_[stage].measured_ns) return known;
  if (now_[stage].measured_ns <= unprofiled.ns) return 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (window_without(middle) > unprofiled.ns ? low : high) = middle;
  }
  return (low + high) / 2;
}

void Predictor::add_windows(const ReplayGraph& graph) {
  const auto works_of_call = works_by_call(graph);
  for (const Window& window : staged_.windows) {
    if (window.warmup || window.start_ns < graph.from_ns || window.end_ns > graph.to_ns) continue;
    StageWindow found{&window, {}};
    std::map<std::uint32_t, std::uint32_t> last_of_queue;
    for (std::uint32_t thread = 0; thread + std::size_t{1} < graph.first_call.size(); ++thread) {
      if (process_slot_of_thread(staged_.trace, thread) != window.process) continue;
      const CallSpan calls = calls_between(graph, thread, window.start_ns, window.end_ns);
      for (std::uint32_t call = calls.first; call < calls.last; ++call)
        for (const std::uint32_t work : works_of_call[call]) {
          auto& last = last_of_queue.try_emplace(graph.works[work].queue, work).first->second;
          last = std::max(last, work);
        }
    }
    for (const auto& [queue, work] : last_of_queue) found.last_works.push_back(work);
    windows_[window.stage].push_back(std::move(found));
  }
}

// A window ends when its work does: of a thread that only launches, the GPU's time counts, from the end of the window before it.
Spans Predictor::window_spans(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const {
  Spans spans;
  Ns done_before = 0;
  std::uint32_t thread = kNone;
  for (const StageWindow& each : windows_[stage]) {
    const Ns start = replayed_time(graph, replayed, each.window->thread, each.window->start_ns);
    const Ns end = replayed_time(graph, replayed, each.window->thread, each.window->end_ns);
    Ns done = end;
    for (const std::uint32_t work : each.last_works) done = std::max(done, replayed.work_end_ns[work]);
    if (each.window->thread != thread) done_before = start;
    const Ns free = std::max(start, done_before);
    if (end - start >= done - free) spans.emplace_back(start, end);
    else spans.emplace_back(free, done);
    done_before = done;
    thread = each.window->thread;
  }
  return spans;
}

double Predictor::median_window(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const {
  std::vector<double> times;
  for (const auto& [start, end] : window_spans(stage, graph, replayed)) times.push_back(static_cast<double>(end - start));
  return median_of(std::move(times));
}

Binding Predictor::binding(std::uint32_t stage, const ReplayGraph& graph, const Replayed& replayed) const {
  Spans windows, works;
  Ns code = 0, launching = 0, waiting = 0, wall = 0;
  for (const Window& window : staged_.windows) {
    if (window.stage != stage || window.warmup || window.start_ns < graph.from_ns || window.end_ns > graph.to_ns) continue;
    windows.emplace_back(replayed_time(graph, replayed, window.thread, window.start_ns),
                         replayed_time(graph, replayed, window.thread, window.end_ns));
    wall += windows.back().second - windows.back().first;
    const CallSpan calls = calls_between(graph, window.thread, window.start_ns, window.end_ns);
    for (std::uint32_t i = calls.first; i < calls.last; ++i) {
      const ReplayCall& call = graph.calls[i];
      code += std::max<Ns>(0, call.code_ns);
      launching += call.own_ns;
      waiting += std::max<Ns>(0, replayed.call_end_ns[i] - replayed.call_start_ns[i] - call.own_ns);
    }
  }
  constexpr Ns kBetweenWork = 2'000;  // the GPU itself takes so long from one work to the next
  for (std::size_t i = 0; i < graph.works.size(); ++i)
    works.emplace_back(replayed.work_start_ns[i], replayed.work_end_ns[i] + kBetweenWork);
  Ns busy = 0;
  auto work = (works = union_of(std::move(works))).begin();
  for (const auto& [start, end] : union_of(std::move(windows))) {
    while (work != works.end() && work->second <= start) ++work;
    for (auto at = work; at != works.end() && at->first < end; ++at) busy += std::min(end, at->second) - std::max(start, at->first);
  }
  if (static_cast<double>(busy) > 0.85 * static_cast<double>(wall)) return Binding::kGpu;
  if (waiting > code + launching) return Binding::kWaits;
  return code > launching ? Binding::kHostCode : Binding::kLaunches;
}

double Predictor::replay_error(const std::string& stage) const {
  const std::uint32_t found = staged_.table.find(stage);
  return found != kNone ? now_[found].replay_error : 0;
}

// As a factor.
double Predictor::reach_of(const Now& now, const Prediction& prediction, double by_chance_ns) const {
  if (prediction.predicted_ns <= 0 || prediction.unperturbed_ns <= 0) return 1;
  const double least = prediction.binds == Binding::kGpu ? kLeastReach : kLeastReachOfHost;
  const double change = std::abs(std::log(prediction.unperturbed_ns / prediction.predicted_ns));
  const double tracer = now.least_unperturbed_ns > 0 ? std::log(now.most_unperturbed_ns / now.least_unperturbed_ns) / 2 : 0;
  const double chance = std::log1p(by_chance_ns / prediction.predicted_ns);
  return std::exp(interval_scale_ * kReach * std::hypot(std::hypot(least, kReachOfChange * change), std::hypot(tracer, chance)));
}

Prediction Predictor::predict(const std::string& stage, const std::vector<NamedChange>& changes) const {
  Prediction prediction;
  prediction.stage = stage;
  for (const NamedChange& change : changes) prediction.changes.push_back(change.text);
  const std::uint32_t found = staged_.table.find(stage);
  if (found == kNone || windows_[found].empty()) {
    prediction.refused = NoPrediction::kNoStage;
    return prediction;
  }
  prediction.measured_ns = now_[found].measured_ns;
  prediction.unperturbed_ns = now_[found].unperturbed_ns * scale_;
  if (now_[found].replay_error > kMostReplayError) {
    prediction.refused = NoPrediction::kNotReplayed;
    return prediction;
  }
  const Changed best = changed(found, changes, End::kBest, prediction);
  if (prediction.refused) return prediction;
  prediction.predicted_ns = best.window_ns;
  prediction.binds = best.binds;
  const double reach = reach_of(now_[found], prediction, best.by_chance_ns);
  prediction.low_ns = best.window_ns / reach;
  prediction.high_ns = best.window_ns * reach;
  if (best.two_ends) {
    const double worst_ns = changed(found, changes, End::kWorst, prediction).window_ns;
    prediction.high_ns = worst_ns * reach;
    if (!prediction.ceiling) prediction.predicted_ns = std::sqrt(best.window_ns * worst_ns);
  }
  return prediction;
}

Predictor::Changed Predictor::changed(std::uint32_t stage, const std::vector<NamedChange>& changes, End end, Prediction& prediction) const {
  Changed result{unperturbed_, {}};
  double beside_ns = 0;  // of a function on another thread, in each window
  for (const NamedChange& change : changes) {
    const ChangeEffect effect = make_change(change.change, staged_, result.graph, end);
    if (effect.refused) {
      prediction.refused = effect.refused;
      prediction.assumptions.clear();
      prediction.ceiling = false;
      return result;
    }
    result.two_ends |= effect.two_ends;
    prediction.ceiling |= effect.ceiling;
    if (const auto sampled = effect.sampled.find(stage); sampled != effect.sampled.end() && sampled->second.samples > 0) {
      const double of_window =
          static_cast<double>(sampled->second.time_ns) / static_cast<double>(std::max<std::size_t>(1, windows_[stage].size()));
      result.by_chance_ns += scale_ * of_window / std::sqrt(static_cast<double>(sampled->second.samples));
      if (effect.runs_beside) beside_ns = std::max(beside_ns, scale_ * of_window);
    }
    for (const Assumption assumption : effect.assumptions)
      if (std::find(prediction.assumptions.begin(), prediction.assumptions.end(), assumption) == prediction.assumptions.end())
        prediction.assumptions.push_back(assumption);
  }
  result.replayed = replay(result.graph);
  result.window_ns = scale_ * median_window(stage, result.graph, result.replayed);
  result.binds = binding(stage, result.graph, result.replayed);
  if (beside_ns > result.window_ns) {
    result.window_ns = beside_ns;
    result.binds = Binding::kHostCode;
  }
  return result;
}

std::optional<WindowStrip> Predictor::strip(const std::string& stage, const std::vector<NamedChange>& changes) const {
  const std::uint32_t found = staged_.table.find(stage);
  if (found == kNone || windows_[found].empty()) return std::nullopt;
  // The same window before and after: the one that is nearest to the median before.
  const Spans before = window_spans(found, unperturbed_, replay(unperturbed_));
  const auto off = [&](const std::pair<Ns, Ns>& span) {
    return std::abs(static_cast<double>(span.second - span.first) - now_[found].unperturbed_ns);
  };
  const auto usual =
      std::min_element(before.begin(), before.end(), [&](const auto& a, const auto& b) { return off(a) < off(b); }) - before.begin();
  Prediction prediction;
  const Changed after = changed(found, changes, End::kBest, prediction);
  if (prediction.refused) return std::nullopt;
  WindowStrip strip = window_strip(staged_.trace, after.graph, after.replayed, *windows_[found][usual].window,
                                   window_spans(found, after.graph, after.replayed)[usual]);
  strip.length_ns *= scale_;
  for (auto* parts : {&strip.host, &strip.gpu})
    for (StripPart& part : *parts) part.start_ns *= scale_, part.end_ns *= scale_;
  return strip;
}

std::vector<NamedChange> Predictor::candidates(const std::string& stage) const {
  std::vector<NamedChange> all = {{"--graph " + stage, StageAsGraph{stage}},
                                  {"--fuse elementwise", FusedElementwise{}},
                                  {"--fuse attention", FusedAttention{}},
                                  {"--pinned", PinnedCopies{}},
                                  {"--overlap-copies", OverlappedCopies{}}};
  std::set<std::string> waits;
  for (const ReplayCall& call : unperturbed_.calls)
    if (call.waits > 0 && call.kind == CallKind::kWait) waits.insert(staged_.trace.strings[staged_.trace.api_calls[call.api].name]);
  for (const std::string& wait : waits) all.push_back({"--without-wait " + wait, WithoutWait{wait}});
  return all;
}

// Of each of these on top of what was made. Each has a graph of its own meanwhile: one at a time where the trace is long.
std::vector<Prediction> Predictor::each_on_top(const std::string& stage, const std::vector<NamedChange>& made,
                                               const std::vector<NamedChange>& changes) const {
  constexpr std::size_t kMostWorks = 500'000, kMostGraphs = 4;
  const std::size_t at_once = std::clamp<std::size_t>(kMostWorks / std::max<std::size_t>(1, unperturbed_.works.size()), 1, kMostGraphs);
  std::vector<Prediction> predictions(changes.size());
  const auto one = [&](std::size_t i) {
    std::vector<NamedChange> together = made;
    together.push_back(changes[i]);
    predictions[i] = predict(stage, together);
  };
  each_in_parallel(changes.size(), one, at_once);
  return predictions;
}

std::vector<Prediction> Predictor::ranked(const std::string& stage, const std::vector<NamedChange>& changes) const {
  std::vector<Prediction> rows;
  for (Prediction& prediction : each_on_top(stage, {}, changes)) {
    if (prediction.refused == NoPrediction::kNotReplayed) return {prediction};
    if (prediction.refused || prediction.predicted_ns > (1 - kLeastSaving) * prediction.unperturbed_ns) continue;
    rows.push_back(std::move(prediction));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Prediction& a, const Prediction& b) { return a.predicted_ns < b.predicted_ns; });
  return rows;
}

std::vector<Prediction> Predictor::best_sequence(const std::string& stage, std::vector<NamedChange> left, std::size_t most) const {
  std::vector<Prediction> rows;
  std::vector<NamedChange> made;
  while (rows.size() < most) {
    std::optional<Prediction> best;
    std::size_t at = 0;
    const std::vector<Prediction> predictions = each_on_top(stage, made, left);
    std::vector<NamedChange> apply;  // where one does not, it does not later, either
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (predictions[i].refused) continue;
      if (!best || predictions[i].predicted_ns < best->predicted_ns) {
        best = predictions[i];
        at = apply.size();
      }
      apply.push_back(std::move(left[i]));
    }
    left = std::move(apply);
    const double before = rows.empty() ? (best ? best->unperturbed_ns : 0) : rows.back().predicted_ns;
    if (!best || best->predicted_ns > (1 - kLeastSaving) * before) break;
    made.push_back(left[at]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    rows.push_back(*best);
  }
  return rows;
}

}  // namespace nl::analysis
