#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/codes.h"
#include "model/error.h"
#include "model/metrics.h"
#include "model/prediction.h"
#include "model/stage.h"

// Codes into words: the one table of keys (for files), sentences, severities and fixes (for people). How the sentences read:
// docs/glossary.md has the terms.
namespace nl {

struct StageEntry;
struct HostBlame;
struct HostFrame;

struct Words {
  Code code;
  std::string_view key;   // "counters-denied": stands in run.json, never changes
  Severity severity;      // kInfo: worth knowing; kHigh: a problem of the run
  ErrorKind kind;         // decides the exit status where it is a problem
  std::string_view text;  // with {0}, {1} for Remark::details
  std::string_view fix;   // what to do about it, with the same gaps; empty: there is nothing to do
};

const Words& words_of(Code code);

std::string text_of(const Remark& remark);
std::string line_of(const Remark& remark);  // with the place in front of it, where there is one
std::string fix_of(const Remark& remark);
Problem problem_of(const Remark& remark);
Problem problem_of(const Error& error);

// Keys of the enumerations, in their order: what files carry.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kKeys = {};
template <>
inline constexpr auto kKeys<PassKind> = std::to_array<std::string_view>(
    {"nsys", "nsys-export", "nsys-repeat", "nsys-repeat-export", "ncu", "ncu-export-raw", "ncu-export-details", "collector",
     "collector-repeat", "counters-stages", "counters-kernels", "unprofiled", "operators", "operators-export", "calibration"});
template <>
inline constexpr auto kKeys<PassOutcome> = std::to_array<std::string_view>({"ok", "failed", "timeout", "interrupted", "skipped"});
template <>
inline constexpr auto kKeys<Tracer> =
    std::to_array<std::string_view>({"none", "nsys", "collector (CUPTI)", "collector (NVTX only)", "import"});
template <>
inline constexpr auto kKeys<Meter> = std::to_array<std::string_view>({"none", "ncu", "CUPTI"});
template <>
inline constexpr auto kKeys<RankSource> =
    std::to_array<std::string_view>({"none", "given", "environment", "process-group", "file-name", "order"});
template <>
inline constexpr auto kKeys<RankClock> = std::to_array<std::string_view>({"none", "reference", "collectives", "machine", "wall-clock"});
template <>
inline constexpr auto kKeys<SourceFormat> = std::to_array<std::string_view>({"none", "nsys-sqlite", "collector", "kineto", "onnxruntime"});
template <>
inline constexpr auto kKeys<Bound> = std::to_array<std::string_view>({"compute", "memory", "latency"});
template <>
inline constexpr auto kKeys<MemoryLevel> = std::to_array<std::string_view>({"l1", "l2", "dram"});
template <>
inline constexpr auto kKeys<SlowdownVerdict> = std::to_array<std::string_view>({"undecidable", "under the limit", "over the limit"});
template <>
inline constexpr auto kKeys<RepeatsEnd> = std::to_array<std::string_view>({"fixed", "decided", "budget", "most repeats", "stopped"});
template <>
inline constexpr auto kKeys<Assumption> = std::to_array<std::string_view>(
    {"graph drops host code", "graph inputs copied", "wait not needed", "samples tell time", "runs beside", "kernels scale alike",
     "host scales alike", "pinned rate", "fused as longest", "tracer per launch", "copies overlap", "attention in one", "measured ceiling",
     "batch by roofline", "host keeps pace", "weights are read", "scales with peaks"});
template <>
inline constexpr auto kKeys<NoPrediction> =
    std::to_array<std::string_view>({"not replayed", "nothing to change", "already a graph", "no stacks", "no stage", "partial capture",
                                     "no ceiling", "unknown card", "unknown weights"});
template <>
inline constexpr auto kKeys<Binding> = std::to_array<std::string_view>({"gpu", "host code", "launches", "waits"});
template <>
inline constexpr auto kKeys<BudgetBin> =
    std::to_array<std::string_view>({"gpu_compute", "communication", "exposed_copy", "queue_wait", "sync_blocked", "launch_starved",
                                     "other_host", "residual", "launch_latency"});
template <>
inline constexpr auto kKeys<CostBasis> = std::to_array<std::string_view>({"measured", "estimated", "calibrated"});
template <>
inline constexpr auto kKeys<CalibratedCall> = std::to_array<std::string_view>({"launch", "launch amid code", "copy"});
template <>
inline constexpr auto kKeys<LaneKind> = std::to_array<std::string_view>({"ranges", "api", "gpu"});
template <>
inline constexpr auto kKeys<KernelClass> =
    std::to_array<std::string_view>({"gemm", "attention", "elementwise", "copy", "cache_copy", "reduce", "norm", "communication", "other"});
template <>
inline constexpr auto kKeys<RunStatus> = std::to_array<std::string_view>({"complete", "partial", "interrupted", "failed"});
template <>
inline constexpr auto kKeys<Severity> = std::to_array<std::string_view>({"info", "low", "medium", "high"});
template <>
inline constexpr auto kKeys<RuleScope> = std::to_array<std::string_view>({"run", "stage", "kernel", "operator"});
template <>
inline constexpr auto kKeys<RuleAbout> = std::to_array<std::string_view>({"failure", "workload", "measurement"});
template <>
inline constexpr auto kKeys<StageKind> = std::to_array<std::string_view>(
    {"other",     "prefill",   "decode",       "decode_step", "vision",     "vision_encoder", "vision_tower",
     "projector", "request",   "capture",      "batch",       "train_step", "load_data",      "forward",
     "backward",  "optimizer", "denoise_step", "image",       "step",       "mixed",          "idle"});
template <>
inline constexpr auto kKeys<WorkloadKind> =
    std::to_array<std::string_view>({"unknown", "generation", "encoding", "training", "diffusion", "serving", "collective_steps"});
template <>
inline constexpr auto kKeys<StageSource> = std::to_array<std::string_view>({"marked", "engine", "inferred"});
template <>
inline constexpr auto kKeys<HostSampler> = std::to_array<std::string_view>({"none", "python", "nsys", "perf"});
template <>
inline constexpr auto kKeys<HostWork> = std::to_array<std::string_view>(
    {"other", "tokenizer", "sampling", "generation", "model", "framework", "compiler", "sync", "data_loader", "server", "garbage", "user",
     "optimizer", "logging", "json", "sleep", "exchange", "cuda"});
template <>
inline constexpr auto kKeys<GapKind> = std::to_array<std::string_view>({"recurring", "occasional", "between_launches"});
template <>
inline constexpr auto kKeys<OperatorType> = std::to_array<std::string_view>(
    {"other", "matmul", "attention", "norm",  "activation", "elementwise", "reduction", "softmax", "embedding", "convolution",
     "copy",  "cast",   "shape",     "index", "sampling",   "collective",  "fused",     "cache",   "moe",       "control_flow"});
template <>
inline constexpr auto kKeys<KernelMatch> =
    std::to_array<std::string_view>({"none", "mangled_name", "name", "normalised_name", "short_name"});
template <>
inline constexpr auto kKeys<RangeStyle> = std::to_array<std::string_view>({"push_pop", "start_end"});
template <>
inline constexpr auto kKeys<Collective> = std::to_array<std::string_view>(
    {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "send_recv", "peer_copy", "other"});
template <>
inline constexpr auto kKeys<CallKind> = std::to_array<std::string_view>({"none", "kernel_launch", "graph_launch", "copy", "wait", "other"});
template <>
inline constexpr auto kKeys<SlowestBy> = std::to_array<std::string_view>({"arrival", "compute"});
template <>
inline constexpr auto kKeys<EnergySource> = std::to_array<std::string_view>({"none", "energy counter", "power readings"});
template <>
inline constexpr auto kKeys<MetricUnit> =
    std::to_array<std::string_view>({"", "%", "bytes", "bytes/s", "Hz", "1/s", "ns", "W", "MHz", "°C", "J"});
// As docs/rules.md and docs/gate.md call them.
template <>
inline constexpr auto kKeys<CaptureNeed> =
    std::to_array<std::string_view>({"any", "ranges", "nsys", "ncu", "operators", "model", "unprofiled runs", "NVML", "iterations",
                                     "counters", "sampling", "host samples", "the whole trace", "requests"});

std::span<const std::string_view> code_keys();
enum class CompareFigure : std::uint8_t;
std::span<const std::string_view> compare_figure_keys();  // those of the enumeration, then of figures of model/run_metrics without a value

template <class Enum>
std::span<const std::string_view> keys_of() {
  if constexpr (std::is_same_v<Enum, Code>) return code_keys();
  else if constexpr (std::is_same_v<Enum, CompareFigure>) return compare_figure_keys();
  else return kKeys<Enum>;
}
template <class Enum>
  requires std::is_enum_v<Enum>
std::string_view key_of(Enum value) {
  return keys_of<Enum>()[static_cast<std::size_t>(value)];
}
// The way back, for readers: nothing where no value has this key.
template <class Enum>
std::optional<Enum> from_key(std::string_view key) {
  const auto keys = keys_of<Enum>();
  const auto found = std::find(keys.begin(), keys.end(), key);
  if (found == keys.end()) return std::nullopt;
  return static_cast<Enum>(found - keys.begin());
}

// What the host does in such code, as a sentence goes on: "Half of the wait is …".
std::string_view host_work_text(HostWork kind);
// "modeling_qwen3.py:245", "libtorch_cuda.so": the file without its folders, unless it is called __init__.py.
std::string place_text(const HostFrame& frame);
// "audit_tokens (serve.py:10), called by Bookkeeper.put"; of a native function "main!check". Where no line or function stands out, the kind
// of work.
std::string blame_text(const HostBlame& blame);

// Both in one word, "nsys+ncu", "collector (CUPTI+counters)"; empty: nothing was captured. And back.
std::string captured_by(Tracer tracer, Meter meter);
std::optional<std::pair<Tracer, Meter>> capture_of(std::string_view captured_by);

// What a stage, or a phase, is by its name.
inline StageKind stage_kind(std::string_view name) { return from_key<StageKind>(name).value_or(StageKind::kOther); }
// Also what a workload marks as decode_something.
inline bool is_decode(std::string_view name) { return name.starts_with(key_of(StageKind::kDecode)); }
// "decode", "decode (inferred)": where its windows come from stands behind every figure of an unmarked stage.
std::string stage_title(const StageEntry& stage);

// What people call one window of it: "training step", "batch"; a stage of the program's own by its name.
std::string stage_noun(std::string_view stage);
std::string stages_noun(std::string_view stage);  // several: "training steps", "batches"

// What the problems of a run make of it. Problems that are only worth knowing change nothing.
std::optional<ErrorKind> gravest(const std::vector<Problem>& problems);
bool ended_early(const std::optional<ErrorKind>& failure);  // interrupted, or by a timeout
RunStatus status_of(const std::vector<Problem>& problems, bool captured_something);

}  // namespace nl
