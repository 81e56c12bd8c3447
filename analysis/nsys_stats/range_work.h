#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/nsys_stats/call_contexts.h"
#include "analysis/trace/range_index.h"
#include "model/work_rows.h"

namespace nl::analysis {

// GPU work by the ranges that enclose the calls that launched it. Rows are taken in stretches as they are read, and of a kernel only its name and
// duration are kept: a capture can have many more of them than memory has room for traces of them.
//
// Calls between the same starts and ends of their thread's ranges are one context: the same ranges enclose them. First all calls, then all work,
// each in parts that may be added side by side; then finish().
class RangeWork {
 public:
  RangeWork(const Trace& trace, std::size_t call_parts, std::size_t work_parts);
  void add_calls(std::size_t part, std::span<const CallRow> calls);
  void add_kernels(std::size_t part, std::span<const LaunchedRow> kernels);
  void add_mem_ops(std::span<const LaunchedRow> ops);  // not beside others
  void finish();

  // What was launched within a range, as the GPU saw it.
  struct Projection {
    Ns start_ns = std::numeric_limits<Ns>::max();
    Ns end_ns = std::numeric_limits<Ns>::min();
    std::int64_t launches = 0;  // calls, so a graph of many kernels counts once
    void widen(const Projection& other) {
      start_ns = std::min(start_ns, other.start_ns);
      end_ns = std::max(end_ns, other.end_ns);
      launches += other.launches;
    }
  };
  Projection projection(std::uint32_t range) const;

  std::size_t contexts() const { return contexts_.size(); }
  // visit(context) for each that the range encloses.
  template <class Visit>
  void each_context(std::uint32_t range, Visit visit) const {
    const Range& r = trace_.ranges[range];
    if (!encloses_calls(r)) return;
    const Lane& lane = lanes_[r.thread];
    const Ns end_ns = end_of(r);
    const std::uint32_t begun = lane.begun(r.start_ns), begun_then = lane.begun(end_ns), ended = lane.ended(end_ns);
    auto at = std::lower_bound(lane.contexts.begin(), lane.contexts.end(), begun,
                               [&](std::uint32_t context, std::uint32_t least) { return contexts_[context].begun < least; });
    for (; at != lane.contexts.end() && contexts_[*at].begun <= begun_then; ++at)
      if (contexts_[*at].ended <= ended) visit(*at);
  }
  // By thread, the contexts that no range encloses; kNone is the thread of work without a call.
  std::multimap<std::uint32_t, std::uint32_t> outside() const;

  std::vector<ApiStat> kernels_by_name() const;

  // visit(name, duration_ns) for each kernel of a context.
  template <class Visit>
  void each_kernel(std::uint32_t context, Visit visit) const {
    for (std::uint32_t i = first_run_[context]; i < first_run_[context + 1]; ++i) {
      const Run& run = runs_[i];
      for (std::uint64_t at = run.first; at < run.first + run.count; ++at) work_parts_[run.part].kernels.visit(at, visit);
    }
  }

 private:
  // Where a call lies among the ranges of its thread: how many had begun when it did, and how many had ended before it did.
  struct Context {
    std::uint32_t thread = kNone, begun = 0, ended = 0;
  };
  struct Lane {
    std::vector<Ns> starts, ends;                               // of a thread's ranges, each sorted
    std::vector<Ns> latest_end;                                 // of the ranges that begin up to there
    std::unordered_map<std::uint64_t, std::uint32_t> by_place;  // contexts
    std::vector<std::uint32_t> contexts;                        // by place

    std::uint32_t begun(Ns time_ns) const {
      return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), time_ns) - starts.begin());
    }
    std::uint32_t ended(Ns time_ns) const {
      return static_cast<std::uint32_t>(std::lower_bound(ends.begin(), ends.end(), time_ns) - ends.begin());
    }
  };
  // The context of a thread's last call, and the times between which calls share it: start and end are at least the first and before the last, or
  // after the first and at most the last.
  struct Cursor {
    Ns start_from_ns = 1, start_before_ns = 0, end_after_ns = 0, end_to_ns = 0;
    std::uint32_t context = 0;
  };
  struct CallPart {
    CallContexts contexts;
    std::vector<Cursor> cursors;  // by thread
  };
  // Names and durations of kernels, in blocks that never move.
  class Kernels {
   public:
    void add(StringId name, Ns duration_ns);
    std::uint64_t size() const { return size_; }
    template <class Visit>
    void visit(std::uint64_t at, const Visit& visit) const {
      const Kept& kept = blocks_[at / kBlock][at % kBlock];
      visit(kept.name, kept.duration == kLong ? long_.at(at) : static_cast<Ns>(kept.duration));
    }

   private:
    static constexpr std::uint64_t kBlock = 16384;
    static constexpr std::uint32_t kLong = 0xFFFFFFFF;  // it does not fit
    struct Kept {
      StringId name;
      std::uint32_t duration = 0;
    };
    std::vector<std::unique_ptr<Kept[]>> blocks_;
    std::unordered_map<std::uint64_t, Ns> long_;
    std::uint64_t size_ = 0;
  };
  // Kernels of one context, one after another.
  struct Run {
    std::uint64_t first : 40 = 0;
    std::uint64_t part : 24 = 0;
    std::uint32_t count = 0, context = 0;
  };
  static_assert(sizeof(Run) == 16);
  struct WorkPart {
    Kernels kernels;
    std::vector<Run> runs;
    std::vector<Projection> projections;  // by context, without launches
  };

  static bool encloses_calls(const Trace& trace, const Range& range) {
    return range.end_thread == kNone && range.thread < trace.threads.size() && !is_found_stage(trace, range);
  }
  bool encloses_calls(const Range& range) const { return encloses_calls(trace_, range) && range.thread < lanes_.size(); }
  Ns end_of(const Range& range) const { return range.open ? open_end_ns_ : range.end_ns; }
  void make_lanes();
  std::uint32_t context_of(CallPart& part, const CallRow& call);
  Cursor place(const CallRow& call);
  void project(WorkPart& part, std::uint32_t context, const LaunchedRow& row) const;
  void order_runs();
  void sum_projections();

  const Trace& trace_;
  Ns open_end_ns_;
  std::vector<CallPart> call_parts_;
  std::vector<CallContexts*> found_;  // of the parts
  std::vector<WorkPart> work_parts_;

  std::mutex mutex_;         // of lanes and contexts, while calls are added
  std::vector<Lane> lanes_;  // by thread
  std::vector<Context> contexts_;

  std::vector<Run> runs_;                 // by context
  std::vector<std::uint32_t> first_run_;  // by context, and one more
  std::vector<Projection> projections_;   // by context
};

// Durations by name, in the order of the names' ids.
class DurationsByName {
 public:
  void add(StringId name, Ns duration_ns) {
    if (name.value >= by_id_.size()) by_id_.resize(name.value + 1);
    by_id_[name.value].add(duration_ns);
  }
  std::vector<ApiStat> take();

 private:
  std::vector<Durations> by_id_;
};

// All of it, of a trace.
void add_trace(const Trace& trace, RangeWork& work);

}  // namespace nl::analysis
