#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/median_step.h"
#include "model/time.h"
#include "model/words.h"

// What changed from the runs of one side (A) to those of another (B), and whether it is real. docs/compare.md says how each figure is
// made. If A and B are swapped, every change is exactly reversed; a side compared with itself shows no change.
namespace nl {

inline constexpr const char* kCompareSchemaVersion = "2.2.0";
inline constexpr const char* kWholeCapture =
    "whole capture";  // used in place of a stage for captures without stages: the GPU time of their kernels

// kUndecidable: the runs show neither a change nor its absence; Line::reason says why.
enum class CompareVerdict : std::uint8_t { kUndecidable, kUnchanged, kImproved, kRegressed };

// Why a line has its verdict, or none of its values.
enum class LineReason : std::uint8_t {
  kDecided,         // the whole interval lies beyond the minimum effect
  kNoDifference,    // both sides have exactly the same values
  kBelowMinimum,    // the whole interval lies within the minimum effect
  kAtMinimum,       // the interval excludes that nothing changed, and holds the minimum effect
  kTooNoisy,        // the interval holds that nothing changed, and effects that count
  kDrift,           // the runs drift over time, and the sides were captured one after the other
  kBlockOrder,      // the sides ran in blocks: a drift does not show, but cannot be ruled out
  kFewRuns,         // as kTooNoisy, of one run a side
  kStageUnchanged,  // its stage did not change, so this was not compared
  kOnlyInA,
  kOnlyInB,      // the other side has no such thing: added or removed
  kNotCaptured,  // neither side has it
  kNotCapturedA,
  kNotCapturedB,    // that side did not capture it: says nothing about the workload
  kNotComparable,   // the runs are refused, or have no stage in common
  kRankOnly,        // the pair is a guess by rank
  kNoDirection,     // the change is known, but neither more nor less is better
  kStageUndecided,  // it is not known whether its stage changed, so this was not compared
  kNoCommonKernel,  // both sides have kernels, and none in a stage of both
  kOtherTokens,     // windows of another number of tokens take another time by nature
  kRunsOn,          // ranges that end before their work does on the GPU say when it was launched
};

// What the verdicts rest on.
enum class CompareBasis : std::uint8_t {
  kNothing,     // no stage is on both sides
  kOneRunEach,  // the spread of its steps; how much runs differ from each other is taken from other runs
  kFewRuns,     // fewer than three on a side: they count where they differ more than other runs do
  kRuns,        // the runs are the sample
};

// kPairs: each run of A has one of B beside it, and is compared with it.
enum class RunOrder : std::uint8_t { kUnknown, kInterleaved, kBlocks, kPairs };

// Where it is known from how much runs of one build differ.
enum class WanderSource : std::uint8_t {
  kRuns,     // these runs themselves
  kLedger,   // and what was assumed, each by its degrees of freedom
  kAssumed,  // a stated figure of other workloads
};

// What a line says of its subject. comparison_keys.h has the keys. A figure of model/run_metrics without a value here gets
// one behind the last, found by its key.
enum class CompareFigure : std::uint8_t {
  kWall,            // of a window
  kUnprofiledWall,  // the wall time of passes without a profiler
  kGpuWork,         // sum of the kernels and copies that a window launches
  kGpuBusy,         // their union
  kTtft,
  kTpot,
  kPrefill,
  kTokensPerSecond,
  kOutputTokensPerSecond,
  kBin,  // of the budget of a window; Line::key is its key in run.json
  kHostTime,
  kGpuTime,  // own time of an operator or layer, in a window where that is known, else in a call
  kCalls,
  kKernelTime,  // in a window
  kApiTime,     // of the whole capture, a call
  kCounter,     // Line::key is the metric
  kMfu,
  kMbu,
  kJoulesPerToken,
  kJoulesPerWindow,
  kPower,
  kHostWait,  // a stage's wait for launches that fell on one kind of host code, or on one line, in a window
};

// How much runs of one build differ from each other, where too few of them were given to show it.
struct CompareWander {
  WanderSource source = WanderSource::kRuns;
  std::optional<double> spread;  // relative standard deviation; empty: the runs show it, each line by its own
  std::uint64_t runs = 0;        // of the ledger
};

// The median over the runs of a side (over the windows of a single run), with its 95 % interval.
struct CompareEstimate {
  double median = 0;
  std::optional<double> low, high;  // empty: one value
  std::uint64_t samples = 0;        // runs; of a single run its windows
  friend bool operator==(const CompareEstimate&, const CompareEstimate&) = default;
};

// B's median against A's, as the logarithm of the ratio: swapping A and B only changes its sign. Files and people get relative().
struct CompareChange {
  double log_ratio = 0;
  std::optional<double> low, high;   // empty: not tested
  std::optional<double> confidence;  // of the interval: 0.95; more for a line that is told among many
  static double relative(double log_ratio) { return std::expm1(log_ratio); }  // 0.03: B is 3 % more
  friend bool operator==(const CompareChange&, const CompareChange&) = default;
};

struct CompareLine {
  std::string key;          // of its subject: "decode_step", "gpu_compute", "aten::mm", a metric's name
  std::string stage;        // that it lies in; empty: the whole run
  std::string kernel = {};  // that a counter is of; empty: none
  CompareFigure figure = CompareFigure::kWall;
  MetricUnit unit = MetricUnit::kNanoseconds;
  Better better = Better::kLower;
  std::optional<CompareEstimate> a, b;     // empty: that side has none
  std::optional<CompareChange> change;     // empty: not on both sides, or one of them is zero
  std::optional<double> p_value, q_value;  // q: of all lines that were tested together, by Benjamini and Hochberg
  CompareVerdict verdict = CompareVerdict::kUndecidable;
  LineReason reason = LineReason::kNotCaptured;
  std::optional<std::uint64_t> runs_to_decide;  // a side, in turns; empty: decided, or more than a thousand
};

// A section that both formats always have: lines, or the reason why there are none.
struct CompareSection {
  std::vector<CompareLine> lines;     // the largest difference in time first
  std::optional<LineReason> missing;  // set: lines is empty, and null in files
  std::optional<LineReason> note;     // what holds for all of the lines
};

// How two kernels were found to be the same, the surest first.
enum class KernelPairing : std::uint8_t {
  kNone,       // added or removed
  kExact,      // the same mangled name
  kStructure,  // launched by the same operator, in the same layer, at the same position
  kRoot,       // the same function with other template arguments
  kTokens,     // the names share most of their words
  kShape,      // operators of the same shapes launch them
  kRank,       // the same class of kernel, as often, in the order of their time: a guess
};

enum class KernelRelation : std::uint8_t { kSame, kRenamed, kFused, kSplit, kAdded, kRemoved };

struct ComparedKernel {
  std::string name;  // as run.json has it
  std::string short_name;
  double calls = 0;  // in a window of the stage, mean over the runs
  double time_ns = 0;
};

// Kernels of one stage that do the same work. More than one on a side where they were fused or split.
struct KernelPair {
  std::vector<ComparedKernel> a, b;
  KernelPairing paired_by = KernelPairing::kNone;
  KernelRelation relation = KernelRelation::kSame;
  bool fit_for_tuning = true;  // false: do not tune one by the other's figures
  CompareLine line;            // of their time in a window together; its key is the first name
};

struct StageKernels {
  std::string stage;
  bool entered = false;                           // the stage changed: its kernels were tested
  std::optional<LineReason> why_not;              // not entered: its stage did not change, or is undecided
  std::vector<KernelPair> pairs;                  // the largest difference in time first
  double paired_share_a = 0, paired_share_b = 0;  // the part of each side's kernel time in the stage that is in pairs
};

enum class DifferenceCode : std::uint8_t {
  kGpu,
  kGpuCount,
  kClocks,
  kPowerLimit,
  kThrottling,
  kDriver,
  kCpu,
  kVersion,  // of a library; Difference::subject names it
  kBackend,
  kModel,
  kPrecision,
  kBatch,
  kTokens,  // of a stage's windows; Difference::subject names it
  kWarmup,
  kCaptureMode,
  kStageSource,
  kOverhead,   // of profiling, of a stage
  kRunStatus,  // a run that is not complete
  kNoCommonStage,
  kNoStage,    // neither side has any
  kCommand,    // the program or its script; Difference::subject is "arguments" where these alone differ
  kMixedSide,  // the runs of one side differ among themselves: `subject` says in what, a and b are two of the values
  kInputs,     // names, types and shapes of what a model file is given
  kKernels,    // the GPU runs other code; Difference::subject says how much is in common
  kLoad,       // of a window of serving: Difference::subject says what of it
};

// Where the sides differ in what they should have in common.
struct Difference {
  DifferenceCode code = DifferenceCode::kGpu;
  Severity severity = Severity::kInfo;  // kHigh: not comparable unless forced
  std::string subject;                  // a version's name, a stage; empty: the code says it all
  std::string a, b;                     // both values, as the files have them; empty: not known
  friend bool operator==(const Difference&, const Difference&) = default;
};

struct Comparability {
  double score = 1;                     // 0..1: each difference lowers it, by its severity
  std::vector<Difference> differences;  // the gravest first
  bool refused = false;                 // not comparable: there are no lines and no verdict
  bool forced = false;                  // the runs are not comparable, and the comparison was asked for all the same
};

struct ComparedRun {
  std::string run_id, name, captured_at;
  std::uint64_t place = 0;  // in the order of capture over both sides, from 1; 0: not known
  bool left_out = false;    // its GPU was throttled
  std::uint64_t given = 1;  // how often it was given (by path, by name, as a copy); it counts once
};

struct CompareSide {
  std::vector<ComparedRun> runs;
  std::optional<MedianStep> median_step = {};  // the one of middle length of those of its runs; empty: none has one
};

enum class WaterfallPart : std::uint8_t {
  kKernels,       // of kernel pairs; WaterfallRow::key is the first name
  kOtherKernels,  // of the computing time: what no row names, less what ran at the same time
  kBin,           // of the budget; WaterfallRow::key is its key in run.json
};

struct WaterfallRow {
  WaterfallPart part = WaterfallPart::kBin;
  std::string key;
  KernelRelation relation = KernelRelation::kSame;  // of kernels
  Ns a_ns = 0, b_ns = 0;                            // of one window, mean over windows and runs
};

// From A's window of one stage to B's. The rows' a_ns add up to a_ns exactly, and b_ns to b_ns.
struct Waterfall {
  std::string stage;
  Ns a_ns = 0, b_ns = 0;           // means: medians of parts would not add up
  std::vector<WaterfallRow> rows;  // kernels first, then the bins; each by the size of its difference
};

struct Comparison {
  std::string schema_version = kCompareSchemaVersion;
  CompareSide a, b;
  Comparability comparability;
  CompareBasis basis = CompareBasis::kNothing;
  RunOrder order = RunOrder::kUnknown;
  CompareWander wander;
  std::optional<double> drift_per_run;  // relative, of the main stage; empty: not looked at
  bool drift_significant = false;
  CompareVerdict verdict = CompareVerdict::kUndecidable;
  LineReason reason = LineReason::kNotCaptured;
  std::string main_stage;              // that the verdict and the waterfall are about; empty: none
  std::optional<Waterfall> waterfall;  // empty: no budgets
  CompareSection headline, stages, budget, operators, layers, api;
  std::vector<StageKernels> kernels;
  std::optional<LineReason> kernels_missing;
  CompareSection nsys_counters;  // of stages, sampled over time
  CompareSection ncu_counters;   // of stages and kernels, counted: ncu or CUPTI
  CompareSection efficiency, energy, host_code;
};

// The changes that a reader wants to hear of first: that of the main stage, then of the other stages, then of figures of the whole run. Each
// subject once, by its unprofiled time where that changed.
std::vector<const CompareLine*> headline_changes(const Comparison& comparison);
// Whether any of these is for the worse.
bool any_regressed(const Comparison& comparison);

// Keys of the codes, in their order: what compare.json carries.
template <>
inline constexpr auto kKeys<CompareVerdict> = std::to_array<std::string_view>({"undecidable", "unchanged", "improved", "regressed"});
template <>
inline constexpr auto kKeys<LineReason> = std::to_array<std::string_view>(
    {"decided",        "no_difference",   "below_minimum", "at_minimum",      "too_noisy",        "drift",          "block_order",
     "few_runs",       "stage_unchanged", "only_in_a",     "only_in_b",       "not_captured",     "not_captured_a", "not_captured_b",
     "not_comparable", "rank_only",       "no_direction",  "stage_undecided", "no_common_kernel", "other_tokens",   "runs_on"});
template <>
inline constexpr auto kKeys<CompareBasis> = std::to_array<std::string_view>({"nothing", "one_run_each", "few_runs", "runs"});
template <>
inline constexpr auto kKeys<RunOrder> = std::to_array<std::string_view>({"unknown", "interleaved", "blocks", "pairs"});
template <>
inline constexpr auto kKeys<WanderSource> = std::to_array<std::string_view>({"runs", "ledger", "assumed"});
template <>
inline constexpr auto kKeys<Better> = std::to_array<std::string_view>({"neither", "lower", "higher"});
template <>
inline constexpr auto kKeys<CompareFigure> = std::to_array<std::string_view>({"wall",
                                                                              "unprofiled_wall",
                                                                              "gpu_work",
                                                                              "gpu_busy",
                                                                              "ttft",
                                                                              "tpot",
                                                                              "prefill",
                                                                              "tokens_per_s",
                                                                              "output_tokens_per_s",
                                                                              "bin",
                                                                              "host_time",
                                                                              "gpu_time",
                                                                              "calls",
                                                                              "kernel_time",
                                                                              "api_time",
                                                                              "counter",
                                                                              "mfu",
                                                                              "mbu",
                                                                              "joules_per_token",
                                                                              "joules_per_window",
                                                                              "power",
                                                                              "host_wait"});
template <>
inline constexpr auto kKeys<KernelPairing> =
    std::to_array<std::string_view>({"none", "exact", "structure", "root", "tokens", "shape", "rank"});
template <>
inline constexpr auto kKeys<KernelRelation> = std::to_array<std::string_view>({"same", "renamed", "fused", "split", "added", "removed"});
template <>
inline constexpr auto kKeys<DifferenceCode> =
    std::to_array<std::string_view>({"gpu",          "gpu_count",    "clocks",   "power_limit", "throttling",      "driver",   "cpu",
                                     "version",      "backend",      "model",    "precision",   "batch",           "tokens",   "warmup",
                                     "capture_mode", "stage_source", "overhead", "run_status",  "no_common_stage", "no_stage", "command",
                                     "mixed_side",   "inputs",       "kernels",  "load"});
template <>
inline constexpr auto kKeys<WaterfallPart> = std::to_array<std::string_view>({"kernels", "other_kernels", "bin"});

}  // namespace nl
