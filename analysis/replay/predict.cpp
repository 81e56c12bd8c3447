#include "analysis/replay/predict.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/statistics/bootstrap.h"
#include "analysis/trace/covered_time.h"
#include "analysis/trace/gpu_lanes.h"

namespace nl::analysis {
namespace {

constexpr double kMostReplayError = 0.05;
// How far a prediction may be off, as a logarithm: so much where the GPU binds, so much where the host does, whose speed differs from one process to the
// next, so much of the logarithm of what changes, the tracer's part and the chance of samples. All together times kReach, by which nine in ten of the
// predictions of docs/whatif.md have the measured time in their interval.
constexpr double kLeastReach = 0.03, kLeastReachOfHost = 0.08, kReachOfChange = 0.1, kReach = 1.8;
constexpr double kLeastSaving = 0.005;  // of the stage: less is not worth a row

}  // namespace

Predictor::Predictor(const StagedTrace& staged, const TracerPart& tracer)
    : staged_(staged), unperturbed_(replay_graph(staged.trace)), windows_(staged.table.stages().size()),
      now_(staged.table.stages().size()) {
  add_windows(unperturbed_);
  const auto each_stage = [&](const ReplayGraph& graph, auto&& set) {
    const Replayed replayed = replay(graph);
    for (std::size_t i = 0; i < now_.size(); ++i) set(now_[i], median_window(staged.table.stages()[i], graph, replayed));
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
  if (tracer.high_ns > tracer.low_ns) {
    without_tracer(tracer.low_ns, [](Now& now, double median) { now.most_unperturbed_ns = median; });
    without_tracer(tracer.high_ns, [](Now& now, double median) { now.least_unperturbed_ns = median; });
  }
  const double middle = (tracer.low_ns + tracer.high_ns) / 2;
  if (middle > 0) make_change(WithoutTracer{middle}, staged_, unperturbed_);
  each_stage(unperturbed_, [](Now& now, double median) { now.unperturbed_ns = median; });
}

void Predictor::add_windows(const ReplayGraph& graph) {
  const auto works_of_call = works_by_call(graph);
  for (const Window& window : staged_.windows) {
    if (window.warmup) continue;
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
double Predictor::median_window(const std::string& stage, const ReplayGraph& graph, const Replayed& replayed) const {
  const std::uint32_t wanted = staged_.table.find(stage);
  if (wanted == kNone) return 0;
  std::vector<double> times;
  Ns done_before = 0;
  std::uint32_t thread = kNone;
  for (const StageWindow& each : windows_[wanted]) {
    const Ns start = replayed_time(graph, replayed, each.window->thread, each.window->start_ns);
    const Ns end = replayed_time(graph, replayed, each.window->thread, each.window->end_ns);
    Ns done = end;
    for (const std::uint32_t work : each.last_works) done = std::max(done, replayed.work_end_ns[work]);
    if (each.window->thread != thread) done_before = start;
    times.push_back(static_cast<double>(std::max(end - start, done - std::max(start, done_before))));
    done_before = done;
    thread = each.window->thread;
  }
  return median_of(std::move(times));
}

Binding Predictor::binding(const std::string& stage, const ReplayGraph& graph, const Replayed& replayed) const {
  const std::uint32_t wanted = staged_.table.find(stage);
  Spans windows, works;
  Ns code = 0, launching = 0, waiting = 0, wall = 0;
  for (const Window& window : staged_.windows) {
    if (window.stage != wanted || window.warmup) continue;
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
double Predictor::reach_of(const Now& now, const Prediction& prediction, double by_chance_ns) {
  if (prediction.predicted_ns <= 0 || now.unperturbed_ns <= 0) return 1;
  const double least = prediction.binds == Binding::kGpu ? kLeastReach : kLeastReachOfHost;
  const double change = std::abs(std::log(now.unperturbed_ns / prediction.predicted_ns));
  const double tracer = now.least_unperturbed_ns > 0 ? std::log(now.most_unperturbed_ns / now.least_unperturbed_ns) / 2 : 0;
  const double chance = std::log1p(by_chance_ns / prediction.predicted_ns);
  return std::exp(kReach * std::hypot(std::hypot(least, kReachOfChange * change), std::hypot(tracer, chance)));
}

Prediction Predictor::predict(const std::string& stage, const std::vector<NamedChange>& changes) const {
  Prediction prediction;
  prediction.stage = stage;
  for (const NamedChange& change : changes) prediction.changes.push_back(change.text);
  const std::uint32_t found = staged_.table.find(stage);
  if (found == kNone) {
    prediction.refused = NoPrediction::kNoStage;
    return prediction;
  }
  prediction.measured_ns = now_[found].measured_ns;
  prediction.unperturbed_ns = now_[found].unperturbed_ns;
  if (now_[found].replay_error > kMostReplayError) {
    prediction.refused = NoPrediction::kNotReplayed;
    return prediction;
  }
  ReplayGraph graph = unperturbed_;
  double by_chance_ns = 0;  // one standard error of what samples say
  double beside_ns = 0;     // of a function on another thread, in each window
  for (const NamedChange& change : changes) {
    const ChangeEffect effect = make_change(change.change, staged_, graph);
    if (effect.refused) {
      prediction.refused = effect.refused;
      return prediction;
    }
    if (const auto sampled = effect.sampled.find(found); sampled != effect.sampled.end() && sampled->second.samples > 0) {
      const double of_window =
          static_cast<double>(sampled->second.time_ns) / static_cast<double>(std::max<std::size_t>(1, windows_[found].size()));
      by_chance_ns += of_window / std::sqrt(static_cast<double>(sampled->second.samples));
      if (effect.runs_beside) beside_ns = std::max(beside_ns, of_window);
    }
    for (const Assumption assumption : effect.assumptions)
      if (std::find(prediction.assumptions.begin(), prediction.assumptions.end(), assumption) == prediction.assumptions.end())
        prediction.assumptions.push_back(assumption);
  }
  const Replayed replayed = replay(graph);
  prediction.predicted_ns = median_window(stage, graph, replayed);
  prediction.binds = binding(stage, graph, replayed);
  if (beside_ns > prediction.predicted_ns) {
    prediction.predicted_ns = beside_ns;
    prediction.binds = Binding::kHostCode;
  }
  const double reach = reach_of(now_[found], prediction, by_chance_ns);
  prediction.low_ns = prediction.predicted_ns / reach;
  prediction.high_ns = prediction.predicted_ns * reach;
  return prediction;
}

std::vector<NamedChange> Predictor::candidates(const std::string& stage) const {
  std::vector<NamedChange> all = {
      {"--graph " + stage, StageAsGraph{stage}}, {"--fuse elementwise", FusedElementwise{}}, {"--pinned", PinnedCopies{}}};
  std::set<std::string> waits;
  for (const ReplayCall& call : unperturbed_.calls)
    if (call.waits > 0 && call.kind == CallKind::kWait) waits.insert(staged_.trace.strings[staged_.trace.api_calls[call.api].name]);
  for (const std::string& wait : waits) all.push_back({"--without-wait " + wait, WithoutWait{wait}});
  return all;
}

std::vector<Prediction> Predictor::ranked(const std::string& stage, const std::vector<NamedChange>& changes) const {
  std::vector<Prediction> rows;
  for (const NamedChange& change : changes) {
    Prediction prediction = predict(stage, {change});
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
    for (std::size_t i = 0; i < left.size(); ++i) {
      std::vector<NamedChange> together = made;
      together.push_back(left[i]);
      const Prediction prediction = predict(stage, together);
      if (prediction.refused || (best && best->predicted_ns <= prediction.predicted_ns)) continue;
      best = prediction;
      at = i;
    }
    const double before = rows.empty() ? (best ? best->unperturbed_ns : 0) : rows.back().predicted_ns;
    if (!best || best->predicted_ns > (1 - kLeastSaving) * before) break;
    made.push_back(left[at]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    rows.push_back(*best);
  }
  return rows;
}

}  // namespace nl::analysis
