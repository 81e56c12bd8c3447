#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The range vocabulary, and how a range is spelled for each tool.
namespace nl::nvtx {

inline constexpr std::string_view kLlmDomain = "LLM";
inline constexpr std::string_view kPrefill = "prefill";
inline constexpr std::string_view kDecodeAll = "decode_all";
inline constexpr std::string_view kDecodeStep = "decode_step";
// A call of a model of which it is not known whether it generates. It is not a stage: what follows it decides which one it is of.
inline constexpr std::string_view kModelCall = "model_call";
// What JAX does in the first call of a function.
inline constexpr std::string_view kCompile = "compile";
// A second call of a model within one step of denoising.
inline constexpr std::string_view kGuidance = "guidance";
// Operators have a domain of their own, so that "attention" is not taken for a stage.
inline constexpr std::string_view kOperatorDomain = "LLM.ops";
// Modules of the model, "model.layers.0.mlp|LlamaMLP".
inline constexpr std::string_view kLayerDomain = "LLM.layers";
// Lines of the program, "modeling_qwen3.py:245 forward".
inline constexpr std::string_view kLineDomain = "LLM.lines";
// NVIDIA's CUB and Thrust mark their algorithms: nothing of that is the workload's.
inline constexpr std::string_view kCudaLibraryDomain = "CCCL";
// Marks of a clock of the workload's process, "monotonic_ns=81234567890": what else it timed can be joined to the capture.
inline constexpr std::string_view kClockDomain = "LLM.clock";

// Stages that nl-stage found itself are added to a trace as ranges of this domain, named by the stage ("nl-stage:capture").
inline constexpr std::string_view kFoundStageDomain = "nl-stage";

// The domains whose ranges say where the program is: stages, modules, lines, clocks. None of them is work of the program: they are
// not operators.
inline constexpr std::string_view kPlaceDomains[] = {kLlmDomain, kLayerDomain, kLineDomain, kClockDomain, kFoundStageDomain};
// True for a range of these, also for a literal "LLM@prefill" in the default domain.
bool says_place(std::string_view domain, std::string_view name);

struct RangeName {
  std::string domain;  // empty: the default domain
  std::string name;
};

// A literal "LLM@prefill" in the default domain, which is what PyTorch's range_push makes of it, means
// the range prefill of the domain LLM; the same holds for LLM.ops@…, LLM.layers@…, LLM.lines@… and LLM.clock@…; anything else stays as it is.
RangeName normalise_range(std::string_view domain, std::string_view name);

// The stage a range stands for: "prefill", "decode" (decode_all, or decode), "decode_step"; any other
// name of the LLM domain stands for itself; "" where it is not a stage.
std::string stage_of(std::string_view domain, std::string_view name);

// How many tokens the workload says it works on, in a mark of the LLM domain: "tokens prompt=256 batch=2 beams=3 decode=64"
// (or the literal "LLM@tokens …"). Any of the four may be missing; nothing where it is not such a mark, or states none of them.
struct TokenMark {
  std::optional<std::uint64_t> prompt;  // tokens of each sequence
  std::optional<std::uint64_t> batch;   // sequences that the caller gets
  std::optional<std::uint64_t> beams;   // of each of them: a step computes batch × beams rows
  std::optional<std::uint64_t> decode;  // steps after the prompt
};
std::optional<TokenMark> parse_token_mark(std::string_view domain, std::string_view text);

// CLOCK_MONOTONIC as a mark of the domain LLM.clock states it; nothing where it is not such a mark.
std::optional<std::int64_t> parse_clock_mark(std::string_view domain, std::string_view text);

// The range names that make up a configured stage: "decode" → decode_all, decode, decode_step.
std::vector<std::string> ranges_of_stage(std::string_view stage);

// ncu's --nvtx-include expressions for a stage: the LLM domain and the literal name in the default
// domain, push/pop (trailing slash) and start/end, with ncu's special characters escaped.
std::vector<std::string> ncu_include_filters(std::string_view stage);

}  // namespace nl::nvtx
