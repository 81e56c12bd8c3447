#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/session.h"
#include "parsers/ort/event.h"

namespace nl::parsers {

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
