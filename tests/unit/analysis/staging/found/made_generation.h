#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/staging/found/found.h"
#include "tests/unit/analysis/trace_builder.h"

// A model's launches written by hand: layers in steps in requests, as a thread would make them, with the truth beside them.
struct MadeGeneration {
  struct Truth {
    std::string name;
    nl::Ns start_ns = 0;
  };

  TraceBuilder builder;
  std::vector<Truth> truth;
  std::uint32_t thread = 0, queue = 0;
  nl::Ns now = 1000;
  int layers = 4;

  std::uint32_t shape(const std::string& name, std::uint32_t blocks) {
    nl::KernelShape shape;
    shape.name = builder.trace.strings.intern(name);
    shape.short_name = shape.name;
    shape.grid = {blocks, 1, 1};
    const auto found = std::find(builder.trace.shapes.begin(), builder.trace.shapes.end(), shape);
    if (found != builder.trace.shapes.end()) return static_cast<std::uint32_t>(found - builder.trace.shapes.begin());
    builder.trace.shapes.push_back(shape);
    return static_cast<std::uint32_t>(builder.trace.shapes.size() - 1);
  }
  void kernel(std::uint32_t api, const std::string& name, std::uint32_t blocks, std::uint64_t duration, nl::Ns start) {
    nl::Kernel& kernel = builder.kernel("placeholder", start, duration, api, queue);
    kernel.shape = shape(name, blocks);
  }
  void launch(const std::string& name, std::uint32_t blocks = 1, std::uint64_t duration = 20) {
    kernel(builder.call(now, thread), name, blocks, duration, now + 5);
    now += 10;
  }
  // The kernels of a step of decoding, but for its argmax, in one graph, begun in any order.
  void graph(std::mt19937& order) {
    std::vector<std::pair<std::string, std::uint32_t>> kernels = {{"embedding_lookup", 1}, {"rms_norm", 1}, {"lm_head_gemv", 100}};
    for (int i = 0; i < layers; ++i)
      kernels.insert(kernels.end(),
                     {{"rms_norm", 1}, {"gemv", 8}, {"rope", 1}, {"flash_attention", 4}, {"gemv", 8}, {"silu", 1}, {"gemv", 8}});
    std::shuffle(kernels.begin(), kernels.end(), order);
    const std::uint32_t api = builder.call(now, thread, "cudaGraphLaunch");
    for (std::size_t i = 0; i < kernels.size(); ++i) kernel(api, kernels[i].first, kernels[i].second, 20, now + 5 + static_cast<nl::Ns>(i));
    now += 10;
  }
  void whole_graph(nl::Ns duration) {
    builder.graph(now + 5, now + 5 + duration, builder.call(now, thread, "cudaGraphLaunch"), queue);
    now += 10;
  }
  void wait(nl::Ns length = 30) {
    builder.wait(now, now + length, thread);
    now += length + 5;
  }
  void to_host() {
    builder.copy(nl::MemOpKind::kDeviceToHost, now + 5, now + 8, builder.call(now, thread, "cudaMemcpyAsync"), queue);
    now += 10;
    wait();
  }
  void begin(const std::string& name) {
    now += 20;
    truth.push_back({name, now});
  }

  // rows: of the tokens that are worked on, 1 while decoding
  void layer(std::uint32_t rows, const std::string& attention, std::uint32_t attention_blocks) {
    launch("rms_norm", rows);
    launch(rows > 1 ? "gemm_large" : "gemv", 8 * rows, 20 * rows);
    launch("rope", rows, 10 + rows);
    launch(attention, attention_blocks, 20 + rows);
    launch(rows > 1 ? "gemm_large" : "gemv", 8 * rows, 20 * rows);
    launch("silu", rows, 10 + rows);
    launch(rows > 1 ? "gemm_large" : "gemv", 8 * rows, 20 * rows);
  }
  void forward(std::uint32_t rows, const std::string& attention = "flash_attention", std::uint32_t attention_blocks = 4) {
    launch("embedding_lookup", rows);
    for (int i = 0; i < layers; ++i) layer(rows, attention, attention_blocks);
    launch("rms_norm", rows);
    launch("lm_head_gemv", 100);
    launch("argmax");
  }
  void prefill(std::uint32_t rows = 64) {
    begin("prefill");
    forward(rows);
    to_host();
  }
  void step() {
    begin("decode_step");
    forward(1);
    to_host();
  }
  void graph_step(std::mt19937& order) {
    begin("decode_step");
    graph(order);
    launch("argmax");
    to_host();
  }
  void request(int steps) {
    prefill();
    for (int i = 0; i < steps; ++i) step();
    now += 500;
  }
};

// Every stage is there, of its kind, and begins where it does.
inline void check_inferred(const MadeGeneration& made, const nl::analysis::FoundStages& found) {
  REQUIRE(found.stages.size() == made.truth.size());
  for (std::size_t i = 0; i < made.truth.size(); ++i) {
    INFO(i << " " << made.truth[i].name);
    CHECK(found.stages[i].name == made.truth[i].name);
    CHECK(found.stages[i].start_ns == made.truth[i].start_ns);
  }
  CHECK(found.origin.source == nl::StageSource::kInferred);
  CHECK(found.origin.confidence > 0.5);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].code == nl::Code::kStagesInferred);
}
