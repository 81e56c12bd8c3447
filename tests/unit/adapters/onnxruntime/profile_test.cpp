#include "adapters/onnxruntime/profile.h"

#include "tests/unit/adapters/thrown.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

std::string node_event(const std::string& name, const std::string& type, int ts, int dur, int index = 0,
                       const std::string& provider = "CPUExecutionProvider") {
  return "{\"cat\" : \"Node\",\"pid\" :1,\"tid\" :1,\"dur\" :" + std::to_string(dur) + ",\"ts\" :" + std::to_string(ts) +
         ",\"ph\" : \"X\",\"name\" :\"" + name + "_kernel_time\",\"args\" : {\"node_index\" : \"" + std::to_string(index) +
         "\",\"input_type_shape\" : [{\"float\":[3,64]},{\"int64\":[]}],\"provider\" : \"" + provider + "\",\"op_name\" : \"" + type +
         "\"}},\n";
}

std::string other_event(const std::string& category, const std::string& name, int ts, int dur) {
  return "{\"cat\" : \"" + category + "\",\"pid\" :1,\"tid\" :1,\"dur\" :" + std::to_string(dur) + ",\"ts\" :" + std::to_string(ts) +
         ",\"ph\" : \"X\",\"name\" :\"" + name + "\",\"args\" : {}},\n";
}

std::string graph_event(int ts, int dur) { return other_event("Session", "SequentialExecutor::Execute", ts, dur); }
std::string run_event(int ts, int dur) { return other_event("Session", "model_run", ts, dur); }

NodeProfile profile_of(const std::string& events) {
  Folder folder;
  return read_node_profile(folder.file("p.json", "[\n" + other_event("Session", "session_initialization", 1, 90) + events + "]\n"));
}

}  // namespace

TEST_CASE("each execution of a node is one of an iteration, in nanoseconds") {
  const NodeProfile profile = profile_of(node_event("/Add", "Add", 100, 5) + graph_event(99, 7) + run_event(98, 9) +
                                         node_event("/Add", "Add", 200, 4) + graph_event(199, 6) + run_event(198, 8));
  CHECK(profile.iterations == 2);
  REQUIRE(profile.nodes.size() == 1);
  CHECK(profile.nodes[0] == SessionNode{"/Add", "Add", "CPUExecutionProvider", "[[3, 64], []]", "[float32, int64]", 0, {}});
  CHECK(profile.runs == std::vector<NodeRun>{{0, 0, 100'000, 5000, {}}, {1, 0, 200'000, 4000, {}}});
}

TEST_CASE("nodes of an inner graph are one deeper than the node that has it, and stand after it") {
  const std::string turn = node_event("/body/Add", "Add", 12, 1) + graph_event(12, 2);
  const NodeProfile profile =
      profile_of(node_event("/before", "Neg", 9, 1) + turn + node_event("/body/Add", "Add", 15, 1) + graph_event(15, 2) +
                 node_event("/Loop", "Loop", 11, 8) + node_event("/after", "Neg", 20, 1) + graph_event(8, 14) + run_event(7, 16));
  std::vector<std::pair<std::string, std::uint32_t>> nodes;
  for (const SessionNode& node : profile.nodes) nodes.emplace_back(node.name, node.depth);
  CHECK(nodes == std::vector<std::pair<std::string, std::uint32_t>>{{"/before", 0}, {"/Loop", 0}, {"/body/Add", 1}, {"/after", 0}});
  CHECK(profile.runs.size() == 5);  // the body ran twice
}

TEST_CASE("nodes of one name are told apart by their index") {
  const NodeProfile profile = profile_of(node_event("BiasGelu", "BiasGelu", 10, 1, 38) + node_event("BiasGelu", "BiasGelu", 12, 1, 75) +
                                         graph_event(9, 5) + run_event(8, 7));
  CHECK(profile.nodes.size() == 2);
}

TEST_CASE("nodes of one name and index in two loops are two nodes") {
  const auto loop = [](int ts, int index) {
    return node_event("Add_0", "Add", ts + 1, 1) + graph_event(ts + 1, 2) + node_event("Add_0", "Add", ts + 4, 1) + graph_event(ts + 4, 2) +
           node_event("Loop", "Loop", ts, 8, index);
  };
  const NodeProfile profile = profile_of(loop(10, 0) + loop(20, 1) + graph_event(9, 25) + run_event(8, 27));
  CHECK(profile.nodes.size() == 4);
  std::vector<std::uint32_t> order;
  for (const NodeRun& run : profile.runs) order.push_back(run.node);
  CHECK(order == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3});
}

// ONNX Runtime 1.17 to 1.30 writes names without escaping them.
TEST_CASE("a name with quotes and backslashes is read as it is") {
  const NodeProfile profile = profile_of(node_event("/a\"b\\c", "Add", 10, 1) + graph_event(9, 5) + run_event(8, 7));
  CHECK(profile.nodes.at(0).name == "/a\"b\\c");
}

TEST_CASE("kernels of the CUDA provider belong to the node that they follow") {
  const NodeProfile profile =
      profile_of(node_event("/MatMul", "MatMul", 10, 3, 0, "CUDAExecutionProvider") + other_event("Kernel", "gemm", 11, 40) +
                 other_event("Kernel", "splitKreduce", 51, 2) + node_event("/Add", "Add", 14, 3) + graph_event(9, 50) + run_event(8, 60));
  CHECK(profile.runs.at(0).gpu_ns == 42'000);
  CHECK(profile.runs.at(0).host_ns == 3000);
  CHECK_FALSE(profile.runs.at(1).gpu_ns.has_value());
}

TEST_CASE("an iteration that the profile does not have whole is left out") {
  const NodeProfile profile =
      profile_of(node_event("/Add", "Add", 10, 5) + graph_event(9, 7) + run_event(8, 9) + node_event("/Add", "Add", 30, 4));
  CHECK(profile.iterations == 1);
  CHECK(profile.runs.size() == 1);
}

TEST_CASE("a file that is no profile is refused with its line") {
  Folder folder;
  const auto file = folder.file("p.json", "[\n{\"cat\" : \"Node\"},\n]\n");
  const Error error = thrown_by([&] { read_node_profile(file); });
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.where == file.string() + ":2");
  CHECK(thrown_by([] { read_node_profile("/nonexistent.json"); }).where == "/nonexistent.json");
}
