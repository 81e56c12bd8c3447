#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>

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

// Says every few seconds for how long something has been loading, until the thread that it returns is destroyed: the libraries load a model in
// one call, which may take minutes.
std::jthread tell_load_progress(std::string what, std::function<void(const std::string&)> say,
                                std::chrono::milliseconds every = std::chrono::seconds(5));

// Gives a session the executions of its profiled iterations, without those of the warm-up and the nodes that only the warm-up ran.
void keep_measured(Executions executions, ModelSession& session);

}  // namespace nl::adapters
