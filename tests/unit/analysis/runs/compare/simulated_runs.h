#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/run.h"

// Noisy runs made of the decode steps of a real capture, for asking how often a comparison is right.
namespace nl::test {

// What one decode step of a capture took: its wall, and each kernel in it.
struct CapturedStep {
  Ns wall_ns = 0;
  std::vector<Ns> kernel_ns;  // by CapturedSteps::kernels
};

struct CapturedSteps {
  std::vector<std::string> kernels;
  std::vector<CapturedStep> steps;
  std::size_t longest_kernel() const;  // in all steps together
};
CapturedSteps captured_steps(const Trace& trace);

// How runs differ from each other. The GPU's spread is that of whole requests on graphs (0.12 and 0.24 % in qwen2-graph-b8 and hf-graph,
// where the GPU is the limit), the host's that of whole requests in the eager captures (1.2 to 6.4 %).
struct RunNoise {
  double host = 0.02, gpu = 0.0024;
  double host_drift = 0, gpu_drift = 0;  // relative, from the first run to the last
  double walk = 0;                       // relative: how far the host wanders from run to run
};

enum class Order { kInterleaved, kBlocks };

struct SimulatedSides {
  std::vector<Run> a, b;
};

// `slowed`: a kernel of B, by its place in CapturedSteps::kernels, takes longer by `slowdown`.
SimulatedSides simulate(const CapturedSteps& captured, std::size_t runs_a_side, Order order, const RunNoise& noise, std::mt19937_64& random,
                        double slowdown = 0, std::size_t slowed = 0);

}  // namespace nl::test
