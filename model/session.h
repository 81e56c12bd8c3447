#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/time.h"

namespace nl {

// The stage of one measured iteration of a model file: NVTX ranges of the domain LLM, as every stage has.
inline constexpr const char* kIterationStage = "inference";

// A tensor that goes into a model or comes out of it.
struct TensorInfo {
  std::string name;
  std::string dtype;                // "float32", "int64" …, as NumPy spells it; "bfloat16"
  std::string declared;             // "[batch, 16]": as the model has it
  std::vector<std::int64_t> shape;  // as it was run
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// An operator as a backend executes it. One that runs with several shapes is a node for each.
struct SessionNode {
  std::string name;                                    // "/block/MatMul"; of a backend without names its type and a running number
  std::string type;                                    // in the backend's own words: "MatMul", "aten::mm", "gemm"
  std::string provider;                                // what ran it: "CPUExecutionProvider", "cuda:0"; empty: not known
  std::string shapes;                                  // "[[1, 1024], [1024, 1024]]"; empty: not recorded
  std::string dtypes;                                  // "[float32, float32]"; empty: not recorded
  std::uint32_t depth = 0;                             // 0: called by no other operator
  std::vector<std::string> holds;                      // the nodes of the model file that were fused into it
  std::optional<std::uint64_t> index = {};             // as the backend numbers its nodes
  std::string output_shapes = {}, output_dtypes = {};  // as shapes and dtypes, which are of the inputs
  std::string inside = {};                             // the nodes whose body it is part of, each with its index: "/Loop#3/"
  friend bool operator==(const SessionNode&, const SessionNode&) = default;
};

// What a node is in its model, whatever shapes it runs with. A name is not enough: some fusions call all their nodes the same, and two
// loops may have bodies with the same names and numbers.
using NodeIdentity = std::tuple<std::string, std::string, std::string, std::optional<std::uint64_t>>;
inline NodeIdentity identity_of(const SessionNode& node) { return {node.inside, node.name, node.type, node.index}; }

// One execution of a node.
struct NodeRun {
  std::uint32_t iteration = 0;
  std::uint32_t node = 0;  // among the session's nodes
  Ns start_ns = 0;         // CLOCK_MONOTONIC; 0: not known
  Ns host_ns = 0;
  std::optional<Ns> gpu_ns;  // as the backend itself measured it on the device
  friend bool operator==(const NodeRun&, const NodeRun&) = default;
};

// A node of the graph that a backend made of the model's.
struct OptimisedNode {
  std::string name, type;
  std::vector<std::string> holds;  // as SessionNode's
  friend bool operator==(const OptimisedNode&, const OptimisedNode&) = default;
};

// A profile that the backend's library wrote, and what only the session knows of it.
struct SessionProfile {
  std::string file;                  // beside the session's record
  std::vector<Ns> zero_ns;           // CLOCK_MONOTONIC at the profile's time 0; for each iteration, warm-up included
  std::vector<OptimisedNode> graph;  // in the order of its file; empty: not known
  friend bool operator==(const SessionProfile&, const SessionProfile&) = default;
};

// A model file that was run by one of the adapters: how, how long, and every operator of it.
struct ModelSession {
  std::string backend, version;                    // "onnxruntime", "1.21.0"
  std::string provider;                            // "cpu", "cuda"
  std::string precision;                           // as asked for; empty: as the model has it
  std::string model;                               // the file
  std::string digest = {};                         // of it and of weight_files; as ModelInfo's
  std::vector<std::string> weight_files = {};      // beside it, with weights of it
  std::vector<std::string> weight_dtypes = {};     // as ModelInfo's dtypes
  std::string inputs_from;                         // "random, seed 1"; "zeros"; a file
  std::uint32_t threads = 0;                       // 0: as the backend chooses
  std::optional<std::uint32_t> idle_threads = {};  // of them, those that never computed; empty: not known
  std::uint32_t warmup = 0;
  Ns load_ns = 0;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<Ns> unprofiled_ns, profiled_ns;  // the iterations
  bool host_times_known = true;                // false: the backend measures on the device alone
  std::vector<SessionNode> nodes;              // in the order in which the first iteration ran them
  std::vector<NodeRun> runs;
  std::vector<std::string> notes;              // "logits: 3 of 1024 values are NaN"
  std::optional<SessionProfile> profile = {};  // where nodes and runs are, until it is read

  Ns time_of(const NodeRun& run) const { return host_times_known ? run.host_ns : run.gpu_ns.value_or(0); }
};

// What run.json keeps of a ModelSession besides its operators.
struct SessionEntry {
  std::string backend, version, provider, precision, model, inputs_from;  // as ModelSession's
  std::uint32_t threads = 0, warmup = 0;
  Ns load_ns = 0;
  std::vector<TensorInfo> inputs, outputs;
  TimeSummary unprofiled, profiled;       // the iterations
  std::optional<double> slowdown;         // profiled to unprofiled, less one
  std::optional<double> operators_ns;     // of an iteration: the sum of the operators that no other one called, median
  std::optional<double> operators_share;  // of an unprofiled iteration
  std::vector<std::string> notes;
};

}  // namespace nl
