#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/run.h"

namespace nl {

struct WorkingKernel {
  std::size_t index = 0;  // in Run::kernels
  Ns time_ns = 0;         // in measured windows, and its launches there
  std::uint64_t calls = 0;
  double measured_share = 0;  // of the time of its GPU's kernels there
};

// The kernels that work where it is measured. What a program runs once, while it starts and warms up, is no part of a step, however
// long it takes.
struct WorkingKernels {
  std::vector<WorkingKernel> list;  // the most time first
  bool measured = false;            // false: no launch lies in a measured window; all kernels, over the whole capture
  std::size_t left_out = 0;         // kernels that run only in warm-up and outside of the measured windows,
  Ns left_out_ns = 0;               // and their time
};
WorkingKernels working_kernels(const Run& run);

}  // namespace nl
