#include "analysis/figures/operators/layers.h"

#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/small_trace.h"

using namespace nl;
using namespace nl::analysis;
using nl::test::SmallTrace;

TEST_CASE("which layer runs which kernels, in the order of the model") {
  SmallTrace small;
  small.range("LLM.layers", "(model)|Llama", 0, 100);
  small.range("", "LLM.layers@model.layers.0|Layer", 10, 50);  // as torch's range_push spells it
  small.range("LLM.layers", "model.layers.0.mlp|MLP", 20, 40);
  small.range("LLM.layers", "model.layers.1", 50, 90);
  small.range("LLM.layers", "model.layers.0", 200, 210);  // the next step, without its class
  small.kernel(small.call(15, 16), 1, "norm");
  small.kernel(small.call(25, 26), 10, "gemm");
  small.kernel(small.call(60, 61), 100, "gemm");
  small.kernel(small.call(205, 206), 1000, "gemm");
  Run run;
  add_layers(small.trace, run);
  CHECK(run.layers_note.empty());
  REQUIRE(run.layers.size() == 4);
  CHECK(run.layers[0].name == "(model)");
  CHECK(run.layers[0].depth == 0);
  CHECK(run.layers[0].cuda_total_ns == 111);
  CHECK(run.layers[0].cuda_self_ns == 0);
  CHECK(run.layers[0].self_ns == 20);
  CHECK(run.layers[1].name == "model.layers.0");
  CHECK(run.layers[1].type == "Layer");
  CHECK(run.layers[1].depth == 3);
  CHECK(run.layers[1].calls == 2);
  CHECK(run.layers[1].total_ns == 50);
  CHECK(run.layers[1].self_ns == 30);
  CHECK(run.layers[1].cuda_total_ns == 1011);
  CHECK(run.layers[1].cuda_self_ns == 1001);
  REQUIRE(run.layers[1].kernels.size() == 2);
  CHECK(run.layers[1].kernels[0].name == "gemm");
  CHECK(run.layers[1].kernels[0].calls == 2);
  CHECK(run.layers[2].name == "model.layers.0.mlp");
  CHECK(run.layers[2].kernels.at(0).total_ns == 10);
  CHECK(run.layers[3].name == "model.layers.1");
}

TEST_CASE("without layers the note says how to get them") {
  Run run;
  SmallTrace small;
  small.range("LLM", "prefill", 0, 10);
  add_layers(small.trace, run);
  CHECK(run.layers.empty());
  CHECK(run.layers_note.find("watch_modules(model)") != std::string::npos);
}

TEST_CASE("layers of a capture without a GPU have no GPU time") {
  SmallTrace small;
  small.trace.has_kernel_data = small.trace.has_mem_data = false;
  small.range("LLM.layers", "model", 0, 10);
  small.range("LLM.layers", "broken", 0, 10).open = true;
  Run run;
  add_layers(small.trace, run);
  REQUIRE(run.layers.size() == 1);
  CHECK_FALSE(run.layers[0].cuda_total_ns);
  CHECK(run.layers_note.find("1 layer range is left out: never closed") != std::string::npos);
}
