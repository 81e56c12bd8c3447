#pragma once

#include <cstdint>
#include <string>

#include "analysis/figures/operators/range_tally.h"
#include "analysis/trace/work_origin.h"
#include "model/trace.h"

namespace nl::analysis {

// A kernel, a copy or set, or a CUDA graph that was traced as a whole.
struct WorkRow {
  std::uint32_t name = 0;       // of Trace::strings, or kGraphName
  std::uint32_t shape = kNone;  // of Trace::shapes: a kernel
  std::uint64_t bytes = 0;      // of a copy or set
  Ns duration_ns = 0;
  WorkOrigin launch, origin;  // what says its stage, and what says its operator
};

template <class Visit>
void visit_work(const Trace& trace, Visit visit) {
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const Kernel& kernel = trace.kernels[i];
    if (kernel.shape >= trace.shapes.size()) continue;
    visit(WorkRow{trace.shapes[kernel.shape].name.value, kernel.shape, 0, static_cast<Ns>(kernel.duration_ns), launch_of(trace, kernel.api),
                  origin_of_kernel(trace, i)});
  }
  for (std::size_t i = 0; i < trace.mem_ops.size(); ++i) {
    const MemOp& op = trace.mem_ops[i];
    visit(WorkRow{op.label, kNone, op.bytes, op.end_ns - op.start_ns, launch_of(trace, op.api), origin_of_mem_op(trace, i)});
  }
  for (const GraphRun& run : trace.graph_runs) {
    const WorkOrigin launch = launch_of(trace, run.api);
    visit(WorkRow{kGraphName, kNone, 0, run.end_ns - run.start_ns, launch, launch});
  }
}

inline std::string name_of_work(const Trace& trace, std::uint32_t name) {
  return name == kGraphName ? std::string("(CUDA graph)") : trace.strings[StringId{name}];
}

}  // namespace nl::analysis
