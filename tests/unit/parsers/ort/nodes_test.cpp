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

std::string run_event(int start_us, int duration_us, int thread = 2) {
  return R"({"cat" : "Session","pid" :1,"tid" :)" + std::to_string(thread) + R"(,"dur" :)" + std::to_string(duration_us) + R"(,"ts" :)" +
         std::to_string(start_us) +
         R"(,"ph" : "X","name" :"model_run","args" : {}},)"
         "\n";
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
      session_in("[\n" + node_event("/Add", "Add", 10, 0) + node_event("/body/Mul", "Mul", 10, 5) + node_event("/body/Mul", "Mul", 16, 4) +
                 node_event("/Loop", "Loop", 10, 12) + node_event("/Sub", "Sub", 22, 0) + run_event(9, 20) + "]");
  REQUIRE(session.runs.size() == 5);
  const auto depth = [&](std::size_t run) { return session.nodes[session.runs[run].node].depth; };
  CHECK(depth(1) == 1);
  CHECK(depth(2) == 1);
  CHECK(session.runs[1].node == session.runs[2].node);
  CHECK(depth(3) == 0);
  CHECK(depth(4) == 0);
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
