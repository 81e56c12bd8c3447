#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/backend.h"
#include "model/codes.h"
#include "model/efficiency.h"
#include "model/host_code.h"
#include "model/median_step.h"
#include "model/metrics.h"
#include "model/operator.h"
#include "model/perturbation.h"
#include "model/precision.h"
#include "model/prediction.h"
#include "model/rule.h"
#include "model/serving.h"
#include "model/session.h"
#include "model/stage.h"
#include "model/time.h"
#include "model/timeline.h"
#include "model/trace.h"

// A finished, analysed run: what run.json holds and every report is rendered from. An empty optional
// means "not captured" and is written as null, never as zero.
namespace nl {

inline constexpr const char* kRunSchemaVersion = "3.12.0";

struct StageSplit {
  std::string stage;
  Ns total_ns = 0;
  std::uint64_t calls = 0;
};

// The launches of a kernel in the measured windows of one stage, those of nested stages included.
struct StageLaunches {
  std::string stage;
  Ns total_ns = 0;
  std::uint64_t calls = 0;
};

// One launch that ncu profiled, with the proof that it is the kernel nsys timed.
struct NcuSample {
  std::uint64_t ncu_id = 0;
  Meter measured_by = Meter::kNone;
  std::string ncu_kernel_name;
  KernelMatch matched_by = KernelMatch::kNone;
  Dim3 grid, block;
  std::optional<std::string> stage;     // innermost stage range open at the launch
  Ns nsys_median_ns = 0;                // over nsys' launches of this name, grid and block
  Ns nsys_min_ns = 0, nsys_max_ns = 0;  // far apart where one shape runs on differently sized data
  std::uint64_t nsys_calls = 0;
  std::optional<Ns> ncu_duration_ns;
  std::optional<bool> durations_agree;  // ncu's duration is one that nsys measured too, within what two tools differ by
  MetricValues values;                  // MetricPlace::kLaunch
  std::optional<Bound> bound_by;
  std::optional<MemoryLevel> bound_memory;  // which memory limits it; empty: memory does not, or it was not measured
  std::map<std::string, double> metrics;    // every other number that was asked for, base units
};

struct KernelEntry {
  std::string name;
  std::string mangled_name;
  std::string short_name;
  KernelClass kind = KernelClass::kOther;  // by its name
  std::int32_t device = 0;
  TimeSummary time;
  double gpu_share = 0;                      // of the total time of its GPU's kernels and of graphs captured without theirs, 0..1
  std::uint64_t graph_calls = 0;             // of the calls, those that are CUDA-graph nodes
  std::vector<StageSplit> stages;            // by the outermost stage, warm-up included,
  std::vector<StageSplit> innermost = {};    // and by the innermost; empty: not known, until format 3.3
  std::vector<StageLaunches> measured = {};  // by every stage, warm-up left out
  std::optional<Ns> measured_ns = {};        // of the launches in any measured window, each once; empty: not known, until format 3.2,
  std::optional<std::uint64_t> measured_calls = {};  // and how many they are
  bool selected = false;                             // one of the top-N that ncu was asked for
  std::vector<NcuSample> ncu;
  std::optional<Remark> ncu_note;  // why there is no sample
  std::vector<StallShare> stalls;  // of sampled warps, most frequent first; empty: not sampled

  // As CUPTI names it: C functions have no mangled name of their own.
  const std::string& symbol() const { return mangled_name.empty() ? name : mangled_name; }
};

struct ApiEntry {
  std::string name;
  TimeSummary time;
};

struct RangeEntry {
  std::string domain;
  std::string name;
  RangeStyle style = RangeStyle::kPushPop;
  TimeSummary wall;
  std::optional<Ns> gpu_busy_ns;
  std::optional<std::uint64_t> kernel_calls;
};

// What one process ran on one GPU, over the whole capture.
struct CaptureDevice {
  std::int32_t device = 0;
  std::uint32_t pid = 0;
  Ns busy_ns = 0;  // union of kernels, copies and sets
  Ns kernel_sum_ns = 0;
  Ns communication_ns = 0;  // exposed: no compute kernel runs on the GPU at the same time
  Ns overlapped_communication_ns = 0;
};

struct Coverage {                 // which part of the GPU's time is explained, and which is not
  std::optional<Ns> gpu_busy_ns;  // union over the whole capture, of one GPU; of several, their mean
  std::optional<Ns> kernel_sum_ns;
  std::optional<double> in_stage_share;             // of the kernel time
  std::optional<double> unlinked_share;             // kernels whose launch call is not in the capture
  std::optional<double> graph_only_share;           // GPU time in graphs traced without their kernels
  std::optional<double> graph_unjoined_share = {};  // of the time of graphs' kernels and copies: where they were captured is not known
  std::vector<CaptureDevice> devices = {};          // by GPU and process
};

// Steps that follow each other are traced in rows, and each row is drawn by itself: what is told of all windows by the traced ones is uncertain
// by how much rows differ.
struct SampledStage {
  std::string stage;
  std::uint64_t windows = 0;                // in the whole capture, warm-up left out
  std::uint64_t traced = 0;                 // whose figures the run has
  std::uint64_t always = 0;                 // traced because they came first; left out where enough others are
  std::uint64_t unseen = 0;                 // traced but left out: the GPU may have run work from before
  std::uint64_t rows = 0;                   // of the traced ones that were drawn
  std::optional<double> wall_ns;            // the mean of the traced ones
  std::optional<double> wall_error;         // half of the 95 % interval ÷ mean; empty: too few rows, or all windows are traced
  std::optional<double> untraced_ns;        // the mean of the windows that were not traced
  std::optional<double> gpu_ns, gpu_error;  // GPU time that a traced window launches, and the same of it
  std::optional<double> gpu_total_ns;       // of all windows: extrapolated, with gpu_error
};

struct ClockFit {                                    // how well CPU and GPU times fit each other; see ClockBounds
  std::optional<Ns> error_ns;                        // at most; empty: not known
  std::optional<Ns> launch_slack_ns, wait_slack_ns;  // the two bounds that it comes from
  std::uint64_t contradictions = 0;                  // work that starts before its launch, or ends after a wait for it has returned
  std::string shortest_stage;                        // by its median window; empty: no stages
  std::optional<double> shortest_stage_ns;
  std::optional<double> share_of_shortest_stage;  // error_ns ÷ that, 0..1
};

struct Hardware {
  std::vector<Device> gpus;
  std::string driver_version;
  std::string cpu_model;
  std::uint32_t cpu_count = 0;
  std::uint64_t memory_bytes = 0;
  std::string architecture;  // "x86_64"
};

struct Software {
  std::string nl_stage_version;
  std::string os, kernel;
  std::string cuda_driver_version;
  std::string nsys_version, ncu_version;        // empty: not used
  NamedBackend backend;                         // what ran the model
  std::map<std::string, std::string> versions;  // of the workload's process: python, torch, cuda_runtime …
};

struct Repository {
  std::string path;
  std::string revision;          // empty: none yet
  std::optional<bool> modified;  // files that git tracks differ from it
};

// What kind of program it is, how sure that is, and the stage whose windows are its units of work. The analysis concludes it.
struct WorkloadVerdict {
  WorkloadKind kind = WorkloadKind::kUnknown;
  double confidence = 0;
  std::vector<Remark> witnesses = {};
  std::string unit_stage = {};  // "decode_step", "train_step", "step"; empty: nothing repeats
};

struct Workload {
  std::vector<std::string> command;
  std::string working_directory;
  std::optional<int> exit_status;             // of the first pass
  std::optional<Repository> repository = {};  // of its script, or of where it was started
  WorkloadVerdict verdict = {};
};

struct ModelInfo {
  std::string name;
  std::map<std::string, std::string> attributes;  // architecture, dtype, layers … as configured
  std::string precision = {};                     // in words: "bf16", "int4 weights (gptq), bf16 compute"; empty: not known
  DataType weights_precision = DataType::kNone;
  DataType compute_precision = DataType::kNone;
  std::string digest = {};               // of a model file: "sha256:…", "sha256-sampled:…" of a large one; empty: not known
  std::vector<std::string> dtypes = {};  // of the weights of a model file, as NumPy spells them, most bytes first
};

struct PassRecord {  // one process that we started, or would have
  PassKind kind = PassKind::kNsys;
  std::vector<std::string> argv;
  std::optional<int> exit_status;  // 128 + signal where a signal ended it
  Ns duration_ns = 0;
  PassOutcome outcome = PassOutcome::kFailed;
  std::string detail;
  std::vector<std::string> outputs;  // relative to the bundle
};

struct Provenance {
  Tracer tracer = Tracer::kNone;
  Meter meter = Meter::kNone;               // what measured kernels or stages; kNone: nothing did
  std::optional<Problem> counters_missing;  // why the chosen kernels have none; the rules suggest by its code
  std::vector<PassRecord> passes;
  std::vector<Remark> adaptations;                   // options left out or spelled otherwise, and why
  std::map<std::string, std::string> inputs_sha256;  // imported file → digest
  std::uint64_t workload_starts = 0;                 // planned; 0: it was captured elsewhere
  std::optional<double> expected_s;                  // how long all of them take, judged by the first
  std::optional<double> budget_s;                    // for all passes; nothing: no limit
  std::string captured_at;                           // when the trace began; RFC 3339, UTC; empty: not known
};

// The values of figures, by their keys in model/run_metrics.h; an empty value is not known.
class FigureValues {
 public:
  std::optional<double>& operator[](std::string_view key) { return values_[std::string(key)]; }
  const std::optional<double>& operator[](std::string_view key) const {
    static const std::optional<double> kUnknown;
    const auto found = values_.find(key);
    return found != values_.end() ? found->second : kUnknown;
  }

 private:
  std::map<std::string, std::optional<double>, std::less<>> values_;
};

// The figures that people ask for first, flat, for jq and dashboards: those of model/run_metrics.h that say so.
struct RunSummary {
  FigureValues figures;
  std::string top_finding;  // its rule; empty: no finding asks for a change
};

struct Run {
  std::string schema_version = kRunSchemaVersion;
  std::string run_id;
  std::string created_at;  // RFC 3339, UTC
  std::string name;
  std::string mode = "import";  // which passes there were: deep, light; import: it was captured elsewhere
  RunStatus status = RunStatus::kComplete;
  RunSummary summary;
  std::vector<Problem> problems;
  Hardware hardware;
  Software software;
  ModelInfo model;
  Workload workload;
  std::vector<StageEntry> stages;
  Phases phases;
  Iterations iterations;
  std::optional<MedianStep> median_step = {};  // of the stage that is the unit of the program; empty: it has no window, until format 3.7
  Latency latency;
  std::optional<Serving> serving = {};                // empty: no marks of requests, until format 3.8
  std::optional<std::vector<KernelEntry>> kernels;    // empty optional: not captured
  std::optional<Remark> kernels_note;                 // why there are none
  std::vector<RankEntry> ranks;                       // of captures that were joined, until format 3.9 there are none
  RankMatrix rank_matrix = {};                        // until format 3.10, as what follows of ranks, there is none
  std::vector<CollectiveRate> collective_rates = {};  // those that take the longest first, at most kMaxCollectiveRates
  std::vector<ExpertLoad> expert_loads = {};          // those that cost the most first, until format 3.11 there are none
  std::optional<RankHang> rank_hang = {};             // empty: no rank waits at the end, until format 3.11 not known
  std::vector<RankPair> rank_pairs = {};              // those that wait the longest first, at most kMaxRankPairs
  std::vector<Communication> communication;           // of the whole capture, by GPU, process and kind
  std::vector<ApiEntry> api;
  std::vector<RangeEntry> ranges;
  std::optional<SessionEntry> session;       // a model file that a backend ran; empty: there was a command
  std::vector<OperatorTable> operators;      // one per source
  std::string operators_note;                // why there are none
  std::vector<OperatorStep> operator_steps;  // one representative step of each stage
  std::vector<LayerEntry> layers;
  std::string layers_note;
  std::optional<DevicePeaks> peaks;  // of the first GPU with kernels
  std::vector<StageEfficiency> efficiency;
  Roofline roofline;
  std::vector<Finding> findings;  // what is worth the most first; those about the measurement last
  std::vector<Abstention> abstentions;
  std::optional<WhatIf> what_if;  // of the stage that is the unit of the program; empty: nothing can be replayed
  Perturbation perturbation;
  Energy energy;
  std::optional<HostStacks> host;  // empty: the host was not sampled
  std::optional<Timeline> timeline;
  std::vector<ActivityCurve> activity;  // sampled over the capture; empty: not sampled
  Coverage coverage;
  std::vector<SampledStage> sampled = {};  // capture.duty; empty: every step was traced, until format 3.9
  ClockFit clock;
  ImportStats import_stats;
  DamagedRows ncu_rows_damaged;
  Provenance provenance;
};

}  // namespace nl
