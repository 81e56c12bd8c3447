#include "analysis/figures/operators/operators.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "parsers/collector/trace.h"
#include "parsers/kineto/json.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/small_trace.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::analysis;
using nl::test::SmallTrace;
namespace fs = std::filesystem;

namespace {

const fs::path kOperatorFixtures = NL_FIXTURES;

Run operators_of(const Trace& trace, const OperatorOptions& options = {}) {
  Run run;
  add_operators(trace, options, run);
  return run;
}

const OperatorEntry& entry(const OperatorTable& table, std::string_view name) {
  for (const auto& e : table.entries)
    if (e.name == name) return e;
  FAIL("no operator " << name);
  return table.entries.front();
}

// "aten::mm 145 21809131 21809131 845366 845366" → all but the name
std::map<std::string, std::string> expected(const fs::path& file) {
  std::ifstream stream(file);
  std::map<std::string, std::string> out;
  for (std::string line; std::getline(stream, line);) {
    std::size_t name_end = line.size();
    for (int i = 0; i < 5; ++i) name_end = line.rfind(' ', name_end - 1);
    out[line.substr(0, name_end)] = line.substr(name_end + 1);
  }
  REQUIRE(!out.empty());
  return out;
}

std::map<std::string, std::string> measured(const OperatorTable& table) {
  std::map<std::string, std::string> out;
  for (const auto& e : table.entries) {
    std::ostringstream text;
    text << e.calls << ' ' << e.total_ns << ' ' << e.self_ns << ' ' << e.cuda_total_ns.value_or(0) << ' ' << e.cuda_self_ns.value_or(0);
    out[e.name] = text.str();
  }
  return out;
}

}  // namespace

// The expectations are what tests/fixtures/operator_oracle.py prints of the same files.
TEST_CASE("PyTorch's ranges in an nsys export: every operator, to the nanosecond") {
  const Unpacked sqlite(kOperatorFixtures / "h200-llama/nsys_pytorch_ops.sqlite.gz");
  const Run run = operators_of(read_nsys_sqlite(sqlite.file));
  REQUIRE(run.operators.size() == 1);
  CHECK(run.operators_note.empty());
  const OperatorTable& table = run.operators[0];
  CHECK(table.source == "pytorch ranges");
  CHECK(measured(table) == expected(kOperatorFixtures / "h200-llama/nsys_pytorch_ops_operators.txt"));
  CHECK(table.entries.front().name == "aten::copy_");
  CHECK(table.cuda_ns == 28902036);
  CHECK(table.gpu_share == 1.0);
  const OperatorEntry& mm = entry(table, "aten::mm");
  REQUIRE(mm.shapes.size() == 5);
  CHECK(mm.kernels.size() == 5);
  // By SQL over the export: kernels whose call lies in an aten::mm range and in LLM@decode_all or LLM@prefill.
  const std::vector<std::pair<std::string, Ns>> stages = {{"decode", 677813}, {"prefill", 347668}};
  CHECK(mm.stages == stages);
  // self is added up, total never: each kernel once
  Ns self = 0;
  for (const auto& e : table.entries) self += *e.cuda_self_ns;
  CHECK(self == table.cuda_ns);
}

TEST_CASE("kernels of a CUDA graph belong to the operators that captured them, to the nanosecond") {
  const Unpacked sqlite(kOperatorFixtures / "h200-graph-operators/nsys.sqlite.gz");
  const Run run = operators_of(read_nsys_sqlite(sqlite.file));
  const OperatorTable& table = run.operators.at(0);
  CHECK(table.source == "pytorch ranges");
  CHECK(measured(table) == expected(kOperatorFixtures / "h200-graph-operators/nsys_operators.txt"));
  CHECK(table.cuda_ns == 2211834);
  // By SQL: 15 products in the graph, replayed twelve times.
  Ns calls = 0;
  for (const OperatorKernel& kernel : entry(table, "aten::mm").kernels) calls += static_cast<Ns>(kernel.calls);
  CHECK(calls == 15 * 12);
}

TEST_CASE("the collector joins the same kernels to the same operators as nsys") {
  const Unpacked sqlite(kOperatorFixtures / "h200-graph-operators/nsys.sqlite.gz");
  const Unpacked packed(kOperatorFixtures / "h200-graph-operators/collector.nltrace.gz");
  const auto kernels_by_operator = [](const Run& run) {
    std::map<std::string, std::uint64_t> calls;
    for (const OperatorEntry& each : run.operators.at(0).entries)
      for (const OperatorKernel& kernel : each.kernels) calls[each.name] += kernel.calls;
    return calls;
  };
  const auto by_nsys = kernels_by_operator(operators_of(read_nsys_sqlite(sqlite.file)));
  CHECK(by_nsys == kernels_by_operator(operators_of(nl::parsers::read_collector_traces({packed.file}))));
  CHECK(by_nsys.at("aten::mm") == 180);
}

TEST_CASE("a torch.profiler trace goes through the same analysis") {
  const Unpacked json(kOperatorFixtures / "h200-llama/kineto.json.gz");
  const Run run = operators_of(read_kineto_json(json.file));
  REQUIRE(run.operators.size() == 1);  // its annotations are stages
  const OperatorTable& table = run.operators[0];
  CHECK(table.source == "kineto");
  CHECK(measured(table) == expected(kOperatorFixtures / "h200-llama/kineto_operators.txt"));
  CHECK(table.cuda_ns == 2120600);
  CHECK(table.gpu_share == 1.0);
}

TEST_CASE("a profile of ONNX Runtime: host time only, and said so") {
  Run run;
  run.operators.push_back({});
  add_operator_table_from(read_ort_profile(kOperatorFixtures / "onnxruntime/profile.json"), "onnxruntime", "profile.json", run);
  REQUIRE(run.operators.size() == 2);
  const OperatorTable& table = run.operators[1];
  CHECK(table.source == "onnxruntime");
  CHECK(table.file == "profile.json");
  CHECK(measured(table) == expected(kOperatorFixtures / "onnxruntime/profile_operators.txt"));
  CHECK_FALSE(table.cuda_ns);
  CHECK_FALSE(table.gpu_share);
  const OperatorEntry& matmul = entry(table, "MatMul");
  CHECK_FALSE(matmul.cuda_total_ns);
  CHECK_FALSE(matmul.cuda_self_ns);
  CHECK(matmul.shapes.at(0).text.substr(0, 2) == "[[");
  CHECK_FALSE(run.kernels);  // nothing but the table is touched
}

TEST_CASE("self and total, and an operator inside itself") {
  SmallTrace small;
  small.range("LLM.ops", "outer", 0, 100);
  small.range("LLM.ops", "inner", 10, 40);
  small.range("LLM.ops", "outer", 20, 30);  // recursion
  small.range("LLM.ops", "inner", 50, 60);
  small.kernel(small.call(5, 6), 1000, "a");
  small.kernel(small.call(22, 23), 100, "b");
  small.kernel(small.call(35, 36), 10, "a");
  small.copy(small.call(55, 56), 5, "copy");
  small.kernel(small.call(200, 201), 7777, "outside");
  small.kernel(kNone, 1, "unlinked");
  const Run run = operators_of(small.trace);
  REQUIRE(run.operators.size() == 1);
  const OperatorTable& table = run.operators[0];
  CHECK(table.source == "NVTX ranges");
  const OperatorEntry& outer = entry(table, "outer");
  CHECK(outer.calls == 2);
  CHECK(outer.total_ns == 100);  // not 110
  CHECK(outer.self_ns == 100 - 30 - 10 + 10);
  CHECK(outer.cuda_total_ns == 1115);
  CHECK(outer.cuda_self_ns == 1100);
  const OperatorEntry& inner = entry(table, "inner");
  CHECK(inner.total_ns == 40);
  CHECK(inner.self_ns == 20 + 10);
  CHECK(inner.cuda_total_ns == 115);
  CHECK(inner.cuda_self_ns == 15);
  CHECK(table.cuda_ns == 1115);
  CHECK(*table.gpu_share == Approx(1115.0 / (1115 + 7777 + 1)).epsilon(1e-12));
  REQUIRE(outer.kernels.size() == 3);
  CHECK(outer.kernels[0].name == "a");
  CHECK(outer.kernels[0].calls == 2);
  CHECK(outer.kernels[0].total_ns == 1010);
  CHECK(outer.kernels[2].name == "copy");
}

TEST_CASE("operators are split by the outermost stage; decode_step is decode") {
  SmallTrace small;
  small.range("LLM", "prefill", 0, 100);
  small.range("", "LLM@decode_all", 100, 300);
  small.range("LLM", "decode_step", 100, 200);
  for (Ns at : {10, 110, 210, 400}) small.range("", "LLM.ops@mlp", at, at + 50);
  for (Ns at : {10, 110, 210, 400}) small.kernel(small.call(at + 1, at + 2), at);
  Run run = operators_of(small.trace);
  CHECK(run.operators.at(0).entries.at(0).name == "mlp");
  const std::vector<std::pair<std::string, Ns>> gpu = {{"none", 400}, {"decode", 320}, {"prefill", 10}};
  CHECK(run.operators.at(0).entries.at(0).stages == gpu);
  small.trace.has_kernel_data = small.trace.has_mem_data = false;
  small.trace.kernels.clear();
  run = operators_of(small.trace);
  const std::vector<std::pair<std::string, Ns>> host = {{"decode", 100}, {"none", 50}, {"prefill", 50}};
  CHECK(run.operators.at(0).entries.at(0).stages == host);
}

TEST_CASE("which ranges are operators") {
  SmallTrace small;
  small.range("LLM", "prefill", 0, 10);
  small.range("", "LLM@decode_all", 0, 10);
  small.range("LLM.layers", "model.norm", 0, 10);
  small.range("", "LLM.layers@model.norm", 0, 10);
  small.range("CCCL", "cub::DeviceScan::InclusiveScan", 0, 10);  // a library's own
  Run run = operators_of(small.trace);
  CHECK(run.operators.empty());
  CHECK(run.operators_note.find("--set nsys.pytorch=autograd-shapes-nvtx") != std::string::npos);
  small.range("NCCL", "ncclAllReduce", 0, 10);
  small.range("", "tokenise", 10, 12);
  run = operators_of(small.trace);
  REQUIRE(run.operators.size() == 1);
  CHECK(entry(run.operators[0], "NCCL:ncclAllReduce").calls == 1);
  CHECK(entry(run.operators[0], "tokenise").calls == 1);
  CHECK(run.operators_note.empty());
  small.range("LLM.ops", "attention", 0, 5);  // marked ones come first, the rest is then left alone
  small.range("", "aten::mm, op_id = 1", 0, 5);
  run = operators_of(small.trace);
  REQUIRE(run.operators.size() == 2);
  CHECK(run.operators[0].source == "pytorch ranges");
  CHECK(run.operators[1].entries.size() == 1);
}

TEST_CASE("ranges that never closed or crossed threads are left out and counted") {
  SmallTrace small(2);
  small.range("LLM.ops", "open", 0, 1000).open = true;
  small.range("LLM.ops", "crossing", 0, 10).end_thread = 1;
  small.trace.session_end_ns = 500;
  small.range("LLM.ops", "until the end", 0, 500);
  small.range("LLM.ops", "good", 0, 10);
  small.range("LLM.ops", "lost", 0, 10, 77);
  small.kernel(small.call(1, 2), 5);
  const Run run = operators_of(small.trace);
  const OperatorTable& table = run.operators.at(0);
  CHECK(table.ranges_left_out == 4);
  REQUIRE(table.entries.size() == 1);
  CHECK(table.entries[0].cuda_self_ns == 5);
}

TEST_CASE("GPU work belongs to the ranges of the thread that launched it") {
  SmallTrace small(2);
  small.range("LLM.ops", "first", 0, 100, 0);
  small.range("LLM.ops", "second", 0, 100, 1);
  small.kernel(small.call(10, 11, 0), 3);
  small.kernel(small.call(10, 11, 1), 4);
  const OperatorTable table = operators_of(small.trace).operators.at(0);
  CHECK(entry(table, "first").cuda_total_ns == 3);
  CHECK(entry(table, "second").cuda_total_ns == 4);
}

TEST_CASE("an empty trace, and a trace whose GPU did nothing") {
  CHECK(operators_of(Trace{}).operators.empty());
  SmallTrace small;
  small.range("LLM.ops", "idle", 0, 0);
  const OperatorTable table = operators_of(small.trace).operators.at(0);
  CHECK(table.entries.at(0).cuda_total_ns == 0);
  CHECK(table.entries[0].total_ns == 0);
  CHECK_FALSE(table.gpu_share);  // a share of nothing
}

TEST_CASE("a table is cut by time and says by how much") {
  SmallTrace small;
  for (int i = 0; i < 20; ++i) small.range("LLM.ops", "op" + std::to_string(i), 100 * i, 100 * i + 1 + i);
  for (int i = 0; i < 9; ++i) small.range("LLM.ops", "op19, sizes = [[" + std::to_string(i) + "]]", 5000 + 10 * i, 5001 + 10 * i);
  OperatorOptions options;
  options.max_entries = 3;
  const OperatorTable table = operators_of(small.trace, options).operators.at(0);
  REQUIRE(table.entries.size() == 3);
  CHECK(table.entries_left_out == 17);
  CHECK(table.entries[0].name == "op19");
  CHECK(table.entries[0].shapes.size() == 5);
  CHECK(table.entries[1].name == "op18");
}

TEST_CASE("CUDA graphs traced as wholes count under their launch") {
  SmallTrace small;
  small.range("LLM.ops", "replay", 0, 10);
  small.trace.graph_runs.push_back({0, 50, 0, small.call(1, 2)});
  const OperatorTable table = operators_of(small.trace).operators.at(0);
  CHECK(table.entries.at(0).cuda_self_ns == 50);
  CHECK(table.entries[0].kernels.at(0).name == "(CUDA graph)");
}

// Whatever the ranges and calls are, overlapping ones included: each kernel once, self within total.
TEST_CASE("sums hold for random traces") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    SmallTrace small(3);
    for (int i = 0; i < 60; ++i) {
      const Ns start = static_cast<Ns>(random() % 1000);
      const Ns end = start + static_cast<Ns>(random() % 300);
      Range& range = small.range("LLM.ops", "op" + std::to_string(random() % 5), start, end, random() % 3);
      range.open = random() % 20 == 0;
    }
    std::map<std::pair<std::uint32_t, Ns>, Ns> calls;
    for (int i = 0; i < 100; ++i) calls[{random() % 3, static_cast<Ns>(random() % 1100)}] = static_cast<Ns>(random() % 30);
    Ns all = 0;
    for (const auto& [place, length] : calls) {
      const Ns duration = static_cast<Ns>(random() % 1000);
      small.kernel(small.call(place.second, place.second + length, place.first), duration, "k" + std::to_string(random() % 4));
      all += duration;
    }
    const OperatorTable table = operators_of(small.trace).operators.at(0);
    Ns self = 0;
    std::uint64_t called = 0;
    for (const auto& e : table.entries) {
      CHECK(e.self_ns >= 0);
      CHECK(e.cuda_self_ns <= e.cuda_total_ns);
      CHECK(*e.cuda_total_ns <= *table.cuda_ns);
      Ns kernels = 0;
      for (const auto& kernel : e.kernels) kernels += kernel.total_ns;
      CHECK(kernels == e.cuda_total_ns);  // four names, so none is cut off
      self += *e.cuda_self_ns;
      called += e.calls;
    }
    CHECK(self == table.cuda_ns);
    CHECK(*table.cuda_ns <= all);
    CHECK(called + table.ranges_left_out == 60);
  }
}

TEST_CASE("of another file's tables the one of its own source is taken, else the first, and none is said") {
  SmallTrace made;
  made.range(std::string(kOnnxRuntimeDomain), "MatMul", 0, 10);
  made.range("LLM.ops", "attention", 20, 50);
  Run run;
  run.operators_note = "none yet";
  add_operator_table_from(made.trace, "NVTX ranges", "a.json", run);
  add_operator_table_from(made.trace, "onnxruntime", "b.json", run);
  add_operator_table_from(made.trace, "elsewhere", "c.json", run);
  add_operator_table_from(Trace(), "kineto", "d.json", run);
  REQUIRE(run.operators.size() == 4);
  CHECK(run.operators[0].entries.at(0).name == "attention");
  CHECK(run.operators[1].entries.at(0).name == "MatMul");
  CHECK(run.operators[2].entries.at(0).name == "MatMul");
  CHECK(run.operators[2].source == "elsewhere");
  CHECK(run.operators[2].note.empty());
  CHECK(run.operators[3].entries.empty());
  CHECK(run.operators[3].note == "the file has no operators");
  CHECK(run.operators[3].source == "kineto");
  CHECK(run.operators[3].file == "d.json");
  CHECK(run.operators_note.empty());
}

TEST_CASE("an operator on two threads takes its time on both, and a stage that another thread ended holds nowhere") {
  SmallTrace small(2);
  small.range("LLM", "prefill", 0, 100).end_thread = 1;
  small.range("LLM.ops", "mlp, sizes = [[1, 2]]", 0, 50);
  small.range("LLM.ops", "mlp, sizes = [[1, 2]]", 0, 50, 1);
  small.kernel(small.call(10, 11), 7);
  small.kernel(small.call(10, 11, 1), 8);
  const OperatorTable table = operators_of(small.trace).operators.at(0);
  const OperatorEntry& mlp = entry(table, "mlp");
  CHECK(mlp.calls == 2);
  CHECK(mlp.total_ns == 100);
  CHECK(mlp.stages == std::vector<std::pair<std::string, Ns>>{{"none", 15}});
  REQUIRE(mlp.shapes.size() == 1);
  CHECK(mlp.shapes[0].calls == 2);
  CHECK(mlp.shapes[0].total_ns == 100);
  CHECK(mlp.shapes[0].cuda_total_ns == 15);
  small.trace.has_kernel_data = small.trace.has_mem_data = false;
  CHECK_FALSE(operators_of(small.trace).operators.at(0).entries.at(0).shapes.at(0).cuda_total_ns);
}

TEST_CASE("shapes and kernels of an operator have limits of their own, and add up over stages") {
  SmallTrace small;
  small.range("LLM", "prefill", 0, 100);
  small.range("LLM.ops", "mlp, sizes = [[1]]", 10, 20);
  small.range("LLM.ops", "mlp, sizes = [[2]]", 30, 40);
  small.range("LLM.ops", "mlp, sizes = [[1]]", 210, 220);
  small.range("LLM.ops", "late", 90, 150);  // outlives the stage
  small.kernel(small.call(11, 12), 7, "a");
  small.kernel(small.call(31, 32), 9, "b");
  small.kernel(small.call(211, 212), 8, "c");
  OperatorOptions options;
  options.top_shapes = 1;
  options.top_kernels = 2;
  const OperatorTable table = operators_of(small.trace, options).operators.at(0);
  const OperatorEntry& mlp = entry(table, "mlp");
  REQUIRE(mlp.shapes.size() == 1);
  CHECK(mlp.shapes[0].text == "[[1]]");
  CHECK(mlp.shapes[0].cuda_total_ns == 15);
  CHECK(mlp.kernels.size() == 2);
  CHECK(mlp.stages == std::vector<std::pair<std::string, Ns>>{{"prefill", 16}, {"none", 8}});
  small.trace.has_kernel_data = small.trace.has_mem_data = false;
  const OperatorTable host = operators_of(small.trace).operators.at(0);
  CHECK(entry(host, "late").stages == std::vector<std::pair<std::string, Ns>>{{"none", 60}});
}

TEST_CASE("a stage holds on its own thread only") {
  SmallTrace small(2);
  small.range("LLM", "prefill", 0, 1000, 0);
  small.range("LLM.ops", "here", 10, 20, 0);
  small.range("LLM.ops", "there", 10, 20, 1);
  small.trace.has_kernel_data = small.trace.has_mem_data = false;
  const OperatorTable table = operators_of(small.trace).operators.at(0);
  CHECK(entry(table, "here").stages == std::vector<std::pair<std::string, Ns>>{{"prefill", 10}});
  CHECK(entry(table, "there").stages == std::vector<std::pair<std::string, Ns>>{{"none", 10}});
}
