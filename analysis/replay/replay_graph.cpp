#include "analysis/replay/replay_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analysis/account/peer_waits.h"
#include "analysis/trace/api_kind.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

constexpr Ns kClose = 5'000;             // work that begins so soon after the end of other work, or before it, began because that gave way
constexpr Ns kThreadPause = 20'000;      // a thread without a call for so long may have waited for another thread
constexpr double kSoonAfter = 0.2;       // of its pause: so soon after the other thread's call it went on
constexpr double kManyTimes = 10;        // the usual time of such a call: it waited for something
constexpr std::size_t kFullQueue = 200;  // work in a queue, from which on a launch may have to wait for a place in it

Ns middle_of(std::vector<Ns> values, Ns otherwise) {
  if (values.empty()) return otherwise;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class GraphBuilder {
 public:
  GraphBuilder(const Trace& trace, Ns from_ns, Ns to_ns) : trace_(trace), kinds_(trace), from_ns_(from_ns), to_ns_(to_ns) {}

  ReplayGraph build() {
    add_calls();
    add_works();
    find_usual_times();
    bind_works();
    group_collectives();
    add_waits();
    add_handovers();
    put_in_order();
    return std::move(graph_);
  }

 private:
  using Indices = std::vector<std::uint32_t>;

  bool is_whole() const { return from_ns_ == std::numeric_limits<Ns>::min() && to_ns_ == std::numeric_limits<Ns>::max(); }
  bool is_in(Ns start_ns) const { return start_ns >= from_ns_ && start_ns < to_ns_; }

  void add_calls() {
    call_at_.assign(trace_.api_calls.size(), kNone);
    if (is_whole()) return add_calls(trace_.api_calls, {});
    std::vector<ApiCall> part;
    Indices rows;
    for (std::uint32_t row = 0; row < trace_.api_calls.size(); ++row)
      if (is_in(trace_.api_calls[row].start_ns)) {
        part.push_back(trace_.api_calls[row]);
        rows.push_back(row);
      }
    add_calls(part, rows);
  }

  // rows: where they stand in the trace; empty: they are all of it.
  void add_calls(const std::vector<ApiCall>& some, const Indices& rows) {
    const CallsByThread calls(trace_, some);
    graph_.calls.reserve(some.size());
    process_of_call_.reserve(some.size());
    for (std::uint32_t thread = 0; thread < calls.threads(); ++thread) {
      std::uint32_t previous = kNone;
      graph_.first_call.push_back(static_cast<std::uint32_t>(graph_.calls.size()));
      for (std::size_t at = calls.first(thread); at < calls.last(thread); ++at) {
        const ApiCall& from = calls[at];
        ReplayCall call;
        call.start_ns = from.start_ns;
        call.end_ns = from.end_ns();
        call.own_ns = call.end_ns - call.start_ns;
        call.previous = previous;
        call.code_ns = previous != kNone ? call.start_ns - graph_.calls[previous].end_ns : 0;
        call.api = static_cast<std::uint32_t>(&from - some.data());
        if (!rows.empty()) call.api = rows[call.api];
        call.kind = kinds_.of(from).kind;
        previous = static_cast<std::uint32_t>(graph_.calls.size());
        call_at_[call.api] = previous;
        graph_.calls.push_back(call);
        process_of_call_.push_back(process_slot_of_thread(trace_, thread));
      }
    }
    graph_.first_call.push_back(static_cast<std::uint32_t>(graph_.calls.size()));
  }

  void add_works() {
    in_queue_.resize(trace_.queues.size() + 1);
    const auto add = [&](const auto& row) { add_work(row); };
    if (!is_whole()) return visit_gpu_work_if(trace_, [&](const auto& row) { return is_in(row.start_ns); }, add);
    graph_.works.reserve(gpu_work_count(trace_));
    visit_gpu_work(trace_, add);
  }

  std::uint32_t row_of(const Kernel& row) const { return static_cast<std::uint32_t>(&row - trace_.kernels.data()); }
  std::uint32_t row_of(const MemOp& row) const { return static_cast<std::uint32_t>(&row - trace_.mem_ops.data()); }
  std::uint32_t row_of(const GraphRun& row) const { return static_cast<std::uint32_t>(&row - trace_.graph_runs.data()); }
  static ReplayWorkKind kind_of(const Kernel&) { return ReplayWorkKind::kKernel; }
  static ReplayWorkKind kind_of(const MemOp&) { return ReplayWorkKind::kCopy; }
  static ReplayWorkKind kind_of(const GraphRun&) { return ReplayWorkKind::kGraph; }

  template <class Row>
  void add_work(const Row& row) {
    ReplayWork work;
    work.start_ns = row.start_ns;
    work.duration_ns = end_of(row) - row.start_ns;
    work.call = row.api < call_at_.size() ? call_at_[row.api] : kNone;
    work.row = row_of(row);
    work.kind = kind_of(row);
    Indices& queue = in_queue_[std::min<std::size_t>(row.queue, trace_.queues.size())];
    if (!queue.empty()) work.before = queue.back();
    queue.push_back(static_cast<std::uint32_t>(graph_.works.size()));
    work.queue = static_cast<std::uint32_t>(&queue - in_queue_.data());
    graph_.works.push_back(work);
    measured_end_.push_back(end_of(row));
  }

  Ns launched_ns(const ReplayWork& work) const { return work.call != kNone ? graph_.calls[work.call].start_ns : work.start_ns; }
  Ns ended_before_ns(const ReplayWork& work) const { return work.before != kNone ? graph_.works[work.before].end_ns() : launched_ns(work); }

  // The nodes of a CUDA graph begin as late after its launch as graphs do, not as kernels.
  std::size_t latency_class(const ReplayWork& work) const {
    const bool of_graph = graph_.calls[work.call].kind == CallKind::kGraphLaunch;
    return static_cast<std::size_t>(of_graph ? ReplayWorkKind::kGraph : work.kind);
  }

  void find_usual_times() {
    std::array<std::vector<Ns>, kReplayWorkKinds> latencies;
    std::vector<Ns> gaps;
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i) {
      const ReplayWork& work = graph_.works[i];
      if (work.call == kNone) continue;
      const Ns launched = launched_ns(work), free = ended_before_ns(work);
      if (free <= launched && gave_way_to(i) == kNone) latencies[latency_class(work)].push_back(work.start_ns - launched);
      else if (free <= launched) continue;
      else if (free > graph_.calls[work.call].end_ns + kClose) gaps.push_back(work.start_ns - free);
    }
    constexpr Ns kLatencyOtherwise = 5'000, kGapOtherwise = 1'000;
    for (std::size_t kind = 0; kind < kReplayWorkKinds; ++kind)
      graph_.usual.latency_ns[kind] = std::max<Ns>(0, middle_of(std::move(latencies[kind]), kLatencyOtherwise));
    graph_.usual.gap_ns = std::clamp<Ns>(middle_of(std::move(gaps), kGapOtherwise), 0, kClose);
  }

  // Work of another queue of this GPU that ended about when this work began.
  std::uint32_t gave_way_to(std::uint32_t index) const {
    const ReplayWork& work = graph_.works[index];
    std::uint32_t latest = kNone;
    for (std::size_t queue = 0; queue < in_queue_.size(); ++queue) {
      if (queue == graph_.works[index].queue || !same_gpu(queue, graph_.works[index].queue)) continue;
      const Indices& works = in_queue_[queue];
      auto at = std::lower_bound(works.begin(), works.end(), index);  // works are by start: those before it began no later
      for (int looked = 0; at != works.begin() && looked < 4; ++looked) {
        --at;
        const Ns end = graph_.works[*at].end_ns();
        const bool ended = end <= work.start_ns || (end <= work.start_ns + kClose && graph_.works[*at].start_ns + kClose < work.start_ns);
        if (ended && (latest == kNone || end > graph_.works[latest].end_ns())) latest = *at;
      }
    }
    return latest != kNone && work.start_ns - graph_.works[latest].end_ns() <= kClose ? latest : kNone;
  }

  bool same_gpu(std::size_t a, std::size_t b) const {
    if (a >= trace_.queues.size() || b >= trace_.queues.size()) return false;
    return trace_.queues[a].process == trace_.queues[b].process && trace_.queues[a].device == trace_.queues[b].device;
  }

  void bind_works() {
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i) bind(i);
  }

  void bind(std::uint32_t index) {
    ReplayWork& work = graph_.works[index];
    if (work.call == kNone) return;
    const Ns since_launch = work.start_ns - launched_ns(work);
    const Ns usual_latency = graph_.usual.latency_ns[latency_class(work)];
    work.latency_ns = std::min(since_launch, usual_latency);
    const bool queued = work.before != kNone;
    const Ns since_before = queued ? work.start_ns - graph_.works[work.before].end_ns() : 0;
    if (queued) work.gap_ns = std::min(since_before, graph_.usual.gap_ns);
    if (queued && since_before <= kClose && since_launch > usual_latency) {
      work.gap_ns = since_before;
      return;
    }
    if (since_launch <= 2 * usual_latency) {
      work.latency_ns = since_launch;
      return;
    }
    if (const std::uint32_t other = gave_way_to(index); other != kNone) {
      work.other = other;
      work.other_gap_ns = work.start_ns - graph_.works[other].end_ns();
      return;
    }
    const Ns explained = std::max(work.latency_ns, queued ? since_launch - since_before + work.gap_ns : work.latency_ns);
    work.delay_ns = since_launch - explained;
  }

  // The collectives of the ranks: the n-th of a kind on each, where they overlap. They are counted over the whole trace, whatever part is built.
  void group_collectives() {
    const CommunicationKernels communicating(trace_);
    const GpuLanes lanes(trace_);
    if (!communicating.any() || lanes.size() < 2) return;
    std::vector<std::array<Indices, kCollectives>> of_lane(lanes.size());
    const auto all = start_order_of(trace_.kernels, [&](const Kernel& kernel) { return communicating.of(kernel).has_value(); });
    for (const std::uint32_t row : all) {
      const Kernel& kernel = trace_.kernels[row];
      of_lane[lanes.of_queue(kernel.queue)][static_cast<std::size_t>(*communicating.of(kernel))].push_back(row);
    }
    std::vector<std::uint32_t> work_of(trace_.kernels.size(), kNone);
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i)
      if (graph_.works[i].kind == ReplayWorkKind::kKernel) work_of[graph_.works[i].row] = i;
    for (std::size_t kind = 0; kind < kCollectives; ++kind) {
      std::vector<const Indices*> ranks;
      for (const auto& lane : of_lane)
        if (!lane[kind].empty()) ranks.push_back(&lane[kind]);
      const bool alike = std::all_of(ranks.begin(), ranks.end(), [&](const Indices* rank) { return rank->size() == ranks[0]->size(); });
      if (ranks.size() < 2 || !alike) continue;
      for (std::size_t number = 0; number < ranks[0]->size(); ++number) {
        Indices members;
        for (const Indices* rank : ranks) members.push_back(work_of[(*rank)[number]]);
        if (std::find(members.begin(), members.end(), kNone) == members.end()) group(std::move(members));
      }
    }
  }

  void group(Indices members) {
    Ns last_start = 0, first_end = graph_.works[members[0]].end_ns();
    for (const std::uint32_t member : members) {
      last_start = std::max(last_start, graph_.works[member].start_ns);
      first_end = std::min(first_end, graph_.works[member].end_ns());
    }
    if (last_start > first_end) return;
    for (const std::uint32_t member : members) {
      ReplayWork& work = graph_.works[member];
      work.duration_ns = work.end_ns() - last_start;
      work.collective = static_cast<std::uint32_t>(graph_.collectives.size());
    }
    graph_.collectives.push_back(std::move(members));
  }

  Ns measured_end(std::uint32_t work) const { return measured_end_[work]; }

  void add_waits() {
    own_work_.assign(graph_.calls.size(), kNone);
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i)
      if (graph_.works[i].call != kNone) own_work_[graph_.works[i].call] = i;
    for (std::size_t i = 0; i < trace_.syncs.size(); ++i)
      if (trace_.syncs[i].kind == SyncKind::kStream && is_in(trace_.syncs[i].start_ns))
        sync_of_[number_of(trace_.syncs[i].where.process, trace_.syncs[i].correlation)] = i;
    std::unordered_map<std::uint32_t, std::vector<Ns>> durations;
    for (const ReplayCall& call : graph_.calls)
      if (call.kind != CallKind::kWait) durations[trace_.api_calls[call.api].name.value].push_back(call.own_ns);
    for (auto& [name, all] : durations) usual_call_[name] = middle_of(std::move(all), 0);
    for (std::uint32_t i = 0; i < graph_.calls.size(); ++i) {
      const Indices works = waited_by(i);
      if (!works.empty()) add_waits(graph_.calls[i], works);
    }
    std::vector<Ns> returns;
    for (const ReplayCall& call : graph_.calls)
      if (call.waits > 0 && call.own_ns < call.end_ns - call.start_ns) returns.push_back(call.return_ns);
    graph_.usual.return_ns = std::max<Ns>(0, middle_of(std::move(returns), 3'000));
    for (ReplayCall& call : graph_.calls)
      if (call.waits > 0 && call.own_ns == call.end_ns - call.start_ns) call.return_ns = std::min(call.return_ns, graph_.usual.return_ns);
  }

  void add_waits(ReplayCall& call, const Indices& works) {
    Ns last = measured_end(works[0]);
    for (const std::uint32_t work : works) last = std::max(last, measured_end(work));
    call.first_wait = static_cast<std::uint32_t>(graph_.waited.size());
    call.waits = static_cast<std::uint32_t>(works.size());
    graph_.waited.insert(graph_.waited.end(), works.begin(), works.end());
    call.return_ns = call.end_ns - last;
    if (last > call.start_ns) call.own_ns = std::min(call.own_ns, kOwnOfWait);
  }

  Indices waited_by(std::uint32_t index) {
    const ReplayCall& call = graph_.calls[index];
    const ApiCall& api = trace_.api_calls[call.api];
    const std::uint32_t own = own_work_[index];
    // A copy that had ended when the call returned was waited for, as those of pageable memory are.
    if (own != kNone && measured_end(own) <= call.end_ns) return {own};
    if (call.kind != CallKind::kWait) {
      if (own == kNone || call.own_ns < kThreadPause || static_cast<double>(call.own_ns) < kManyTimes * usual_of(api)) return {};
      return waits_for_place(call, own) ? ended_last_before_return(index) : Indices();
    }
    const SyncKind kind = kinds_.of(api).sync;
    if (kind == SyncKind::kContext || kind == SyncKind::kStream) {
      Indices works = last_launched(index, kind == SyncKind::kStream ? queue_of_wait(api) : std::nullopt);
      const bool fits =
          std::all_of(works.begin(), works.end(), [&](std::uint32_t work) { return measured_end(work) <= call.end_ns + kClose; });
      if (!works.empty() && fits && (kind == SyncKind::kContext || queue_of_wait(api))) return works;
    }
    return ended_last_before_return(index);
  }

  double usual_of(const ApiCall& api) const {
    const auto found = usual_call_.find(api.name.value);
    return found != usual_call_.end() ? static_cast<double>(found->second) : 0;
  }

  bool waits_for_place(const ReplayCall& call, std::uint32_t own) const {
    const Indices& queue = in_queue_[graph_.works[own].queue];
    const auto at = std::lower_bound(queue.begin(), queue.end(), own) - queue.begin();
    const std::ptrdiff_t full = static_cast<std::ptrdiff_t>(kFullQueue);
    return at >= full && measured_end(queue[static_cast<std::size_t>(at - full)]) > call.start_ns;
  }

  // Each process numbers its calls by itself.
  static std::uint64_t number_of(std::uint32_t process, std::uint32_t correlation) { return std::uint64_t{process} << 32 | correlation; }

  std::optional<std::size_t> queue_of_wait(const ApiCall& api) const {
    const auto found = sync_of_.find(number_of(trace_.threads[api.thread].process, api.correlation));
    if (found == sync_of_.end()) return std::nullopt;
    const Queue& where = trace_.syncs[found->second].where;
    const auto queue = std::find(trace_.queues.begin(), trace_.queues.end(), where);
    if (queue == trace_.queues.end()) return std::nullopt;
    return static_cast<std::size_t>(queue - trace_.queues.begin());
  }

  bool of_process(std::size_t queue, std::uint32_t process) const { return process_slot_of_queue(trace_, queue) == process; }

  // How many works of a queue were launched before that time. Launches of a queue are in the order of its work.
  std::size_t launched_before(const Indices& queue, Ns time_ns) const {
    return static_cast<std::size_t>(
        std::partition_point(queue.begin(), queue.end(), [&](std::uint32_t work) { return launched_ns(graph_.works[work]) < time_ns; }) -
        queue.begin());
  }

  // The last work that was launched before the call, of that queue or of each queue of its process.
  Indices last_launched(std::uint32_t index, std::optional<std::size_t> only) const {
    Indices works;
    for (std::size_t queue = 0; queue < in_queue_.size(); ++queue) {
      if (only ? *only != queue : !of_process(queue, process_of_call_[index])) continue;
      const std::size_t count = launched_before(in_queue_[queue], graph_.calls[index].start_ns);
      if (count > 0) works.push_back(in_queue_[queue][count - 1]);
    }
    return works;
  }

  // Of what was launched before the call, the work that ended last before it returned.
  Indices ended_last_before_return(std::uint32_t index) const {
    const ReplayCall& call = graph_.calls[index];
    std::uint32_t latest = kNone;
    for (std::size_t queue = 0; queue < in_queue_.size(); ++queue) {
      if (!of_process(queue, process_of_call_[index])) continue;
      const Indices& works = in_queue_[queue];
      std::size_t count = launched_before(works, call.start_ns);
      const auto ended = std::partition_point(works.begin(), works.begin() + static_cast<std::ptrdiff_t>(count),
                                              [&](std::uint32_t work) { return measured_end(work) <= call.end_ns; });
      if (ended == works.begin()) continue;
      const std::uint32_t last = *(ended - 1);
      if (latest == kNone || measured_end(last) > measured_end(latest)) latest = last;
    }
    return latest != kNone ? Indices{latest} : Indices();
  }

  // Threads that take turns: one makes its last call and pauses, soon after that the other goes on after a pause of its own.
  void add_handovers() {
    Indices by_end(graph_.calls.size());
    for (std::uint32_t i = 0; i < by_end.size(); ++i) by_end[i] = i;
    std::stable_sort(by_end.begin(), by_end.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(process_of_call_[a], graph_.calls[a].end_ns) < std::pair(process_of_call_[b], graph_.calls[b].end_ns);
    });
    for (std::uint32_t i = 0; i < graph_.calls.size(); ++i) {
      ReplayCall& call = graph_.calls[i];
      if (call.previous == kNone || call.code_ns < kThreadPause) continue;
      const auto after = std::upper_bound(by_end.begin(), by_end.end(), i, [&](std::uint32_t, std::uint32_t other) {
        return std::pair(process_of_call_[i], call.start_ns) < std::pair(process_of_call_[other], graph_.calls[other].end_ns);
      });
      if (after == by_end.begin()) continue;
      const std::uint32_t other = *(after - 1);
      if (process_of_call_[other] != process_of_call_[i] || !hands_over(other, i)) continue;
      call.handed_by = other;
      call.code_ns = call.start_ns - graph_.calls[other].end_ns;
    }
  }

  bool hands_over(std::uint32_t from, std::uint32_t to) const {
    const ReplayCall &last = graph_.calls[from], &first = graph_.calls[to];
    if (trace_.api_calls[last.api].thread == trace_.api_calls[first.api].thread) return false;
    if (last.end_ns <= graph_.calls[first.previous].end_ns || last.end_ns >= first.start_ns) return false;
    if (static_cast<double>(first.start_ns - last.end_ns) > kSoonAfter * static_cast<double>(first.code_ns)) return false;
    const std::uint32_t next = from + 1;  // of its thread, if it is of the same
    const bool has_next = next < graph_.calls.size() && graph_.calls[next].previous == from;
    return !has_next || (graph_.calls[next].start_ns > first.start_ns && graph_.calls[next].start_ns - last.end_ns > kThreadPause);
  }

  void put_in_order() {
    struct Timed {
      Ns time_ns;
      ReplayEvent event;
    };
    std::vector<Timed> events;
    events.reserve(2 * graph_.calls.size() + graph_.works.size());
    using What = ReplayEvent::What;
    for (std::uint32_t i = 0; i < graph_.calls.size(); ++i) {
      events.push_back({graph_.calls[i].start_ns, {i, What::kCallBegins}});
      events.push_back({graph_.calls[i].end_ns, {i, What::kCallEnds}});
    }
    for (std::uint32_t i = 0; i < graph_.works.size(); ++i) events.push_back({graph_.works[i].start_ns, {i, What::kWork}});
    // At one time: calls in their order on the thread, then work.
    std::stable_sort(events.begin(), events.end(), [](const Timed& a, const Timed& b) { return a.time_ns < b.time_ns; });
    graph_.order.reserve(events.size());
    for (const Timed& each : events) graph_.order.push_back(each.event);
  }

  const Trace& trace_;
  ApiKinds kinds_;
  Ns from_ns_, to_ns_;
  ReplayGraph graph_;
  Indices call_at_;                             // by index into Trace::api_calls
  std::vector<std::uint32_t> process_of_call_;  // see process_slot()
  std::vector<Indices> in_queue_;               // works by queue, by start; the last one: of queues that the trace does not list
  std::vector<Ns> measured_end_;                // by work; of a collective the graph has the duration from the last arrival on
  Indices own_work_;                            // by call: the last work that it launched
  std::unordered_map<std::uint64_t, std::size_t> sync_of_;  // of streams, by number_of
  std::unordered_map<std::uint32_t, Ns> usual_call_;        // by name: the median duration
};

}  // namespace

ReplayGraph replay_graph(const Trace& trace, Ns from_ns, Ns to_ns) { return GraphBuilder(trace, from_ns, to_ns).build(); }

}  // namespace nl::analysis
