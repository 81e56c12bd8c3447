#include "model/words.h"

#include <fmt/args.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/host_code.h"
#include "model/stage.h"

namespace nl {
namespace {

// Every package has an __init__.py: its folder says which.
std::string without_folders(const std::filesystem::path& path) {
  const bool keeps_folder = path.filename() == "__init__.py" && path.has_parent_path() && path.parent_path().has_filename();
  return keeps_folder ? (path.parent_path().filename() / path.filename()).string() : path.filename().string();
}

constexpr std::size_t kMostDetails = 6;
constexpr auto kCodeCount = static_cast<std::size_t>(Code::kCount_);

constexpr Words note(Code code, std::string_view key, std::string_view text) {
  return {code, key, Severity::kInfo, ErrorKind::kCapture, text, ""};
}
constexpr Words damage(Code code, std::string_view key, std::string_view text) {
  return {code, key, Severity::kLow, ErrorKind::kInput, text, ""};
}

constexpr std::string_view kMayNotSample = "CUPTI may not sample {0}: {1}.", kCouldNotSample = "CUPTI could not sample {0}: {1}.";
constexpr std::string_view kSampleAsRoot =
    "Run as root or with CAP_SYS_ADMIN, or once: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
    "/etc/modprobe.d/nvidia-profiling.conf, then reboot. --set {2}=0 runs without.";
constexpr std::string_view kDoNotSample = "--set {2}=0 runs without.";

constexpr std::array<Words, kCodeCount> kWords = {{
    {Code::kNoStages, "no-stages", Severity::kMedium, ErrorKind::kCapture,
     "The capture has no ranges of the stages {0}: kernels are ranked by their total GPU time.",
     "Mark the program's stages with NVTX ranges of the domain LLM; docs/stages.md shows how."},
    {Code::kNoKernelInStages, "no-kernel-in-stages", Severity::kMedium, ErrorKind::kCapture,
     "No kernel was launched inside the stages {0}: kernels are ranked by their total GPU time.",
     "Mark the stages on the threads that launch kernels."},
    {Code::kNoKernels, "no-kernels", Severity::kMedium, ErrorKind::kCapture, "The workload ran no kernel on the GPU.",
     "Check that the workload uses the GPU."},
    {Code::kGraphsWithoutKernels, "graphs-without-kernels", Severity::kMedium, ErrorKind::kCapture,
     "Inside the stages {0}, CUDA graphs were captured at graph level (kernels inside not visible): kernels are ranked by their "
     "total GPU time.",
     "--set nsys.cuda_graph_trace=node, for the collector --set capture.cuda_graphs=node"},
    {Code::kCaptureCut, "capture-cut", Severity::kHigh, ErrorKind::kCapture,
     "The trace is cut: its file has {0} bytes, where {1} or more were written. What is in the rest is missing.",
     "Copy the file once more from where it was recorded, or record the run again."},
    {Code::kCaptureStopped, "capture-stopped", Severity::kHigh, ErrorKind::kCapture,
     "The trace has only the beginning: its file could not grow past {0} bytes (disk full, or a limit). What came later is missing.",
     "Free some space or raise `ulimit -f`, and record the run again."},

    {Code::kCountersDenied, "counters-denied", Severity::kHigh, ErrorKind::kTool, "{0} may not read the GPU's performance counters.",
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
    {Code::kNotLaunchedAgain, "not-launched-again", Severity::kInfo, ErrorKind::kCapture, "It was not launched {0}.",
     "Another run may launch other kernels: fix seeds and shapes."},
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
    {Code::kNsysExportFailed, "nsys-export-failed", Severity::kHigh, ErrorKind::kTool, "nsys could not export its report to SQLite{0}.",
     "The report is kept: nl-stage import --nsys {1}"},
    {Code::kDiskFull, "disk-full", Severity::kHigh, ErrorKind::kOutput, "The disk was full while nsys exported its report ({0}).",
     "The report is kept: nl-stage import --nsys {1}"},
    {Code::kCollectorSilent, "collector-silent", Severity::kHigh, ErrorKind::kCapture, "The collector recorded nothing.",
     "The workload opens no NVTX range, or NVTX is compiled out of it."},
    {Code::kCuptiSilent, "cupti-silent", Severity::kHigh, ErrorKind::kCapture, "CUPTI recorded no kernel: {0}.",
     "`nl-stage doctor` shows which CUPTI was found."},
    {Code::kMetersSilent, "meters-silent", Severity::kHigh, ErrorKind::kCapture,
     "energy.enabled is on, but no GPU's power can be read: {0}.",
     "`nl-stage doctor` says where NVML was looked for. --set energy.enabled=auto runs without."},
    {Code::kActivityDenied, "activity-denied", Severity::kHigh, ErrorKind::kTool, kMayNotSample, kSampleAsRoot},
    {Code::kActivityFailed, "activity-failed", Severity::kHigh, ErrorKind::kCapture, kCouldNotSample, kDoNotSample},
    {Code::kStallsDenied, "stalls-denied", Severity::kHigh, ErrorKind::kTool, kMayNotSample, kSampleAsRoot},
    {Code::kStallsFailed, "stalls-failed", Severity::kHigh, ErrorKind::kCapture, kCouldNotSample, kDoNotSample},
    {Code::kWorkloadOutOfMemory, "workload-out-of-memory", Severity::kHigh, ErrorKind::kWorkload, "{0} ran out of GPU memory{1}{2}.",
     "Let it need less GPU memory at once: a smaller batch, shorter sequences, a smaller data type, or more GPUs. What was captured "
     "until then is kept.{3}"},
    {Code::kWorkloadOutOfHostMemory, "workload-out-of-host-memory", Severity::kHigh, ErrorKind::kWorkload,
     "{0} ran out of the machine's memory{1}{2}.",
     "Let it need less memory at once, or give it more. What was captured until then is kept.{3}"},
    {Code::kWorkloadCudaError, "workload-cuda-error", Severity::kHigh, ErrorKind::kWorkload, "{0} ended with a CUDA error: {1}{2}.",
     "CUDA reports it later than it happens: run it alone with CUDA_LAUNCH_BLOCKING=1, which names the right line, or under "
     "compute-sanitizer. What was captured until then is kept.{3}"},
    {Code::kWorkloadException, "workload-exception", Severity::kHigh, ErrorKind::kWorkload, "{0} ended with {1}{2}.",
     "Run it alone first. What was captured until then is kept.{3}"},
    {Code::kWorkloadKilled, "workload-killed", Severity::kHigh, ErrorKind::kWorkload, "{0} was killed by signal {1}{2}.",
     "The usual reason is the kernel's out-of-memory killer: `sudo dmesg -T | grep -i -E 'oom|killed process'` shows it, in a container "
     "the oom_kill of /sys/fs/cgroup/memory.events. What was captured until then is kept.{3}"},

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
     "The workload ended with status {0} in the {1} pass.", "The trace is complete. --set capture.counters=off runs without counters."},
    {Code::kStagesNotCounted, "stages-not-counted", Severity::kHigh, ErrorKind::kCapture,
     "No window of the stages was counted (stages: {0}).",
     "Mark them as push/pop ranges of the domain LLM on the threads that launch, or --set capture.stage_counters=false"},
    {Code::kCountersUnmatched, "counters-unmatched", Severity::kHigh, ErrorKind::kCapture,
     "None of the launches that {0} measured is a kernel of this trace{1}.", "Check that both captures are of the same workload."},
    {Code::kCountersEmpty, "counters-empty", Severity::kHigh, ErrorKind::kCapture, "The counter files hold no counters{0}.",
     "Give the files of counters/stages and counters/kernels of a bundle."},
    {Code::kNoKernelToMeasure, "no-kernel-to-measure", Severity::kHigh, ErrorKind::kCapture, "The trace has no kernel to measure: {0}.",
     "{1}"},
    {Code::kCountersCut, "counters-cut", Severity::kHigh, ErrorKind::kCapture,
     "The file with counters is cut: {0}. What was in the rest is missing.", "Export it once more from the report, or copy it again."},

    {Code::kOptionLeftOut, "option-left-out", Severity::kInfo, ErrorKind::kCapture, "{0} {1} has no {2}: {3}.", ""},
    {Code::kInjectionUnset, "injection-unset", Severity::kInfo, ErrorKind::kCapture, "{0} is set. It is unset for the {1} pass.", ""},
    {Code::kEngineSwitches, "engine-switches", Severity::kInfo, ErrorKind::kCapture,
     "mark.engine is {0}: the workload gets {1}, and each of its steps a mark with the requests in it.", ""},
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
    {Code::kStagesLeftOut, "stages-left-out", Severity::kInfo, ErrorKind::kCapture, "The stages are not counted as a whole: {0}.", ""},
    {Code::kDutyByCollectorOnly, "duty-by-collector-only", Severity::kInfo, ErrorKind::kCapture,
     "capture.duty ({0}) is not used: {1} traces every step.", "The collector can trace some of them: --set capture.prefer=cupti."},
    {Code::kDutyNoSteps, "duty-no-steps", Severity::kInfo, ErrorKind::kCapture,
     "No range marks a step that the collector knows, so capture.duty ({0}) has nothing to choose from: all was traced.",
     "Mark the steps (docs/marks.md), or name their ranges in stages.map."},
    {Code::kDutyStepsUnknown, "duty-steps-unknown", Severity::kInfo, ErrorKind::kCapture,
     "capture.duty cannot choose among the steps of {0}: the collector does not match regular expressions such as {1}.",
     "In stages.map, use a name with ^, $ and .* only."},
    {Code::kDutyNeverPaused, "duty-never-paused", Severity::kInfo, ErrorKind::kCapture,
     "capture.duty is {0}, but tracing never paused between two steps: all of them were traced, and the figures are those of a full trace.",
     "Trace a longer run: the first steps of each kind are always traced. Steps of threads that always overlap leave no pause."},
    {Code::kNoStepEnded, "no-step-ended", Severity::kInfo, ErrorKind::kCapture,
     "No step ended in this window of {1} ms, though work was launched ({0}): no figure is one of a whole step.",
     "Take a longer window (--seconds). If the program hangs, see which call its threads are in."},
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
    {Code::kTracedWithLess, "traced-with-less", Severity::kInfo, ErrorKind::kCapture,
     "The trace exceeded capture.max_size ({0}). The workload was traced once more without: {1}. The first trace, cut short, is in {2}.",
     ""},
    {Code::kTraceCutShort, "trace-cut-short", Severity::kHigh, ErrorKind::kCapture,
     "The workload was ended when its trace exceeded capture.max_size ({0}): what comes later is not in it.",
     "Trace a shorter run, or raise capture.max_size."},
    {Code::kNoTimeLeft, "no-time-left", Severity::kInfo, ErrorKind::kCapture,
     "It takes about {2} s, and of the budget of {0} s {1} s are spent, or needed for passes that are worth more.",
     "--budget gives more time."},
    {Code::kLeftOutForTime, "left-out-for-time", Severity::kInfo, ErrorKind::kCapture,
     "The time budget of {0} s is too short for all passes. Left out: {1}.", "--budget gives more time."},
    {Code::kFactsDamaged, "facts-damaged", Severity::kInfo, ErrorKind::kCapture,
     "{0} is cut short: what that process noted about itself is not known.", ""},
    {Code::kMarksFailed, "marks-failed", Severity::kInfo, ErrorKind::kCapture,
     "The marks of the Python workload failed {1} times in {0}: stages or token counts may be missing.", ""},
    {Code::kModelShapeUnknown, "model-shape-unknown", Severity::kInfo, ErrorKind::kCapture,
     "The configuration of {0} does not tell its shape: {1}.", "Give it with --model."},
    {Code::kOperatorsLeftOut, "operators-left-out", Severity::kInfo, ErrorKind::kCapture, "The operator pass is left out: {0}.", ""},
    {Code::kOperatorsFailed, "operators-failed", Severity::kInfo, ErrorKind::kCapture, "The operator pass {0}: there are no operators.",
     "--set mark.operators=false runs without it."},
    {Code::kStacksRefused, "stacks-refused", Severity::kInfo, ErrorKind::kCapture,
     "Stacks of native code were not sampled: {0}. No function of the program is named for the time the GPU waits.",
     "To allow it: {1}. Without it: --set mark.host_samples_hz=0."},
    {Code::kStacksFailed, "stacks-failed", Severity::kInfo, ErrorKind::kCapture, "Sampled stacks of native code are incomplete: {0}.", ""},

    note(Code::kNoKernelsCaptured, "no-kernels-captured", "The capture holds no kernels: nothing ran on a GPU, or CUDA was not traced."),
    note(Code::kNoGpu, "no-gpu", "No GPU was found{0}. Where there is one, the same command captures kernels."),
    note(Code::kUnprofiledRun, "unprofiled-run", "The run was unprofiled: only its stages were timed."),
    note(Code::kNotRecorded, "not-recorded", "{0}."),
    note(Code::kCounterPass, "counter-pass", "This is a counter pass, which records no kernels: give it as --counters, beside a trace."),
    note(Code::kRangesOnly, "ranges-only", "The collector recorded NVTX ranges only: there was no GPU, or the workload did not use it."),
    note(Code::kNotChosen, "not-chosen", "It is not among the kernels chosen for counters."),
    note(Code::kNotMeasured, "not-measured", "It was chosen for counters, but not measured."),

    note(Code::kClockFit, "clock-fit", "Clocks of CPU and GPU: {0}."),
    note(Code::kGpuNumbersDiffer, "gpu-numbers-differ", "The processes number their GPUs differently: GPU {0} is {1} here and {2} there."),
    {Code::kRankClockNotFitted, "rank-clock-not-fitted", Severity::kMedium, ErrorKind::kCapture,
     "The clock of rank {0} could not be fitted to that of rank {1}: {2}. Figures across ranks leave it out.",
     "Capture a part of the run in which all ranks meet in at least 8 collectives."},
    {Code::kRankClockLoose, "rank-clock-loose", Severity::kMedium, ErrorKind::kCapture,
     "The clock of rank {0} fits that of rank {1} only to {2}: it was set or changed its speed during the capture.",
     "Lateness below that is not told. Capture again, or read a shorter capture."},
    {Code::kRanksAmbiguous, "ranks-ambiguous", Severity::kMedium, ErrorKind::kCapture,
     "The collectives of rank {0} could be paired with those of rank {1} in several ways; the clocks of the day chose one.",
     "Capture all ranks from the start of the program, or mark the steps with their numbers."},
    {Code::kRanksMissing, "ranks-missing", Severity::kMedium, ErrorKind::kCapture,
     "{0} of the {1} ranks were given; missing: {2}. The one that was late may be among them.",
     "Import the captures of all ranks together."},
    note(Code::kRanksByOrder, "ranks-by-order", "No capture tells its rank: they are numbered in the order in which they were given."),
    note(Code::kRankNotCounted, "rank-without-collectives", "Rank {0} has no collective with the other ranks."),
    {Code::kRankFailed, "rank-failed", Severity::kHigh, ErrorKind::kWorkload, "Rank {0} on {1} failed: {2}.",
     "Its bundle beside this one has what it did and printed until then."},
    {Code::kRankHung, "rank-hung", Severity::kHigh, ErrorKind::kTimeout, "Rank {0} on {1} did not end in its time and was ended.",
     "Ranks that wait in a collective for another one hang, too. nl-stage collectives reads the dumps of PyTorch's flight recorder, which "
     "tell who did not come."},
    {Code::kRankLost, "rank-lost", Severity::kHigh, ErrorKind::kCapture,
     "Rank {0} on {1} never said how it ended: its node was lost, or it was killed.",
     "The logs of the job say what Slurm knows of the node."},
    {Code::kRankNotStarted, "rank-not-started", Severity::kHigh, ErrorKind::kCapture, "Rank {0} was never started.",
     "The logs of the job say why srun did not start it."},
    {Code::kRankNotWhole, "rank-not-whole", Severity::kMedium, ErrorKind::kCapture, "Rank {0} on {1} is not captured whole: {2}.",
     "Its bundle beside this one lists what is missing."},
    {Code::kRankNotHandedIn, "rank-not-handed-in", Severity::kHigh, ErrorKind::kOutput,
     "The bundle of rank {0} is not here: {2}. It is still on {1}: {3}.",
     "Free some space, copy it into the folder of the attempt, and merge again."},
    {Code::kRankWithoutCapture, "rank-without-capture", Severity::kMedium, ErrorKind::kCapture,
     "The bundle of rank {0} has no capture: its program ended before anything was recorded.", "Its logs say what it printed."},
    note(Code::kRanksStopped, "ranks-stopped", "Ranks {0} were ended because another one had failed; what they did until then is here."),
    note(Code::kSamplesLost, "samples-lost",
         "Samples of GPU {0} were lost {1}, because its buffer was full. A longer capture.sampling_us loses fewer."),
    note(Code::kSqliteNotWritten, "sqlite-not-written", "There is no {0}, the capture as an export of nsys: {1}."),
    note(Code::kStringIdsMissing, "string-ids-missing", "{0} string ids are not in StringIds; what they name has no name here."),
    note(Code::kKernelsWithoutProcess, "kernels-without-process",
         "The export does not say which process ran a kernel; launches were matched by correlation id alone."),
    note(Code::kCorrelationRepeated, "correlation-repeated",
         "{0} API calls have the correlation id of an earlier one; GPU work was given to the first."),
    note(Code::kEventsLeftOut, "events-left-out", "{0} events {1} hold nothing that is analysed."),
    note(Code::kNodesByProvider, "nodes-by-provider", "{0} nodes ran in {1}."),
    note(Code::kProfileCutShort, "profile-cut-short",
         "The profile has no end (byte {0}): its process ended early, and what it had written is kept."),
    note(Code::kBackwardRanges, "backward-ranges", "{0} ranges end before they start (clock stepped back); they count as empty."),
    note(Code::kRangesNotListed, "ranges-not-listed", "The capture has {0} range names; run.json lists the {1} with the most time."),
    note(Code::kStallsUnmatched, "stalls-unmatched", "Stall samples match no kernel of the trace."),
    note(Code::kLaunchesUnmatched, "launches-unmatched", "{0} {1} launches match no kernel of the trace, the first: {2}."),
    note(Code::kCountersOfNoStage, "counters-of-no-stage", "Counters measured for {0} match no stage of the trace."),
    note(Code::kNcuAlone, "ncu-alone",
         "There is no trace: kernels and their times are those of the launches that ncu profiled, while it profiled them."),
    note(Code::kNoOperators, "no-operators", "The operator pass recorded no operators."),
    note(Code::kOperatorsScaled, "operators-scaled",
         "Recorded in the operator pass, in {0}. Calls and GPU times are scaled to the main trace: they explain {1} % of the GPU time of "
         "these stages.{2} "
         "Host times are from the operator pass{3}."),
    note(Code::kOperatorsUnscaled, "operators-unscaled",
         "Recorded in the operator pass. The main trace does not have its steps: all times are from the operator pass."),
    note(Code::kStacksNotJoined, "stacks-not-joined", "Sampled stacks are left out: the capture has no clock marks of {0}."),
    note(Code::kFewHostSamples, "few-host-samples",
         "Too few samples of the host fall into the waits for launches of {0}; {1} are needed to say what code they are. A longer run or a "
         "higher "
         "mark.host_samples_hz gives more."),

    note(Code::kGraphsJoined, "graphs-joined",
         "{0}: {1} of {2} replayed CUDA graphs have the operators and layers of their capture, {3} kernels in all."),
    note(Code::kGraphsNotJoined, "graphs-not-joined",
         "{0}: {1} of {2} replayed CUDA graphs match no captured graph ({3}). Their kernels have no operators and no layers."),
    note(Code::kEngineProcesses, "engine-processes", "Processes of {0}: {1}."),

    note(Code::kStagesMapped, "stages-mapped", "Stages come from stages.map: {0}."),
    note(Code::kMapNotUsed, "map-not-used", "stages.map is not used: the workload marks its stages in the domain LLM."),
    note(Code::kMapNoMatch, "map-no-match", "stages.map: the pattern of {0} matches no range."),
    note(Code::kStagesOfEngine, "stages-of-engine", "The workload marks no stages. They come from the ranges of {0}: {1}."),
    note(Code::kStagesInferred, "stages-inferred",
         "The workload marks no stages. They are inferred from what repeats in the trace (prefill: {0}, decode_step: {1}, up to {2} "
         "launches "
         "and waits each), with a confidence of {3}."),
    note(Code::kStepsInferred, "steps-inferred",
         "The workload marks no stages. Its steps are inferred from what repeats in the trace ({0}: {1}, up to {2} launches and waits "
         "each), with a confidence of {3}."),
    note(Code::kStepsNotRepeated, "steps-not-repeated", "No stages are inferred: no sequence of GPU work repeats."),
    note(Code::kStepsTooFew, "steps-too-few", "No stages are inferred: a sequence of {0} launches and waits repeats, but only {1} times."),
    note(Code::kStepsNested, "steps-nested",
         "No stages are inferred: a sequence of {0} launches and waits repeats {1} times, and a part of it repeats as well. Either may be "
         "the "
         "step: output may be written every so many steps, or a step may iterate."),
    note(Code::kStepsOfTraining, "steps-of-training",
         "The steps are not taken for generation: a sequence of {0} launches and waits repeats {1} times, but it has kernels of training "
         "(backward, optimizer)."),
    note(Code::kStepsWithoutProducts, "steps-without-products",
         "The steps are not taken for generation: a sequence of {0} launches and waits repeats {1} times, but it has no matrix products."),
    note(Code::kStepsWithoutPrefill, "steps-without-prefill",
         "The steps are not taken for generation: a sequence of {0} launches and waits repeats {1} times, but no larger step comes before "
         "it."),
    note(Code::kStepsWithoutTokens, "steps-without-tokens",
         "The steps are not taken for generation: a sequence of {0} launches and waits repeats {1} times, but it does not look up an "
         "embedding and make a choice (argmax, sampling)."),
    note(Code::kKindByStages, "kind-by-stages", "The stages {0} are marked."),
    note(Code::kKindByEngine, "kind-by-engine", "An inference engine marks its steps."),
    note(Code::kKindByTokens, "kind-by-tokens", "Each step looks up an embedding and chooses a token, and a larger step comes before."),
    note(Code::kKindByTraining, "kind-by-training", "Steps run kernels of a backward pass or of an optimizer."),
    note(Code::kKindByRequests, "kind-by-requests", "Up to {0} requests run at a time."),
    note(Code::kKindByJoining, "kind-by-joining",
         "Requests join and leave between steps: a prompt is read while other requests go on, {0} times. A step has up to {1} sequences."),
    note(Code::kKindByProcesses, "kind-by-processes", "{0} processes take {1} steps each, and wait for each other."),
    note(Code::kKindByRepetition, "kind-by-repetition", "Steps repeat; what they are for is not known."),
    note(Code::kImagesByNoise, "images-by-noise",
         "Images are not marked. They are told apart by the noise that is drawn only before the first step of each: {0} images of {1} "
         "steps."),
    note(Code::kSteadyPart, "steady-part",
         "The capture itself is the stage, from {0} to {1}: by then every kernel that matters has run once. What comes before is start-up "
         "and warm-up."),
    note(Code::kWholeCapture, "whole-capture", "The capture itself is the stage, from its first GPU work at {0} to the last at {1}."),

    damage(Code::kNoStartOrEnd, "no-start-or-end", "{0} without start or end"),
    damage(Code::kNoStart, "no-start", "{0} without start"),
    damage(Code::kEndsBeforeStart, "ends-before-start", "{0} that ends before it starts"),
    damage(Code::kTooLong, "too-long", "{0} that ends before it starts or lasts over 4.8 hours"),
    damage(Code::kNoTime, "no-time", "{0} without a time"),
    damage(Code::kImpossibleTime, "impossible-time", "{0} with an impossible time"),
    damage(Code::kNoThread, "no-thread", "{0} without a thread"),
    damage(Code::kTooManyPlaces, "too-many-places", "{0} of more {1} than can be kept"),
    damage(Code::kNoName, "no-name", "{0} without a name (kept)"),
    damage(Code::kUnknownCopy, "unknown-copy", "copy of an unknown kind (kept)"),
    damage(Code::kNotUtf8, "not-utf8", "text that is not UTF-8 (kept, U+FFFD in its place)"),
    damage(Code::kSharedCorrelation, "shared-correlation", "correlation id that several processes use"),
    damage(Code::kNotJson, "not-json", "event that is not JSON"),
    damage(Code::kNoObject, "no-object", "event that is no object"),
    damage(Code::kHeaderCut, "header-cut", "file ends inside its header"),
    damage(Code::kRecordCut, "record-cut", "record cut short"),
    damage(Code::kRestLost, "rest-lost", "damaged {0}, rest of its {1} lost"),
    damage(Code::kUnknownRecord, "unknown-record", "unknown kind of record"),
    damage(Code::kImpossibleRecord, "impossible-record", "impossible time or thread"),
    damage(Code::kStringTooLong, "string-too-long", "string longer than its record"),
    damage(Code::kDoesNotFit, "does-not-fit", "{0} that do not fit their record"),
    damage(Code::kPartLost, "part-lost", "{0} whose {1} was lost"),
    damage(Code::kUnknownString, "unknown-string", "unknown string"),
    damage(Code::kUnpaired, "unpaired", "{0} without a {1}"),
    damage(Code::kImpossibleNumber, "impossible-number", "definition with an impossible number"),
    damage(Code::kUnknownMetrics, "unknown-metrics", "counters or samples whose metrics are not known"),
    damage(Code::kBelowZero, "below-zero", "counter or sample below zero"),
    damage(Code::kImpossibleWindow, "impossible-window", "counters with an impossible time or no window"),
    damage(Code::kDropped, "dropped", "GPU record that CUPTI dropped, because its buffers were full"),
    damage(Code::kUnfinished, "unfinished", "GPU record without its times: the work was under way when the process ended"),
    damage(Code::kTableUnusable, "table-unusable", "a table without kernel name, grid or block"),
    damage(Code::kRowOfUnusableTable, "row-of-unusable-table", "a row of a table that has no kernel name, grid or block"),
    damage(Code::kRowLength, "row-length", "a row of the raw page is shorter or longer than its header"),
    damage(Code::kRowWithoutLaunch, "row-without-launch", "a row without a readable id, grid or block"),
    damage(Code::kRowBeforeUnits, "row-before-units", "a row of the raw page before any row of units"),
    damage(Code::kRowWithoutValue, "row-without-value", "a row of the details page ends before its value"),
    damage(Code::kRowCut, "row-cut", "a row was cut off"),
    damage(Code::kBrokenQuotes, "broken-quotes", "a row with broken quotes"),
    damage(Code::kAmbiguousNumber, "ambiguous-number", "a number that two locales read differently"),
    damage(Code::kUnknownUnit, "unknown-unit", "a number of the unknown unit {0}"),
    damage(Code::kNotFinite, "not-finite", "{0} that is not a finite number (counts as missing)"),
    damage(Code::kUndefined, "undefined", "{0} of an undefined {1}"),

    note(Code::kNote, "note", "{0}"),
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kCodeCount; ++i)
    if (kWords[i].code != static_cast<Code>(i)) return false;
  return true;
}
static_assert(in_order(), "kWords has one row for each Code, in the order of model/codes.h");

// A gap that no detail fills stays empty: a report must not fail because a word is missing.
std::string filled(std::string_view pattern, std::vector<std::string> details) {
  details.resize(std::max(details.size(), kMostDetails));
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (const auto& detail : details) arguments.push_back(std::cref(detail));
  return fmt::vformat(pattern, arguments);
}

// The exit status tells one thing only: what the user has to fix first.
int gravity(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInterrupted: return 9;
    case ErrorKind::kOutput: return 8;
    case ErrorKind::kInternal: return 7;
    case ErrorKind::kTimeout: return 6;
    case ErrorKind::kWorkload: return 5;
    case ErrorKind::kTool: return 4;
    case ErrorKind::kInput: return 3;
    case ErrorKind::kCapture: return 2;
    case ErrorKind::kUsage:
    case ErrorKind::kConfig: return 1;
  }
  return 0;
}

}  // namespace

const Words& words_of(Code code) { return kWords[static_cast<std::size_t>(code)]; }

std::string text_of(const Remark& remark) { return filled(words_of(remark.code).text, remark.details); }
std::string line_of(const Remark& remark) { return (remark.where.empty() ? "" : remark.where + ": ") + text_of(remark); }
std::string fix_of(const Remark& remark) { return filled(words_of(remark.code).fix, remark.details); }

Problem problem_of(const Remark& remark) {
  return {remark.code, text_of(remark), remark.where, fix_of(remark), words_of(remark.code).kind};
}

Problem problem_of(const Error& error) { return {Code::kError, error.message, error.where, error.fix, error.kind}; }

std::string_view host_work_text(HostWork kind) {
  switch (kind) {
    case HostWork::kOther: break;
    case HostWork::kTokenizer: return "tokenizing";
    case HostWork::kSampling: return "choosing the next token";
    case HostWork::kGeneration: return "the generation loop";
    case HostWork::kModel: return "Python code of the model's modules";
    case HostWork::kFramework: return "overhead of PyTorch (module calls, dispatch)";
    case HostWork::kCompiler: return "torch.compile";
    case HostWork::kSync: return "asking the GPU for values";
    case HostWork::kDataLoader: return "loading data";
    case HostWork::kServer: return "the server's event loop";
    case HostWork::kGarbage: return "garbage collection";
    case HostWork::kUser: return "the program's own code";
    case HostWork::kOptimizer: return "the optimizer";
    case HostWork::kLogging: return "printing and logging";
    case HostWork::kJson: return "reading and writing JSON";
    case HostWork::kSleep: return "sleeping";
    case HostWork::kExchange: return "exchanging data with other processes";
    case HostWork::kCuda: return "CUDA calls";
  }
  return "other code";
}

std::string place_text(const HostFrame& frame) {
  const std::string file(without_folders(frame.file));
  return frame.line == 0 || file.empty() ? file : fmt::format("{}:{}", file, frame.line);
}

std::string blame_text(const HostBlame& blame) {
  if (!blame.function) return std::string(host_work_text(blame.kind));
  const HostFrame& place = blame.line ? *blame.line : *blame.function;
  const bool native = place.module.empty() && place.line == 0;
  std::string out = native ? fmt::format("{}!{}", without_folders(place.file), place.function)
                           : fmt::format("{} ({})", place.function, place_text(place));
  if (blame.callee) out += fmt::format(" in {}", blame.callee->function);
  if (blame.caller) out += fmt::format(", called by {}", blame.caller->function);
  return out;
}

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

std::span<const std::string_view> code_keys() {
  static const auto keys = [] {
    std::array<std::string_view, kCodeCount> all;
    for (std::size_t i = 0; i < kCodeCount; ++i) all[i] = kWords[i].key;
    return all;
  }();
  return keys;
}

std::string stage_title(const StageEntry& stage) {
  return stage.source == StageSource::kMarked ? stage.name : stage.name + " (" + std::string(key_of(stage.source)) + ")";
}

std::string stage_noun(std::string_view stage) {
  switch (stage_kind(stage)) {
    case StageKind::kDecodeStep: return "step";
    case StageKind::kTrainStep: return "training step";
    case StageKind::kDenoiseStep: return "denoising step";
    default: return std::string(stage);
  }
}

std::string stages_noun(std::string_view stage) { return stage_kind(stage) == StageKind::kBatch ? "batches" : stage_noun(stage) + "s"; }

bool ended_early(const std::optional<ErrorKind>& failure) { return failure == ErrorKind::kInterrupted || failure == ErrorKind::kTimeout; }

std::optional<ErrorKind> gravest(const std::vector<Problem>& problems) {
  std::optional<ErrorKind> worst;
  for (const Problem& problem : problems)
    if (words_of(problem.code).severity == Severity::kHigh && (!worst || gravity(problem.kind) > gravity(*worst))) worst = problem.kind;
  return worst;
}

RunStatus status_of(const std::vector<Problem>& problems, bool captured_something) {
  const auto failure = gravest(problems);
  if (!failure) return RunStatus::kComplete;
  if (ended_early(failure)) return RunStatus::kInterrupted;
  if (*failure == ErrorKind::kWorkload || !captured_something) return RunStatus::kFailed;
  return RunStatus::kPartial;
}

}  // namespace nl
