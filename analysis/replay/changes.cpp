#include "analysis/replay/changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/account/launch_waits.h"
#include "analysis/replay/gpu_changes.h"

namespace nl::analysis {
namespace {

constexpr Ns kGraphLaunch = 6'000;  // of the call, on an H200 without a tracer
constexpr Ns kGraphNode = 8;        // more for each node
constexpr Ns kGraphGap = 200;       // between the nodes of a graph
constexpr Ns kGraphInputs = 3'000;  // a small copy or two before it

class HostChanges {
 public:
  HostChanges(const StagedTrace& staged, ReplayGraph& graph) : staged_(staged), trace_(staged.trace), graph_(graph) {}

  ChangeEffect operator()(const StageAsGraph& change) {
    const std::uint32_t stage = staged_.table.find(change.stage);
    if (stage == kNone) return refused(NoPrediction::kNoStage);
    works_of_call_ = works_by_call(graph_);
    std::size_t graphs = 0;
    std::vector<CapturedWindow> windows;
    for (const Window& window : staged_.windows) {
      if (window.stage != stage) continue;
      const auto [first, last] = calls_between(window.thread, window.start_ns, window.end_ns);
      CapturedWindow captured{&window, {}};
      std::vector<std::uint32_t> run;
      const auto capture_run = [&] {
        if (capture(run)) captured.runs.emplace_back(run.front(), run.back());
        run.clear();
      };
      for (std::uint32_t call = first; call < last; ++call) {
        graphs += graph_.calls[call].kind == CallKind::kGraphLaunch;
        if (fits_into_graph(call)) run.push_back(call);
        else capture_run();
      }
      capture_run();
      if (!captured.runs.empty()) windows.push_back(std::move(captured));
    }
    if (touched_ == 0) return refused(graphs > 0 ? NoPrediction::kAlreadyGraph : NoPrediction::kNothingToChange);
    drop_code_around(windows);
    return done({Assumption::kGraphDropsHostCode, Assumption::kGraphInputsCopied});
  }

  ChangeEffect operator()(const WithoutWait& change) {
    const auto colon = change.where.rfind(':');
    if (colon == std::string::npos) {
      const auto named = [&](const ReplayCall& call) {
        return change.where == kEveryWait || trace_.strings[trace_.api_calls[call.api].name].starts_with(change.where);
      };
      for (std::uint32_t i = 0; i < graph_.calls.size(); ++i)
        if (graph_.calls[i].waits > 0 && named(graph_.calls[i])) drop_wait(i);
    } else {
      if (trace_.host.samples.empty()) return refused(NoPrediction::kNoStacks);
      drop_waits_of_line(change.where.substr(0, colon), change.where.substr(colon + 1));
    }
    if (touched_ == 0) return refused(NoPrediction::kNothingToChange);
    drop_code_of_waits();
    return done({Assumption::kWaitNotNeeded});
  }

  ChangeEffect operator()(const FasterFunction& change) { return scale_function(change.name, change.factor); }

  ChangeEffect operator()(const AsyncFunction& change) {
    ChangeEffect effect = scale_function(change.name, 0);
    if (effect.refused) return effect;
    effect.assumptions.push_back(Assumption::kRunsBeside);
    effect.runs_beside = true;
    return effect;
  }

  ChangeEffect operator()(const FasterHost& change) {
    for (ReplayCall& call : graph_.calls) {
      call.code_ns = scaled(call.code_ns, 1 / change.times);
      call.own_ns = scaled(call.own_ns, 1 / change.times);
      ++touched_;
    }
    return touched_ > 0 ? done({Assumption::kHostScalesAlike}) : refused(NoPrediction::kNothingToChange);
  }

  ChangeEffect operator()(const WithoutTracer& change) {
    constexpr double kMostOfCall = 0.6;  // so much of a launch may be the tracer's; the rest is in the code after it
    const auto cost = static_cast<Ns>(change.launch_ns);
    for (std::uint32_t i = 0; i < graph_.calls.size(); ++i) {
      ReplayCall& call = graph_.calls[i];
      if (call.kind == CallKind::kWait) continue;
      const Ns inside = std::min(cost, scaled(call.own_ns, kMostOfCall));
      call.own_ns -= inside;
      ++touched_;
      if (i + 1 < graph_.calls.size() && graph_.calls[i + 1].previous == i)
        graph_.calls[i + 1].code_ns -= std::clamp<Ns>(cost - inside, 0, std::max<Ns>(0, graph_.calls[i + 1].code_ns));
    }
    return touched_ > 0 ? done({Assumption::kTracerPerLaunch}) : refused(NoPrediction::kNothingToChange);
  }

 private:
  static ChangeEffect refused(NoPrediction why) { return refused_change(why); }
  ChangeEffect done(std::vector<Assumption> assumptions) const {
    ChangeEffect effect;
    effect.touched = touched_;
    effect.sampled = sampled_;
    effect.assumptions = std::move(assumptions);
    return effect;
  }

  ChangeEffect scale_function(const std::string& name, double factor) {
    if (trace_.host.samples.empty()) return refused(NoPrediction::kNoStacks);
    const std::vector<bool> stacks =
        stacks_with([&](const HostFrame& frame) { return frame.function == name || frame.function.ends_with("." + name); });
    scale_sampled_code(stacks, factor);
    return touched_ > 0 ? done({Assumption::kSamplesTellTime}) : refused(NoPrediction::kNothingToChange);
  }

  CallSpan calls_between(std::uint32_t thread, Ns start_ns, Ns end_ns) const {
    return analysis::calls_between(graph_, thread, start_ns, end_ns);
  }

  bool fits_into_graph(std::uint32_t index) const {
    const ReplayCall& call = graph_.calls[index];
    if (call.waits > 0 || works_of_call_[index].empty()) return false;
    if (call.kind == CallKind::kKernelLaunch) return true;
    if (call.kind != CallKind::kCopy) return false;
    return std::all_of(works_of_call_[index].begin(), works_of_call_[index].end(), [&](std::uint32_t work) {
      if (graph_.works[work].kind != ReplayWorkKind::kCopy) return true;
      const MemOpKind kind = trace_.mem_ops[graph_.works[work].row].kind;
      return kind == MemOpKind::kDeviceToDevice || kind == MemOpKind::kMemset;
    });
  }

  // Launches without a wait between them become one. False: there are not two of them.
  bool capture(const std::vector<std::uint32_t>& run) {
    if (run.size() < 2) return false;
    std::size_t nodes = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      ReplayCall& call = graph_.calls[run[i]];
      for (const std::uint32_t index : works_of_call_[run[i]]) {
        ReplayWork& work = graph_.works[index];
        if (nodes++ > 0) work.latency_ns = 0;
        else work.latency_ns = kGraphLaunch + kGraphInputs;
        work.gap_ns = std::min(work.gap_ns, kGraphGap);
        work.delay_ns = 0;
      }
      call.own_ns = 0;
      if (i > 0) call.code_ns = 0;
    }
    graph_.calls[run[0]].own_ns = kGraphLaunch + kGraphNode * static_cast<Ns>(nodes);
    touched_ += run.size();
    return true;
  }

  // What makes the launches of a graph goes with them, also before the first launch and after the last one: what a module prepares. Samples tell it
  // from the code around it: they are in the function that all launches are made in, and in a callee of it that launches too.
  struct CapturedWindow {
    const Window* window = nullptr;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;  // the first and the last call of each graph
    Ns begins_ns(const ReplayGraph& graph) const { return graph.calls[runs.front().first].start_ns; }
    Ns ends_ns(const ReplayGraph& graph) const { return graph.calls[runs.back().second].end_ns; }
  };
  void drop_code_around(const std::vector<CapturedWindow>& windows) {
    if (trace_.host.samples.empty()) return;
    const std::vector<std::vector<std::uint32_t>> functions = functions_of_stacks();
    std::set<std::uint32_t> launching;  // stacks
    std::map<std::uint32_t, std::size_t> times_before, times_behind;
    const auto samples = samples_by_thread(trace_);
    for (const CapturedWindow& each : windows) {
      if (each.window->thread >= samples.size()) continue;
      const std::uint32_t next = each.runs.back().second + 1;
      const bool follows = next < graph_.calls.size() && graph_.calls[next].previous + 1 == next;
      const Ns goes_on = follows ? std::min(graph_.calls[next].start_ns, each.window->end_ns) : each.window->end_ns;
      const std::vector<std::uint32_t>& of_thread = samples[each.window->thread];
      auto at = std::partition_point(of_thread.begin(), of_thread.end(),
                                     [&](std::uint32_t i) { return trace_.host.samples[i].time_ns < each.window->start_ns; });
      for (; at != of_thread.end() && trace_.host.samples[*at].time_ns < goes_on; ++at) {
        const HostSample& sample = trace_.host.samples[*at];
        if (sample.time_ns < each.begins_ns(graph_)) ++times_before[sample.stack];
        else if (sample.time_ns >= each.ends_ns(graph_)) ++times_behind[sample.stack];
        else launching.insert(sample.stack);
      }
    }
    if (launching.empty()) return;
    std::vector<std::uint32_t> common =
        functions[*launching.begin()];  // the functions that all launches are made in, from the outermost one
    for (const std::uint32_t stack : launching)
      common.erase(std::mismatch(common.begin(), common.end(), functions[stack].begin(), functions[stack].end()).first, common.end());
    const auto callee = [&](std::uint32_t stack) {
      return functions[stack].size() > common.size() ? functions[stack][common.size()] : kNone;
    };
    std::set<std::uint32_t> callees;
    for (const std::uint32_t stack : launching) callees.insert(callee(stack));
    const auto share_of = [&](const std::map<std::uint32_t, std::size_t>& times) {
      Share share;
      for (const auto& [stack, count] : times) {
        share.all += count;
        if (std::mismatch(common.begin(), common.end(), functions[stack].begin(), functions[stack].end()).first == common.end() &&
            callees.contains(callee(stack)))
          share.wanted += count;
      }
      return share;
    };
    const Share gone_before = share_of(times_before), gone_behind = share_of(times_behind);
    for (const auto& [window, runs] : windows) {
      if (gone_before.wanted > 0) shorten(runs.front().first, gone_before.left(0), window->start_ns, window->end_ns);
      if (gone_behind.wanted > 0) shorten(runs.back().second + 1, gone_behind.left(0), window->start_ns, window->end_ns);
    }
  }

  // By stack: numbers of its functions, whichever line of them runs.
  std::vector<std::vector<std::uint32_t>> functions_of_stacks() const {
    std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;
    std::vector<std::uint32_t> of_frame;
    for (const HostFrame& frame : trace_.host.frames)
      of_frame.push_back(numbers.try_emplace({frame.file, frame.function}, static_cast<std::uint32_t>(numbers.size())).first->second);
    std::vector<std::vector<std::uint32_t>> functions;
    for (const auto& stack : trace_.host.stacks) {
      functions.emplace_back();
      for (const std::uint32_t frame : stack) functions.back().push_back(of_frame[frame]);
    }
    return functions;
  }

  void drop_wait(std::uint32_t index) {
    ReplayCall& call = graph_.calls[index];
    call.waits = 0;
    call.own_ns = std::min(call.own_ns, kOwnOfWait);
    ++touched_;
    dropped_.insert(index);
  }

  // What a function does around the wait that it is there for goes with the wait: torch.cuda.synchronize takes longer than the call that it makes.
  void drop_code_of_waits() {
    if (trace_.host.samples.empty()) return;
    const std::vector<std::vector<std::uint32_t>> functions = functions_of_stacks();
    std::map<std::uint32_t, Share> near_waits;  // by function
    std::set<std::uint32_t> waiting;            // functions
    each_sample([&](std::uint32_t thread, const HostSample& sample) {
      const std::vector<std::uint32_t>& stack = functions[sample.stack];
      const auto [first, next] = calls_between(thread, 0, sample.time_ns);
      const bool before = dropped_.contains(next), after = next > first && dropped_.contains(next - 1);
      if (after && sample.time_ns < graph_.calls[next - 1].end_ns && !stack.empty()) waiting.insert(stack.back());
      for (const std::uint32_t function : std::set<std::uint32_t>(stack.begin(), stack.end())) near_waits[function].add(before || after);
    });
    constexpr double kNearlyAll = 0.9;
    for (const std::uint32_t function : waiting) {
      const Share& share = near_waits[function];
      if (static_cast<double>(share.wanted) < kNearlyAll * static_cast<double>(share.all)) continue;
      std::vector<bool> stacks;
      for (const auto& stack : functions) stacks.push_back(std::find(stack.begin(), stack.end(), function) != stack.end());
      scale_sampled_code(stacks, 0);
    }
  }

  template <class Wanted>
  std::vector<bool> stacks_with(Wanted wanted) const {
    std::vector<bool> frames(trace_.host.frames.size()), stacks(trace_.host.stacks.size());
    for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = wanted(trace_.host.frames[i]);
    for (std::size_t i = 0; i < stacks.size(); ++i)
      stacks[i] =
          std::any_of(trace_.host.stacks[i].begin(), trace_.host.stacks[i].end(), [&](std::uint32_t frame) { return frames[frame]; });
    return stacks;
  }

  // visit(thread, sample) for the samples of the threads of the trace.
  template <class Visit>
  void each_sample(Visit visit) const {
    const auto samples = samples_by_thread(trace_);
    for (std::uint32_t thread = 0; thread < samples.size(); ++thread)
      for (const std::uint32_t sample : samples[thread])
        if (trace_.host.samples[sample].time_ns >= graph_.from_ns && trace_.host.samples[sample].time_ns < graph_.to_ns)
          visit(thread, trace_.host.samples[sample]);
  }

  // The call before which the thread was in its own code then; kNone: it was in a call, or made none afterwards.
  std::uint32_t code_before(std::uint32_t thread, Ns time_ns) const {
    const auto [first, next] = calls_between(thread, 0, time_ns);
    if (thread + std::size_t{1} >= graph_.first_call.size() || next == graph_.first_call[thread + 1]) return kNone;
    return next == first || graph_.calls[next - 1].end_ns <= time_ns ? next : kNone;
  }

  // Where in the windows of a stage code runs: its stage, and the number of the call that follows.
  using Place = std::pair<std::uint32_t, std::uint32_t>;
  struct Share {
    std::size_t wanted = 0, all = 0;  // samples
    void add(bool is_wanted) {
      wanted += is_wanted;
      ++all;
    }
    double left(double factor) const { return 1 - (1 - factor) * static_cast<double>(wanted) / static_cast<double>(all); }
  };

  // Samples fall on few of a function's calls, and less often on Python that keeps the interpreter's lock. Their share of one place in the windows of a stage
  // holds for this place in all windows.
  void scale_sampled_code(const std::vector<bool>& stacks, double factor) {
    std::map<Place, Share> at_place;
    std::map<std::uint32_t, Share> elsewhere;  // by call
    each_sample([&](std::uint32_t thread, const HostSample& sample) {
      const std::uint32_t call = code_before(thread, sample.time_ns);
      if (call == kNone) return;
      const Window* window = innermost(thread, sample.time_ns);
      Share& share = window != nullptr ? at_place[place_in(*window, call)] : elsewhere[call];
      share.add(stacks[sample.stack]);
      if (window != nullptr) sampled_[window->stage].samples += stacks[sample.stack];
    });
    each_place(at_place, [&](const Share& share, const Window& window, std::uint32_t call, std::uint32_t last) {
      if (share.wanted == 0 || call > last) return;
      const Ns gone = shorten(call, share.left(factor), window.start_ns, window.end_ns);
      if (!window.warmup) sampled_[window.stage].time_ns += gone;
    });
    for (const auto& [call, share] : elsewhere)
      if (share.wanted > 0) shorten(call, share.left(factor), 0, graph_.calls[call].start_ns);
  }

  // visit(share, window, call, last) for each of these places in all windows of its stage; `last`: the call after the window's.
  template <class Visit>
  void each_place(const std::map<Place, Share>& places, Visit visit) const {
    for (const Window& window : staged_.windows) {
      const auto [first, last] = calls_between(window.thread, window.start_ns, window.end_ns);
      for (auto at = places.lower_bound({window.stage, 0}); at != places.end() && at->first.first == window.stage; ++at)
        visit(at->second, window, first + at->first.second, last);
    }
  }

  Place place_in(const Window& window, std::uint32_t call) const {
    return {window.stage, call - calls_between(window.thread, window.start_ns, window.end_ns).first};
  }

  // The code before a call, as far as it ran in that time. Returns what goes.
  Ns shorten(std::uint32_t index, double left, Ns start_ns, Ns end_ns) {
    if (index >= graph_.calls.size() || graph_.calls[index].previous == kNone) return 0;
    ReplayCall& call = graph_.calls[index];
    const Ns part = std::min(call.start_ns, end_ns) - std::max(graph_.calls[call.previous].end_ns, start_ns);
    const Ns gone = std::clamp<Ns>(scaled(part, 1 - left), 0, std::max<Ns>(0, call.code_ns));
    call.code_ns -= gone;
    ++touched_;
    return gone;
  }

  // Nothing where it lies far behind many others.
  const Window* innermost(std::uint32_t thread, Ns time_ns) const {
    constexpr int kLooked = 64;
    auto at = std::partition_point(staged_.windows.begin(), staged_.windows.end(), [&](const Window& window) {
      return std::pair(window.thread, window.start_ns) <= std::pair(thread, time_ns);
    });
    for (int looked = 0; at != staged_.windows.begin() && looked < kLooked; ++looked) {
      --at;
      if (at->thread == thread && at->start_ns <= time_ns && time_ns < at->end_ns) return &*at;
    }
    return nullptr;
  }

  // Waits of that line: those in which a sample shows it, and those at the same place of other windows.
  void drop_waits_of_line(const std::string& file, const std::string& line) {
    const std::vector<bool> stacks =
        stacks_with([&](const HostFrame& frame) { return frame.file.ends_with(file) && std::to_string(frame.line) == line; });
    std::map<Place, Share> at_place;
    std::vector<std::uint32_t> seen;
    each_sample([&](std::uint32_t thread, const HostSample& sample) {
      const auto [first, next] = calls_between(thread, 0, sample.time_ns);
      if (next == first || graph_.calls[next - 1].end_ns < sample.time_ns || graph_.calls[next - 1].waits == 0) return;
      if (stacks[sample.stack]) seen.push_back(next - 1);
      if (const Window* window = innermost(thread, sample.time_ns)) at_place[place_in(*window, next - 1)].add(stacks[sample.stack]);
    });
    each_place(at_place, [&](const Share& share, const Window&, std::uint32_t call, std::uint32_t last) {
      if (2 * share.wanted > share.all && call < last && graph_.calls[call].waits > 0) drop_wait(call);
    });
    for (const std::uint32_t call : seen)
      if (graph_.calls[call].waits > 0) drop_wait(call);
  }

  const StagedTrace& staged_;
  const Trace& trace_;
  ReplayGraph& graph_;
  std::vector<std::vector<std::uint32_t>> works_of_call_;
  std::size_t touched_ = 0;
  std::map<std::uint32_t, ChangeEffect::Sampled> sampled_;
  std::set<std::uint32_t> dropped_;  // calls whose waits went
};

struct Changes : HostChanges, GpuChanges {
  Changes(const StagedTrace& staged, ReplayGraph& graph, End end) : HostChanges(staged, graph), GpuChanges(staged.trace, graph, end) {}
  using HostChanges::operator();
  using GpuChanges::operator();
};

}  // namespace

ChangeEffect make_change(const Change& change, const StagedTrace& staged, ReplayGraph& graph, End end) {
  return std::visit(Changes(staged, graph, end), change);
}

}  // namespace nl::analysis
