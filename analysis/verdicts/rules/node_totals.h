#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/run.h"

// The nodes of a model file that a backend ran, as rules ask about them: of one iteration, and of one operator in it.
namespace nl::analysis::rules {

struct NodeTotals {
  std::uint64_t nodes = 0;
  Ns own_ns = 0;
  std::string provider;              // that runs most of its time
  std::uint64_t fallback_nodes = 0;  // on the CPU, while another provider runs the rest
  Ns fallback_ns = 0;
  std::uint64_t chain_nodes = 0, longest_chain = 0;  // casts beside casts; transposes beside what only changes shapes
  Ns chain_ns = 0;
  std::string top_node;
  Ns top_node_ns = 0;
};

struct StepTotals {
  std::size_t step = 0;               // index into Run::operator_steps
  Ns own_ns = 0;                      // of all nodes
  Ns compute_ns = 0;                  // of them: products, convolutions and attention
  std::string main_provider;          // that runs most of the time, another than the CPU where there is one
  bool cpu_only = false;              // every node's provider is known and is the CPU
  std::vector<NodeTotals> operators;  // by entry of the operator table
};

// Nothing where no step of that table has nodes. Of several steps the first counts, which has the most time.
std::optional<StepTotals> total_nodes(const Run& run, const OperatorTable& table);

}  // namespace nl::analysis::rules
