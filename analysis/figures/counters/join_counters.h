#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evidence.h"
#include "model/run.h"

namespace nl::analysis {

// The parts of a Run that counters add to.
struct CounterFigures {
  std::vector<StageEntry> stages;
  std::optional<std::vector<KernelEntry>> kernels;
  std::optional<Remark> kernels_note;
  ImportStats import_stats;
  DamagedRows ncu_rows_damaged = {};
  std::vector<Problem> problems = {};
  Meter meter = Meter::kNone;  // what measured, of a run that was captured here
};

// Stages and kernels with what ncu and CUPTI counted of them. Where there is no trace the kernels are ncu's own.
CounterFigures join_counters(const Evidence& evidence, CounterFigures figures);

// Why CUPTI cannot count a kernel, whatever the pass does; nothing where it can.
std::optional<Remark> never_counted(const KernelEntry& kernel);

// Several reports of one meter as one.
NcuReport merged(const std::vector<NcuReport>& reports);

}  // namespace nl::analysis
