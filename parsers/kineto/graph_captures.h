#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/trace.h"

// The layers inside CUDA graphs, from a trace of torch.profiler that was made while an engine captured its graphs: vLLM's
// capture_traces/ and SGLang's graph_capture_profile/. What was open when a kernel was captured is what the kernel belongs to whenever
// the graph is replayed.
namespace nl::parsers {

inline constexpr const char *kKinetoName = "kineto", *kGraphCapturesName = "graph-captures";  // of the formats

// A call between cudaStreamBeginCapture and cudaStreamEndCapture that became a node of the graph.
struct CapturedNode {
  Ns time_ns = 0;
  std::string kernel;  // empty: the trace does not say, as those of NVIDIA's GPUs
  bool copies = false;
};

struct CapturedGraph {
  Ns begin_ns = 0, end_ns = 0;
  std::int64_t pid = 0, tid = 0;
  std::vector<CapturedNode> nodes;  // in the order of their calls
};

// The graphs that are captured for one batch size: one, or, cut into pieces by what cannot be captured, several.
struct CapturedBatch {
  std::optional<std::uint64_t> size;  // requests or tokens, as the engine counts them
  std::string mode;                   // "FULL", "PIECEWISE", "DECODE"
  std::vector<CapturedGraph> graphs;
};

struct CaptureRange {
  enum class Kind : std::uint8_t { kOperator, kAnnotation, kModule };
  Ns start_ns = 0, end_ns = 0;
  std::int64_t pid = 0, tid = 0;
  std::string name;  // of a module: its place in the model and its class, "Qwen3Model.Qwen3DecoderLayer.3|Qwen3DecoderLayer"
  Kind kind = Kind::kOperator;
};

struct GraphCaptures {
  std::string file;  // its name
  std::vector<CapturedBatch> batches;
  std::vector<CaptureRange> ranges;  // operators, annotations and modules, by start
};

// Throws Error(kInput) where the file is no trace of torch.profiler.
GraphCaptures read_graph_captures(const std::filesystem::path& file);

// The traces of captures that lie beside a trace of torch.profiler, in the folders that the engines make.
std::vector<std::filesystem::path> graph_capture_files(const std::filesystem::path& folder);

// Fills Trace::graph_nodes and adds the ranges around them, before time 0. A replayed graph is joined to the graph of its batch size, where both
// have the same kernels in the same order; all graphs of a step are joined, or none. The notes say what was joined and what was not.
void join_graph_captures(const std::vector<std::filesystem::path>& files, Trace& trace);
void join_graph_captures(const std::vector<GraphCaptures>& captures, Trace& trace);

}  // namespace nl::parsers
