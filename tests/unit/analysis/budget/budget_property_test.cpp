#include <array>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analysis/stages/iterations.h"
#include "analysis/stages/windows.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

// Random traces, and a slow judge that looks at every nanosecond by itself. It shares the windows and iterations with
// the code under test (those have tests of their own) and nothing else.
namespace {

using nl::kNone;
using nl::Ns;

constexpr Ns kEver = 140;  // times of the random traces lie below

struct Work {
  Ns start = 0, end = 0;
  std::uint32_t api = kNone, process = 0;
  std::int32_t device = 0;
  bool kernel = false;
};

std::uint32_t slot(const nl::Trace& trace, std::uint32_t process) {
  if (trace.processes.size() == 1) return 0;
  return process < trace.processes.size() ? process : static_cast<std::uint32_t>(trace.processes.size());
}

class RandomTrace {
  TraceBuilder builder_;

 public:
  explicit RandomTrace(unsigned seed) : random_(seed), linked_(seed % 2 == 0) {
    make_places();
    make_calls();
    make_work();
    make_ranges();
    trace.duration_ns = kEver;
  }
  bool linked() const { return linked_; }
  nl::Trace& trace = builder_.trace;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }

  void make_places() {
    const int more_processes = below(3);
    for (int i = 0; i < more_processes; ++i) {
      const auto process = builder_.process();
      builder_.thread(process);
      if (chance(50)) builder_.thread(process);
      builder_.queue(process, below(2), 7);
    }
    if (chance(10)) builder_.thread(kNone);
    if (chance(10)) builder_.queue(kNone, 0, 9);
    builder_.queue(0, 0, 13);
  }
  void make_calls() {
    static const char* const names[] = {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy", "cudaStreamSynchronize",
                                        "cudaStreamWaitEvent", "cudaDeviceSynchronize", "cudaGraphLaunch", "cuMemcpyDtoH_v2"};
    const int calls = 3 + below(25);
    for (int i = 0; i < calls; ++i)
      builder_.call(below(kEver - 10), static_cast<std::uint32_t>(below(static_cast<int>(trace.threads.size()))), names[below(8)],
                    static_cast<std::uint64_t>(below(chance(30) ? 25 : 4)));
    std::stable_sort(trace.api_calls.begin(), trace.api_calls.end(), [](const auto& a, const auto& b) {
      return std::pair<std::uint64_t, Ns>(a.thread, a.start_ns) < std::pair<std::uint64_t, Ns>(b.thread, b.start_ns);
    });
  }
  std::uint32_t some_call() {
    if (!linked_ && chance(30)) return kNone;
    return static_cast<std::uint32_t>(below(static_cast<int>(trace.api_calls.size())));
  }
  void make_work() {
    const int count = below(30);
    for (int i = 0; i < count; ++i) {
      const std::uint32_t api = some_call();
      const auto queue = static_cast<std::uint32_t>(below(static_cast<int>(trace.queues.size())));
      // Mostly after its launch, now and then before it.
      Ns start = below(kEver - 20);
      if (api != kNone && chance(70)) start = trace.api_calls[api].start_ns + below(12) - 1;
      const int kind = below(10);
      if (kind < 6)
        builder_.kernel(chance(50) ? "k" : "gemm", start, static_cast<std::uint64_t>(below(12)), api, queue);
      else if (kind < 9)
        builder_.copy(chance(50) ? nl::MemOpKind::kHostToDevice : nl::MemOpKind::kMemset, start, start + below(14) - 1, api, queue);
      else
        builder_.graph(start, start + below(14), api, queue);
    }
  }
  void make_ranges() {
    static const char* const names[] = {"prefill", "decode_all", "decode_step", "decode_step", "decode", "vision", "request", "x"};
    const int count = below(14);
    for (int i = 0; i < count; ++i) {
      const Ns start = below(kEver - 20);
      Ns length = chance(10) ? 0 : chance(40) ? below(60) : below(15);
      if (chance(3)) length = -3;  // a clock that stepped back
      const auto style = chance(25) ? nl::RangeStyle::kStartEnd : nl::RangeStyle::kPushPop;
      const auto thread = static_cast<std::uint32_t>(below(static_cast<int>(trace.threads.size())));
      auto& range = builder_.range(chance(30) ? "" : "LLM", "", start, std::min<Ns>(start + length, kEver), thread, style, chance(5));
      const std::string name = names[below(8)];
      range.name = trace.strings.intern(trace.strings[range.domain].empty() ? "LLM@" + name : name);
      if (chance(10)) range.end_thread = 0;
      if (range.open) range.end_ns = kEver;
    }
  }

  std::mt19937 random_;
  bool linked_;
};

class SlowJudge {
 public:
  SlowJudge(const nl::Trace& trace, const nl::analysis::WarmupRule& rule) : trace_(trace), table_(trace) {
    windows_ = nl::analysis::find_windows(trace, table_);
    plan_ = nl::analysis::plan_iterations(trace, table_, rule, windows_);
    const auto add = [&](Ns start, Ns end, std::uint32_t api, std::uint32_t queue, bool kernel) {
      work_.push_back({start, std::max(start, end), api, slot(trace, trace.queues[queue].process), trace.queues[queue].device, kernel});
    };
    for (const auto& k : trace.kernels) add(k.start_ns, k.end_ns(), k.api, static_cast<std::uint32_t>(k.queue), true);
    for (const auto& m : trace.mem_ops) add(m.start_ns, m.end_ns, m.api, m.queue, false);
    for (const auto& g : trace.graph_runs) add(g.start_ns, g.end_ns, g.api, g.queue, true);
  }

  struct Figures {
    nl::Budget budget;
    Ns foreign_ns = 0;
    std::map<std::int32_t, Ns> devices;
  };
  std::map<std::string, Figures> stages() const {
    std::map<std::string, Figures> all;
    for (const auto& window : windows_) {
      if (window.warmup) continue;
      Figures& figures = all[table_.stages()[window.stage]];
      for (Ns t = window.start_ns; t < window.end_ns; ++t) {
        put(t, window.process, window.thread, window.end_ns, figures.budget);
        bool busy = false, own = false;
        std::set<std::int32_t> devices;
        for (const Work& work : work_) {
          if (work.process != window.process || t < work.start || t >= work.end) continue;
          busy = true;
          devices.insert(work.device);
          own |= launched_in(work, window);
        }
        figures.foreign_ns += busy && !own;
        for (const auto device : devices) ++figures.devices[device];
      }
    }
    return all;
  }

  std::map<std::string, nl::Budget> phases() const {
    std::map<std::string, nl::Budget> all;
    for (std::uint32_t process = 0; process <= trace_.processes.size(); ++process) add_phases(process, all);
    return all;
  }

 private:
  static bool covers(Ns start, Ns end, Ns t) { return start <= t && t < end; }

  bool launched_in(const Work& work, const nl::analysis::Window& window) const {
    if (work.api == kNone || work.start < window.start_ns) return false;
    const auto& call = trace_.api_calls[work.api];
    return call.thread == window.thread && call.start_ns >= window.start_ns && call.end_ns() <= window.end_ns;
  }

  bool waits(std::uint32_t thread, Ns t) const {
    for (const auto& call : trace_.api_calls) {
      if (call.thread != thread || !covers(call.start_ns, call.end_ns(), t)) continue;
      static const std::set<std::string> waiting = {"cudaMemcpy", "cudaStreamSynchronize", "cudaDeviceSynchronize", "cuMemcpyDtoH_v2"};
      if (waiting.count(trace_.strings[call.name]) > 0) return true;
    }
    return false;
  }

  void put(Ns t, std::uint32_t process, std::uint32_t thread, Ns launch_end, nl::Budget& budget) const {
    ++budget.wall_ns;
    bool kernel = false, copy = false;
    Ns idle_since = std::numeric_limits<Ns>::min();
    const Work* next = nullptr;
    for (const Work& work : work_) {
      if (work.process != process) continue;
      if (covers(work.start, work.end, t)) (work.kernel ? kernel : copy) = true;
      if (work.start <= t) idle_since = std::max(idle_since, work.end);
      if (work.start > t && (next == nullptr || work.start < next->start)) next = &work;
    }
    if (kernel) {
      ++budget.gpu_compute_ns;
    } else if (copy) {
      ++budget.exposed_copy_ns;
    } else if (next != nullptr && next->api == kNone) {
      ++budget.residual_ns;
    } else {
      const Ns launch = next == nullptr ? kEver * 10 : std::min(next->start, trace_.api_calls[next->api].start_ns);
      if (next != nullptr && launch <= idle_since)
        ++budget.queue_wait_ns;
      else if (t >= launch)
        ++budget.launch_latency_ns;
      else if (waits(thread, t))
        ++budget.sync_blocked_ns;
      else if (launch < launch_end)
        ++budget.launch_starved_ns;
      else
        ++budget.other_host_ns;
    }
  }

  enum Kind { kKnown, kAround, kOther };
  bool known(std::size_t i) const {
    const std::string& stage = table_.stages()[windows_[i].stage];
    return stage == "prefill" || stage == "decode";
  }
  // The first is the outer one; of two with the same times, the one that comes first.
  bool contains(std::size_t outer, std::size_t inner) const {
    const auto &a = windows_[outer], &b = windows_[inner];
    return outer < inner && !a.warmup && !b.warmup && a.thread == b.thread && a.start_ns <= b.start_ns && a.end_ns >= b.end_ns;
  }
  Kind kind(std::size_t i) const {
    if (known(i)) return kKnown;
    for (std::size_t j = 0; j < windows_.size(); ++j)
      if (contains(i, j) && known(j)) return kAround;
    return kOther;
  }
  bool says_nothing(std::size_t i) const {
    for (std::size_t j = 0; j < windows_.size(); ++j)
      if (contains(j, i) && (kind(j) == kKnown || (kind(i) != kKnown && kind(j) == kind(i)))) return true;
    return false;
  }

  struct Answer {
    std::string name;  // empty: left out
    std::uint32_t thread = kNone;
    Ns end = -1;
    bool operator==(const Answer&) const = default;
  };

  Answer ask(std::uint32_t process, Ns t, std::uint32_t thread_before) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      const auto& w = windows_[i];
      if (!w.warmup && w.process == process && covers(w.start_ns, w.end_ns, t) && !says_nothing(i)) open.push_back(i);
    }
    std::stable_sort(open.begin(), open.end(), [&](auto a, auto b) { return windows_[a].start_ns < windows_[b].start_ns; });
    std::set<std::string> names;
    const nl::analysis::Window* first = nullptr;
    for (const auto i : open) {
      const bool named = std::any_of(open.begin(), open.end(), [&](auto j) {
        return kind(j) != kAround && windows_[j].thread == windows_[i].thread;
      });
      if (kind(i) == kAround && named) continue;
      const std::string& stage = table_.stages()[windows_[i].stage];
      names.insert(stage == "decode_step" ? "decode" : stage);
      if (first == nullptr) first = &windows_[i];
    }
    if (names.size() > 1) return {"mixed", first->thread, -1};
    if (names.size() == 1) return {*names.begin(), first->thread, first->end_ns};
    for (const auto& span : plan_.spans)
      if (span.warmup && slot_of_thread(span.thread) == process && covers(span.start_ns, span.end_ns, t)) return {};
    return {"idle", thread_before, -1};
  }
  std::uint32_t slot_of_thread(std::uint32_t thread) const { return slot(trace_, trace_.threads[thread].process); }

  void add_phases(std::uint32_t process, std::map<std::string, nl::Budget>& all) const {
    Ns first = kEver, last = 0;
    for (const auto& window : windows_) {
      if (window.warmup || window.process != process || window.wall_ns() == 0) continue;
      first = std::min(first, window.start_ns);
      last = std::max(last, window.end_ns);
    }
    std::vector<Answer> answers;
    std::uint32_t thread = kNone;
    for (Ns t = first; t < last; ++t) {
      answers.push_back(ask(process, t, thread));
      if (!answers.back().name.empty() && answers.back().name != "idle") thread = answers.back().thread;
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].name.empty()) continue;
      std::size_t end = i;
      while (end < answers.size() && answers[end] == answers[i]) ++end;
      const Ns launch_end = answers[i].end >= 0 ? answers[i].end : first + static_cast<Ns>(end);
      put(first + static_cast<Ns>(i), process, answers[i].thread, launch_end, all[answers[i].name]);
    }
  }

  const nl::Trace& trace_;
  nl::analysis::StageTable table_;
  std::vector<nl::analysis::Window> windows_;
  nl::analysis::IterationPlan plan_;
  std::vector<Work> work_;
};

std::array<Ns, 9> bins(const nl::Budget& b) {
  return {b.wall_ns,         b.gpu_compute_ns,    b.exposed_copy_ns,   b.queue_wait_ns, b.sync_blocked_ns,
          b.launch_starved_ns, b.launch_latency_ns, b.other_host_ns, b.residual_ns};
}

bool sound(const nl::Budget& b) {
  for (const Ns bin : bins(b))
    if (bin < 0) return false;
  return b.sum_ns() == b.wall_ns;
}

}  // namespace

TEST_CASE("budgets close, and agree with a judge that looks at every nanosecond") {
  std::size_t stages = 0, phases = 0;
  nl::Budget met;  // so that no bin goes untested
  std::set<std::string> phase_names;
  for (unsigned seed = 1; seed <= 600; ++seed) {
    const RandomTrace random(seed);
    nl::analysis::SummaryOptions options;
    if (seed % 3 == 0) options.warmup.mode = nl::analysis::WarmupRule::Mode::kNone;
    nl::Run run;
    nl::analysis::summarise(random.trace, options, run);
    const SlowJudge judge(random.trace, options.warmup);
    auto expected = judge.stages();
    for (const auto& stage : run.stages) {
      INFO("seed " << seed << ", stage " << stage.name);
      REQUIRE(stage.budget);
      REQUIRE(sound(*stage.budget));
      REQUIRE(stage.budget->wall_ns == stage.wall.total_ns);
      if (random.linked()) REQUIRE(stage.budget->residual_ns == 0);
      const auto& slow = expected[stage.name];
      REQUIRE(bins(*stage.budget) == bins(slow.budget));
      REQUIRE(*stage.foreign_gpu_ns == slow.foreign_ns);
      std::map<std::int32_t, Ns> devices;
      for (const auto& device : stage.devices) devices[device.device] = device.busy_ns;
      REQUIRE(devices == slow.devices);
      expected.erase(stage.name);
      ++stages;
      met.exposed_copy_ns += stage.budget->exposed_copy_ns;
      met.queue_wait_ns += stage.budget->queue_wait_ns;
      met.sync_blocked_ns += stage.budget->sync_blocked_ns;
      met.launch_starved_ns += stage.budget->launch_starved_ns;
      met.launch_latency_ns += stage.budget->launch_latency_ns;
      met.other_host_ns += stage.budget->other_host_ns;
      met.residual_ns += stage.budget->residual_ns;
    }
    CHECK(expected.empty());
    auto expected_phases = judge.phases();
    Ns span = 0;
    for (const auto& phase : run.phases.phases) {
      INFO("seed " << seed << ", phase " << phase.name);
      REQUIRE(phase.budget);
      REQUIRE(sound(*phase.budget));
      REQUIRE(phase.budget->wall_ns == phase.wall_ns);
      if (random.linked()) REQUIRE(phase.budget->residual_ns == 0);
      REQUIRE(bins(*phase.budget) == bins(expected_phases[phase.name]));
      expected_phases.erase(phase.name);
      span += phase.wall_ns;
      ++phases;
      phase_names.insert(phase.name);
    }
    INFO("seed " << seed);
    CHECK(expected_phases.empty());
    CHECK(span == run.phases.span_ns);
  }
  CHECK(stages > 1000);
  CHECK(phases > 1000);
  for (const Ns bin : {met.exposed_copy_ns, met.queue_wait_ns, met.sync_blocked_ns, met.launch_starved_ns, met.launch_latency_ns, met.other_host_ns,
                       met.residual_ns})
    CHECK(bin > 100);
  for (const char* name : {"prefill", "decode", "mixed", "idle", "vision", "request"}) CHECK(phase_names.count(name) == 1);
}

TEST_CASE("timelines of random traces overlap nowhere and stay inside their view") {
  std::size_t slices = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    const RandomTrace random(seed);
    nl::Run run;
    nl::analysis::summarise(random.trace, {}, run);
    if (!run.timeline) continue;
    INFO("seed " << seed);
    for (const auto& lane : run.timeline->lanes) {
      Ns until = run.timeline->start_ns;
      REQUIRE_FALSE(lane.slices.empty());
      for (const auto& slice : lane.slices) {
        REQUIRE(slice.start_ns >= until);
        REQUIRE(slice.duration_ns >= 0);
        REQUIRE(slice.name < run.timeline->names.size());
        until = slice.start_ns + slice.duration_ns;
        ++slices;
      }
      REQUIRE(until <= run.timeline->end_ns);
    }
  }
  CHECK(slices > 1000);
}
