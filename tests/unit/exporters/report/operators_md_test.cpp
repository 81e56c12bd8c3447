#include <sstream>
#include <string>
#include <vector>

#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/markdown_cells.h"

using namespace nl;
using namespace nl::exporters;

namespace {

std::vector<std::vector<std::string>> table_cells(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line[0] == '|') lines.push_back(cells(line));
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Cells = std::vector<std::string>;

OperatorEntry linear() {
  OperatorEntry entry;
  entry.name = "aten::linear";
  entry.calls = 4;
  entry.total_ns = 2000000;
  entry.self_ns = 500000;
  entry.cuda_total_ns = 1500000;
  entry.cuda_self_ns = 250000;
  entry.shapes = {{"[[1, 2], [2, 3]]", 3, 100, 90}, {"[[9]]", 1, 10, 9}};
  entry.kernels = {{"gemm", 4, 1250000}};
  entry.stages = {{"decode", 750}, {"none", 250}};
  return entry;
}

Run sample() {
  Run run;
  OperatorTable table;
  table.source = "pytorch ranges";
  table.entries = {linear()};
  table.cuda_ns = 1000000;
  table.gpu_share = 0.5;
  run.operators = {table};
  run.layers_note = "the capture holds no ranges of the domain LLM.layers";
  return run;
}

}  // namespace

TEST_CASE("operators.md has the documented columns first and plain numbers") {
  const std::string text = operators_markdown(sample());
  const auto lines = table_cells(text);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == Cells{"op_name", "total_time_ms", "cuda_time_ms", "calls", "mean_ms", "self_ms", "cuda_self_ms", "share %", "type",
                          "shapes", "top kernels", "stages"});
  CHECK(lines[2] == Cells{"aten::linear", "2.000000", "1.500000", "4", "0.500000", "0.500000", "0.250000", "25.0", "—",
                          "[[1, 2], [2, 3]] ×3; [[9]] ×1", "gemm ×4 (1.250000 ms)", "decode 75 %, none 25 %"});
  CHECK(contains(text, "do not add them."));
  CHECK(contains(text, "## pytorch ranges\n"));
  CHECK(contains(text, "GPU time inside these operators: 1.000000 ms, 50.0 % of the capture's kernels and copies."));
  CHECK(contains(text, "## Layers\n\nNot captured: the capture holds no ranges of the domain LLM.layers.\n"));
}

TEST_CASE("operators.md says how much of CUDA graphs' time could not be joined to where it was captured") {
  Run run = sample();
  CHECK_FALSE(contains(operators_markdown(run), "CUDA graphs"));
  run.operators[0].graph_unjoined_share = 0.125;
  CHECK(
      contains(operators_markdown(run),
               "kernels and copies. Kernels of CUDA graphs count where they were captured; for 12.5 % of their time that is not known.\n"));
  run.operators[0].graph_unjoined_share = 0;
  CHECK(contains(operators_markdown(run), "kernels and copies. Kernels of CUDA graphs count where they were captured, all of them.\n"));
}

TEST_CASE("what was not captured is called that, never zero") {
  Run run = sample();
  OperatorEntry& entry = run.operators[0].entries[0];
  entry.cuda_total_ns.reset();
  entry.cuda_self_ns.reset();
  entry.shapes.clear();
  entry.kernels.clear();
  entry.stages.clear();
  run.operators[0].cuda_ns.reset();
  run.operators[0].gpu_share.reset();
  CHECK(table_cells(operators_markdown(run))[2] ==
        Cells{"aten::linear", "2.000000", "not captured", "4", "0.500000", "0.500000", "not captured", "100.0", "—", "—", "—", "—"});
  CHECK(contains(operators_markdown(run), "GPU time: not captured."));
}

TEST_CASE("layers of TensorRT have no host time") {
  Run run = sample();
  OperatorTable& table = run.operators[0];
  table.source = "trtexec";
  table.file = "profile.json";
  table.note = "GPU time of TensorRT's layers over 4 runs";
  table.gpu_share.reset();
  table.entries[0].host_time_known = false;
  table.entries[0].type = "gemm";
  const std::string text = operators_markdown(run);
  CHECK(contains(text, "## trtexec (profile.json)\n\nGPU time of TensorRT's layers over 4 runs.\n"));
  CHECK(contains(text, "Host time: not captured; mean_ms is GPU time here."));
  const auto row = table_cells(text)[2];
  CHECK(row[0] == "aten::linear");
  CHECK(row[8] == "gemm");
  CHECK(row[1] == "not captured");
  CHECK(row[4] == "0.375000");
  CHECK(row[5] == "not captured");
}

TEST_CASE("a table of an operator pass says what its share is of, and the data types of its shapes") {
  Run run = sample();
  run.operators[0].scaled = true;
  run.operators[0].entries[0].shapes[0].dtypes = "[bfloat16, bfloat16]";
  const std::string text = operators_markdown(run);
  CHECK(contains(text, "1.000000 ms, 50.0 % of the GPU time of its stages."));
  CHECK(table_cells(text)[2][9] == "[[1, 2], [2, 3]] of [bfloat16, bfloat16] ×3; [[9]] ×1");
}

TEST_CASE("one step, operator by operator: what is called by others is part of them") {
  Run run = sample();
  OperatorStep step{"decode_step", "pytorch ranges", 2, 9, {}, 0, 7000};
  step.calls = {{0,
                 "aten::linear",
                 OperatorType::kMatmul,
                 0,
                 "[[1, 2], [2, 3]]",
                 "[bfloat16, bfloat16]",
                 "model.layers.0.mlp",
                 "net.py:7 forward",
                 30000,
                 0,
                 0,
                 {}},
                {1, "aten::mm", OperatorType::kMatmul, 1, "[[1, 2], [2, 3]]", "", "", "", 20000, 5000, 6000, {{"gemm", 1, 5000}}},
                {2, "aten::view", OperatorType::kShape, 0, "", "", "", "", 1000, 0, 0, {}}};
  run.operator_steps = {step};
  const std::string text = operators_markdown(run);
  CHECK(contains(text,
                 "## One decode_step, operator by operator\n\nThe median of 9 decode_step windows with operators: 3 operators, 1 launch of "
                 "kernels and copies, "
                 "0.005000 ms of GPU time. Each row is an operator that no other calls, with all that it calls. Launched by no operator: "
                 "0.007000 ms of GPU "
                 "time. run.json has every call (operator_steps)."));
  const auto lines = table_cells(text);
  REQUIRE(lines.size() == 3 + 4);
  CHECK(lines[3] == Cells{"op_index", "op_name", "op_type", "layer", "shapes", "host_ms", "cuda_ms", "kernels", "line"});
  CHECK(lines[5] == Cells{"0", "aten::linear", "matmul", "model.layers.0.mlp", "[[1, 2], [2, 3]] of [bfloat16, bfloat16]", "0.030000",
                          "0.005000", "gemm ×1 (0.005000 ms)", "net.py:7 forward"});
  CHECK(lines[6] == Cells{"2", "aten::view", "shape", "—", "—", "0.001000", "0.000000", "—", "—"});
}

TEST_CASE("without operators the command that captures them stands there") {
  Run run;
  run.operators_note = "the capture holds no ranges of operators: capture PyTorch's with --set nsys.pytorch=autograd-shapes-nvtx";
  const std::string text = operators_markdown(run);
  CHECK(text.starts_with("# Operators\n\n- The workload marks no stages.\n"));  // as every report begins
  CHECK(
      text.ends_with("\n\nNot captured: the capture holds no ranges of operators: capture PyTorch's with --set "
                     "nsys.pytorch=autograd-shapes-nvtx.\n\n## Layers\n\nNot captured.\n"));
}

TEST_CASE("names are escaped, long ones are listed in full, and what was left out is said") {
  Run run = sample();
  OperatorTable& table = run.operators[0];
  table.entries[0].name = "a|b\n<script>";
  table.entries[0].shapes[0].text = "[[" + std::string(78, '1') + "×]]";  // cut in the middle of a character
  table.entries[0].kernels[0].name = "void gemm<" + std::string(100, 'x') + ">(int)";
  table.entries_left_out = 12;
  table.ranges_left_out = 3;
  const std::string text = operators_markdown(run);
  const auto row = table_cells(text)[2];
  CHECK(row[0] == "a\\|b \\<script>");
  CHECK(row[9].substr(0, 83) == "[[" + std::string(78, '1') + "…");
  CHECK(row[10] == "void gemm<...>(...) [1] ×4 (1.250000 ms)");
  CHECK(contains(text, "\n1. void gemm\\<xxx"));
  CHECK(contains(text, "\nLeft out: 12 operators with less time.\n"));
  CHECK(contains(text, "\nLeft out: 3 ranges that "));
}

TEST_CASE("the layers' table: which layer runs which kernels") {
  Run run = sample();
  LayerEntry layer;
  layer.name = "model.layers.0.mlp";
  layer.type = "LlamaMLP";
  layer.calls = 2;
  layer.total_ns = 3000000;
  layer.self_ns = 1000000;
  layer.cuda_total_ns = 500000;
  layer.cuda_self_ns = 0;
  layer.kernels = {{"gemm", 6, 400000}, {"silu", 2, 100000}};
  run.layers = {layer};
  run.layers_note.clear();
  const auto lines = table_cells(operators_markdown(run));
  REQUIRE(lines.size() == 6);
  CHECK(lines[3][0] == "layer");
  CHECK(lines[5] == Cells{"model.layers.0.mlp", "LlamaMLP", "3.000000", "0.500000", "2", "1.500000", "1.000000", "0.000000",
                          "gemm ×6 (0.400000 ms); silu ×2 (0.100000 ms)"});
}
