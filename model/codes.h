#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/error.h"

// What the program decides on. model/words has the key that files carry and the sentence that people read for each of these;
// no decision reads either.
namespace nl {

enum class PassKind : std::uint8_t {
  kNsys,
  kNsysExport,
  kNsysRepeat,
  kNsysRepeatExport,
  kNcu,
  kNcuExportRaw,
  kNcuExportDetails,
  kCollector,
  kCollectorRepeat,
  kStageCounters,
  kKernelCounters,
  kUnprofiled,
  kOperators,
  kOperatorsExport,
  kCalibration,
};

enum class PassOutcome : std::uint8_t { kOk, kFailed, kTimeout, kInterrupted, kSkipped };

// Who recorded the timeline, and who measured kernels.
enum class Tracer : std::uint8_t { kNone, kNsys, kCupti, kRanges, kImport };
enum class Meter : std::uint8_t { kNone, kNcu, kCupti };

// Formats of traces that something is decided on. A format that is treated as any other needs no value here.
enum class SourceFormat : std::uint8_t { kNone, kNsysSqlite, kCollector, kKineto, kOnnxRuntime };

// What a kernel or a stage runs into first.
enum class Bound : std::uint8_t { kCompute, kMemory, kLatency };

// Which memory a kernel keeps busiest.
enum class MemoryLevel : std::uint8_t { kL1, kL2, kDram };

// What a lane of the timeline shows.
enum class LaneKind : std::uint8_t { kRanges, kApi, kGpu };

// What a kernel does. kCacheCopy: a copy as a KV cache needs it.
enum class KernelClass : std::uint8_t { kGemm, kAttention, kElementwise, kCopy, kCacheCopy, kReduce, kNorm, kCommunication, kOther };
inline constexpr std::size_t kKernelClasses = 9;

enum class SlowdownVerdict : std::uint8_t { kUndecidable, kUnderLimit, kOverLimit };  // of perturbation.limit

// Why no more passes were run to tell the overhead of tracing from its limit.
enum class RepeatsEnd : std::uint8_t { kFixed, kDecided, kBudget, kMost, kStopped };

// Where the cost of a tracer is known from.
enum class CostBasis : std::uint8_t { kMeasured, kEstimated, kCalibrated };

// What the loop of a calibration calls: launches back to back, launches with much other code in between, as a program of Python makes
// them, and copies back to back.
enum class CalibratedCall : std::uint8_t { kLaunch, kLaunchAmidCode, kCopy };

enum class RunStatus : std::uint8_t {
  kComplete,     // everything that was planned was captured
  kPartial,      // usable, but something planned is missing; Run::problems says what
  kInterrupted,  // Ctrl-C, SIGTERM or a timeout ended it early
  kFailed,       // the workload or the capture failed; what there is was kept
};

enum class Severity : std::uint8_t { kInfo, kLow, kMedium, kHigh };

// What a rule is asked about, and its findings are about.
enum class RuleScope : std::uint8_t { kRun, kStage, kKernel, kOperator };

// What a rule's findings would change: why the workload failed, how fast it is, or only how it is measured. In the order in which
// findings are listed.
enum class RuleAbout : std::uint8_t { kFailure, kWorkload, kMeasurement };

// What kind of program was profiled: what it does again and again.
enum class WorkloadKind : std::uint8_t {
  kUnknown,     // something repeats or nothing does; what it is for is not known
  kGeneration,  // requests, and the tokens that answer them
  kEncoding,    // batches through a model that generates nothing: embeddings, classes
  kTraining,
  kDiffusion,   // steps that take noise out of images
  kServing,     // generation for many requests at a time
  kCollective,  // steps of several processes that wait for each other
};

// The stages with a meaning of their own, by their names; any other name is kOther. The last two are phases outside of stages.
enum class StageKind : std::uint8_t {
  kOther,
  kPrefill,
  kDecode,
  kDecodeStep,
  kVision,
  kVisionEncoder,
  kVisionTower,
  kProjector,
  kRequest,
  kCapture,
  kBatch,      // a call of a model that generates nothing
  kTrainStep,  // from a batch of data to the end of the optimizer's work on it
  kLoadData,
  kForward,
  kBackward,
  kOptimizer,
  kDenoiseStep,
  kImage,
  kStep,  // of a program of which nothing is known but that it repeats
  kMixed,
  kIdle,
};

// Where a stage's windows come from: ranges that the workload or the user's map names, the ranges of an inference engine, or the
// trace alone (what repeats in it).
enum class StageSource : std::uint8_t { kMarked, kEngine, kInferred };

// Who looked at the host's stacks.
enum class HostSampler : std::uint8_t { kNone, kPython, kNsys, kPerf };

// What kind of code a line of the host is.
enum class HostWork : std::uint8_t {
  kOther,  // libraries that none of the others name
  kTokenizer,
  kSampling,    // of the next token: logits, stopping criteria
  kGeneration,  // the loop around the model: inputs of a step, caches
  kModel,       // modules of the model
  kFramework,   // PyTorch underneath: modules' calls, dispatch
  kCompiler,    // torch.compile: guards, compiled wrappers, compiling
  kSync,        // asks the GPU for a value: .item(), .cpu(), synchronize()
  kDataLoader,
  kServer,     // event loops, queues, HTTP
  kGarbage,    // garbage collection
  kUser,       // the user's own code: neither the standard library nor an installed package
  kOptimizer,  // of training: steps, gradients that are set to zero
  kLogging,    // printing, logging, progress bars
  kJson,       // reading and writing JSON
  kSleep,      // asleep on purpose
  kExchange,   // with other processes: collectives on the host, MPI
  kCuda,       // calls of the CUDA runtime and driver, without a framework around them
};
inline constexpr std::size_t kHostWorks = 18;

// Idle time of a GPU inside the windows of a stage.
enum class GapKind : std::uint8_t {
  kRecurring,        // long, and in at least half of the windows at the same place
  kOccasional,       // long, in fewer windows
  kBetweenLaunches,  // all the short ones
};

// What an operator does, whatever backend calls it what: "aten::mm", "Gemm" and a TensorRT layer are all matmul.
enum class OperatorType : std::uint8_t {
  kOther,
  kMatmul,
  kAttention,
  kNorm,
  kActivation,
  kElementwise,
  kReduction,
  kSoftmax,
  kEmbedding,
  kConvolution,
  kCopy,
  kCast,
  kShape,
  kIndex,
  kSampling,
  kCollective,
  kFused,
  kCache,
  kMoe,
  kControlFlow,
};

// What joined a measured launch to a kernel of the trace, beside grid and block.
enum class KernelMatch : std::uint8_t { kNone, kMangledName, kName, kNormalisedName, kShortName };

enum class RangeStyle : std::uint8_t { kPushPop, kStartEnd };

// How GPUs talk to each other: collectives and sends of NCCL, NVSHMEM and their like, and copies from one GPU to another.
enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kSendRecv,
  kPeerCopy,
  kOther,
};
inline constexpr std::size_t kCollectives = 9;

// What told the number of a rank.
enum class RankSource : std::uint8_t { kNone, kGiven, kEnvironment, kProcessGroup, kFileName, kOrder };

// What the times of a rank were put on the clock of the first one by.
enum class RankClock : std::uint8_t {
  kNone,         // nothing
  kReference,    // it is the first one
  kCollectives,  // by the ends of collectives that all members leave together
  kMachine,      // both were recorded by one clock
  kWallClock,    // by the clocks of the day alone
};

// What a call of a CUDA API does to the GPU. kNone: there is no such call.
enum class CallKind : std::uint8_t { kNone, kKernelLaunch, kGraphLaunch, kCopy, kWait, kOther };
inline constexpr std::size_t kCallKinds = 6;

// How the slowest of several GPUs was found: it reaches the collectives last, or it computes longest.
enum class SlowestBy : std::uint8_t { kArrival, kCompute };

// What NVML gave the joules from.
enum class EnergySource : std::uint8_t { kNone, kCounter, kPower };

// Everything that may have to be said of a run besides its numbers: trouble, what is missing and why, what was adjusted.
// A section for each subject; within it, add at the end. model/words.cpp has one row for each, in this order.
enum class Code : std::uint16_t {
  // The capture as a whole
  kNoStages,              // no range of the capture is a stage
  kNoKernelInStages,      // stages are there, and no kernel was launched inside them
  kNoKernels,             // the workload ran no kernel
  kGraphsWithoutKernels,  // CUDA graphs captured at graph level: the kernels inside are not visible
  kCaptureCut,            // a file of it ends before what was written into it
  kCaptureStopped,        // its recorder could write no more

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
  kError,             // an Error that was caught: its own words
  kInterrupted,       // Ctrl-C
  kEndedFromOutside,  // SIGTERM, SIGHUP
  kPassTimeout,
  kLogCutShort,
  kWorkloadFailed,
  kWorkloadCrashed,
  kWorkloadDiffers,  // ends otherwise when it is not profiled
  kNsysKilled,
  kNsysNotImported,  // captured, and its importer cannot make a report of it
  kNsysFailed,
  kNsysNoReport,
  kNsysExportFailed,
  kDiskFull,
  kCollectorSilent,  // it wrote no file
  kCuptiSilent,      // its files hold no kernel
  kMetersSilent,     // NVML, where energy.enabled is on
  kActivityDenied,   // the GPU's activity was to be sampled
  kActivityFailed,
  kStallsDenied,  // reading where warps stall was denied
  kStallsFailed,
  kWorkloadOutOfMemory,      // of a GPU
  kWorkloadOutOfHostMemory,  // of the machine
  kWorkloadCudaError,        // a kernel broke something: illegal memory access, device-side assertion
  kWorkloadException,        // of Python or C++; the last one, with its place
  kWorkloadKilled,           // SIGKILL, of which no program can tell the reason

  // Passes that count
  kNcuKilled,
  kNcuFailed,
  kNcuNoMatch,  // no kernel matched its filters
  kNcuNotWritable,
  kNcuNotStarted,  // the workload, by ncu
  kNcuWorkloadFailed,
  kNcuExportFailed,
  kNcuEndedWithError,     // the workload, after everything was measured
  kCountersPartly,        // of some of the chosen kernels
  kKernelCountersFailed,  // those of the stages were measured
  kCounterPassFailed,     // the workload, in it
  kStagesNotCounted,
  kCountersUnmatched,  // import: launches of another workload
  kCountersEmpty,      // import: files without counters
  kNoKernelToMeasure,
  kCountersCut,  // a file with counters ends before what was written into it

  // Adjustments for this machine
  kOptionLeftOut,
  kInjectionUnset,
  kEngineSwitches,  // variables and marks that mark.engine adds
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
  kDutyByCollectorOnly,
  kDutyNoSteps,       // nothing marked a step: all were traced
  kDutyStepsUnknown,  // a regular expression of stages.map that the collector cannot match
  kDutyNeverPaused,   // steps are marked, and all were traced: too few, or they always overlap
  kNoStepEnded,       // of a recorder's window: work was launched, but no step ended
  kWiderRanges,       // second try, wherever the kernels are launched
  kShorterNames,      // second try, by short names
  kNoMangledNames,
  kNamesTooLong,
  kEveryKernel,
  kTraceThinned,       // trace.pftrace shows a part
  kTracedWithLess,     // the trace grew too large
  kTraceCutShort,      // the trace grew too large, and nothing could be left out of it
  kNoTimeLeft,         // for one pass
  kLeftOutForTime,     // all such passes
  kFactsDamaged,       // what a process noted about itself
  kMarksFailed,        // inside the marks of a Python workload
  kModelShapeUnknown,  // its configuration was noted, but does not describe a transformer
  kOperatorsLeftOut,   // the pass that records operators: it would be in vain
  kOperatorsFailed,    // it ended badly, or could not be read
  kStacksRefused,      // the kernel does not let us sample native stacks
  kStacksFailed,       // they could not be sampled or kept for another reason

  // Why there are no kernels, or no counters of one
  kNoKernelsCaptured,  // nothing ran on a GPU, or it was not traced
  kNoGpu,
  kUnprofiledRun,  // only its stages were timed, as was asked for
  kNotRecorded,    // the collector says what kept CUPTI
  kCounterPass,    // a file of the pass that counts, taken for a trace
  kRangesOnly,     // the collector met no GPU
  kNotChosen,      // for counters
  kNotMeasured,    // chosen

  // What importers and the analysis met
  kClockFit,
  kGpuNumbersDiffer,    // among the processes of a capture
  kRankClockNotFitted,  // its times are only as good as the clock of the day
  kRankClockLoose,      // its clock does not follow a line
  kRanksAmbiguous,      // collectives may be paired in several ways
  kRanksMissing,        // not all ranks of the run were given
  kRanksByOrder,        // nothing told their numbers
  kRankNotCounted,      // it has no collective with others
  kRankFailed,          // its program did
  kRankHung,            // it was ended after its time
  kRankLost,            // it never said how it ended
  kRankNotStarted,
  kRankNotWhole,        // something of it was not captured
  kRankNotHandedIn,     // its bundle stayed on its node
  kRankWithoutCapture,  // its bundle has none
  kRanksStopped,        // because another one had failed
  kSamplesLost,
  kSqliteNotWritten,
  kStringIdsMissing,
  kKernelsWithoutProcess,
  kCorrelationRepeated,
  kEventsLeftOut,
  kNodesByProvider,
  kProfileCutShort,
  kBackwardRanges,
  kRangesNotListed,
  kStallsUnmatched,
  kLaunchesUnmatched,
  kCountersOfNoStage,
  kNcuAlone,
  kNoOperators,        // in the operator pass
  kOperatorsScaled,    // from the operator pass to the main trace
  kOperatorsUnscaled,  // its steps are not in the main trace
  kStacksNotJoined,    // sampled stacks of processes that the capture has no clock marks of
  kFewHostSamples,     // too few in a stage's waits for launches to say what they fall on
  kGraphsJoined,       // replayed CUDA graphs, to the trace of their capture
  kGraphsNotJoined,    // their kernels are others than those of every captured graph
  kEngineProcesses,    // what each process of an inference engine is for

  // Stages that are not marked
  kStagesMapped,  // by the configuration's stages.map
  kMapNotUsed,    // the workload marks stages itself
  kMapNoMatch,    // a pattern of stages.map matches no range
  kStagesOfEngine,
  kStagesInferred,
  kStepsInferred,     // what repeats are the steps, whatever they are for
  kStepsNotRepeated,  // nothing was inferred: no sequence of GPU work repeats
  kStepsTooFew,
  kStepsNested,  // something repeats, and a part of it as well: either may be the step
  kStepsOfTraining,
  kStepsWithoutProducts,  // something repeats, but it is not a model
  kStepsWithoutPrefill,   // something repeats, and nothing shows that it is generation
  kStepsWithoutTokens,    // no embedding is looked up in it, or no token chosen

  // How the kind of a program is known
  kKindByStages,
  kKindByEngine,
  kKindByTokens,     // each step looks up an embedding and chooses a token
  kKindByTraining,   // kernels of a backward pass or of an optimizer
  kKindByRequests,   // several requests at a time
  kKindByJoining,    // requests join the batch of others between steps
  kKindByProcesses,  // several processes do as many steps
  kKindByRepetition,

  kImagesByNoise,  // runs of denoising steps are told apart by the noise that is drawn between them

  // Neither marked nor found
  kSteadyPart,    // the capture is one stage, without its warm-up
  kWholeCapture,  // or from its first GPU work on

  // Damaged rows. Their text names the row and is not a sentence
  kNoStartOrEnd,
  kNoStart,
  kEndsBeforeStart,
  kTooLong,
  kNoTime,
  kImpossibleTime,
  kNoThread,
  kTooManyPlaces,
  kNoName,
  kUnknownCopy,
  kNotUtf8,
  kSharedCorrelation,
  kNotJson,
  kNoObject,
  kHeaderCut,
  kRecordCut,
  kRestLost,
  kUnknownRecord,
  kImpossibleRecord,
  kStringTooLong,
  kDoesNotFit,
  kPartLost,
  kUnknownString,
  kUnpaired,
  kImpossibleNumber,
  kUnknownMetrics,
  kBelowZero,
  kImpossibleWindow,
  kDropped,
  kUnfinished,
  kTableUnusable,
  kRowOfUnusableTable,
  kRowLength,
  kRowWithoutLaunch,
  kRowBeforeUnits,
  kRowWithoutValue,
  kRowCut,
  kBrokenQuotes,
  kAmbiguousNumber,
  kUnknownUnit,
  kNotFinite,
  kUndefined,

  // Of a file of an earlier format, or of a workload: the sentence is details[0]
  kNote,

  kCount_,
};

// The pass that captures.
inline PassKind tracing_pass(Tracer tracer) { return tracer == Tracer::kNsys ? PassKind::kNsys : PassKind::kCollector; }

// One thing to say: its code, what fills the gaps of its sentence, and the place (a file, a log, a range).
struct Remark {
  Code code{};
  std::vector<std::string> details = {};
  std::string where = {};
  friend auto operator<=>(const Remark&, const Remark&) = default;
};

// Several files of one capture may say the same, several passes have the same stage.
template <class Item>
void add_once(std::vector<Item>& items, std::type_identity_t<Item> item) {
  if (std::find(items.begin(), items.end(), item) == items.end()) items.push_back(std::move(item));
}

inline bool is_one_of(Code code, std::initializer_list<Code> codes) { return std::find(codes.begin(), codes.end(), code) != codes.end(); }

// The first that has one of these codes.
inline const Remark* find_first(const std::vector<Remark>& remarks, std::initializer_list<Code> codes) {
  const auto found = std::find_if(remarks.begin(), remarks.end(), [&](const Remark& remark) { return is_one_of(remark.code, codes); });
  return found != remarks.end() ? &*found : nullptr;
}

// Why a trace has only a beginning: shares of it, and what is absent from it, say nothing of the run.
inline constexpr std::initializer_list<Code> kCaptureIncomplete = {Code::kCaptureCut, Code::kCaptureStopped};

// Why a workload did not end well. Advice about its speed comes after that.
inline constexpr std::initializer_list<Code> kWorkloadFailures = {
    Code::kWorkloadFailed,    Code::kWorkloadCrashed,   Code::kWorkloadOutOfMemory, Code::kWorkloadOutOfHostMemory,
    Code::kWorkloadCudaError, Code::kWorkloadException, Code::kWorkloadKilled};

// Why a pass that counts through CUPTI counted nothing.
inline constexpr std::initializer_list<Code> kCounterTroubles = {Code::kCountersDenied, Code::kCountersBusy, Code::kCountersFailed};

// What a capture must have for a figure or a rule field to be there. kWhole: all of the trace, where a part of it is missing.
enum class CaptureNeed : std::uint8_t {
  kAlways,
  kStages,
  kCuda,
  kNcu,
  kOperators,
  kModel,
  kBare,
  kNvml,
  kIterations,
  kCounters,
  kSampling,
  kHostStacks,
  kWhole,
  kRequests,
};

// Which way a figure improves.
enum class Better : std::uint8_t { kNeither, kLower, kHigher };

// Damaged rows are counted, under what is wrong with them.
using DamagedRows = std::map<Remark, std::uint64_t>;
struct DamagedRow {  // one of them, as files keep it
  Remark damage = {};
  std::uint64_t rows = 0;
};

// `where`: the part of the capture that they come from, where it is not the trace.
inline void add_damage(DamagedRows& all, const DamagedRows& more, const std::string& where = {}) {
  for (const auto& [damage, rows] : more) all[where.empty() ? damage : Remark{damage.code, damage.details, where}] += rows;
}

// The same in words, as run.json keeps it: what older files and other programs say has no details to fill a sentence with.
struct Problem {
  Code code = Code::kError;
  std::string what = {}, where = {}, fix = {};
  ErrorKind kind = ErrorKind::kCapture;  // of this process only: decides its exit status
  friend bool operator==(const Problem&, const Problem&) = default;
};

}  // namespace nl
