#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/error.h"

// The values that enumerated keys may have: the enum that code decides on, and the words that files and --set carry.
namespace nl::orchestrator {

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
enum class HydraChdir { kKeep, kTrue, kFalse };               // workload.hydra_chdir
enum class Precision { kModel, kFp32, kFp16, kBf16, kInt8 };  // session.precision
enum class EnergyReading { kAuto, kOn, kOff };                // energy.enabled

using ChoiceWords = std::vector<std::string_view>;

template <class Enum>
inline const ChoiceWords kChoiceWords = {};  // in the order of the enum
template <>
inline const ChoiceWords kChoiceWords<RunMode> = {"deep", "light"};
template <>
inline const ChoiceWords kChoiceWords<TracePreference> = {"nsys", "cupti", "ranges"};
template <>
inline const ChoiceWords kChoiceWords<CounterPreference> = {"auto", "cupti", "off"};
template <>
inline const ChoiceWords kChoiceWords<CudaCalls> = {"work", "all", "none"};
template <>
inline const ChoiceWords kChoiceWords<GraphDetail> = {"node", "graph"};
template <>
inline const ChoiceWords kChoiceWords<CpuSampling> = {"none", "process-tree", "system-wide"};
template <>
inline const ChoiceWords kChoiceWords<PytorchRanges> = {"none", "autograd-nvtx", "autograd-shapes-nvtx", "functions-trace"};
template <>
inline const ChoiceWords kChoiceWords<CaptureRange> = {"none", "nvtx", "cudaProfilerApi"};
template <>
inline const ChoiceWords kChoiceWords<LaunchFilter> = {"per-launch-config", "global", "per-gpu"};
template <>
inline const ChoiceWords kChoiceWords<KernelNameBase> = {"mangled", "function", "demangled"};
template <>
inline const ChoiceWords kChoiceWords<HydraChdir> = {"keep", "true", "false"};
template <>
inline const ChoiceWords kChoiceWords<Precision> = {"model", "fp32", "fp16", "bf16", "int8"};
template <>
inline const ChoiceWords kChoiceWords<EnergyReading> = {"auto", "on", "off"};

// choice<CounterPreference>(config.capture.counters) == CounterPreference::kOff
template <class Enum>
Enum choice(std::string_view word) {
  const ChoiceWords& words = kChoiceWords<Enum>;
  const auto found = std::find(words.begin(), words.end(), word);
  // load_config() checks every value, so that this is a mistake of ours.
  if (found == words.end()) throw Error(ErrorKind::kInternal, "unknown configuration value '" + std::string(word) + "'");
  return static_cast<Enum>(found - words.begin());
}

// The word that files, --set and the tools' own options have for it.
template <class Enum>
std::string word_of(Enum value) {
  return std::string(kChoiceWords<Enum>.at(static_cast<std::size_t>(value)));
}

}  // namespace nl::orchestrator
