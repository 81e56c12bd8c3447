#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/clock_line.h"
#include "model/trace.h"

namespace nl::analysis::ranks {

// A capture, and how its times get onto the clock of the run.
struct Part {
  Trace trace;
  Ns shift_ns = 0;  // added first
  ClockLine line;
  std::uint32_t rank = 0;
  Ns operator()(Ns own_ns) const { return line(own_ns + shift_ns); }
};

// One trace of all parts, whose processes have their ranks. What numbers processes, threads, streams and GPUs is unique in it: GPUs of one
// number that are not one GPU, and processes of one number, get another.
Trace join(std::vector<Part> parts);

}  // namespace nl::analysis::ranks
