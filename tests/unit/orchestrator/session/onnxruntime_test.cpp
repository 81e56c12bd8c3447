#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "adapters/inputs.h"
#include "orchestrator/session/session.h"
#include "tests/unit/adapters/onnxruntime/models.h"

// What ONNX Runtime's own profile and the session know together.

using namespace nl;
using namespace nl::adapters;
using namespace nl::orchestrator;
using namespace nl::test;

namespace {

// As ONNX Runtime wrote it, read without any of our code: name and index of the node, and its times.
struct Written {
  std::string name, type, provider;
  Ns start_ns, host_ns;
};

std::vector<Written> written_in(const Folder& scratch) {
  std::vector<Written> events;
  for (const auto& entry : std::filesystem::directory_iterator(scratch.path)) {
    if (entry.path().extension() != ".json") continue;
    for (const auto& event : nlohmann::json::parse(read_text(entry.path())))
      if (event["cat"] == "Node" && has(event["name"], "_kernel_time")) {
        const std::string name = event["name"];
        events.push_back({name.substr(0, name.rfind("_kernel_time")), event["args"]["op_name"], event["args"]["provider"],
                          event["ts"].get<Ns>() * 1000, event["dur"].get<Ns>() * 1000});
      }
  }
  std::stable_sort(events.begin(), events.end(), [](const Written& a, const Written& b) { return a.start_ns < b.start_ns; });
  return events;
}

// Each in its own place: nothing is left out, added or moved to another node.
void check_against_profile(const ModelSession& done, const std::vector<Written>& events) {
  REQUIRE(done.runs.size() == events.size());
  const Ns shift = done.runs.at(0).start_ns - events.at(0).start_ns;
  for (std::size_t n = 0; n < events.size(); ++n) {
    const SessionNode& node = done.nodes.at(done.runs[n].node);
    CHECK(node.name == events[n].name);
    CHECK(node.type == events[n].type);
    CHECK(node.provider == events[n].provider);
    CHECK(done.runs[n].host_ns == events[n].host_ns);
    // The clocks are compared anew at each iteration, between two readings.
    CHECK(std::abs(done.runs[n].start_ns - events[n].start_ns - shift) < 1'000'000);
  }
}

ModelSession read_executions(Session& session) {
  ModelSession done;
  keep_measured(session.executions(), done);
  read_profile(done);
  return done;
}

ModelSession executed(const std::string& model, const Folder& scratch, int iterations) {
  const auto session = opened_session(made_model(model), scratch, true);
  session->bind(make_inputs(session->inputs(), "random", 7, {{"batch", 2}, {"seq", 5}, {"past", 3}}));
  for (int n = 0; n < iterations; ++n) session->run();
  return read_executions(*session);
}

const SessionNode& node_of_type(const std::vector<SessionNode>& nodes, const std::string& type) {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const SessionNode& node) { return node.type == type; });
  REQUIRE(found != nodes.end());
  return *found;
}

}  // namespace

TEST_CASE("ONNX Runtime: our records are those of its own profile, execution by execution") {
  NL_NEEDS_ONNXRUNTIME();
  for (const char* model : {"block.onnx", "loop.onnx", "branch.onnx", "half.onnx"}) {
    Folder scratch;
    const ModelSession done = executed(model, scratch, 3);
    check_against_profile(done, written_in(scratch));
    CHECK(done.runs.back().iteration == 2);
  }
}

TEST_CASE("ONNX Runtime: executions lie on CLOCK_MONOTONIC, in their iteration") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const auto now = [] { return static_cast<Ns>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1)); };
  const auto session = opened_session(made_model("block.onnx"), scratch, true);
  session->bind(make_inputs(session->inputs(), "zeros", 1, {{"batch", 1}, {"seq", 4}, {"past", 2}}));
  std::vector<std::pair<Ns, Ns>> windows;
  for (int n = 0; n < 3; ++n) {
    const Ns begin = now();
    session->run();
    windows.emplace_back(begin, now());
  }
  for (const NodeRun& run : read_executions(*session).runs) {
    // Whole microseconds, and two clocks that are read one after the other.
    CHECK(run.start_ns >= windows.at(run.iteration).first - 500'000);
    CHECK(run.start_ns + run.host_ns <= windows.at(run.iteration).second + 500'000);
  }
}

TEST_CASE("ONNX Runtime: fusions hold the nodes of the model, none is lost") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const ModelSession done = executed("block.onnx", scratch, 1);
  CHECK(node_of_type(done.nodes, "BiasGelu").holds == std::vector<std::string>{"/block/up/Add", "/block/gelu/Div", "/block/gelu/Erf",
                                                                               "/block/gelu/Add", "/block/gelu/Mul",
                                                                               "/block/gelu/halve/Mul"});
  CHECK(node_of_type(done.nodes, "LayerNormalization").holds.empty());
  std::size_t held = 0;
  for (const SessionNode& node : done.nodes) held += std::max<std::size_t>(node.holds.size(), 1);
  CHECK(held == 36);
}

TEST_CASE("ONNX Runtime: fusions of one name hold each their own nodes") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  std::size_t block = 0;
  for (const SessionNode& node : executed("deep.onnx", scratch, 1).nodes)
    if (node.type == "BiasGelu") CHECK(node.holds.at(0) == "/blocks." + std::to_string(block++) + "/up/Add");
  CHECK(block == 8);
}

TEST_CASE("ONNX Runtime: nodes inside a Loop and an If are one deeper") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch, other;
  const ModelSession loop = executed("loop.onnx", scratch, 1);
  CHECK(node_of_type(loop.nodes, "Loop").depth == 0);
  CHECK(node_of_type(loop.nodes, "Add").depth == 1);
  CHECK(loop.runs.size() == 1 + 3 * 2);  // the first whole number of seed 7 is 3; a turn has two nodes
  const ModelSession branch = executed("branch.onnx", other, 1);
  CHECK(branch.nodes.size() == 2);  // of the branch that was taken: a random bool is true
  CHECK(node_of_type(branch.nodes, "Mul").depth == 1);
}

TEST_CASE("ONNX Runtime: nodes have shapes and types of what they read") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const SessionNode concat = node_of_type(executed("block.onnx", scratch, 1).nodes, "Concat");
  CHECK(concat.shapes == "[[2, 4, 3, 16], [2, 4, 5, 16]]");
  CHECK(concat.dtypes == "[float32, float32]");
  CHECK(concat.provider == "CPUExecutionProvider");
}

TEST_CASE("ONNX Runtime: an iteration takes at least as long as its nodes") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  ModelSession session = measure(onnxruntime(), measure_options(made_model("deep.onnx"), scratch));
  read_profile(session);
  CHECK(session.nodes.size() >= 200);
  std::map<std::uint32_t, Ns> nodes_ns;
  for (const NodeRun& run : session.runs)
    if (session.nodes[run.node].depth == 0) nodes_ns[run.iteration] += run.host_ns;
  REQUIRE(nodes_ns.size() == 3);
  for (const auto& [iteration, time] : nodes_ns) CHECK(time <= session.profiled_ns.at(iteration));
}
