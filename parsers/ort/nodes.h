#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/session.h"
#include "parsers/ort/event.h"

namespace nl::parsers {

// The nodes of a profile, execution by execution. Events come in the order of their ends: those of the body of an If or a Loop before
// itself, and a model_run behind its nodes.
class OrtNodes {
 public:
  void add_node(const OrtEvent& event, std::string_view name);
  void add_run(const OrtEvent& event) { model_runs_.push_back({*event.start_ns, *event.start_ns + *event.duration_ns, *event.tid}); }
  void add_gpu_time(Ns duration_ns);  // of work that the last node launched
  // Nothing where there is no node.
  std::optional<ModelSession> session() &&;

 private:
  struct Stretch {
    Ns start_ns, end_ns;
    std::int64_t thread;
    bool holds(const Stretch& other) const { return start_ns <= other.start_ns && other.end_ns <= end_ns; }
  };
  struct Execution {
    Stretch time;
    SessionNode node;
    std::optional<Ns> gpu_ns;
  };
  bool has_body(const Execution& execution) const;
  std::vector<std::uint32_t> depths() const;
  std::vector<std::optional<std::uint32_t>> iterations() const;
  std::optional<std::uint32_t> model_run_of(const Stretch& time) const;
  std::uint32_t node_of(const SessionNode& node);

  std::vector<Stretch> model_runs_;
  std::vector<Execution> executions_;
  ModelSession session_;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::uint32_t>, std::uint32_t> numbers_;
  std::uint32_t used_threads_ = 0;
};

}  // namespace nl::parsers
