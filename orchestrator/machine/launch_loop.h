#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/codes.h"

// A loop of calls into the CUDA driver that does nothing but call, for what a tracer adds to a call. `nl-stage calibrate`, our own program once more,
// runs it bare and under each tracer. The driver's library is loaded at run time: nothing of CUDA is needed to build.
namespace nl::orchestrator {

// One kind of call: how long one took, by block of calls.
struct TimedLoop {
  CalibratedCall call = CalibratedCall::kLaunch;
  std::vector<double> blocks_ns;
};

struct LaunchLoops {
  int cuda_driver_version = 0;  // 13000: 13.0
  std::vector<TimedLoop> loops;
};

// Takes about a second on the first GPU. Throws Error(kTool) where there is no driver, no GPU or no memory.
LaunchLoops time_launch_loops(const std::filesystem::path& driver_library = "libcuda.so.1");

// {"cuda_driver_version": 13000, "loops": [{"call": "launch", "blocks_ns": [2310.5, …]}, …]}
std::string loops_json(const LaunchLoops& loops);
LaunchLoops read_loops(const std::filesystem::path& file);  // throws Error(kInput)

}  // namespace nl::orchestrator
