#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/codes.h"
#include "model/time.h"

namespace nl {

struct OperatorShape {
  std::string text;  // "[[1, 1024], [1024, 1024]]"
  std::uint64_t calls = 0;
  Ns total_ns = 0;                  // host time
  std::optional<Ns> cuda_total_ns;  // kernels and copies launched inside
  std::string dtypes = {};          // "[bfloat16, bfloat16]"; empty: not recorded
};

// A kernel, or a copy or set under the name that the capture gives it.
struct OperatorKernel {
  std::string name;
  std::uint64_t calls = 0;
  Ns total_ns = 0;
};

// Total includes what was called inside, self does not; a sum over operators uses self only. Recursion
// (an operator inside itself) counts once in total.
struct OperatorEntry {
  std::string name;  // "aten::mm", without running numbers and shapes
  std::string type;  // of a TensorRT layer, else a key of OperatorType; empty: not known
  std::uint64_t calls = 0;
  bool host_time_known = true;                     // false: the next two were not measured, because trtexec knows GPU time only
  Ns total_ns = 0, self_ns = 0;                    // host time
  std::optional<Ns> cuda_total_ns;                 // kernels and copies launched inside; empty: no GPU data
  std::optional<Ns> cuda_self_ns;                  // of them, those launched by this operator itself
  std::vector<OperatorShape> shapes;               // the ones with the most time first
  std::vector<OperatorKernel> kernels;             // most time first, launched inside it
  std::vector<std::pair<std::string, Ns>> stages;  // self GPU time (host time without GPU data) by stage
};

struct OperatorTable {
  std::string source;                          // "pytorch ranges", "NVTX ranges", "kineto", "onnxruntime", "trtexec"
  std::string file;                            // imported from; empty: the capture itself
  std::vector<OperatorEntry> entries;          // by cuda_self_ns, else self_ns, largest first
  std::optional<Ns> cuda_ns;                   // GPU time of all of them (each kernel once)
  std::optional<double> gpu_share;             // of the capture's kernel and copy time: inside an operator
  std::optional<double> graph_unjoined_share;  // as Coverage's, of the capture that the operators are from
  bool scaled = false;  // structure of an operator pass, calls and GPU times of the capture; gpu_share is then of its stages
  std::string note;     // what the reader should know of this source
  std::uint64_t entries_left_out = 0;
  std::uint64_t ranges_left_out = 0;  // never closed, or closed by another thread: how long they took inside a thread is unknown
};

// The data types of one operator's arguments, by its name and the shapes it was called with.
struct OperatorDtypes {
  std::string name;    // "aten::mm"
  std::string shapes;  // "[[1, 2048], [2048, 2048]]"
  std::string dtypes;  // "[bfloat16, bfloat16]"
  friend bool operator==(const OperatorDtypes&, const OperatorDtypes&) = default;
};

// What one operator of a step took in all the iterations that ran the same operators.
struct OperatorTimes {
  std::uint64_t count = 0;  // iterations
  Ns total_ns = 0;
  double median_ns = 0;                              // the mean of the two middle values where the count is even
  std::optional<Ns> min_ns, p10_ns, p90_ns, max_ns;  // nearest rank; empty: the source knows the median alone
};

// One call of an operator, in the order of the calls; of a model file that is run as a whole, one of its nodes.
struct OperatorCall {
  std::uint32_t index = 0;  // in its step
  std::string name;         // in the words of its backend: "aten::mm", "MatMul", "gemm"
  OperatorType type = OperatorType::kOther;
  std::uint32_t depth = 0;                             // 0: called by no other operator
  std::string shapes;                                  // "[[1, 1024], [1024, 1024]]"; empty: not recorded
  std::string dtypes;                                  // "[bfloat16, bfloat16]"; empty: not recorded
  std::string layer;                                   // the innermost module around it; empty: none
  std::string line;                                    // "modeling_qwen3.py:245 forward"; empty: not recorded
  std::optional<Ns> host_ns;                           // of several iterations the median; empty: the backend knows GPU time only
  std::optional<Ns> gpu_ns;                            // of its own kernels, as long as they take in the clean pass; else as host_ns
  std::optional<Ns> gpu_recorded_ns;                   // as long as they took where operators were recorded
  std::vector<OperatorKernel> kernels;                 // launched by itself, not by an operator inside; times as gpu_ns
  std::string node = {};                               // its own name: "/block/MatMul", a layer of TensorRT; empty: it has none
  std::optional<std::uint64_t> node_index = {};        // as the backend numbers its nodes
  std::string provider = {};                           // what ran it: "CPUExecutionProvider", "cuda:0"; empty: not known
  std::vector<std::string> holds = {};                 // the nodes of the model file that were fused into it
  std::string output_shapes = {}, output_dtypes = {};  // as shapes and dtypes, which are of the inputs
  std::uint64_t executions = 1;                        // in one iteration; more inside a loop, and the times are of all of them
  std::optional<OperatorTimes> host_times = {};        // over the iterations
  std::optional<OperatorTimes> gpu_times = {};         // as long as they took where operators were recorded
};

struct OperatorStep {
  std::string stage;
  std::string source;         // as OperatorTable::source
  std::uint64_t window = 0;   // which of the stage's windows of that pass
  std::uint64_t windows = 0;  // that have operators
  std::vector<OperatorCall> calls;
  std::uint64_t calls_left_out = 0;
  std::optional<Ns> gpu_outside_ns;                // of the window's GPU time: launched by no operator
  std::string file = {};                           // as OperatorTable::file
  std::uint64_t iterations = 1;                    // that the times of its calls are over
  std::optional<Ns> wall_ns = {};                  // of such an iteration, the median; empty: not known
  std::optional<Ns> unprofiled_wall_ns = {};       // of an iteration in which no operator was timed
  std::optional<std::uint32_t> threads = {};       // that the backend computes with
  std::optional<std::uint32_t> idle_threads = {};  // of them, those that never did
};

// The operators of a source, added up by name and one by one.
struct OperatorRecords {
  OperatorTable table;
  std::vector<OperatorStep> steps;
};

// One module of the model: "model.layers.3.mlp", from ranges of the domain LLM.layers.
struct LayerEntry {
  std::string name;
  std::string type;         // "LlamaMLP", where the workload says so
  std::uint32_t depth = 0;  // in the module tree
  std::uint64_t calls = 0;
  Ns total_ns = 0, self_ns = 0;  // host time
  std::optional<Ns> cuda_total_ns, cuda_self_ns;
  std::vector<OperatorKernel> kernels;  // launched inside, largest first
};

// The time of each call that belongs to it alone, so that times can be added: its GPU time where that is known, else its host time without the
// calls inside it. Calls that have neither take none.
std::vector<Ns> own_times(const OperatorStep& step);

Ns sum_of(const std::vector<Ns>& times);

// Whether the step consists of the named nodes of a model file.
bool has_nodes(const OperatorStep& step);

}  // namespace nl
