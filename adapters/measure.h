#pragma once

#include <map>
#include <string>

#include "adapters/inputs.h"

namespace nl::adapters {

// How the inputs are made, and how often the model is run.
struct MeasureOptions {
  SessionOptions session;
  std::string inputs = "random";  // random, zeros, or a file: .npz, .npy
  std::uint64_t seed = 1;
  std::map<std::string, std::int64_t> dims;  // open dimensions by their symbols; "batch" and "seq" among them
  GivenShapes shapes;                        // of inputs that the model declares without one, by their names
  std::uint32_t iterations = 20, warmup = 3;
};

// Loads the model, makes its inputs, runs it unprofiled and then profiled. Each iteration of the second part is a range (kIterationStage); operators get ranges
// of their own where the backend calls us at each.
// Nodes and runs of a backend whose library writes a profile are in that file, ModelSession::profile.
ModelSession measure(const Adapter& adapter, const MeasureOptions& options);

// Gives a session the executions of its profiled iterations, without those of the warm-up and the nodes that only the warm-up ran.
void keep_measured(Executions executions, ModelSession& session);

}  // namespace nl::adapters
