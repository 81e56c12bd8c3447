#pragma once

#include <optional>
#include <vector>

#include "analysis/account/gpu_pass.h"
#include "analysis/staging/staged_trace.h"
#include "model/run.h"

// Figures of the whole capture, inside and outside of stages, warm-up included.
namespace nl::analysis {

// Every GPU that ran something, also one that the capture's own table lacks.
std::vector<Device> gpus_of(const Trace& trace);

// Host calls by function, most time first. cudaGraphLaunch_v10000 is cudaGraphLaunch.
std::vector<ApiEntry> api_entries(const Trace& trace);

struct RangeList {
  std::vector<RangeEntry> ranges;  // the workload's own, most time first
  std::optional<Remark> note;      // more were there than are listed
};
RangeList range_entries(const StagedTrace& staged, const GpuSweep& sweep);

// Ranges that end before they begin: a clock stepped back.
std::optional<Remark> backward_ranges(const Trace& trace);

struct CoverageFigures {
  Coverage coverage;
  std::vector<Communication> communication;  // by GPU, process and kind
};
CoverageFigures coverage_of(const Trace& trace, const GpuPass& pass);

}  // namespace nl::analysis
