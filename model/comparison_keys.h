#pragma once

#include "model/comparison.h"
#include "model/words.h"

// Keys of the codes of a comparison, in their order: what compare.json carries.
namespace nl {

template <>
inline constexpr auto kKeys<CompareVerdict> = std::to_array<std::string_view>({"undecidable", "unchanged", "improved", "regressed"});
template <>
inline constexpr auto kKeys<LineReason> =
    std::to_array<std::string_view>({"decided", "no_difference", "within_noise", "below_minimum", "too_noisy", "drift", "block_order",
                                     "few_runs", "stage_unchanged", "only_in_a", "only_in_b", "not_captured", "not_captured_a",
                                     "not_captured_b", "not_comparable", "rank_only", "no_direction", "stage_undecided"});
template <>
inline constexpr auto kKeys<CompareBasis> =
    std::to_array<std::string_view>({"nothing", "one_run_each", "one_run_one_side", "few_runs", "runs"});
template <>
inline constexpr auto kKeys<RunOrder> = std::to_array<std::string_view>({"unknown", "interleaved", "blocks"});
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
inline constexpr auto kKeys<DifferenceCode> = std::to_array<std::string_view>(
    {"gpu",      "gpu_count",  "clocks",          "power_limit", "throttling", "driver",    "cpu",          "version",
     "backend",  "model",      "precision",       "batch",       "tokens",     "warmup",    "capture_mode", "stage_source",
     "overhead", "run_status", "no_common_stage", "no_stage",    "command",    "mixed_side"});
template <>
inline constexpr auto kKeys<WaterfallPart> = std::to_array<std::string_view>({"kernels", "other_kernels", "bin"});

}  // namespace nl
