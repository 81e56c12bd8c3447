#include "parsers/ort/nodes.h"

#include <algorithm>
#include <string>

#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;

namespace {

ModelSession session_in(const std::string& text) {
  const nl::test::ScratchFile file(text);
  const Trace trace = read_ort_profile(file.path);
  REQUIRE(trace.session);
  return *trace.session;
}

std::string node_event(const char* name, const char* op, int start_us, int duration_us, const char* more = "") {
  return R"({"cat" : "Node","pid" :1,"tid" :2,"dur" :)" + std::to_string(duration_us) + R"(,"ts" :)" + std::to_string(start_us) +
         R"(,"ph" : "X","name" :")" + name + R"(_kernel_time","args" : {"op_name" : ")" + op + "\"" + more + "}},\n";
}

std::string indexed_event(const char* name, const char* op, int start_us, int duration_us, int index) {
  return node_event(name, op, start_us, duration_us, (R"(,"node_index" : ")" + std::to_string(index) + "\"").c_str());
}

std::string graph_event(int start_us, int duration_us) {
  return R"({"cat" : "Session","pid" :1,"tid" :2,"dur" :)" + std::to_string(duration_us) + R"(,"ts" :)" + std::to_string(start_us) +
         R"(,"ph" : "X","name" :"SequentialExecutor::Execute","args" : {}},)"
         "\n";
}

std::string run_event(int start_us, int duration_us, int thread = 2) {
  return R"({"cat" : "Session","pid" :1,"tid" :)" + std::to_string(thread) + R"(,"dur" :)" + std::to_string(duration_us) + R"(,"ts" :)" +
         std::to_string(start_us) +
         R"(,"ph" : "X","name" :"model_run","args" : {}},)"
         "\n";
}

using NamesAndDepths = std::vector<std::pair<std::string, std::uint32_t>>;

NamesAndDepths depths_of(const ModelSession& session) {
  NamesAndDepths nodes;
  for (const SessionNode& node : session.nodes) nodes.emplace_back(node.name, node.depth);
  return nodes;
}

}  // namespace

// The first node, the number of names and the sum of all durations are Python's:
//   n = [e for e in json.load(open('profile.json')) if e['cat'] == 'Node']; len({e['name'] for e in n}); sum(e['dur'] for e in n)
TEST_CASE("a real profile keeps every execution of every node") {
  const Trace trace = read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json");
  REQUIRE(trace.session);
  const ModelSession& session = *trace.session;
  CHECK(session.backend == "onnxruntime");
  CHECK(session.runs.size() == 255);
  CHECK(session.profiled_ns == std::vector<Ns>{923000, 541000, 543000, 612000, 597000});
  CHECK(session.threads == 2);
  CHECK(session.idle_threads == 0u);
  Ns sum_ns = 0;
  for (const NodeRun& run : session.runs) sum_ns += run.host_ns;
  CHECK(sum_ns == 2133000);
  const SessionNode& first = session.nodes.at(0);
  CHECK(first.name == "embed");
  CHECK(first.type == "Gather");
  CHECK(first.index == 0u);
  CHECK(first.provider == "CPUExecutionProvider");
  CHECK(first.shapes == "[[320, 64], [1, 16]]");
  CHECK(first.dtypes == "[float32, int64]");
  CHECK(first.output_shapes == "[[1, 16, 64]]");
  CHECK(first.output_dtypes == "[float32]");
  CHECK(session.nodes.at(2).name == "layers.0/k_proj");
  CHECK(session.nodes.at(2).index == 5u);
  for (int iteration = 0; iteration < 5; ++iteration)
    CHECK(std::count_if(session.runs.begin(), session.runs.end(),
                        [&](const NodeRun& run) { return run.iteration == static_cast<std::uint32_t>(iteration); }) == 51);
}

TEST_CASE("the body of a loop lies inside it, a node before it of the same microsecond does not") {
  const ModelSession session =
      session_in("[\n" + node_event("/Add", "Add", 10, 0) + node_event("/body/Mul", "Mul", 11, 4) + graph_event(11, 4) +
                 node_event("/body/Mul", "Mul", 16, 4) + graph_event(16, 4) + node_event("/Loop", "Loop", 10, 12) +
                 node_event("/Sub", "Sub", 22, 0) + graph_event(9, 15) + run_event(9, 20) + "]");
  REQUIRE(session.runs.size() == 5);
  CHECK(depths_of(session) == NamesAndDepths{{"/Add", 0}, {"/Loop", 0}, {"/body/Mul", 1}, {"/Sub", 0}});
  CHECK(session.runs[2].node == session.runs[3].node);
}

TEST_CASE("nodes of an inner graph are one deeper than the node that has it, and stand after it") {
  const std::string inner = node_event("/deep", "Neg", 13, 1) + graph_event(13, 1) + node_event("/body/Search", "BeamSearch", 12, 2);
  const ModelSession session = session_in("[\n" + node_event("/before", "Neg", 9, 1) + inner + graph_event(12, 2) +
                                          node_event("/body/Add", "Add", 15, 1) + graph_event(15, 2) + node_event("/Loop", "Loop", 11, 8) +
                                          node_event("/after", "Neg", 20, 1) + graph_event(8, 14) + run_event(7, 16) + "]");
  CHECK(depths_of(session) ==
        NamesAndDepths{{"/before", 0}, {"/Loop", 0}, {"/body/Search", 1}, {"/deep", 2}, {"/body/Add", 1}, {"/after", 0}});
  CHECK(session.nodes[3].inside == "/Loop#0//body/Search#0/");
  CHECK(session.runs.size() == 6);
}

TEST_CASE("each execution of a node is one of an iteration, in nanoseconds") {
  const char* args = R"(,"input_type_shape" : [{"float":[3,64]},{"int64":[]}],"provider" : "CPUExecutionProvider")";
  const ModelSession session = session_in("[\n" + node_event("/Add", "Add", 100, 5, args) + graph_event(99, 7) + run_event(98, 9) +
                                          node_event("/Add", "Add", 200, 4, args) + graph_event(199, 6) + run_event(198, 8) + "]");
  CHECK(session.profiled_ns.size() == 2);
  REQUIRE(session.nodes.size() == 1);
  CHECK(session.nodes[0] == SessionNode{"/Add", "Add", "CPUExecutionProvider", "[[3, 64], []]", "[float32, int64]", 0, {}});
  CHECK(session.runs == std::vector<NodeRun>{{0, 0, 100'000, 5000, {}}, {1, 0, 200'000, 4000, {}}});
}

TEST_CASE("nodes of one name are told apart by their index") {
  const ModelSession session = session_in("[\n" + indexed_event("BiasGelu", "BiasGelu", 10, 1, 38) +
                                          indexed_event("BiasGelu", "BiasGelu", 12, 1, 75) + graph_event(9, 5) + run_event(8, 7) + "]");
  CHECK(session.nodes.size() == 2);
}

TEST_CASE("a node that runs with other shapes is another one, of the same identity") {
  const auto run = [](int at, const char* shape) {
    return node_event("/Add", "Add", at, 5, shape) + graph_event(at - 1, 7) + run_event(at - 2, 9);
  };
  const ModelSession session = session_in("[\n" + run(10, R"(,"input_type_shape" : [{"float":[1,8]}])") +
                                          run(30, R"(,"input_type_shape" : [{"float":[1,9]}])") + "]");
  REQUIRE(session.nodes.size() == 2);
  CHECK(session.nodes[1].shapes == "[[1, 9]]");
  CHECK(identity_of(session.nodes[0]) == identity_of(session.nodes[1]));
}

TEST_CASE("nodes of one name and index in two loops are two nodes") {
  const auto loop = [](int ts, int index) {
    return indexed_event("Add_0", "Add", ts + 1, 1, 0) + graph_event(ts + 1, 2) + indexed_event("Add_0", "Add", ts + 4, 1, 0) +
           graph_event(ts + 4, 2) + indexed_event("Loop", "Loop", ts, 8, index);
  };
  const ModelSession session = session_in("[\n" + loop(10, 0) + loop(20, 1) + graph_event(9, 25) + run_event(8, 27) + "]");
  CHECK(session.nodes.size() == 4);
  std::vector<std::uint32_t> order;
  for (const NodeRun& run : session.runs) order.push_back(run.node);
  CHECK(order == std::vector<std::uint32_t>{0, 1, 1, 2, 3, 3});
}

// ONNX Runtime 1.17 to 1.30 writes names without escaping them.
TEST_CASE("a name with quotes and backslashes is read as it is") {
  const auto name_of = [](const char* name) {
    const std::string events = node_event(name, "Add", 10, 1) + node_event("/next", "Mul", 12, 1) + graph_event(9, 5) + run_event(8, 7);
    const ModelSession session = session_in("[\n" + events + "]");
    CHECK(session.nodes.at(1).name == "/next");
    return session.nodes.at(0).name;
  };
  CHECK(name_of("/a\"b\\c") == "/a\"b\\c");
  CHECK(name_of("/a\\nb{\"x\"}") == "/a\\nb{\"x\"}");
  CHECK(name_of("/tab\there") == "/tab\there");
  CHECK(name_of("/\xc3\xa4") == "/\xc3\xa4");
  CHECK(name_of("/\xff") == "/\xef\xbf\xbd");  // not UTF-8
}

TEST_CASE("a name in JSON that somebody else wrote is unescaped") {
  const ModelSession session =
      session_in(R"([{"cat": "Node", "pid": 1, "tid": 2, "dur": 3, "ts": 1, "name": "/a\"b_kernel_time", "args": {"op_name": "Add"}}])");
  CHECK(session.nodes.at(0).name == "/a\"b");
}

TEST_CASE("an iteration that the profile does not have whole is left out") {
  const ModelSession session =
      session_in("[\n" + node_event("/Add", "Add", 10, 5) + graph_event(9, 7) + run_event(8, 9) + node_event("/Add", "Add", 30, 4));
  CHECK(session.profiled_ns.size() == 1);
  CHECK(session.runs.size() == 1);
}

TEST_CASE("a node that seems to end after its model_run, by whole microseconds, is part of it") {
  const ModelSession session = session_in("[\n" + node_event("/Add", "Add", 10, 5) + graph_event(9, 5) + run_event(8, 6) + "]");
  CHECK(session.runs.size() == 1);
}

TEST_CASE("a node belongs to the model_run of its thread, else to the one around it; what has none is left out") {
  std::string text = "[\n" + node_event("/a", "Add", 12, 2) + run_event(10, 30, 2) + run_event(11, 30, 9) + node_event("/b", "Mul", 90, 2);
  text += R"({"cat" : "Node","pid" :1,"tid" :77,"dur" :1,"ts" :13,"ph" : "X","name" :"/c_kernel_time","args" : {"op_name" : "Sub"}}])";
  const ModelSession session = session_in(text);
  REQUIRE(session.runs.size() == 2);
  CHECK(session.nodes[session.runs[0].node].name == "/a");
  CHECK(session.runs[0].iteration == 0);
  CHECK(session.nodes[session.runs[1].node].name == "/c");
}

TEST_CASE("a profile that ends in its first model_run is one iteration") {
  const ModelSession session = session_in("[\n" + node_event("/a", "Add", 12, 2) + node_event("/b", "Mul", 15, 2));
  CHECK(session.runs.size() == 2);
  CHECK(session.profiled_ns.empty());
  CHECK(session.runs[1].iteration == 0);
  CHECK(session.threads == 0);
  CHECK_FALSE(session.idle_threads);
}

TEST_CASE("threads of the pool, and those that never computed") {
  const std::string one = node_event("/a", "Add", 12, 2, R"(,"thread_scheduling_stats" : "")");
  CHECK(session_in("[\n" + one + run_event(10, 9) + "]").threads == 1);
  const std::string four = node_event(
      "/a", "Add", 12, 2,
      R"(,"thread_scheduling_stats" : {"main_thread": {"core": 1}, "sub_threads": {"5": {"num_run": 0, "core": -1}, "6": {"num_run": 3, "core": 1}, "7": {"num_run": 0}}})");
  const ModelSession session = session_in("[\n" + four + run_event(10, 9) + "]");
  CHECK(session.threads == 4);
  CHECK(session.idle_threads == 2u);
}

TEST_CASE("kernels add to the GPU time of the node that they follow") {
  const ModelSession session =
      session_in("[\n" + node_event("/a", "Add", 12, 2) +
                 R"({"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :6,"ts" :19,"ph" : "X","name" :"AddKernel","args" : {"stream" : "13"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :1,"ts" :26,"ph" : "X","name" :"MemcpyDeviceToHost","args" : {"stream" : "13"}},)"
                 "\n" +
                 node_event("/b", "Mul", 15, 2) + run_event(10, 30) + "]");
  REQUIRE(session.runs.size() == 2);
  CHECK(session.runs[0].gpu_ns == 7000);
  CHECK_FALSE(session.runs[1].gpu_ns);
}
