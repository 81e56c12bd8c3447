#include <algorithm>

#include "analysis/verdicts/rules/judge.h"
#include "orchestrator/config/knowledge.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/orchestrator/made_nodes.h"

// The shipped rules about nodes of a model file, each with records that trigger it and records that do not.
namespace {

using namespace nl;
using namespace nl::test;

std::vector<Finding> judged(Run run, const std::string& rule) {
  static const Rules rules = orchestrator::load_rules(orchestrator::shipped_rules(), {});
  analysis::judge(rules, run);
  std::vector<Finding> found;
  for (const Finding& finding : run.findings)
    if (finding.rule == rule) found.push_back(finding);
  return found;
}

}  // namespace

TEST_CASE("cpu_fallback: nodes on the CPU while another provider runs the rest") {
  const auto found =
      judged(made_run({matmul("/a", 70, kCuda), node_of("/b", "NonZero", OperatorType::kIndex, 20, kCpu), matmul("/c", 10, kCuda)}),
             "cpu_fallback");
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "NonZero");
  CHECK(found[0].message == "1 node of NonZero run on the CPU, while CUDAExecutionProvider runs the rest: 20 % of the node time.");
  CHECK(found[0].severity == Severity::kMedium);
  CHECK(found[0].suggestions.size() == 4);
  CHECK(found[0].evidence.at(0).reference == "/operator_steps/0");
  CHECK_FALSE(found[0].gain_ns);
  // All nodes on the CPU are not a fallback, and shape arithmetic that takes no time is not a loss.
  CHECK(judged(made_run({matmul("/a", 70), node_of("/b", "NonZero", OperatorType::kIndex, 20, kCpu)}), "cpu_fallback").empty());
  CHECK(judged(made_run({matmul("/a", 7000, kCuda), node_of("/b", "NonZero", OperatorType::kIndex, 20, kCpu)}), "cpu_fallback").empty());
}

TEST_CASE("provider_copies: what is copied between providers, with all its time") {
  const auto copy = [](Ns ns) { return node_of("Memcpy_1", "MemcpyToHost", OperatorType::kCopy, ns, kCuda); };
  const auto found = judged(made_run({matmul("/a", 80, kCuda), copy(20)}), "provider_copies");
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain_ns == 200);  // ten iterations
  CHECK(found[0].message == "1 node of MemcpyToHost copy between the CPU and CUDAExecutionProvider: 20 % of the node time.");
  CHECK(judged(made_run({matmul("/a", 8000, kCuda), copy(20)}), "provider_copies").empty());
}

TEST_CASE("cast_chain: casts beside casts, not single ones") {
  const auto cast = [](const char* name, Ns ns) { return node_of(name, "Cast", OperatorType::kCast, ns, kCpu); };
  const auto found = judged(made_run({matmul("/a", 60), cast("/1", 10), cast("/2", 10), matmul("/b", 10), cast("/3", 10)}), "cast_chain");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "2 of 3 nodes of Cast stand next to other casts: 20 % of the node time.");
  CHECK(*found[0].gain_ns == Approx(200));  // two of its three nodes, ten times
  CHECK(judged(made_run({cast("/1", 10), matmul("/a", 10), cast("/2", 10)}), "cast_chain").empty());
}

TEST_CASE("transpose_chain: transposes beside nodes that only change shapes") {
  const auto transpose = [](Ns ns) { return node_of("/t", "Transpose", OperatorType::kShape, ns, kCpu); };
  const auto reshape = node_of("/r", "Reshape", OperatorType::kShape, 5, kCpu);
  const auto found = judged(made_run({matmul("/a", 60), reshape, transpose(30), matmul("/b", 5)}), "transpose_chain");
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "Transpose");
  CHECK(*found[0].gain_ns == Approx(300));
  CHECK(judged(made_run({matmul("/a", 60), transpose(30), matmul("/b", 5)}), "transpose_chain").empty());
  CHECK(judged(made_run({matmul("/a", 60), reshape, reshape, matmul("/b", 5)}), "transpose_chain").empty());
}

TEST_CASE("operator_dominates and node_dominates name what takes the time") {
  std::vector<OperatorCall> calls;
  for (int i = 0; i < 9; ++i) calls.push_back(node_of("/n", "Add", OperatorType::kElementwise, 4, kCpu));
  calls.push_back(matmul("/big", 64));
  const auto found = judged(made_run(calls), "operator_dominates");
  REQUIRE(found.size() == 1);
  CHECK(found[0].subject == "MatMul");
  CHECK(found[0].severity == Severity::kInfo);
  CHECK(found[0].suggestions.size() == 4);
  const auto node = judged(made_run(calls), "node_dominates");
  REQUIRE(node.size() == 1);
  CHECK(node[0].message == "One node, /big (MatMul), takes 64 % of the node time.");
  calls.back().host_ns = 20;
  calls.push_back(node_of("/m", "Mul", OperatorType::kElementwise, 20, kCpu));
  CHECK(judged(made_run(calls), "operator_dominates").empty());
  CHECK(judged(made_run(calls), "node_dominates").empty());
  CHECK(judged(made_run({matmul("/only", 9)}), "operator_dominates").empty());
}

TEST_CASE("time_between_nodes: the difference between the nodes and the iteration is named") {
  const auto found = judged(made_run({matmul("/a", 30'000), matmul("/b", 40'000)}, 100'000), "time_between_nodes");
  REQUIRE(found.size() == 1);
  CHECK(found[0].about == RuleAbout::kMeasurement);
  CHECK(found[0].message == "The nodes add up to 70.0 µs of an iteration's 100 µs: 30.0 µs (30 %) are spent between them.");
  CHECK(judged(made_run({matmul("/a", 98'000)}, 100'000), "time_between_nodes").empty());
  CHECK(judged(made_run({matmul("/a", 30'000)}), "time_between_nodes").empty());  // the wall time is not known
  Run gpu = made_run({matmul("/a", 30'000)}, 100'000);
  gpu.operator_steps[0].calls[0].gpu_ns = 20'000;
  CHECK(judged(gpu, "time_between_nodes").empty());  // the GPU works while the host goes on
}

TEST_CASE("single_thread and idle_threads: only where the backend says how many there are") {
  Run run = made_run({matmul("/a", 2'000'000), node_of("/b", "Add", OperatorType::kElementwise, 100'000, kCpu)});
  CHECK(judged(run, "single_thread").empty());
  run.operator_steps[0].threads = 1;
  CHECK(judged(run, "single_thread").size() == 1);
  run.operator_steps[0].calls[1].provider = kCuda;
  CHECK(judged(run, "single_thread").empty());
  run.operator_steps[0].threads = 4;
  run.operator_steps[0].idle_threads = 0;
  CHECK(judged(run, "idle_threads").empty());
  run.operator_steps[0].idle_threads = 3;
  const auto found = judged(run, "idle_threads");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message == "3 of 4 threads of the backend never compute.");
}

TEST_CASE("rules about nodes neither fire nor abstain where no backend ran a model file") {
  static const Rules rules = orchestrator::load_rules(orchestrator::shipped_rules(), {});
  Run without;
  Run torch = made_run({matmul("", 9)});
  torch.operators[0].source = torch.operator_steps[0].source = "pytorch ranges";
  for (Run* run : {&without, &torch}) {
    analysis::judge(rules, *run);
    for (const char* rule : {"cpu_fallback", "provider_copies", "cast_chain", "transpose_chain", "operator_dominates", "node_dominates",
                             "time_between_nodes", "single_thread", "idle_threads"}) {
      INFO(rule);
      CHECK(std::none_of(run->findings.begin(), run->findings.end(), [&](const Finding& each) { return each.rule == rule; }));
      CHECK(std::none_of(run->abstentions.begin(), run->abstentions.end(), [&](const Abstention& each) { return each.rule == rule; }));
    }
  }
}
