#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/counters.h"
#include "model/host_code.h"
#include "model/time.h"

// Where the time of the stages went. A window is one execution of a stage: the time of one of its ranges.
namespace nl {

// Every nanosecond of one or more windows, in exactly one bin, as one GPU of the window's process sees it. Where the
// process uses several, it is the mean over them. At each instant the first that applies:
struct Budget {
  Ns wall_ns = 0;
  Ns gpu_compute_ns = 0;     // a kernel of the process runs that does not communicate
  Ns exposed_copy_ns = 0;    // neither such a kernel nor communication, but a copy or set does
  Ns queue_wait_ns = 0;      // GPU idle, its next work was launched before it went idle: latency, dependencies
  Ns sync_blocked_ns = 0;    // GPU idle, the stage's thread is inside a call that waits for the GPU
  Ns launch_starved_ns = 0;  // GPU idle, and the call that launches its next work has not begun yet
  Ns other_host_ns = 0;      // GPU idle, and the window launches nothing more
  Ns residual_ns = 0;        // GPU idle before work whose launching call is not in the capture
  Ns launch_latency_ns = 0;  // GPU idle, that call began after the GPU went idle, and its work has not: driver and hardware
  Ns communication_ns = 0;   // no such kernel, but communication with other GPUs does: comes before exposed_copy_ns
  Ns launch_wait_ns() const { return launch_starved_ns + launch_latency_ns; }  // launches in time would hide both
  Ns sum_ns() const {
    return busy_ns() + queue_wait_ns + sync_blocked_ns + launch_starved_ns + launch_latency_ns + other_host_ns + residual_ns;
  }
  Ns busy_ns() const { return gpu_compute_ns + communication_ns + exposed_copy_ns; }
};

// The bins in the order of run.json, and of kBudgetBinKeys.
enum class BudgetBin : std::uint8_t {
  kCompute,
  kCommunication,
  kExposedCopy,
  kQueueWait,
  kSyncBlocked,
  kLaunchStarved,
  kOtherHost,
  kResidual,
  kLaunchLatency,
};
inline constexpr std::size_t kBudgetBins = 9;

// A bin of a budget by its key in run.json.
struct BudgetBinKey {
  const char* key;
  Ns Budget::* time_ns;
};

// In the order of run.json.
inline constexpr std::array<BudgetBinKey, kBudgetBins> kBudgetBinKeys = {{{"gpu_compute_ns", &Budget::gpu_compute_ns},
                                                                          {"communication_ns", &Budget::communication_ns},
                                                                          {"exposed_copy_ns", &Budget::exposed_copy_ns},
                                                                          {"queue_wait_ns", &Budget::queue_wait_ns},
                                                                          {"sync_blocked_ns", &Budget::sync_blocked_ns},
                                                                          {"launch_starved_ns", &Budget::launch_starved_ns},
                                                                          {"other_host_ns", &Budget::other_host_ns},
                                                                          {"residual_ns", &Budget::residual_ns},
                                                                          {"launch_latency_ns", &Budget::launch_latency_ns}}};

// Communication of one kind on one GPU of one process, in the windows of a stage or in the whole capture.
struct Communication {
  Collective kind = Collective::kOther;
  std::int32_t device = 0;
  std::uint32_t pid = 0;
  std::uint64_t count = 0;             // that start there
  Ns sum_ns = 0;                       // their plain sum
  Ns time_ns = 0;                      // one of them runs
  Ns exposed_ns = 0;                   // the part of it in which no compute kernel runs on this GPU
  std::optional<std::uint64_t> bytes;  // peer copies: NCCL's kernels do not say
  std::optional<double> bytes_per_s;
  // The parts of sum_ns before and after the last rank has started, where the ranks' collectives can be paired.
  std::optional<Ns> late_peer_ns, transfer_ns;
  std::optional<std::uint64_t> last_arrivals;  // in how many of them this rank started last,
  std::optional<Ns> behind_ns = {};            // and how long after the last but one; until format 3.9 not known
};

// What happened inside the windows of a stage (not: what was launched there).
struct StageActivity {
  std::uint64_t launches = 0;        // calls that launched GPU work: of the stage's threads, and of those without stages
  Ns launch_call_ns = 0;             // time inside them
  std::uint64_t graph_launches = 0;  // of them, launches of CUDA graphs
  std::uint64_t sync_calls = 0;      // calls of the stage's threads that wait for the GPU, blocking copies among them
  Ns sync_call_ns = 0;
  std::uint64_t kernels = 0;        // that start in the windows
  std::uint64_t graph_kernels = 0;  // of them, nodes of CUDA graphs
  Ns kernel_sum_ns = 0;
  std::uint64_t small_kernels = 0;  // shorter than 10 µs
  Ns small_kernel_ns = 0;
  Ns elementwise_ns = 0;  // kernels that only map one tensor to another, by name
  std::uint64_t elementwise_kernels = 0;
  std::uint64_t longest_elementwise_chain = 0;  // launched one after another on one stream
  Ns gemm_ns = 0;                               // matrix products, by name
  std::uint64_t gemm_kernels = 0;
  Ns attention_ns = 0;
  std::uint64_t attention_kernels = 0;
  Ns reduce_ns = 0;  // sums, maxima, softmax, sampling, by name
  std::uint64_t reduce_kernels = 0;
  Ns norm_ns = 0;  // layer and RMS norms that are one kernel, by name
  std::uint64_t norm_kernels = 0;
  Ns copy_kernel_ns = 0;  // kernels that copy, concatenate or fill, by name
  std::uint64_t copy_kernels = 0;
  Ns cache_copy_ns = 0;  // of them, those that grow or fill a KV cache: cat, index_put, cache writers
  std::uint64_t cache_copy_kernels = 0;
  Ns communication_kernel_ns = 0;  // NCCL, NVSHMEM and their like, by name
  std::uint64_t communication_kernels = 0;
  Ns peer_ns = 0;  // copies from one GPU to another
  std::uint64_t peer_bytes = 0, peer_copies = 0;
  Ns h2d_ns = 0, d2h_ns = 0, d2d_ns = 0, memset_ns = 0;
  std::uint64_t h2d_bytes = 0, d2h_bytes = 0, d2d_bytes = 0;
  std::uint64_t h2d_copies = 0, d2h_copies = 0, d2d_copies = 0, memsets = 0;
  Ns pageable_ns = 0;  // host copies from or to pageable memory
  std::uint64_t pageable_copies = 0;
  std::uint64_t graph_runs = 0;    // CUDA graphs captured at graph level, without their kernels
  Ns longest_gap_ns = 0;           // of GPU idle time
  Ns longest_gap_at_ns = 0;        // when it began
  std::uint32_t streams_used = 0;  // GPU queues with work
};

// Launches that came after the GPU had gone idle, of one kind after one kind of call of the same thread.
struct LateLaunches {
  CallKind before = CallKind::kNone;  // the thread's latest call before that launched, copied or waited
  CallKind launch = CallKind::kOther;
  std::uint64_t count = 0;
  Ns starved_ns = 0;                     // the GPU waited until the call began,
  Ns latency_ns = 0;                     // and from then until the work did
  Ns longest_ns = 0, longest_at_ns = 0;  // of both together
  Ns wait_ns() const { return starved_ns + latency_ns; }
};

// The waits for launches of a stage (Budget::launch_wait_ns), added up over its GPUs, by what the launching threads did.
struct LaunchWaits {
  Ns starved_ns = 0, latency_ns = 0;
  Ns outside_calls_ns = 0;         // of starved_ns: in no CUDA call, but in the program's own code
  std::vector<LateLaunches> late;  // what the GPU waits for longest first
  std::vector<WaitCall> calls;     // calls of the host inside starved_ns, the longest first
  Ns wait_ns() const { return starved_ns + latency_ns; }
};

// Idle time of the GPU in the windows of a stage, from all windows together: gaps between the same two pieces of work at the same place of
// the windows are one. The gaps of a stage add up to the idle time of its budget.
struct StageGap {
  GapKind kind = GapKind::kBetweenLaunches;
  std::string before, after;        // the work around it: the name of a kernel, of a copy; empty: of many, or none in the capture
  bool at_edge = false;             // it lies at the start or end of the windows, as the gap between two steps does
  std::uint64_t count = 0;          // how many gaps
  std::uint64_t windows = 0;        // that have it
  double mean_ns = 0;               // of a window that has it
  std::optional<double> median_ns;  // empty: of between_launches, or there are fewer than three windows
  double wall_share = 0;            // of the stage's wall
  Budget budget;                    // its time by bin, as one GPU sees it; wall_ns: all of it
  Ns after_wait_ns = 0;             // of wall_ns: the launching thread's latest call before was a wait for the GPU
  Ns not_launching_ns = 0;  // of its launch_starved_ns and other_host_ns: the host did what neither a CUDA graph nor a faster launch saves
  std::optional<HostBlame> host;  // what the host ran in it; empty: no samples
};

// One GPU as one process (a rank) uses it, over the process' windows.
struct StageDevice {
  std::int32_t device = 0;
  Ns busy_ns = 0;  // in the windows, union of kernels, copies and sets of every thread
  std::uint32_t pid = 0;
  std::uint64_t windows = 0;
  Ns launched_ns = 0;                  // union of what the windows launched, also where it runs after their end
  Ns kernel_sum_ns = 0;                // kernels that start in the windows, plain sum
  Ns overlapped_communication_ns = 0;  // communication runs, and a compute kernel too: in the budget it is computing
  Budget budget = {};
};

// The GPUs of a stage against each other, where there are several.
struct GpuSpread {
  double busy_share_mean = 0, busy_share_min = 0, busy_share_max = 0;  // busy_ns ÷ wall of each
  double compute_spread = 0;                                           // (most − mean) ÷ mean of the GPUs' computing time in a window
  std::int32_t slowest_device = 0;
  std::uint32_t slowest_pid = 0;
  SlowestBy slowest_by = SlowestBy::kCompute;
  std::optional<double> slowest_last_share;  // of the paired collectives: it started last
  std::optional<double> slowest_late_share;  // of the time by which GPUs were behind all others: it was; until format 3.9 not known
};

inline constexpr std::size_t kMaxListedWindows = 1000;

// The lengths of a stage's measured windows, by their start: the spread of a single run is computed from them.
struct WindowSeries {
  std::vector<Ns> wall_ns;         // at most kMaxListedWindows
  std::uint64_t windows_each = 1;  // more: a value is the median of so many windows that follow each other
  std::uint64_t throttled = 0;     // windows that are not in it: the GPU was slowed against its will
};

// Of the measured windows, where there are enough of them: those that take far longer than the median. What fills them (loading
// GPU code, a garbage collection) does not happen in a usual window, so making usual windows faster does not shorten them.
struct SlowWindows {
  std::uint64_t count = 0;
  Budget budget;  // of these windows
  std::optional<std::uint64_t>
      module_loads;                  // calls of their threads that load GPU code; empty: only calls that launch or wait were captured
  std::optional<Ns> module_load_ns;  // time inside them
};

struct StageEntry {
  std::string name;                 // "prefill", "decode", "decode_step" …
  std::vector<std::string> ranges;  // the spellings it was found under, "LLM:prefill"
  TimeSummary wall;                 // measured windows: warm-up is left out
  std::uint64_t warmup_windows = 0;
  Ns warmup_wall_ns = 0;
  StageSource source = StageSource::kMarked;
  double confidence = 1;          // that its windows are where the stage is: 1 where they are marked
  bool derived = false;           // no ranges of its own: decode as the span of its steps
  std::optional<Ns> gpu_busy_ns;  // union of what measured windows launched on a GPU; of several, their mean
  std::optional<Ns> gpu_sum_ns;   // their plain sum
  std::optional<std::uint64_t> kernel_calls;
  std::uint64_t open_ranges = 0;     // never closed
  std::optional<Budget> budget;      // of the measured windows; empty: no GPU data in the capture
  std::optional<Ns> foreign_gpu_ns;  // of the budget's GPU time: only work ran that was launched outside the window
  std::optional<StageActivity> activity;
  std::optional<LaunchWaits> launch_waits;   // empty: no GPU data in the capture
  std::optional<HostCode> host_code;         // empty: the host was not sampled
  std::vector<StageGap> gaps = {};           // recurring ones first, the longest first; empty: no GPU data, or never idle
  std::vector<StageDevice> devices;          // every GPU that the processes of its windows use, by GPU and process
  std::optional<GpuSpread> gpu_spread;       // empty: one GPU
  std::vector<Communication> communication;  // by GPU, process and kind
  std::optional<double> tokens_per_window;
  std::optional<double> tokens_per_s;
  std::optional<Ns> first_window_ns;     // the first measured window,
  std::optional<double> rest_median_ns;  // and the median of the measured windows after it
  // Where iterations have several windows (decode steps): the medians of each iteration's first, and of all others.
  std::optional<double> first_in_iteration_ns, later_in_iteration_ns;
  Ns longest_window_start_ns = 0;  // the slowest measured window, for looking it up
  Ns longest_window_end_ns = 0;
  std::optional<StageCounters> counters;  // empty: not measured
  std::optional<StageSampling> sampling;
  WindowSeries series;
  std::optional<SlowWindows> slow_windows = {};  // empty: there are none

  // True where its ranges do not wait for the GPU and end before their work does. A few per cent more work than wall time is
  // only the tail of the last kernel.
  bool runs_on() const {
    bool any =
        devices.size() < 2 && gpu_busy_ns && outlasts(static_cast<double>(*gpu_busy_ns), wall.mean_ns * static_cast<double>(wall.count));
    for (const StageDevice& gpu : devices)
      any = any || (devices.size() > 1 && outlasts(static_cast<double>(gpu.launched_ns), static_cast<double>(gpu.budget.wall_ns)));
    return any;
  }
  // True where the host launches before the GPU has done what it was given: most of the GPU's time in a window is then work of earlier ones. How
  // long a single window lasts follows from when the host waits; the mean is what a step takes.
  bool runs_ahead() const {
    if (!foreign_gpu_ns || !budget) return false;
    const Ns busy_ns = budget->gpu_compute_ns + budget->communication_ns + budget->exposed_copy_ns;
    return 2 * busy_ns > budget->wall_ns && 2 * *foreign_gpu_ns > busy_ns;
  }
  static bool outlasts(double work_ns, double wall_ns) { return wall_ns > 0 && work_ns > 1.05 * wall_ns; }
};

// The time from the first stage to the last, each instant in one phase: a stage; "mixed" where different
// stages of several threads overlap; "idle" where none is open. Adds up to Phases::span_ns.
struct Phase {
  std::string name;
  Ns wall_ns = 0;
  std::optional<Budget> budget;
};

struct Phases {
  Ns span_ns = 0;  // warm-up iterations left out
  std::vector<Phase> phases;
  std::optional<double> ranges_without_gpu_share;  // of the stages' wall: windows without any GPU work
  std::optional<double> gpu_without_range_share;   // of the GPUs' busy time: outside every stage's windows
  std::vector<StageDevice> devices = {};           // the whole span, by GPU and process
};

inline constexpr std::size_t kMaxListedIterations = 1000;

struct Iteration {
  Ns start_ns = 0;
  Ns wall_ns = 0;  // from its first stage's start to its last one's end
  bool warmup = false;
  std::vector<std::pair<std::string, Ns>> stages;  // wall of each in it
  std::uint32_t pid = 0, tid = 0;                  // whose it is
};

struct Iterations {
  std::vector<Iteration> list;  // at most kMaxListedIterations; count says how many there are
  std::uint64_t count = 0;
  std::uint64_t warmup = 0;
  std::string rule;  // how warm-up was recognised, in words for the reports
};

struct Latency {                       // of the measured iterations
  std::optional<TimeSummary> ttft;     // time to first token: a request's arrival to the end of its prefill; empty: arrival not known
  std::optional<TimeSummary> prefill;  // start of the iteration to the end of its last prefill before decoding
  std::optional<TimeSummary> tpot;     // time per output token: a decode window ÷ its steps
  std::optional<double> batch;         // sequences at a time; empty: not known, or not always the same
  std::optional<double> output_tokens_per_s;  // generated tokens of all sequences ÷ the iterations' wall
  std::vector<std::string> notes;             // what could not be derived, and what would make it known
};

}  // namespace nl
