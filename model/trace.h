#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/codes.h"
#include "model/durations.h"
#include "model/host_code.h"
#include "model/metric_series.h"
#include "model/operator.h"
#include "model/ranks.h"
#include "model/session.h"
#include "model/strings.h"
#include "model/time.h"

// What a capture holds, whatever tool made it. Tables refer to each other by index; kNone means "none".
// Times are nanoseconds since the start of the capture. Rows are packed, because a trace of ten
// million kernels is ordinary.
namespace nl {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
  friend auto operator<=>(const Dim3&, const Dim3&) = default;
};

struct Process {
  std::uint32_t pid = 0;
  std::string name;  // the executable, where known
  std::optional<std::uint32_t> rank = {};
};

struct Thread {
  std::uint32_t process = kNone;  // index into Trace::processes
  std::uint32_t tid = 0;
  std::string name;
};

// Where on the GPU work runs: one stream of one context of one device of one process.
struct Queue {
  std::uint32_t process = kNone;
  std::int32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  friend auto operator<=>(const Queue&, const Queue&) = default;
};

// What is launched: a kernel's name and its launch configuration. Few of these, many launches.
struct KernelShape {
  StringId name;          // demangled, as the capturing tool writes it
  StringId short_name;    // the function's base name
  StringId mangled_name;  // empty where the capture has none
  Dim3 grid, block;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t dynamic_shared_bytes = 0;
  friend auto operator<=>(const KernelShape&, const KernelShape&) = default;
};

inline constexpr Ns kMaxPackedDurationNs = (Ns{1} << 44) - 1;  // 4.9 hours

// One kernel execution, in 24 bytes. A row that would not fit (end before start, longer than
// kMaxPackedDurationNs) is damaged and counted as such by the importer.
struct Kernel {
  Ns start_ns = 0;
  std::uint64_t duration_ns : 44 = 0;
  std::uint64_t queue : 19 = 0;    // index into Trace::queues
  std::uint64_t in_graph : 1 = 0;  // a node of a CUDA graph
  std::uint32_t shape = kNone;     // index into Trace::shapes
  std::uint32_t api = kNone;       // index into Trace::api_calls: the call that launched it
  Ns end_ns() const { return start_ns + static_cast<Ns>(duration_ns); }
};
static_assert(sizeof(Kernel) == 24);

enum class MemOpKind : std::uint8_t {
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost,
  kMemset,
  kOther,
};

struct MemOp {
  Ns start_ns = 0;
  Ns end_ns = 0;
  std::uint64_t bytes = 0;
  std::uint32_t queue = kNone;
  std::uint32_t api = kNone;
  std::uint32_t label = 0;  // StringId value: the operation as the tool names it, "[CUDA memset]"
  MemOpKind kind = MemOpKind::kOther;
  std::uint8_t src_kind = 0;  // memory kinds as CUPTI numbers them: 1 pageable, 2 pinned, 3 device
  std::uint8_t dst_kind = 0;
  bool in_graph = false;
};

// A CUDA graph captured at graph level: its kernels are not in the trace.
struct GraphRun {
  Ns start_ns = 0;
  Ns end_ns = 0;
  std::uint32_t queue = kNone;
  std::uint32_t api = kNone;
};

// Where a node of a CUDA graph comes from: for a graph captured from a stream, the call that was captured. Of a clone
// (every graph that runs has been instantiated), this is where the node that it was cloned from was made.
struct GraphNode {
  std::uint32_t thread = kNone;  // index into Trace::threads
  Ns made_ns = 0;
};

// An API call. Trace::api_calls has those that launched GPU work or waited for it; of the others Trace::other_calls has the
// long ones, and Trace::api_stats the durations of all.
struct ApiCall {
  Ns start_ns = 0;
  std::uint64_t duration_ns : 44 = 0;
  std::uint64_t thread : 20 = 0;  // index into Trace::threads
  StringId name;
  std::uint32_t correlation = 0;
  Ns end_ns() const { return start_ns + static_cast<Ns>(duration_ns); }
};
static_assert(sizeof(ApiCall) == 24);

// A wait for the GPU as CUPTI saw it: of a stream, of an event, of a whole context.
enum class SyncKind : std::uint8_t { kUnknown, kEvent, kStreamWaitEvent, kStream, kContext };
struct SyncWait {
  Ns start_ns = 0;
  Ns end_ns = 0;
  Queue where;                    // its stream is 0xFFFFFFFF where the wait is not for one
  std::uint32_t correlation = 0;  // of the call that waited
  std::uint32_t event = 0;
  SyncKind kind = SyncKind::kUnknown;
};

struct ApiStat {
  StringId name;
  Durations durations;
};

// Where importers put the ranges of these frameworks.
inline constexpr std::string_view kTorchDomain = "torch.ops", kOnnxRuntimeDomain = "onnxruntime",
                                  kOnnxRuntimeSessionDomain = "onnxruntime.session";

// Stages that no range of the domain LLM marks are ranges of this domain, named by the stage; their payload is the tokens.
inline constexpr std::string_view kStageDomain = "nl-stage";

struct Range {
  Ns start_ns = 0;
  Ns end_ns = 0;
  StringId name;
  StringId domain;  // empty: the default domain
  std::uint32_t thread = kNone;
  std::uint32_t end_thread = kNone;  // only where another thread ended it
  RangeStyle style = RangeStyle::kPushPop;
  bool open = false;  // never closed: end_ns is the end of the capture
  std::optional<std::int64_t> payload;
};

struct Mark {
  Ns time_ns = 0;
  StringId name;
  StringId domain;
  std::uint32_t thread = kNone;
};

struct Device {
  std::int32_t id = 0;
  std::string name;  // "NVIDIA H200"
  std::string uuid, bus, chip;
  std::uint32_t sm_count = 0;
  std::uint64_t clock_hz = 0, memory_bytes = 0, bandwidth_bytes_per_s = 0, l2_bytes = 0;
  std::uint32_t compute_major = 0, compute_minor = 0;
};

// What the importer met on the way. Every count reaches run.json and the reports.
struct ImportStats {
  SourceFormat source_format = SourceFormat::kNone;
  std::string schema_version;                      // of the export
  std::string tool_version;                        // that captured, "2025.3.1"
  std::map<std::string, std::uint64_t> rows_read;  // table → rows
  DamagedRows rows_damaged;
  std::vector<std::string> tables_absent;  // looked for and not there
  std::vector<Remark> notes;
};

// How far the GPU's times may be off the CPU's. No kernel starts before the call that launched it, and no kernel or copy
// ends after a wait for it has returned: the nearest that they come to either bounds the error from both sides, as far
// as it is the same all through the capture.
struct ClockBounds {
  Ns launch_slack_ns = 0;            // least time from a launching call to its kernel: the GPU's times are at most so late
  std::optional<Ns> wait_slack_ns;   // least time from the end of work to the return of a wait for it: at most so early
  std::uint64_t contradictions = 0;  // how often one of the two is broken; then the slack is negative
  bool consistent() const { return !wait_slack_ns || launch_slack_ns + *wait_slack_ns >= 0; }  // else no one error explains both
  std::optional<Ns> error_ns() const {  // the error is at most this (not consistent: at least); empty: bounded from one side only
    if (!wait_slack_ns) return std::nullopt;
    Ns late_ns = launch_slack_ns < 0 ? -launch_slack_ns : launch_slack_ns;
    Ns early_ns = *wait_slack_ns < 0 ? -*wait_slack_ns : *wait_slack_ns;
    return late_ns > early_ns ? late_ns : early_ns;
  }
};

// Where the ranges of kStageDomain come from.
struct StageOrigin {
  StageSource source = StageSource::kMarked;
  double confidence = 1;
};

// A capture that records GPU work and calls only now and then (capture.duty, pause_gpu_trace() of the collector). Ranges are recorded all
// the time.
struct TracedSpan {
  Ns start_ns = 0, end_ns = 0;
  Ns last_begin_ns = 0;           // a step that begins later may end outside: none such counts. At most end_ns
  std::uint32_t process = kNone;  // index into Trace::processes
};

enum class WindowTracing : std::uint8_t {
  kUntraced,  // it began outside of every span
  kTraced,
  kCut,     // it began in a span and ended outside
  kUnseen,  // the GPU may still have run work from before the span
  kAlways,  // traced because it came first, and not needed: enough others were drawn
};

// A window of a stage before those that were not traced were left out of the trace.
struct SampledWindow {
  Ns start_ns = 0, wall_ns = 0;
  StringId stage;
  std::uint32_t thread = kNone;
  std::uint32_t span = kNone;  // index into DutyCycle::spans
  WindowTracing tracing = WindowTracing::kUntraced;
  bool warmup = false;
};

struct DutyCycle {
  std::vector<TracedSpan> spans;       // by process and time
  std::vector<SampledWindow> windows;  // by thread and time; empty: the trace still has all ranges
  std::vector<Range> left_out;         // ranges that the trace no longer has, because not all of them was traced
};

// A collective of several ranks that were captured apart: kernels of one number belong together.
struct CollectiveCall {
  std::uint32_t kernel = kNone;  // index into Trace::kernels
  std::uint32_t number = 0;
  std::uint32_t members = 0;  // of its group
};

// How much a collective moves, where the capture tells.
struct MessageSize {
  std::uint32_t kernel = kNone;  // index into Trace::kernels
  std::uint32_t members = 0;     // of its group, captured or not
  std::uint64_t bytes = 0;       // the larger of what this member gives and gets
  Collective kind = Collective::kOther;
};

inline constexpr Ns kLongCallNs = 5'000;  // about what a kernel launch takes: the delay by shorter calls does not matter

struct Trace {
  StringPool strings;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Queue> queues;
  std::vector<Device> devices;
  std::vector<KernelShape> shapes;
  std::vector<Kernel> kernels;  // in the order of the capture's rows, or of their start (analysis' order_by_start())
  std::vector<MemOp> mem_ops;
  std::vector<GraphRun> graph_runs;
  std::vector<ApiCall> api_calls;    // sorted by thread, then start
  std::vector<ApiCall> other_calls;  // in the same order; of at least kLongCallNs
  std::vector<ApiStat> api_stats;    // one per function name
  std::vector<SyncWait> syncs;
  std::vector<ApiCall> os_calls;  // of the operating system, by thread and start: of at least kLongCallNs, on threads that call CUDA
  HostSamples host;
  std::vector<GraphNode> graph_nodes;  // that work ran from and of which it is known where they were made
  // By kernel and by memory operation, an index into graph_nodes or kNone; empty where no row has one.
  std::vector<std::uint32_t> kernel_nodes, mem_op_nodes;
  std::vector<Range> ranges;
  std::vector<Mark> marks;
  StageOrigin stage_origin;
  std::optional<DutyCycle> duty;            // empty: all was traced
  RankFacts rank;                           // that the capture is of, as far as it tells
  std::vector<RankEntry> ranks;             // of captures of several ranks that were joined, by rank
  std::vector<CollectiveCall> collectives;  // of those, by kernel
  std::vector<MessageSize> messages;        // by kernel
  std::vector<MetricSeries> metric_series;
  std::vector<StallSample> stalls;           // one per kernel and device
  std::optional<ClockBounds> clock;          // empty: not known
  std::optional<std::int64_t> utc_start_ns;  // UTC at time 0 of the capture
  std::optional<Ns> monotonic_start_ns;      // CLOCK_MONOTONIC of the machine at time 0; empty: not known
  Ns duration_ns = 0;                        // of the capture
  std::optional<Ns> session_end_ns;          // where the tool says so: it ends what was never closed there
  std::optional<Ns> last_range_event_ns;     // the latest time of any range, mark or other annotation
  bool has_kernel_data = false;              // the capture could record kernels (a table is there, if only empty)
  bool has_api_data = false;
  bool has_range_data = false;
  bool has_mem_data = false;
  std::optional<ModelSession> session;  // of a profile of a model file: its nodes one by one, which are ranges too
  std::vector<OperatorDtypes> dtypes;   // of the operators among the ranges, as far as the capture has them
  ImportStats stats;
};

}  // namespace nl
