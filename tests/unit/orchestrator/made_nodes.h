#pragma once

#include <algorithm>
#include <vector>

#include "model/run.h"
#include "model/words.h"

// Nodes of a model file as a backend ran them.
namespace nl::test {

inline OperatorCall node_of(const char* name, const char* op, OperatorType type, Ns host_ns, const char* provider) {
  OperatorCall call;
  call.node = name;
  call.name = op;
  call.type = type;
  call.host_ns = host_ns;
  call.provider = provider;
  return call;
}

inline constexpr const char* kCpu = "CPUExecutionProvider";
inline constexpr const char* kCuda = "CUDAExecutionProvider";

inline OperatorCall matmul(const char* name, Ns host_ns, const char* provider = kCpu) {
  return node_of(name, "MatMul", OperatorType::kMatmul, host_ns, provider);
}

// Nodes of one iteration, and the table of ten such.
inline OperatorStep& add_nodes(std::vector<OperatorCall> calls, Run& run, Ns wall_ns = 0) {
  OperatorTable& table = run.operators.emplace_back();
  table.source = "onnxruntime";
  OperatorStep& step = run.operator_steps.emplace_back();
  step.source = "onnxruntime";
  step.stage = "inference";
  if (wall_ns > 0) step.wall_ns = wall_ns;
  for (const OperatorCall& call : calls) {
    auto entry =
        std::find_if(table.entries.begin(), table.entries.end(), [&](const OperatorEntry& each) { return each.name == call.name; });
    if (entry == table.entries.end()) {
      entry = table.entries.insert(table.entries.end(), OperatorEntry());
      entry->name = call.name;
      entry->type = key_of(call.type);
    }
    entry->calls += 10;
    entry->total_ns += 10 * *call.host_ns;
    entry->self_ns += 10 * *call.host_ns;
  }
  step.calls = std::move(calls);
  return step;
}

inline Run made_run(std::vector<OperatorCall> calls, Ns wall_ns = 0) {
  Run run;
  add_nodes(std::move(calls), run, wall_ns);
  return run;
}

}  // namespace nl::test
