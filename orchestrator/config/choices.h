#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

// The values that enumerated keys may have: the enum that code decides on, and the words that files and --set carry.
namespace nl::orchestrator {

using ChoiceWords = std::vector<std::string_view>;  // in the order of the enum

enum class RunMode { kDeep, kLight };
enum class TracePreference { kNsys, kCupti, kRanges };        // capture.prefer
enum class CounterPreference { kAuto, kCupti, kOff };         // capture.counters
enum class CudaCalls { kWork, kAll, kNone };                  // capture.cuda_calls
enum class GraphDetail { kNode, kGraph };                     // capture.cuda_graphs, nsys.cuda_graph_trace, ncu.graph_profiling
enum class CpuSampling { kNone, kProcessTree, kSystemWide };  // nsys.sample, nsys.cpuctxsw
enum class PytorchRanges { kNone, kAutograd, kAutogradShapes, kFunctions };
enum class CaptureRange { kNone, kNvtx, kCudaProfilerApi };
enum class LaunchFilter { kPerLaunchConfig, kGlobal, kPerGpu };  // ncu.filter_mode
enum class KernelNameBase { kMangled, kFunction, kDemangled };
enum class HydraChdir { kKeep, kTrue, kFalse };                                 // workload.hydra_chdir
enum class Precision { kModel, kFp32, kFp16, kBf16, kInt8 };                    // session.precision
enum class EnergyReading { kAuto, kOn, kOff };                                  // energy.enabled
enum class TracerCalibration { kAuto, kOn, kOff };                              // perturbation.calibrate
enum class EngineMarks { kOff, kAuto, kVllm, kSglang, kTensorrtLlm, kDynamo };  // mark.engine

inline ChoiceWords choice_words(RunMode) { return {"deep", "light"}; }
inline ChoiceWords choice_words(TracePreference) { return {"nsys", "cupti", "ranges"}; }
inline ChoiceWords choice_words(CounterPreference) { return {"auto", "cupti", "off"}; }
inline ChoiceWords choice_words(CudaCalls) { return {"work", "all", "none"}; }
inline ChoiceWords choice_words(GraphDetail) { return {"node", "graph"}; }
inline ChoiceWords choice_words(CpuSampling) { return {"none", "process-tree", "system-wide"}; }
inline ChoiceWords choice_words(PytorchRanges) { return {"none", "autograd-nvtx", "autograd-shapes-nvtx", "functions-trace"}; }
inline ChoiceWords choice_words(CaptureRange) { return {"none", "nvtx", "cudaProfilerApi"}; }
inline ChoiceWords choice_words(LaunchFilter) { return {"per-launch-config", "global", "per-gpu"}; }
inline ChoiceWords choice_words(KernelNameBase) { return {"mangled", "function", "demangled"}; }
inline ChoiceWords choice_words(HydraChdir) { return {"keep", "true", "false"}; }
inline ChoiceWords choice_words(Precision) { return {"model", "fp32", "fp16", "bf16", "int8"}; }
inline ChoiceWords choice_words(EnergyReading) { return {"auto", "on", "off"}; }
inline ChoiceWords choice_words(TracerCalibration) { return {"auto", "on", "off"}; }
inline ChoiceWords choice_words(EngineMarks) { return {"off", "auto", "vllm", "sglang", "trtllm", "dynamo"}; }

// choice<CounterPreference>(config.capture.counters) == CounterPreference::kOff
template <class Enum>
Enum choice(std::string_view word) {
  const ChoiceWords words = choice_words(Enum());
  const auto found = std::find(words.begin(), words.end(), word);
  // load_config() checks every value, so that this is a mistake of ours.
  if (found == words.end()) throw Error(ErrorKind::kInternal, "unknown configuration value '" + std::string(word) + "'");
  return static_cast<Enum>(found - words.begin());
}

// The word that files, --set and the tools' own options have for it.
template <class Enum>
std::string word_of(Enum value) {
  return std::string(choice_words(value).at(static_cast<std::size_t>(value)));
}

}  // namespace nl::orchestrator
