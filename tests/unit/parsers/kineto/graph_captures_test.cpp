#include "parsers/kineto/graph_captures.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/words.h"
#include "parsers/kineto/json.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;
namespace fs = std::filesystem;

namespace {

const fs::path kTracelens = fs::path(NL_FIXTURES) / "tracelens";

Trace trace_of(const std::string& name) { return read_kineto_json(kTracelens / name / "trace.json.gz"); }

Trace joined(const std::string& name) {
  Trace trace = trace_of(name);
  join_graph_captures(graph_capture_files(kTracelens / name), trace);
  return trace;
}

// The notes about graphs.
std::vector<std::string> said(const Trace& trace) {
  std::vector<std::string> texts;
  for (const Remark& note : trace.stats.notes)
    if (note.code == Code::kGraphsJoined || note.code == Code::kGraphsNotJoined) texts.push_back(text_of(note));
  return texts;
}

std::size_t kernels_with_node(const Trace& trace) {
  return static_cast<std::size_t>(
      std::count_if(trace.kernel_nodes.begin(), trace.kernel_nodes.end(), [](std::uint32_t node) { return node != kNone; }));
}

// The ranges around the moment in which a kernel was captured, outermost first.
std::vector<std::string> around(const Trace& trace, std::size_t kernel, std::string_view domain) {
  std::vector<std::string> names;
  const GraphNode& node = trace.graph_nodes.at(trace.kernel_nodes.at(kernel));
  for (const Range& range : trace.ranges)
    if (range.thread == node.thread && trace.strings[range.domain] == domain && range.start_ns <= node.made_ns &&
        node.made_ns < range.end_ns)
      names.push_back(trace.strings[range.name]);
  return names;
}

// A capture of one graph for each size, and a trace that replays some kernels in one step.
GraphCaptures made_captures(const std::map<std::uint64_t, std::vector<std::string>>& kernels_by_size) {
  GraphCaptures captures;
  captures.file = "capture.json";
  Ns now = 1000;
  for (const auto& [size, kernels] : kernels_by_size) {
    CapturedGraph graph{now, now + 100, 9, 9, {}};
    for (const std::string& kernel : kernels) graph.nodes.push_back({now += 10, kernel, false});
    captures.batches.push_back({size, "FULL", {graph}});
    captures.ranges.push_back(
        {graph.begin_ns - 5, graph.end_ns + 5, 9, 9, "size " + std::to_string(size), CaptureRange::Kind::kAnnotation});
    now = graph.end_ns + 100;
  }
  return captures;
}

// One step with the launch of a graph; of each kernel, its name and its stream.
Trace made_trace(const std::string& step, const std::vector<std::pair<std::string, int>>& kernels) {
  std::string events = R"({"ph": "X", "cat": "user_annotation", "name": ")" + step + R"(", "pid": 9, "tid": 9, "ts": 10, "dur": 100},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 9, "tid": 9, "ts": 20, "dur": 5, "args": {"correlation": 7}})";
  int at = 30;
  for (const auto& [name, stream] : kernels)
    events += R"(, {"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(at += 5) +
              R"(, "dur": 2, "args": {"device": 0, "stream": )" + std::to_string(stream) + R"(, "correlation": 7}})";
  const nl::test::ScratchFile file("{\"traceEvents\": [" + events + "]}");
  return read_kineto_json(file.path);
}

std::string size_joined(const GraphCaptures& captures, Trace trace) {
  join_graph_captures({captures}, trace);
  if (kernels_with_node(trace) == 0) return "none";
  const auto names = around(trace, 0, "");
  return names.empty() ? "no range" : names.front();
}

}  // namespace

TEST_CASE("graph captures: a file of vLLM has the graph of its batch size, with the calls that became its nodes") {
  const auto files = graph_capture_files(kTracelens / "vllm_decode");
  REQUIRE(files.size() == 1);
  const GraphCaptures captures = read_graph_captures(files[0]);
  REQUIRE(captures.batches.size() == 1);
  CHECK(captures.batches[0].size == 32);
  CHECK(captures.batches[0].mode == "FULL");
  REQUIRE(captures.batches[0].graphs.size() == 1);
  CHECK(captures.batches[0].graphs[0].nodes.size() == 421);
  CHECK(captures.batches[0].graphs[0].nodes[0].kernel == "triton_poi_fused_0");
}

TEST_CASE("graph captures: all kernels of vLLM's replayed graph are joined to the operators that captured them") {
  const Trace trace = joined("vllm_decode");
  CHECK(said(trace) ==
        std::vector<std::string>{"graph_capture_rank_0.json.gz: 1 of 1 replayed CUDA graphs have the operators and layers of their "
                                 "capture, 421 kernels in all."});
  CHECK(kernels_with_node(trace) == 421);
  CHECK(trace.graph_nodes.size() == 421);
  const std::set<std::uint32_t> nodes(trace.kernel_nodes.begin(), trace.kernel_nodes.end());
  CHECK(nodes.size() == 422);  // each its own, and those outside of the graph none
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    REQUIRE(static_cast<bool>(trace.kernels[i].in_graph) == (trace.kernel_nodes[i] != kNone));
    if (trace.kernel_nodes[i] != kNone) REQUIRE_FALSE(around(trace, i, "").empty());
  }
}

TEST_CASE("graph captures: a mixed step of vLLM replays the pieces of its graph in the order in which they were captured") {
  const Trace trace = joined("vllm_mixed");
  CHECK(said(trace) ==
        std::vector<std::string>{"graph_capture_rank_0.json.gz: 25 of 25 replayed CUDA graphs have the operators and layers of their "
                                 "capture, 361 kernels in all."});
  std::set<std::string> pieces;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i)
    if (trace.kernel_nodes[i] != kNone)
      for (const std::string& name : around(trace, i, "LLM.layers")) pieces.insert(name);
  CHECK(pieces.size() == 27);  // the model, what it was traced to, and the 25 pieces that are compiled
  CHECK(pieces.contains("GptOssForCausalLM.GraphModule.CompiledFxGraph.24|CompiledFxGraph"));
}

TEST_CASE("graph captures: SGLang's kernels have the modules of their layer") {
  const Trace trace = joined("sglang_decode");
  CHECK(kernels_with_node(trace) == 544);
  std::map<std::string, std::size_t> kernels;  // by layer
  std::size_t attention = 0;
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    if (trace.kernel_nodes[i] == kNone) continue;
    for (const std::string& name : around(trace, i, "LLM.layers")) {
      if (name.ends_with("|Qwen3DecoderLayer")) ++kernels[name];
      attention += name == "Qwen3Model.Qwen3DecoderLayer.7.Qwen3Attention.RadixAttention|RadixAttention";
    }
  }
  CHECK(kernels.size() == 36);
  CHECK(kernels["Qwen3Model.Qwen3DecoderLayer.35|Qwen3DecoderLayer"] == kernels["Qwen3Model.Qwen3DecoderLayer.1|Qwen3DecoderLayer"]);
  CHECK(attention > 0);
}

TEST_CASE("graph captures: of another engine's capture nothing is joined, and that is said") {
  Trace trace = trace_of("vllm_decode");
  const std::size_t ranges = trace.ranges.size();
  join_graph_captures(graph_capture_files(kTracelens / "sglang_decode"), trace);
  CHECK(said(trace) ==
        std::vector<std::string>{"bs_32_rank0.json.gz: 1 of 1 replayed CUDA graphs match no captured graph (a step replays 1 graph with "
                                 "421 nodes, captured are 1 graph with 544 nodes). Their kernels have no operators and no layers."});
  CHECK(trace.graph_nodes.empty());
  CHECK(kernels_with_node(trace) == 0);
  CHECK(trace.ranges.size() == ranges);
}

TEST_CASE("graph captures: a trace without graphs, and a folder without captures, say nothing") {
  CHECK(said(joined("sglang_prefill")).empty());
  CHECK(graph_capture_files(kTracelens / "sglang_prefill").empty());
  Trace trace = trace_of("sglang_prefill");
  join_graph_captures(graph_capture_files(kTracelens / "sglang_decode"), trace);
  CHECK(said(trace).empty());
}

TEST_CASE("graph captures: of several sizes with the same kernels, the smallest with room for the step") {
  const GraphCaptures captures = made_captures({{8, {"a", "b"}}, {16, {"a", "b"}}, {32, {"a", "b"}}, {64, {"a", "c"}}});
  const auto of = [&](const char* step) { return size_joined(captures, made_trace(step, {{"a", 7}, {"b", 7}})); };
  CHECK(of("execute_context_0(0)_generation_9(9)") == "size 16");
  CHECK(of("execute_context_1(20)_generation_1(1)") == "size 32");
  CHECK(of("step[DECODE bs=8]") == "size 8");
  CHECK(of("execute_context_0(0)_generation_40(40)") == "size 32");  // 64 has other kernels
  CHECK(of("anything else") == "size 8");
}

TEST_CASE("graph captures: as many kernels of other names, or in another order, are another graph") {
  const GraphCaptures captures = made_captures({{8, {"a", "b"}}});
  Trace trace = made_trace("step[DECODE bs=8]", {{"b", 7}, {"a", 7}});
  join_graph_captures({captures}, trace);
  CHECK(kernels_with_node(trace) == 0);
  REQUIRE(said(trace).size() == 1);
  CHECK(said(trace)[0].find("other kernels or another order") != std::string::npos);
}

TEST_CASE("graph captures: where a capture has no names, one queue keeps the order and several do not") {
  const GraphCaptures captures = made_captures({{8, {"", ""}}});
  CHECK(size_joined(captures, made_trace("step[DECODE bs=8]", {{"b", 7}, {"a", 7}})) == "size 8");
  CHECK(size_joined(captures, made_trace("step[DECODE bs=8]", {{"b", 7}, {"a", 8}})) == "none");
  CHECK(size_joined(captures, made_trace("step[DECODE bs=8]", {{"b", 7}})) == "none");
}

TEST_CASE("graph captures: the ranges of a capture lie before the trace, on a thread of their own") {
  Trace trace = made_trace("step[DECODE bs=8]", {{"a", 7}, {"b", 7}});
  const std::size_t threads = trace.threads.size();
  join_graph_captures({made_captures({{8, {"a", "b"}}, {16, {"x"}}})}, trace);
  REQUIRE(trace.threads.size() == threads + 1);
  std::size_t captured = 0;
  for (const Range& range : trace.ranges)
    if (range.thread == threads) {
      ++captured;
      CHECK(range.end_ns < 0);
    }
  CHECK(captured == 1);  // the graph of size 16 is not used
}

TEST_CASE("graph captures: a capture that was cut off has the graphs that ended") {
  const std::string call = R"({"ph": "X", "cat": "cuda_runtime", "pid": 9, "tid": 9, "dur": 1, )";
  const nl::test::ScratchFile file("{\"traceEvents\": [" + call + R"("name": "cudaStreamBeginCapture", "ts": 10},)" + call +
                                   R"("name": "cudaLaunchKernel", "ts": 20},)" + call + R"("name": "cudaMemcpyAsync", "ts": 22},)" + call +
                                   R"("name": "cudaStreamEndCapture", "ts": 30},)" + call +
                                   R"("name": "cudaStreamBeginCapture", "ts": 40},)" + call + R"("name": "cudaLaunchKernel", "ts": 50}]})");
  const GraphCaptures captures = read_graph_captures(file.path);
  REQUIRE(captures.batches.size() == 1);
  CHECK_FALSE(captures.batches[0].size);
  REQUIRE(captures.batches[0].graphs.size() == 1);
  REQUIRE(captures.batches[0].graphs[0].nodes.size() == 2);
  CHECK_FALSE(captures.batches[0].graphs[0].nodes[0].copies);
  CHECK(captures.batches[0].graphs[0].nodes[1].copies);
}
