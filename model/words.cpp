#include "model/words.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nl {
namespace {

constexpr std::size_t kMostDetails = 6;
constexpr auto kCodeCount = static_cast<std::size_t>(Code::kCount_);

constexpr std::array<Words, kCodeCount> kWords = {{
    {Code::kNoStages, "no-stages", Severity::kMedium, ErrorKind::kCapture, "The capture has no ranges of the stages {0}: kernels are ranked by their total GPU time.",
     "Mark prefill and decode with NVTX ranges of the domain LLM; docs/stages.md shows how."},
    {Code::kNoKernelInStages, "no-kernel-in-stages", Severity::kMedium, ErrorKind::kCapture,
     "No kernel was launched inside the stages {0}: kernels are ranked by their total GPU time.", "Mark the stages on the threads that launch kernels."},
    {Code::kNoKernels, "no-kernels", Severity::kMedium, ErrorKind::kCapture, "The workload ran no kernel on the GPU.",
     "Check that the workload uses the GPU."},
    {Code::kGraphsWithoutKernels, "graphs-without-kernels", Severity::kMedium, ErrorKind::kCapture,
     "Inside the stages {0}, CUDA graphs were captured at graph level (kernels inside not visible): kernels are ranked by their "
     "total GPU time.",
     "--set nsys.cuda_graph_trace=node, for the collector --set capture.cuda_graphs=node"},

    {Code::kCountersDenied, "counters-denied", Severity::kHigh, ErrorKind::kTool,
     "{0} may not read the GPU's performance counters.",
     "Run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
     "/etc/modprobe.d/nvidia-profiling.conf, then reboot."},
    {Code::kCountersBusy, "counters-busy", Severity::kHigh, ErrorKind::kCapture,
     "Another profiler holds the GPU's performance counters{0}.",
     "Stop it: `dcgmi profile --pause`, other ncu or nsys --gpu-metrics sessions."},
    {Code::kCountersOff, "counters-off", Severity::kInfo, ErrorKind::kCapture, "Counters are switched off ({0}).", ""},
    {Code::kToolNotFound, "tool-not-found", Severity::kHigh, ErrorKind::kTool, "{0} was not found.",
     "`nl-stage doctor` lists where it looked."},
    {Code::kCountersFailed, "counters-failed", Severity::kHigh, ErrorKind::kCapture,
     "The GPU's performance counters could not be measured: {0}.", "--set capture.counters=off runs without them."},
    {Code::kCountersNotReached, "counters-not-reached", Severity::kInfo, ErrorKind::kCapture,
     "The run was ended before the counters were measured.", ""},
    {Code::kCountersAfterFailure, "counters-after-failure", Severity::kInfo, ErrorKind::kCapture,
     "Counters were not measured, because the workload failed in the traced pass.", ""},
    {Code::kNotLaunchedAgain, "not-launched-again", Severity::kInfo, ErrorKind::kCapture,
     "It was not launched {0}.", "Another run may launch other kernels: fix seeds and shapes."},
    {Code::kFailedWhileCounted, "failed-while-counted", Severity::kInfo, ErrorKind::kCapture,
     "The workload failed in the counter pass before it was measured.", ""},
    {Code::kOnlyInGraphs, "only-in-graphs", Severity::kInfo, ErrorKind::kCapture,
     "It runs only inside CUDA graphs, which CUPTI does not replay.", "ncu measures kernels inside CUDA graphs."},
    {Code::kTalksToPeers, "talks-to-peers", Severity::kInfo, ErrorKind::kCapture,
     "It talks to other GPUs, which would wait while it is measured.", ""},

    {Code::kError, "error", Severity::kHigh, ErrorKind::kInternal, "{0}.", "{1}"},
    {Code::kInterrupted, "interrupted", Severity::kHigh, ErrorKind::kInterrupted, "Interrupted by Ctrl-C.",
     "What was captured until then is kept."},
    {Code::kEndedFromOutside, "ended-from-outside", Severity::kHigh, ErrorKind::kInterrupted, "Ended from outside by {0}.",
     "What was captured until then is kept."},
    {Code::kPassTimeout, "pass-timeout", Severity::kHigh, ErrorKind::kTimeout, "The {0} pass was ended after {1} s.",
     "Raise the limit: --set {2}={3}"},
    {Code::kLogCutShort, "log-cut-short", Severity::kHigh, ErrorKind::kOutput, "A log could not be written to its end.",
     "Free some space ({0})."},
    {Code::kWorkloadFailed, "workload-failed", Severity::kHigh, ErrorKind::kWorkload, "{0} ended with status {1}{2}.",
     "Run it alone first. What was captured until then is kept.{3}"},
    {Code::kWorkloadCrashed, "workload-crashed", Severity::kHigh, ErrorKind::kWorkload, "{0} crashed: signal {1}{2}.",
     "Run it alone first. What was captured until then is kept.{3}"},
    {Code::kWorkloadDiffers, "workload-differs", Severity::kHigh, ErrorKind::kCapture,
     "The workload ended with status {0} unprofiled and with status {1} under {2}.",
     "Run it alone a few times. If it always ends well, the profiler disturbs it."},
    {Code::kNsysKilled, "nsys-killed", Severity::kHigh, ErrorKind::kTool, "nsys was killed by signal {0}.",
     "Look for the out-of-memory killer in `dmesg`."},
    {Code::kNsysNotImported, "nsys-not-imported", Severity::kHigh, ErrorKind::kTool,
     "nsys captured, but its importer could not turn the capture into a report{0}.",
     "`nl-stage doctor` names the missing library. The raw capture is kept as nsys/run.qdstrm."},
    {Code::kNsysFailed, "nsys-failed", Severity::kHigh, ErrorKind::kTool, "nsys ended with status {0} and wrote no report{1}.",
     "Read logs/nsys.stderr.log and logs/nsys.stdout.log."},
    {Code::kNsysNoReport, "nsys-no-report", Severity::kHigh, ErrorKind::kCapture, "nsys ended well but wrote no report{0}.",
     "The capture range may never have been reached: check nsys.capture_range and nsys.nvtx_capture."},
    {Code::kNsysExportFailed, "nsys-export-failed", Severity::kHigh, ErrorKind::kTool,
     "nsys could not export its report to SQLite{0}.", "The report is kept: nl-stage import --nsys {1}"},
    {Code::kDiskFull, "disk-full", Severity::kHigh, ErrorKind::kOutput, "The disk was full while nsys exported its report ({0}).",
     "The report is kept: nl-stage import --nsys {1}"},
    {Code::kCollectorSilent, "collector-silent", Severity::kHigh, ErrorKind::kCapture, "The collector recorded nothing.",
     "The workload opens no NVTX range, or NVTX is compiled out of it."},
    {Code::kCuptiSilent, "cupti-silent", Severity::kHigh, ErrorKind::kCapture, "CUPTI recorded no kernel: {0}.",
     "`nl-stage doctor` shows which CUPTI was found."},
    {Code::kMetersSilent, "meters-silent", Severity::kHigh, ErrorKind::kCapture,
     "energy.enabled is on, but no GPU's power can be read: {0}.",
     "`nl-stage doctor` says where NVML was looked for. --set energy.enabled=auto runs without."},
    {Code::kSamplingDenied, "sampling-denied", Severity::kHigh, ErrorKind::kTool,
     "CUPTI may not sample {0}: {1}.",
     "Run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
     "/etc/modprobe.d/nvidia-profiling.conf, then reboot. --set {2}=0 runs without."},
    {Code::kSamplingFailed, "sampling-failed", Severity::kHigh, ErrorKind::kCapture, "CUPTI could not sample {0}: {1}.",
     "--set {2}=0 runs without."},

    {Code::kNcuKilled, "ncu-killed", Severity::kHigh, ErrorKind::kCapture, "ncu was killed by signal {0}.",
     "Look for the out-of-memory killer in `dmesg`."},
    {Code::kNcuFailed, "ncu-failed", Severity::kHigh, ErrorKind::kCapture, "ncu wrote no report: {0}.",
     "Read logs/ncu.stdout.log and logs/ncu.stderr.log."},
    {Code::kNcuNoMatch, "ncu-no-match", Severity::kHigh, ErrorKind::kCapture, "ncu profiled no kernel: none matched its filters.",
     "The second run may launch other kernels than the first: fix seeds and shapes. ncu/cmd.txt has the filters."},
    {Code::kNcuNotWritable, "ncu-not-writable", Severity::kHigh, ErrorKind::kCapture, "ncu could not write its report.",
     "Check the space left and --out."},
    {Code::kNcuNotStarted, "ncu-not-started", Severity::kHigh, ErrorKind::kCapture, "ncu could not start the workload.",
     "Give the workload's full path."},
    {Code::kNcuWorkloadFailed, "ncu-workload-failed", Severity::kHigh, ErrorKind::kCapture,
     "The workload failed under ncu (status {0}) before a kernel was measured.",
     "Read logs/ncu.stderr.log. ncu's replay needs more memory and time than an unprofiled run."},
    {Code::kNcuExportFailed, "ncu-export-failed", Severity::kHigh, ErrorKind::kTool, "ncu could not export its report ({0}){1}.",
     "The report is kept: nl-stage import --ncu {2}"},
    {Code::kNcuEndedWithError, "ncu-ended-with-error", Severity::kHigh, ErrorKind::kCapture,
     "The workload ended with an error under ncu, after its kernels were measured.", "Read logs/ncu.stderr.log."},
    {Code::kCountersPartly, "counters-partly", Severity::kHigh, ErrorKind::kCapture,
     "{0} measured {1} of the {2} chosen kernels. Missing: {3}.",
     "Another run may launch other kernels than the first: fix seeds and shapes."},
    {Code::kKernelCountersFailed, "kernel-counters-failed", Severity::kHigh, ErrorKind::kCapture,
     "The counters of the stages were measured, those of the kernels were not: {0}.", "--set capture.counters=off runs without them."},
    {Code::kCounterPassFailed, "counter-pass-failed", Severity::kHigh, ErrorKind::kCapture,
     "The workload ended with status {0} in the {1} pass.",
     "The trace is complete. --set capture.counters=off runs without counters."},
    {Code::kStagesNotCounted, "stages-not-counted", Severity::kHigh, ErrorKind::kCapture,
     "No window of the stages was counted (stages: {0}).",
     "Mark them as push/pop ranges of the domain LLM on the threads that launch, or --set capture.stage_counters=false"},
    {Code::kCountersUnmatched, "counters-unmatched", Severity::kHigh, ErrorKind::kCapture,
     "None of the launches that {0} measured is a kernel of this trace{1}.", "Check that both captures are of the same workload."},
    {Code::kCountersEmpty, "counters-empty", Severity::kHigh, ErrorKind::kCapture, "The counter files hold no counters{0}.",
     "Give the files of counters/stages and counters/kernels of a bundle."},
    {Code::kNoKernelToMeasure, "no-kernel-to-measure", Severity::kHigh, ErrorKind::kCapture,
     "The trace has no kernel to measure: {0}.", "{1}"},

    {Code::kOptionLeftOut, "option-left-out", Severity::kInfo, ErrorKind::kCapture, "{0} {1} has no {2}: {3}.", ""},
    {Code::kInjectionUnset, "injection-unset", Severity::kInfo, ErrorKind::kCapture, "{0} is set. It is unset for the {1} pass.", ""},
    {Code::kTracedByNsysInstead, "traced-by-nsys-instead", Severity::kInfo, ErrorKind::kCapture,
     "capture.prefer is cupti, but {0}: nsys traces.", ""},
    {Code::kTracedByCollector, "traced-by-collector", Severity::kInfo, ErrorKind::kCapture,
     "{0}: the collector records kernels and ranges (CUPTI).", ""},
    {Code::kTracedRangesOnly, "traced-ranges-only", Severity::kInfo, ErrorKind::kCapture,
     "{0}, and no GPU was found: the collector records the stages, and there are no kernels to capture.", ""},
    {Code::kNotSampledByNsys, "not-sampled-by-nsys", Severity::kInfo, ErrorKind::kCapture,
     "nsys traces: activity and stalls are not sampled.", "--set capture.prefer=cupti samples them."},
    {Code::kNotSampled, "not-sampled", Severity::kInfo, ErrorKind::kCapture, "{0}: activity and stalls are not sampled.", ""},
    {Code::kStallsInsteadOfActivity, "stalls-instead-of-activity", Severity::kInfo, ErrorKind::kCapture,
     "The GPU samples stalls or activity, not both. capture.pc_sampling is set: activity is not sampled.", ""},
    {Code::kGraphNodesForStalls, "graph-nodes-for-stalls", Severity::kInfo, ErrorKind::kCapture,
     "Stalls belong to kernels. capture.pc_sampling is set: CUDA graphs are traced at node level.", ""},
    {Code::kNoUnprofiledPasses, "no-unprofiled-passes", Severity::kInfo, ErrorKind::kCapture,
     "The collector was not found: the overhead of profiling is not measured.", ""},
    {Code::kCountedByCollector, "counted-by-collector", Severity::kInfo, ErrorKind::kCapture,
     "ncu was not found: the collector counts (CUPTI).", ""},
    {Code::kCountersNeedTrace, "counters-need-trace", Severity::kInfo, ErrorKind::kCapture,
     "Without a trace of kernels there is nothing to choose from: no counters are measured.", ""},
    {Code::kCountersIfKernels, "counters-if-kernels", Severity::kInfo, ErrorKind::kCapture,
     "No GPU was found{0}: counters are measured only if the trace has kernels.", ""},
    {Code::kCountersLeftOut, "counters-left-out", Severity::kInfo, ErrorKind::kCapture,
     "No GPU was found: the passes that count are left out.", ""},
    {Code::kNcuLeftOut, "ncu-left-out", Severity::kInfo, ErrorKind::kCapture, "ncu was not found: its pass is left out.",
     "`nl-stage doctor` lists where it looked."},
    {Code::kStagesLeftOut, "stages-left-out", Severity::kInfo, ErrorKind::kCapture,
     "The stages are not counted as a whole: {0}.", ""},
    {Code::kWiderRanges, "wider-ranges", Severity::kInfo, ErrorKind::kCapture,
     "{0} met no chosen kernel inside the stages: second try, wherever it is launched.", ""},
    {Code::kShorterNames, "shorter-names", Severity::kInfo, ErrorKind::kCapture,
     "ncu profiled nothing by {0} name: second try by short name.", ""},
    {Code::kNoMangledNames, "no-mangled-names", Severity::kInfo, ErrorKind::kCapture,
     "The trace has no mangled name for some kernels: ncu compares short names.", ""},
    {Code::kNamesTooLong, "names-too-long", Severity::kInfo, ErrorKind::kCapture,
     "The kernel names are too long for one argument ({0} bytes): ncu compares short names.", ""},
    {Code::kEveryKernel, "every-kernel", Severity::kInfo, ErrorKind::kCapture,
     "The kernel names are too long for one argument: ncu measures every kernel.", ""},
    {Code::kTraceThinned, "trace-thinned", Severity::kInfo, ErrorKind::kCapture, "{0} shows {1}.", ""},

    {Code::kNote, "note", Severity::kInfo, ErrorKind::kCapture, "{0}", ""},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCodeCount; ++i)
    if (kWords[i].code != static_cast<Code>(i)) return false;
  return true;
}
static_assert(in_order(), "kWords has one row for each Code, in the order of model/codes.h");

// A gap that no detail fills stays empty: a report must not fail for want of a word.
std::string filled(std::string_view pattern, std::vector<std::string> details) {
  details.resize(std::max(details.size(), kMostDetails));
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
  static constexpr std::string_view list[] = {"none", "nsys-sqlite", "collector", "kineto", "onnxruntime"};
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
Problem problem_of(const Remark& remark) {
  return {remark.code, text_of(remark), remark.where, fix_of(remark), words_of(remark.code).kind};
}

Problem problem_of(const Error& error) { return {Code::kError, error.message, error.where, error.fix, error.kind}; }

std::string_view key_of(PassKind pass) { return key_in(pass); }
std::string_view key_of(PassOutcome outcome) { return key_in(outcome); }
std::string_view key_of(Tracer tracer) { return key_in(tracer); }
std::string_view key_of(Meter meter) { return key_in(meter); }
std::string_view key_of(SourceFormat format) { return key_in(format); }
std::string_view key_of(Bound bound) { return key_in(bound); }
std::string_view key_of(SlowdownVerdict verdict) { return key_in(verdict); }
std::string_view key_of(LaneKind kind) { return key_in(kind); }

std::string captured_by(Tracer tracer, Meter meter) {
  if (tracer == Tracer::kNone) return {};
  if (tracer == Tracer::kCupti && meter == Meter::kCupti) return "collector (CUPTI+counters)";
  const std::string traced(key_of(tracer));
  return meter == Meter::kNone ? traced : traced + (meter == Meter::kNcu ? "+ncu" : "+CUPTI counters");
}

std::optional<std::pair<Tracer, Meter>> capture_of(std::string_view captured_by_text) {
  for (const Tracer tracer : {Tracer::kNone, Tracer::kNsys, Tracer::kCupti, Tracer::kRanges, Tracer::kImport})
    for (const Meter meter : {Meter::kNone, Meter::kNcu, Meter::kCupti})
      if (captured_by(tracer, meter) == captured_by_text) return std::pair(tracer, meter);
  return std::nullopt;
}

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
