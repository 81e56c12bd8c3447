#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/staging/iterations.h"
#include "analysis/staging/windows.h"
#include "tests/unit/analysis/trace_builder.h"

// Random traces, and a slow judge that looks at every nanosecond by itself. It shares the windows and iterations with
// the code under test (those have tests of their own) and nothing else.
namespace nl::test {

constexpr Ns kEver = 140;  // times of the random traces lie below

// A process, as process_slot() numbers it, and one of its GPUs.
using JudgedLane = std::pair<std::uint32_t, std::int32_t>;

struct JudgedWork {
  Ns start = 0, end = 0;
  std::uint32_t api = kNone;
  JudgedLane lane;
  bool kernel = false, graph = false;
  std::optional<Collective> communication;
  std::uint64_t bytes = 0;
  bool computes() const { return (kernel || graph) && !communication; }
};

inline std::uint32_t judged_slot(const nl::Trace& trace, std::uint32_t process) {
  if (trace.processes.size() == 1) return 0;
  return process < trace.processes.size() ? process : static_cast<std::uint32_t>(trace.processes.size());
}

class RandomTrace {
  TraceBuilder builder_;

 public:
  // `gpus`: of several ranks that talk to each other.
  explicit RandomTrace(unsigned seed, int gpus = 0) : random_(seed), gpus_(gpus), linked_(seed % 2 == 0) {
    make_places();
    make_calls();
    make_work();
    if (gpus_ > 0 && chance(60)) make_collectives();
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
      for (int gpu = 0; gpu < gpus_; ++gpu)
        if (chance(50)) builder_.queue(process, gpu, 21 + static_cast<std::uint32_t>(below(2)));
    }
    if (chance(10)) builder_.thread(kNone);
    if (chance(10)) builder_.queue(kNone, 0, 9);
    builder_.queue(0, 0, 13);
  }
  void make_calls() {
    static const char* const names[] = {"cudaLaunchKernel",    "cudaMemcpyAsync",       "cudaMemcpy",      "cudaStreamSynchronize",
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
      const int kind = below(gpus_ > 0 ? 14 : 10);
      if (kind >= 10) make_talk(kind, start, api, queue);
      else if (kind < 6) builder_.kernel(chance(50) ? "k" : "gemm", start, static_cast<std::uint64_t>(below(12)), api, queue);
      else if (kind < 9)
        builder_.copy(chance(50) ? nl::MemOpKind::kHostToDevice : nl::MemOpKind::kMemset, start, start + below(14) - 1, api, queue);
      else builder_.graph(start, start + below(14), api, queue);
    }
  }
  void make_talk(int kind, Ns start, std::uint32_t api, std::uint32_t queue) {
    static const char* const names[] = {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)",
                                        "ncclDevKernel_SendRecv(x)", "void nvshmemi_barrier_kernel<1>(int)"};
    if (kind == 10)
      builder_.copy(MemOpKind::kPeerToPeer, start, start + below(14), api, queue).bytes = static_cast<std::uint64_t>(below(100));
    else builder_.kernel(names[below(3)], start, static_cast<std::uint64_t>(below(16)), api, queue);
  }
  // The same ones on every queue of a GPU's own, each rank a little earlier or later: those can be paired.
  void make_collectives() {
    std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> ranks;
    for (std::uint32_t i = 0; i < trace.queues.size(); ++i) ranks.try_emplace({trace.queues[i].process, trace.queues[i].device}, i);
    for (Ns at = 5 + below(10); at < kEver - 30; at += 16 + below(20))
      for (const auto& [place, queue] : ranks) {
        const Ns start = at + below(7);
        builder_.kernel("ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWork)", start, static_cast<std::uint64_t>(at + 7 + below(4) - start),
                        some_call(), queue);
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
  int gpus_ = 0;
  bool linked_;
};

class SlowJudge {
 public:
  SlowJudge(const nl::Trace& trace, const nl::analysis::WarmupRule& rule) : trace_(trace), table_(trace) {
    windows_ = nl::analysis::find_windows(trace, table_);
    plan_ = nl::analysis::plan_iterations(trace, table_, rule, windows_);
    const auto add = [&](Ns start, Ns end, std::uint32_t api, std::uint32_t queue, bool kernel, bool graph) -> JudgedWork& {
      const JudgedLane lane{judged_slot(trace, trace.queues[queue].process), trace.queues[queue].device};
      lanes_.insert(lane);
      return work_.emplace_back(JudgedWork{start, std::max(start, end), api, lane, kernel, graph, {}, 0});
    };
    for (const auto& k : trace.kernels)
      add(k.start_ns, k.end_ns(), k.api, static_cast<std::uint32_t>(k.queue), true, false).communication =
          talk_of(trace.strings[trace.shapes[k.shape].name]);
    for (const auto& m : trace.mem_ops) {
      JudgedWork& work = add(m.start_ns, m.end_ns, m.api, m.queue, false, false);
      if (m.kind != MemOpKind::kPeerToPeer) continue;
      work.communication = Collective::kPeerCopy;
      work.bytes = m.bytes;
    }
    for (const auto& g : trace.graph_runs) add(g.start_ns, g.end_ns, g.api, g.queue, false, true);
    pair_ranks();
  }

  // What one GPU of one process did in the windows of a stage.
  struct Figures {
    nl::Budget budget;
    Ns foreign_ns = 0, overlapped_ns = 0, kernel_sum_ns = 0;
    struct Talk {
      std::uint64_t count = 0, bytes = 0, last = 0;
      Ns sum = 0, time = 0, exposed = 0, late = 0;
      bool paired = true;
    };
    std::map<Collective, Talk> talk;
  };
  using Lanes = std::map<JudgedLane, Figures>;  // a process without any: device kNowhere
  static constexpr std::int32_t kNowhere = -1;

  // Its GPUs, all that it uses anywhere in the trace.
  std::vector<JudgedLane> lanes_of(std::uint32_t process) const {
    std::vector<JudgedLane> all;
    for (const JudgedLane& lane : lanes_)
      if (lane.first == process) all.push_back(lane);
    if (all.empty()) all.emplace_back(process, kNowhere);
    return all;
  }

  std::map<std::string, Lanes> stages() const {
    std::map<std::string, Lanes> all;
    for (const auto& window : windows_) {
      if (window.warmup) continue;
      Lanes& lanes = all[table_.stages()[window.stage]];
      for (const JudgedLane& lane : lanes_of(window.process)) add_window(window, lane, lanes[lane]);
    }
    return all;
  }

  // Every instant at which a GPU waits in a window for a launch: its time, and the thread that launches.
  std::map<std::string, std::vector<std::pair<Ns, std::uint32_t>>> starved() const {
    std::map<std::string, std::vector<std::pair<Ns, std::uint32_t>>> all;
    for (const auto& window : windows_) {
      if (window.warmup) continue;
      for (const JudgedLane& lane : lanes_of(window.process))
        for (Ns t = window.start_ns; t < window.end_ns; ++t) {
          nl::Budget budget;
          put(t, lane, window.thread, window.end_ns, budget);
          if (budget.launch_starved_ns > 0)
            all[table_.stages()[window.stage]].emplace_back(t,
                                                            static_cast<std::uint32_t>(trace_.api_calls[next_work(t, lane)->api].thread));
        }
    }
    return all;
  }

  std::map<std::string, Lanes> phases() const {
    std::map<std::string, Lanes> all;
    for (std::uint32_t process = 0; process <= trace_.processes.size(); ++process) add_phases(process, all);
    return all;
  }

 private:
  static bool covers(Ns start, Ns end, Ns t) { return start <= t && t < end; }

  static std::optional<Collective> talk_of(const std::string& name) {
    if (name.find("AllReduce") != name.npos) return Collective::kAllReduce;
    if (name.find("AllGather") != name.npos) return Collective::kAllGather;
    if (name.find("SendRecv") != name.npos) return Collective::kSendRecv;
    if (name.find("nvshmem") != name.npos) return Collective::kOther;
    return std::nullopt;
  }

  // The n-th of a kind on each GPU, where all have as many and each lot has an instant in common.
  void pair_ranks() {
    std::map<Collective, std::map<JudgedLane, std::vector<std::size_t>>> all;
    for (std::size_t i = 0; i < work_.size(); ++i)
      if (work_[i].communication && work_[i].kernel) all[*work_[i].communication][work_[i].lane].push_back(i);
    for (auto& [kind, ranks] : all) {
      const std::size_t count = ranks.begin()->second.size();
      bool good = ranks.size() > 1;
      for (auto& [lane, rows] : ranks) {
        std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) { return work_[a].start < work_[b].start; });
        good = good && rows.size() == count;
      }
      std::map<std::size_t, std::pair<Ns, bool>> found;
      for (std::size_t i = 0; good && i < count; ++i) {
        std::vector<Ns> starts, ends;
        for (const auto& [lane, rows] : ranks) {
          starts.push_back(work_[rows[i]].start);
          ends.push_back(work_[rows[i]].end);
        }
        const Ns last = *std::max_element(starts.begin(), starts.end());
        good = last <= *std::min_element(ends.begin(), ends.end());
        for (const auto& [lane, rows] : ranks)
          found[rows[i]] = {last - work_[rows[i]].start,
                            work_[rows[i]].start == last && std::count(starts.begin(), starts.end(), last) == 1};
      }
      if (good) arrivals_.insert(found.begin(), found.end());
    }
  }

  void add_window(const nl::analysis::Window& window, const JudgedLane& lane, Figures& figures) const {
    for (Ns t = window.start_ns; t < window.end_ns; ++t) {
      put(t, lane, window.thread, window.end_ns, figures.budget);
      bool busy = false, own = false, computes = false;
      std::set<Collective> kinds;
      for (const JudgedWork& work : work_) {
        if (work.lane != lane || t < work.start || t >= work.end) continue;
        busy = true;
        own |= launched_in(work, window);
        computes |= work.computes();
        if (work.communication) kinds.insert(*work.communication);
      }
      figures.foreign_ns += busy && !own;
      figures.overlapped_ns += computes && !kinds.empty();
      for (const Collective kind : kinds) {
        ++figures.talk[kind].time;
        figures.talk[kind].exposed += !computes;
      }
    }
    for (std::size_t i = 0; i < work_.size(); ++i) {
      const JudgedWork& work = work_[i];
      if (work.lane != lane || !covers(window.start_ns, window.end_ns, work.start)) continue;
      if (work.kernel) figures.kernel_sum_ns += work.end - work.start;
      if (!work.communication) continue;
      auto& talk = figures.talk[*work.communication];
      ++talk.count;
      talk.bytes += work.bytes;
      talk.sum += work.end - work.start;
      const auto found = arrivals_.find(i);
      talk.paired = talk.paired && found != arrivals_.end();
      if (found == arrivals_.end()) continue;
      talk.late += found->second.first;
      talk.last += found->second.second;
    }
  }

  bool launched_in(const JudgedWork& work, const nl::analysis::Window& window) const {
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

  const JudgedWork* next_work(Ns t, const JudgedLane& lane) const {
    const JudgedWork* next = nullptr;
    for (const JudgedWork& work : work_)
      if (work.lane == lane && work.start > t && (next == nullptr || work.start < next->start)) next = &work;
    return next;
  }

  void put(Ns t, const JudgedLane& lane, std::uint32_t thread, Ns launch_end, nl::Budget& budget) const {
    ++budget.wall_ns;
    bool computes = false, talks = false, copies = false;
    Ns idle_since = std::numeric_limits<Ns>::min();
    const JudgedWork* next = next_work(t, lane);
    for (const JudgedWork& work : work_) {
      if (work.lane != lane) continue;
      if (covers(work.start, work.end, t)) (work.computes() ? computes : work.communication ? talks : copies) = true;
      if (work.start <= t) idle_since = std::max(idle_since, work.end);
    }
    if (computes) {
      ++budget.gpu_compute_ns;
    } else if (talks) {
      ++budget.communication_ns;
    } else if (copies) {
      ++budget.exposed_copy_ns;
    } else if (next != nullptr && next->api == kNone) {
      ++budget.residual_ns;
    } else {
      const Ns launch = next == nullptr ? kEver * 10 : std::min(next->start, trace_.api_calls[next->api].start_ns);
      if (next != nullptr && launch <= idle_since) ++budget.queue_wait_ns;
      else if (t >= launch) ++budget.launch_latency_ns;
      else if (waits(thread, t)) ++budget.sync_blocked_ns;
      else if (launch < launch_end) ++budget.launch_starved_ns;
      else ++budget.other_host_ns;
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
      const bool named =
          std::any_of(open.begin(), open.end(), [&](auto j) { return kind(j) != kAround && windows_[j].thread == windows_[i].thread; });
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
  std::uint32_t slot_of_thread(std::uint32_t thread) const { return judged_slot(trace_, trace_.threads[thread].process); }

  void add_phases(std::uint32_t process, std::map<std::string, Lanes>& all) const {
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
      for (const JudgedLane& lane : lanes_of(process))
        put(first + static_cast<Ns>(i), lane, answers[i].thread, launch_end, all[answers[i].name][lane].budget);
    }
  }

  const nl::Trace& trace_;
  nl::analysis::StageTable table_;
  std::vector<nl::analysis::Window> windows_;
  nl::analysis::IterationPlan plan_;
  std::vector<JudgedWork> work_;  // kernels, copies, graphs: of those that start together the first one leads
  std::set<JudgedLane> lanes_;
  std::map<std::size_t, std::pair<Ns, bool>> arrivals_;  // by work: how long it waits for the last rank, and whether it is that
};

inline std::array<Ns, 10> bins(const nl::Budget& b) {
  return {b.wall_ns,         b.gpu_compute_ns,    b.communication_ns,  b.exposed_copy_ns, b.queue_wait_ns,
          b.sync_blocked_ns, b.launch_starved_ns, b.launch_latency_ns, b.other_host_ns,   b.residual_ns};
}

// The mean over the GPUs of each process, the processes added up: exactly where a process has one, else to the nanosecond below or above.
inline bool is_mean(const nl::Budget& mean, const SlowJudge::Lanes& lanes) {
  std::map<std::uint32_t, std::vector<const nl::Budget*>> processes;
  for (const auto& [lane, figures] : lanes) processes[lane.first].push_back(&figures.budget);
  for (std::size_t bin = 0; bin < bins(mean).size(); ++bin) {
    double exact = 0, tolerance = 0;
    for (const auto& [process, budgets] : processes) {
      double sum = 0;
      for (const nl::Budget* budget : budgets) sum += static_cast<double>(bins(*budget)[bin]);
      exact += sum / static_cast<double>(budgets.size());
      if (budgets.size() > 1 && bin > 0) tolerance += 1;  // the wall is the same for all
    }
    const double off = static_cast<double>(bins(mean)[bin]) - exact;
    if (off > tolerance || -off > tolerance) return false;
  }
  return true;
}

inline bool sound(const nl::Budget& b) {
  for (const Ns bin : bins(b))
    if (bin < 0) return false;
  return b.sum_ns() == b.wall_ns;
}

}  // namespace nl::test
