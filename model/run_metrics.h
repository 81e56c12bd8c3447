#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/codes.h"
#include "model/metrics.h"
#include "model/run.h"
#include "model/words.h"

// The one table of the figures of a run. A key never changes its meaning; a new figure is a row of run_metrics_table.cpp. Gates, the
// ledger, trends, the summary of run.json with its schema, rule fields, comparisons, reports and docs/gate.md loop over the table.
namespace nl {

// Which passes a figure is of: the traced ones, the unprofiled ones, or those in which NVML was read.
enum class MetricBasis : std::uint8_t { kTraced, kUnprofiled, kEnergyPass };

// What a figure is of: the run, a stage ("stage.NAME.…") or a kernel ("kernel.NAME.…").
enum class RunMetricScope : std::uint8_t { kRun, kStage, kKernel };

// kShare: 0..1. kUtilisation: of a peak that is an estimate, so it may be above 1.
enum class FigureUnit : std::uint8_t { kMilliseconds, kMicroseconds, kTokensPerSecond, kShare, kUtilisation, kCount, kJoules };
template <>
inline constexpr auto kKeys<FigureUnit> = std::to_array<std::string_view>({"ms", "µs", "tokens/s", "", "", "", "J"});

// The part of a run that has a figure: where rules point to, and the section of a comparison.
enum class RunPart : std::uint8_t { kSelf, kLatency, kEfficiency, kEnergy, kClocks, kServing };

struct MetricSubject {
  const Run& run;
  const StageEntry* stage = nullptr;
  const KernelEntry* kernel = nullptr;
};

// Where else a figure is wanted, besides gates, the ledger and trends, which have all of them. Empty: not there.
struct FigureUses {
  std::string_view summary = {};  // of run.json, which has it under its key: how the schema describes it
  std::string_view rule = {};     // the field of rules
  std::string_view compare = {};  // CompareLine::figure has this key
  bool expected = false;          // by a new file of expectations, where the user names no metrics
};

struct RunMetricInfo {
  RunMetricScope scope;
  std::string_view key;    // "tpot_ms"; of a stage or kernel what stands behind its name: "median_ms"
  std::string_view title;  // in reports: "Time per output token"
  FigureUnit unit;
  Better better;
  MetricBasis basis;
  CaptureNeed needs;
  RunPart part;
  std::string_view help;                                // for docs/gate.md and docs/rules.md
  std::optional<double> (*read)(const MetricSubject&);  // as it was measured: a time in nanoseconds
  FigureUses uses = {};
};

std::span<const RunMetricInfo> run_metric_table();
// "stage.NAME.median_ms"
std::string key_pattern(const RunMetricInfo& info, std::string_view name = "NAME");
// The row that a key is of: "stage.decode_step.median_ms"; nullptr where there is none.
const RunMetricInfo* find_metric(std::string_view key);
std::string figure_title(std::string_view key);  // of a figure of the run: "tpot_ms". The key is one of the table
// The row that has this name in comparisons.
const RunMetricInfo* find_compared(std::string_view compare);

MetricUnit measured_unit(FigureUnit unit);  // of what read() gives
// The value in its unit; nothing where it was not captured or is not finite.
std::optional<double> figure_value(const RunMetricInfo& info, const MetricSubject& subject);
// The value of a figure of the run: "tpot_ms". The key must be in the table.
std::optional<double> figure_value(const Run& run, std::string_view key);

struct RunMetric {
  std::string key;                      // "stage.decode_step.median_ms"
  double value = 0;                     // finite
  const RunMetricInfo* info = nullptr;  // unit, which way is better
  bool unprofiled = false;              // of unprofiled passes; else of the trace
};

inline constexpr std::size_t kEveryKernel = static_cast<std::size_t>(-1);

// Each key once. A value that was not captured, or is not finite, is left out. Kernels: those with the most time.
std::vector<RunMetric> run_metrics(const Run& run, std::size_t most_kernels = 20);

// The name of a kernel in keys. One without template or function arguments is its own; others have a few digits of a hash behind
// it: "elementwise_kernel~1b2c3d4e".
std::string kernel_key(const KernelEntry& kernel);
// "stage.decode_step.median_ms" of the stage's name and "median_ms"
std::string stage_key(std::string_view stage, std::string_view figure);

// What expectations hold for: "NVIDIA H200", "2 x NVIDIA H200", the CPU's model where no GPU worked; empty: not known.
std::string hardware_key(const Run& run);

}  // namespace nl
