#include "model/words.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <array>

namespace nl {
namespace {

constexpr auto kCodeCount = static_cast<std::size_t>(Code::kCount_);

constexpr std::array<Words, kCodeCount> kWords = {{
    {Code::kNoStages, "no-stages", Severity::kMedium, ErrorKind::kCapture, "No stage is marked in this capture.",
     "Mark prefill and decode with NVTX ranges of the domain LLM; docs/stages.md shows how."},
    {Code::kNoKernelInStages, "no-kernel-in-stages", Severity::kMedium, ErrorKind::kCapture,
     "No kernel was launched inside the stages.", "Mark the stages on the threads that launch kernels."},
    {Code::kNoKernels, "no-kernels", Severity::kMedium, ErrorKind::kCapture, "The workload ran no kernel on the GPU.",
     "Check that the workload uses the GPU."},
    {Code::kGraphsWithoutKernels, "graphs-without-kernels", Severity::kMedium, ErrorKind::kCapture,
     "CUDA graphs were captured at graph level (kernels inside not visible).",
     "--set nsys.cuda_graph_trace=node, for the collector --set capture.cuda_graphs=node"},

    {Code::kCountersDenied, "counters-denied", Severity::kHigh, ErrorKind::kTool,
     "{0} may not read the GPU's performance counters.",
     "Run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
     "/etc/modprobe.d/nvidia-profiling.conf, then reboot."},
    {Code::kCountersBusy, "counters-busy", Severity::kHigh, ErrorKind::kCapture,
     "Another profiler holds the GPU's performance counters.",
     "Stop it: `dcgmi profile --pause`, other ncu or nsys --gpu-metrics sessions."},
    {Code::kCountersOff, "counters-off", Severity::kInfo, ErrorKind::kCapture, "Counters are switched off ({0}).", ""},
    {Code::kToolNotFound, "tool-not-found", Severity::kHigh, ErrorKind::kTool, "{0} was not found.",
     "`nl-stage doctor` lists where it looked."},

    {Code::kNote, "note", Severity::kInfo, ErrorKind::kCapture, "{0}", ""},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCodeCount; ++i)
    if (kWords[i].code != static_cast<Code>(i)) return false;
  return true;
}
static_assert(in_order(), "kWords has one row for each Code, in the order of model/codes.h");

std::string filled(std::string_view pattern, const std::vector<std::string>& details) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const auto& detail : details) arguments.push_back(std::cref(detail));
  return fmt::vformat(pattern, arguments);
}

// Keys of an enumeration, in its order.
template <class Enum>
struct Keys;
template <>
struct Keys<PassKind> {
  static constexpr std::string_view list[] = {
      "nsys", "nsys-export", "nsys-repeat", "nsys-repeat-export", "ncu", "ncu-export-raw", "ncu-export-details",
      "collector", "collector-repeat", "counters-stages", "counters-kernels", "unprofiled"};
};
template <>
struct Keys<PassOutcome> {
  static constexpr std::string_view list[] = {"ok", "failed", "timeout", "interrupted", "skipped"};
};
template <>
struct Keys<Tracer> {
  static constexpr std::string_view list[] = {"none", "nsys", "collector (CUPTI)", "collector (NVTX only)", "import"};
};
template <>
struct Keys<Meter> {
  static constexpr std::string_view list[] = {"none", "ncu", "CUPTI"};
};
template <>
struct Keys<SourceFormat> {
  static constexpr std::string_view list[] = {
      "none", "nsys-sqlite", "collector", "kineto", "onnxruntime", "trtexec", "ncu",
      "trtexec-layers", "nsys-report", "ncu-report", "bundle"};
};
template <>
struct Keys<Bound> {
  static constexpr std::string_view list[] = {"compute", "memory", "latency"};
};
template <>
struct Keys<SlowdownVerdict> {
  static constexpr std::string_view list[] = {"undecidable", "under 10 %", "over 10 %"};
};
template <>
struct Keys<LaneKind> {
  static constexpr std::string_view list[] = {"ranges", "api", "gpu"};
};

template <class Enum>
std::string_view key_in(Enum value) {
  return Keys<Enum>::list[static_cast<std::size_t>(value)];
}

}  // namespace

const Words& words_of(Code code) { return kWords[static_cast<std::size_t>(code)]; }

std::optional<Code> code_of(std::string_view key) {
  for (const auto& words : kWords)
    if (words.key == key) return words.code;
  return std::nullopt;
}

std::string text_of(const Remark& remark) { return filled(words_of(remark.code).text, remark.details); }
std::string fix_of(const Remark& remark) { return filled(words_of(remark.code).fix, remark.details); }

std::string_view key_of(Code code) { return words_of(code).key; }
std::string_view key_of(PassKind pass) { return key_in(pass); }
std::string_view key_of(PassOutcome outcome) { return key_in(outcome); }
std::string_view key_of(Tracer tracer) { return key_in(tracer); }
std::string_view key_of(Meter meter) { return key_in(meter); }
std::string_view key_of(SourceFormat format) { return key_in(format); }
std::string_view key_of(Bound bound) { return key_in(bound); }
std::string_view key_of(SlowdownVerdict verdict) { return key_in(verdict); }
std::string_view key_of(LaneKind kind) { return key_in(kind); }

template <class Enum>
std::optional<Enum> from_key(std::string_view key) {
  const auto& list = Keys<Enum>::list;
  for (std::size_t i = 0; i < std::size(list); ++i)
    if (list[i] == key) return static_cast<Enum>(i);
  return std::nullopt;
}
template <>
std::optional<Code> from_key(std::string_view key) {
  return code_of(key);
}
template std::optional<PassKind> from_key(std::string_view);
template std::optional<PassOutcome> from_key(std::string_view);
template std::optional<Tracer> from_key(std::string_view);
template std::optional<Meter> from_key(std::string_view);
template std::optional<SourceFormat> from_key(std::string_view);
template std::optional<Bound> from_key(std::string_view);
template std::optional<SlowdownVerdict> from_key(std::string_view);
template std::optional<LaneKind> from_key(std::string_view);

template <class Enum>
std::span<const std::string_view> keys_of() {
  return Keys<Enum>::list;
}
template <>
std::span<const std::string_view> keys_of<Code>() {
  static const auto keys = [] {
    std::array<std::string_view, kCodeCount> all;
    for (std::size_t i = 0; i < kCodeCount; ++i) all[i] = kWords[i].key;
    return all;
  }();
  return keys;
}
template std::span<const std::string_view> keys_of<PassKind>();
template std::span<const std::string_view> keys_of<PassOutcome>();
template std::span<const std::string_view> keys_of<Tracer>();
template std::span<const std::string_view> keys_of<Meter>();
template std::span<const std::string_view> keys_of<SourceFormat>();
template std::span<const std::string_view> keys_of<Bound>();
template std::span<const std::string_view> keys_of<SlowdownVerdict>();
template std::span<const std::string_view> keys_of<LaneKind>();

}  // namespace nl
