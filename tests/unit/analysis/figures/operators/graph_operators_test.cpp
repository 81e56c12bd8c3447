// Work of CUDA graphs counts in the operators and layers in which it was captured, in the stage that launched it.
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "analysis/figures/operators/layers.h"
#include "analysis/figures/operators/operators.h"
#include "analysis/trace/work_origin.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/small_trace.h"

using namespace nl;
using namespace nl::analysis;
using nl::test::SmallTrace;

namespace {

using StageTimes = std::vector<std::pair<std::string, Ns>>;

struct GraphTrace : SmallTrace {
  using SmallTrace::SmallTrace;

  std::uint32_t node(Ns made, std::uint32_t thread = 0) {
    trace.graph_nodes.push_back({thread, made});
    return static_cast<std::uint32_t>(trace.graph_nodes.size() - 1);
  }
  void run(std::uint32_t api, std::uint32_t node, Ns duration, const std::string& name = "k") {
    kernel(api, duration, name);
    trace.kernels.back().in_graph = true;
    trace.kernel_nodes.resize(trace.kernels.size(), kNone);
    trace.kernel_nodes.back() = node;
  }
  OperatorTable table() const {
    Run run;
    add_operators(trace, {}, run);
    return run.operators.at(0);
  }
};

const OperatorEntry& captured(const OperatorTable& table, std::string_view name) {
  for (const auto& each : table.entries)
    if (each.name == name) return each;
  FAIL("no operator " << name);
  return table.entries.front();
}

// Captured before any stage: attention and mlp by thread 0, the head by thread 1. Replayed twice in decode, and one
// node of the graph is of unknown making.
GraphTrace replayed() {
  GraphTrace graph(2);
  graph.range("LLM.ops", "attention", 100, 140);
  graph.range("LLM.ops", "mlp", 150, 190);
  graph.range("LLM.ops", "head", 100, 200, 1);
  graph.range("LLM", "decode_all", 1000, 2000);
  const std::uint32_t attention = graph.node(110), mlp = graph.node(190), head = graph.node(120, 1);
  for (const Ns at : {1100, 1200}) {
    const std::uint32_t launch = graph.call(at, at + 5);
    graph.run(launch, attention, 10, "flash");
    graph.run(launch, mlp, 20, "gemm");
    graph.run(launch, head, 30, "gemm");
    graph.run(launch, kNone, 5, "gemm");
  }
  return graph;
}

}  // namespace

TEST_CASE("kernels of a graph count in the operators that were captured, once for each replay, in the replay's stage") {
  const GraphTrace graph = replayed();
  const OperatorTable table = graph.table();
  const OperatorEntry &attention = captured(table, "attention"), &mlp = captured(table, "mlp"), &head = captured(table, "head");
  CHECK(attention.calls == 1);  // as often as it was called
  CHECK(attention.total_ns == 40);
  CHECK(attention.self_ns == 40);
  CHECK(attention.cuda_total_ns == 20);
  CHECK(attention.cuda_self_ns == 20);
  CHECK(attention.stages == StageTimes{{"decode", 20}});
  REQUIRE(attention.kernels.size() == 1);
  CHECK(attention.kernels[0].calls == 2);
  CHECK(mlp.cuda_self_ns == 40);  // made at the very end of its range
  CHECK(head.cuda_self_ns == 60);
  CHECK(head.stages == StageTimes{{"decode", 60}});
  CHECK(table.cuda_ns == 120);
  CHECK(*table.gpu_share == Approx(120.0 / 130));
  CHECK(*table.graph_unjoined_share == Approx(10.0 / 130));
}

TEST_CASE("an operator that launches a graph has launched all of it, but the work is that of the operators captured") {
  GraphTrace graph = replayed();
  graph.range("LLM.ops", "replay", 1050, 1150);
  const OperatorTable table = graph.table();
  const OperatorEntry& replay = captured(table, "replay");
  CHECK(replay.cuda_total_ns == 65);
  CHECK(replay.cuda_self_ns == 5);
  CHECK(replay.total_ns == 100);
  CHECK(captured(table, "attention").cuda_self_ns == 20);
  CHECK(table.cuda_ns == 125);
  Ns self = 0;
  for (const auto& each : table.entries) self += *each.cuda_self_ns;
  CHECK(self == table.cuda_ns);
}

TEST_CASE("a node made outside every operator belongs to the one that launched it") {
  GraphTrace graph;
  graph.range("LLM.ops", "replay", 1000, 1100);
  graph.run(graph.call(1010, 1020), graph.node(5), 7);
  const OperatorTable table = graph.table();
  CHECK(captured(table, "replay").cuda_self_ns == 7);
  CHECK(table.graph_unjoined_share == 0.0);
}

TEST_CASE("copies of a graph are joined like its kernels") {
  GraphTrace graph;
  graph.range("LLM.ops", "cat", 10, 20);
  const std::uint32_t launch = graph.call(100, 101);
  graph.copy(launch, 9, "copy");
  graph.copy(launch, 3, "copy");
  for (MemOp& op : graph.trace.mem_ops) op.in_graph = true;
  graph.trace.mem_op_nodes = {kNone, graph.node(15)};
  const OperatorTable table = graph.table();
  CHECK(captured(table, "cat").cuda_self_ns == 3);
  CHECK(*table.graph_unjoined_share == Approx(0.75));
}

TEST_CASE("layers of a decode from graphs have the kernels that they captured") {
  GraphTrace graph;
  graph.range("LLM.layers", "model|Model", 0, 200);
  graph.range("LLM.layers", "model.0|Block", 10, 90);
  graph.range("LLM.layers", "model.1|Block", 100, 190);
  const std::uint32_t first = graph.node(20), second = graph.node(150);
  for (const Ns at : {1000, 2000, 3000}) {
    const std::uint32_t launch = graph.call(at, at + 5);
    graph.run(launch, first, 10);
    graph.run(launch, second, 100);
  }
  Run run;
  add_layers(graph.trace, run);
  REQUIRE(run.layers.size() == 3);
  CHECK(run.layers[0].cuda_total_ns == 330);
  CHECK(run.layers[0].cuda_self_ns == 0);
  CHECK(run.layers[1].cuda_self_ns == 30);
  CHECK(run.layers[2].cuda_self_ns == 300);
  CHECK(run.layers[2].kernels.at(0).calls == 3);
  CHECK(run.layers[2].total_ns == 90);
}

TEST_CASE("without kernels of graphs no share of them is stated") {
  GraphTrace graph;
  graph.range("LLM.ops", "mlp", 0, 10);
  graph.kernel(graph.call(1, 2), 7);
  CHECK_FALSE(graph.table().graph_unjoined_share);
  graph.trace.kernels[0].in_graph = true;
  CHECK(graph.table().graph_unjoined_share == 1.0);  // its making is not known
}

// The graphs of the probe are captured inside no range and launched inside one of the stages' domain.
TEST_CASE("of a real capture every kernel of a graph is joined") {
  const Trace trace = parsers::read_nsys_sqlite(std::filesystem::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite");
  CHECK(graph_unjoined_share(trace) == 0.0);
}

// Ranges around a point or a call, the innermost last: by their start, then the longer first, then as they were given.
TEST_CASE("operators of graphs against a judge that looks at every range for every kernel") {
  struct Judged {
    Ns total = 0, self = 0;
  };
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    GraphTrace graph(3);
    for (int i = 0; i < 40; ++i) {
      const Ns start = static_cast<Ns>(random() % 1000);
      graph.range("LLM.ops", "op" + std::to_string(random() % 5), start, start + static_cast<Ns>(random() % 300), random() % 3);
    }
    for (int i = 0; i < 12; ++i) graph.node(static_cast<Ns>(random() % 1200), random() % 3);
    std::set<std::pair<std::uint32_t, Ns>> calls;
    while (calls.size() < 20) calls.insert({random() % 3, static_cast<Ns>(random() % 1100)});
    for (const auto& [thread, start] : calls) {
      const std::uint32_t launch = graph.call(start, start + static_cast<Ns>(random() % 30), thread);
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t node = random() % 13;
        graph.run(launch, node == 12 ? kNone : node, static_cast<Ns>(random() % 1000));
      }
    }
    const Trace& trace = graph.trace;
    std::map<std::string, Judged> judged;
    Ns inside = 0;
    for (std::size_t k = 0; k < trace.kernels.size(); ++k) {
      const auto around = [&](const WorkOrigin& origin) {
        std::set<std::tuple<Ns, Ns, std::size_t>> found;
        for (std::size_t i = 0; i < trace.ranges.size(); ++i) {
          const Range& range = trace.ranges[i];
          if (range.thread == origin.thread && range.start_ns <= origin.start_ns && range.end_ns >= origin.end_ns)
            found.insert({range.start_ns, -range.end_ns, i});
        }
        std::vector<std::string> names;
        for (const auto& [start, end, i] : found) names.push_back(trace.strings[trace.ranges[i].name]);
        return names;
      };
      std::vector<std::string> path = around(launch_of(trace, trace.kernels[k].api));
      if (trace.kernel_nodes[k] != kNone)
        for (const auto& name : around(origin_of_kernel(trace, k))) path.push_back(name);
      const Ns duration = static_cast<Ns>(trace.kernels[k].duration_ns);
      for (const std::string& name : std::set<std::string>(path.begin(), path.end())) judged[name].total += duration;
      if (path.empty()) continue;
      judged[path.back()].self += duration;
      inside += duration;
    }
    const OperatorTable table = graph.table();
    CHECK(table.cuda_ns == inside);
    for (const auto& each : table.entries) {
      CHECK(each.cuda_total_ns == judged[each.name].total);
      CHECK(each.cuda_self_ns == judged[each.name].self);
    }
  }
}
