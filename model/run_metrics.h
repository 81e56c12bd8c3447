#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/codes.h"
#include "model/run.h"

// The figures of a run as one flat list, for gates, the ledger and dashboards. A key never changes its meaning; a new figure is
// a row of run_metrics_table.cpp.
namespace nl {

// Which passes a figure is of: the traced ones, the unprofiled ones, or those in which NVML was read.
enum class MetricBasis : std::uint8_t { kTraced, kUnprofiled, kEnergyPass };

// What a figure is of: the run, a stage ("stage.NAME.…") or a kernel ("kernel.NAME.…").
enum class RunMetricScope : std::uint8_t { kRun, kStage, kKernel };

struct MetricSubject {
  const Run& run;
  const StageEntry* stage = nullptr;
  const KernelEntry* kernel = nullptr;
};

struct RunMetricInfo {
  RunMetricScope scope;
  std::string_view key;   // "tpot_ms"; of a stage or kernel what stands behind its name: "median_ms"
  std::string_view unit;  // "ms"; empty: a share or a count
  Better better;
  MetricBasis basis;
  std::string_view help;  // for docs/gate.md
  std::optional<double> (*read)(const MetricSubject&);
};

std::span<const RunMetricInfo> run_metric_table();
const RunMetricInfo* metric_info(std::string_view key);  // of "stage.decode_step.median_ms"; null: no metric has such a key
std::string key_pattern(const RunMetricInfo& info);      // "stage.NAME.median_ms"
// The row that such a key is of; nullptr where there is none.
const RunMetricInfo* find_metric(std::string_view key);

struct RunMetric {
  std::string key;                      // "stage.decode_step.median_ms"
  double value = 0;                     // finite
  const RunMetricInfo* info = nullptr;  // unit, which way is better
  bool unprofiled = false;              // of unprofiled passes; else of the trace
};

inline constexpr std::size_t kEveryKernel = static_cast<std::size_t>(-1);

// Each key once. What was not captured, or is no finite number, is not among them. Kernels: those with the most time.
std::vector<RunMetric> run_metrics(const Run& run, std::size_t most_kernels = 20);

// The name of a kernel in keys. One without template or function arguments is its own; others have a few digits of a hash behind
// it: "elementwise_kernel~1b2c3d4e".
std::string kernel_key(const KernelEntry& kernel);

// What expectations hold for: "NVIDIA H200", "2 x NVIDIA H200", the CPU's model where no GPU worked; empty: not known.
std::string hardware_key(const Run& run);

}  // namespace nl
