#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/error.h"

// What the program decides on. model/words has the key that files carry and the sentence that people read for each of these;
// no decision reads either.
namespace nl {

enum class PassKind : std::uint8_t {
  kNsys, kNsysExport, kNsysRepeat, kNsysRepeatExport,
  kNcu, kNcuExportRaw, kNcuExportDetails,
  kCollector, kCollectorRepeat, kStageCounters, kKernelCounters,
  kUnprofiled,
};

enum class PassOutcome : std::uint8_t { kOk, kFailed, kTimeout, kInterrupted, kSkipped };

// Who recorded the timeline, and who measured kernels.
enum class Tracer : std::uint8_t { kNone, kNsys, kCupti, kRanges, kImport };
enum class Meter : std::uint8_t { kNone, kNcu, kCupti };

// Formats of traces that something is decided on. A format that is treated as any other needs no value here.
enum class SourceFormat : std::uint8_t { kNone, kNsysSqlite, kCollector, kKineto, kOnnxRuntime };

// What a kernel or a stage runs into first.
enum class Bound : std::uint8_t { kCompute, kMemory, kLatency };

// What a lane of the timeline shows.
enum class LaneKind : std::uint8_t { kRanges, kApi, kGpu };

enum class SlowdownVerdict : std::uint8_t { kUndecidable, kUnderTenPercent, kOverTenPercent };

// Everything that may have to be said of a run besides its numbers: trouble, what is missing and why, what was adjusted.
// A section for each subject; within it, add at the end. model/words.cpp has one row for each, in this order.
enum class Code : std::uint16_t {
  // The capture as a whole
  kNoStages,              // no range of the capture is a stage
  kNoKernelInStages,      // stages are there, and no kernel was launched inside them
  kNoKernels,             // the workload ran no kernel
  kGraphsWithoutKernels,  // CUDA graphs captured at graph level: the kernels inside are not visible

  // Counters: why there are none
  kCountersDenied,        // no permission for the GPU's performance counters
  kCountersBusy,          // another profiler holds them
  kCountersOff,           // by the configuration
  kToolNotFound,          // ncu, nsys …
  kCountersFailed,        // the pass that counts said why, in words of its own
  kCountersNotReached,    // the run was ended before them
  kCountersAfterFailure,  // not begun, because the workload failed in the traced pass
  kNotLaunchedAgain,      // the pass that counts met no launch of it
  kFailedWhileCounted,    // the workload failed before it was measured
  kOnlyInGraphs,          // CUPTI does not replay CUDA graphs
  kTalksToPeers,          // holding it would keep other GPUs waiting

  // Passes
  kError,                 // an Error that was caught: its own words
  kInterrupted,           // Ctrl-C
  kEndedFromOutside,      // SIGTERM, SIGHUP
  kPassTimeout,
  kLogCutShort,
  kWorkloadFailed,
  kWorkloadCrashed,
  kWorkloadDiffers,       // ends otherwise when it is not profiled
  kNsysKilled,
  kNsysNotImported,       // captured, and its importer cannot make a report of it
  kNsysFailed,
  kNsysNoReport,
  kNsysExportFailed,
  kDiskFull,
  kCollectorSilent,       // it wrote no file
  kCuptiSilent,           // its files hold no kernel
  kMetersSilent,          // NVML, where energy.enabled is on
  kSamplingDenied,
  kSamplingFailed,

  // Passes that count
  kNcuKilled,
  kNcuFailed,
  kNcuNoMatch,            // no kernel matched its filters
  kNcuNotWritable,
  kNcuNotStarted,         // the workload, by ncu
  kNcuWorkloadFailed,
  kNcuExportFailed,
  kNcuEndedWithError,     // the workload, after everything was measured
  kCountersPartly,        // of some of the chosen kernels
  kKernelCountersFailed,  // those of the stages were measured
  kCounterPassFailed,     // the workload, in it
  kStagesNotCounted,
  kCountersUnmatched,     // import: launches of another workload
  kCountersEmpty,         // import: files without counters
  kNoKernelToMeasure,

  // Adjustments for this machine
  kOptionLeftOut,
  kInjectionUnset,
  kTracedByNsysInstead,
  kTracedByCollector,
  kTracedRangesOnly,
  kNotSampledByNsys,
  kNotSampled,
  kStallsInsteadOfActivity,
  kGraphNodesForStalls,
  kNoUnprofiledPasses,
  kCountedByCollector,
  kCountersNeedTrace,
  kCountersIfKernels,
  kCountersLeftOut,
  kNcuLeftOut,
  kStagesLeftOut,
  kWiderRanges,           // second try, wherever the kernels are launched
  kShorterNames,          // second try, by short names
  kNoMangledNames,
  kNamesTooLong,
  kEveryKernel,
  kTraceThinned,          // trace.pftrace shows a part

  // Of a file of an earlier format: the sentence is details[0]
  kNote,

  kCount_,
};

// One thing to say: its code, what fills the gaps of its sentence, and the place (a file, a log, a range).
struct Remark {
  Code code{};
  std::vector<std::string> details = {};
  std::string where = {};
  friend bool operator==(const Remark&, const Remark&) = default;
};

// The same in words, as run.json keeps it: what older files and other programs say has no details to fill a sentence with.
struct Problem {
  Code code = Code::kError;
  std::string what = {}, where = {}, fix = {};
  ErrorKind kind = ErrorKind::kCapture;  // of this process only: decides its exit status
  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace nl
