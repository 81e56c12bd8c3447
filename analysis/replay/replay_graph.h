#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/codes.h"
#include "model/trace.h"

// The events of a trace and what each waits for, so that they can be given other durations and played once more.
namespace nl::analysis {

inline constexpr Ns kOwnOfWait = 1'500;  // what a wait takes that has nothing to wait for

// A call of CUDA, and the thread's own code before it.
struct ReplayCall {
  Ns start_ns = 0, end_ns = 0;      // as measured
  Ns code_ns = 0;                   // of the thread, since the call before it returned, or since another thread handed over
  Ns own_ns = 0;                    // in the call, if it waits for nothing
  Ns return_ns = 0;                 // from the end of the last work that it waits for to its own end
  std::uint32_t previous = kNone;   // the call before it on its thread
  std::uint32_t handed_by = kNone;  // a call of another thread, after which this thread went on
  std::uint32_t first_wait = 0;     // in ReplayGraph::waited,
  std::uint32_t waits = 0;          // and how many
  std::uint32_t api = kNone;        // index into Trace::api_calls
  CallKind kind = CallKind::kOther;
};

enum class ReplayWorkKind : std::uint8_t { kKernel, kCopy, kGraph };
inline constexpr std::size_t kReplayWorkKinds = 3;

// A kernel, a copy or a whole graph. It begins when all have passed: its launch, the work before it in its queue, that of another queue.
struct ReplayWork {
  Ns start_ns = 0, duration_ns = 0;             // as measured
  Ns latency_ns = 0;                            // from the begin of the call that launched it
  Ns gap_ns = 0, other_gap_ns = 0;              // after the work before it, in its queue and in another one
  Ns delay_ns = 0;                              // after all of these, for a reason that the trace does not show
  std::uint32_t call = kNone;                   // of ReplayGraph::calls; kNone: not known, it begins as measured
  std::uint32_t before = kNone, other = kNone;  // of ReplayGraph::works
  std::uint32_t row = 0;                        // index into kernels, mem_ops or graph_runs of the trace
  std::uint32_t queue = 0;                      // index into Trace::queues; one more: of a queue that the trace does not list
  std::uint32_t collective = kNone;             // of ReplayGraph::collectives
  ReplayWorkKind kind = ReplayWorkKind::kKernel;
  Ns end_ns() const { return start_ns + duration_ns; }
};

// Something that happens at a time: the begin of a call, work on a GPU, the end of a call.
struct ReplayEvent {
  enum class What : std::uint8_t { kCallBegins, kWork, kCallEnds };
  std::uint32_t index = 0;
  What what = What::kWork;
};

// What such a time usually is in this trace, for events whose own is hidden behind another.
struct UsualTimes {
  std::array<Ns, kReplayWorkKinds> latency_ns = {};  // of a launch into a queue that was empty
  Ns gap_ns = 0;                                     // between work that was queued
  Ns return_ns = 0;                                  // of a wait
};

struct ReplayGraph {
  std::vector<ReplayCall> calls;                        // by thread and start
  std::vector<ReplayWork> works;                        // by start
  std::vector<std::uint32_t> waited;                    // works, by the calls that wait for them
  std::vector<std::vector<std::uint32_t>> collectives;  // works of several GPUs that end when the last of them has begun and communicated
  std::vector<ReplayEvent> order;                       // by the time measured; nothing waits for what comes after it
  std::vector<std::uint32_t> first_call;                // by thread, and one more: of calls
  UsualTimes usual;
  Ns from_ns = std::numeric_limits<Ns>::min(), to_ns = std::numeric_limits<Ns>::max();  // of an excerpt: what begins in this time
};

// Of what begins in that time only.
ReplayGraph replay_graph(const Trace& trace, Ns from_ns = std::numeric_limits<Ns>::min(), Ns to_ns = std::numeric_limits<Ns>::max());

// The calls of a thread that begin in that time: the first of them, and the one after the last.
struct CallSpan {
  std::uint32_t first = 0, last = 0;
};
CallSpan calls_between(const ReplayGraph& graph, std::uint32_t thread, Ns start_ns, Ns end_ns);

// By call: the works that it launched, by start.
std::vector<std::vector<std::uint32_t>> works_by_call(const ReplayGraph& graph);

// When everything happens.
struct Replayed {
  std::vector<Ns> call_start_ns, call_end_ns;  // by call
  std::vector<Ns> work_start_ns, work_end_ns;  // by work
};

// Plays the graph: each event as early as what it waits for lets it. In linear time.
Replayed replay(const ReplayGraph& graph);

// When a moment of a thread comes in the replay: in a call or between two, at the same part of it.
Ns replayed_time(const ReplayGraph& graph, const Replayed& replayed, std::uint32_t thread, Ns time_ns);

}  // namespace nl::analysis
