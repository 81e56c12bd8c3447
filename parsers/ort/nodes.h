#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/session.h"
#include "model/trace.h"
#include "parsers/json/array_file.h"

namespace nl::parsers {

// The shapes and types of a node's inputs or outputs.
struct OrtTensors {
  std::string shapes;  // "[[1, 16, 64], [64]]"
  std::string dtypes;  // "[float32, int64]"
};

struct OrtEvent {
  std::string_view category, name;  // valid until the next event is read
  std::optional<std::int64_t> pid, tid;
  std::optional<Ns> start_ns, duration_ns;
  std::string_view op_name, provider;
  std::optional<std::int64_t> node_index;
  OrtTensors inputs, outputs;
  std::optional<std::uint32_t> threads;  // of the pool that the node was computed with, the calling one among them
  std::uint32_t used_threads = 0;        // of them, those that have computed so far
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> grid[3], block[3];
};

// The text of a profile as JSON. ONNX Runtime writes names as they are, so that a line with a quote or a backslash in a name is not JSON.
JsonArrayFile::Bytes ort_text(const std::filesystem::path& file);

class OrtEventReader {
 public:
  OrtEventReader();
  ~OrtEventReader();
  // False where the text is not such an event.
  bool read(const JsonArrayFile& file, OrtEvent& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The nodes of a profile, execution by execution. An event is written when it ends, so what is inside another stands before it:
//   Node     /then/Mul_kernel_time
//   Session  SequentialExecutor::Execute     the inner graph of
//   Node     /If_kernel_time
//   Session  SequentialExecutor::Execute     the model's graph
//   Session  model_run                       an iteration
class OrtNodes {
 public:
  void add_node(const OrtEvent& event, std::string_view name);
  void add_session_event(const OrtEvent& event);
  void add_gpu_time(Ns duration_ns);  // of work that the last node launched
  // Nothing where there is no node.
  std::optional<ModelSession> session() &&;

 private:
  struct Stretch {
    Ns start_ns, end_ns;
    std::int64_t thread;
  };
  struct Execution {
    Stretch time;
    SessionNode node;
    std::optional<Ns> gpu_ns;
    bool graph_ended = false;  // the graph that the node is part of
    std::uint32_t iteration = 0;
  };
  void end_graph(const OrtEvent& event);
  std::optional<std::uint32_t> iteration_of(const Stretch& time) const;
  void order_executions();
  std::uint32_t number_of(SessionNode& node);

  std::vector<Stretch> model_runs_;
  std::vector<Execution> executions_;
  std::map<std::int64_t, std::vector<std::size_t>> of_thread_;  // executions of the iteration that it computes
  ModelSession session_;
  std::map<std::tuple<NodeIdentity, std::string, std::string>, std::uint32_t> numbers_;  // by shapes and types too
  std::uint32_t used_threads_ = 0;
};

}  // namespace nl::parsers
