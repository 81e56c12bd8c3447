#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "analysis/staging/found/sources.h"
#include "analysis/staging/stage_table.h"
#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::Code;
using nl::analysis::FoundStages;
using nl::analysis::infer_stages;

namespace {

void check_abstains(const FoundStages& found, Code why) {
  CHECK(found.stages.empty());
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes[0].code == why);
}

// Steps of no known purpose, and why they are not called prefill and decode.
void check_steps(const FoundStages& found, std::size_t steps, Code why, const std::string& unit = "step") {
  CHECK(found.stages.size() == steps);
  for (const auto& stage : found.stages) CHECK(stage.name == unit);
  CHECK(found.origin.confidence > 0.5);
  REQUIRE(found.notes.size() == 2);
  CHECK(found.notes[0].code == Code::kStepsInferred);
  CHECK(found.notes[0].details.at(1) == std::to_string(steps));
  CHECK(found.notes[1].code == why);
}

}  // namespace

TEST_CASE("prefill and steps are found where each token is copied to the host") {
  MadeGeneration made;
  for (int i = 0; i < 3; ++i) made.request(8);
  const FoundStages found = infer_stages(made.builder.trace);
  check_inferred(made, found);
  // All steps are as long, follow a wait and a pause, and each request has a prefill: 0.5 + 0.2 + 0.15 + 0.1. A step is 32 kernels,
  // a copy and a wait.
  CHECK(found.origin.confidence == Approx(0.95));
  CHECK(found.notes[0].details == std::vector<std::string>{"3", "24", "34", "0.95"});
  for (std::size_t i = 0; i + 1 < found.stages.size(); ++i) {
    const bool ends_request = found.stages[i + 1].name == "prefill";
    INFO(i);
    CHECK((found.stages[i].end_ns == found.stages[i + 1].start_ns) != ends_request);
  }
  CHECK(found.stages.back().end_ns == made.now - 505);  // with the wait for its copy
}

TEST_CASE("one request is enough") {
  MadeGeneration made;
  made.request(6);
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("steps that wait for nothing are cut where their run begins and ends") {
  MadeGeneration made;
  for (int request = 0; request < 2; ++request) {
    made.begin("prefill");
    made.forward(64);
    made.wait();
    for (int i = 0; i < 8; ++i) {
      made.begin("decode_step");
      made.forward(1);
    }
    made.wait();
  }
  const FoundStages found = infer_stages(made.builder.trace);
  check_inferred(made, found);
  CHECK(found.origin.confidence == Approx(0.5 + 0.2 * 2 / 16 + 0.15 + 0.1));  // two of sixteen follow a wait
}

TEST_CASE("the last step ends with its work where nobody waits for it") {
  MadeGeneration made;
  made.prefill();
  for (int i = 0; i < 8; ++i) {
    made.begin("decode_step");
    made.forward(1);
  }
  made.launch("epilogue", 1, 5000);
  const FoundStages found = infer_stages(made.builder.trace);
  REQUIRE(found.stages.size() == 9);
  const nl::Kernel& argmax = made.builder.trace.kernels[made.builder.trace.kernels.size() - 2];
  CHECK(found.stages.back().end_ns == argmax.end_ns());
}

TEST_CASE("grids that grow with the context and kernels that change with it do not break the steps") {
  MadeGeneration made;
  for (int request = 0; request < 2; ++request) {
    made.prefill();
    for (int i = 0; i < 24; ++i) {
      made.begin("decode_step");
      const bool longer = i >= 11;
      made.forward(1, longer ? "flash_attention_splitkv" : "flash_attention", static_cast<std::uint32_t>(4 + 8 * i));
      made.to_host();
    }
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("a step may get longer by a kernel") {
  MadeGeneration made;
  made.layers = 6;
  made.prefill();
  for (int i = 0; i < 20; ++i) {
    made.begin("decode_step");
    made.launch("embedding_lookup");
    for (int layer = 0; layer < 6; ++layer) {
      made.layer(1, "flash_attention", 4);
      if (i >= 9 && layer == 3) made.launch("attention_combine");
    }
    made.launch("lm_head_gemv", 100);
    made.launch("argmax");
    made.to_host();
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("threads have steps of their own") {
  MadeGeneration made;
  made.request(8);
  made.request(8);
  const std::size_t first = made.truth.size();
  made.thread = 1;
  made.queue = 1;
  made.layers = 7;
  made.now = 1500;
  made.request(12);
  const FoundStages found = infer_stages(made.builder.trace);
  check_inferred(made, found);
  CHECK(found.stages[first - 1].thread == 0);
  CHECK(found.stages[first].thread == 1);
  CHECK(found.notes[0].details == std::vector<std::string>{"3", "28", "55", "0.95"});  // 7 layers have 21 kernels more
}

TEST_CASE("work on two streams is one step") {
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    made.prefill();
    for (int i = 0; i < 8; ++i) {
      made.begin("decode_step");
      for (std::uint32_t stream = 0; stream < 2; ++stream) {
        made.queue = stream;
        made.forward(1);
      }
      made.to_host();
    }
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("a graph is the same whatever the order in which its kernels begin") {
  MadeGeneration made;
  std::mt19937 order(7);
  for (int request = 0; request < 3; ++request) {
    made.prefill();
    for (int i = 0; i < 10; ++i) {
      made.graph_step(order);
    }
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("graphs traced as wholes are steps") {
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    made.prefill();
    for (int i = 0; i < 10; ++i) {
      made.begin("decode_step");
      made.whole_graph(300);
      made.to_host();
    }
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("a step that runs before its graph is captured is a step") {
  MadeGeneration made;
  std::mt19937 order(7);
  made.prefill();
  made.step();
  for (int i = 0; i < 10; ++i) {
    made.graph_step(order);
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("loading weights is no generation") {
  MadeGeneration made;
  for (int i = 0; i < 200; ++i) {
    made.builder.copy(nl::MemOpKind::kHostToDevice, made.now + 5, made.now + 50, made.builder.call(made.now, 0, "cudaMemcpyAsync"));
    made.now += 60;
    made.wait();
  }
  SECTION("alone") { check_abstains(infer_stages(made.builder.trace), Code::kStepsWithoutProducts); }
  SECTION("and before it, it is left out") {
    for (int i = 0; i < 3; ++i) made.request(8);
    check_inferred(made, infer_stages(made.builder.trace));
  }
}

TEST_CASE("where nothing repeats nothing is inferred") {
  MadeGeneration made;
  SECTION("shuffled kernels") {
    std::mt19937 random(3);
    for (int i = 0; i < 4000; ++i) {
      made.launch("kernel_gemm_" + std::to_string(random() % 40));
      if (random() % 50 == 0) made.wait();
    }
    const FoundStages found = infer_stages(made.builder.trace);
    CHECK(found.stages.empty());
    CHECK(found.notes.size() == 1);
  }
  SECTION("one long kernel") {
    made.launch("gemm", 1000, 1'000'000'000);
    made.wait(1'000'000'000);
    check_abstains(infer_stages(made.builder.trace), Code::kStepsNotRepeated);
  }
  SECTION("no work at all") {
    const FoundStages found = infer_stages(made.builder.trace);
    CHECK(found.stages.empty());
    CHECK(found.notes.empty());
  }
}

TEST_CASE("training is not taken for generation") {
  MadeGeneration made;
  made.forward(64);
  for (int i = 0; i < 12; ++i) {
    made.forward(8);
    for (int layer = 0; layer < 4; ++layer) {
      made.launch("flash_bwd_kernel", 8);
      made.launch("gemm_backward", 8);
    }
    made.launch("multi_tensor_apply_adam", 64);
    made.to_host();
  }
  check_steps(infer_stages(made.builder.trace), 12, Code::kStepsOfTraining, "train_step");
}

TEST_CASE("a thread that works while another one waits has no steps of its own") {
  MadeGeneration made;
  for (int i = 0; i < 12; ++i) {
    made.thread = 0;
    for (int layer = 0; layer < 4; ++layer) made.layer(8, "flash_attention", 4);
    made.launch("cross_entropy_loss", 8);
    made.thread = 1;  // autograd's
    for (int layer = 0; layer < 6; ++layer) {
      made.launch("flash_bwd_kernel", 8, 80);
      made.launch("gemm_dgrad", 8, 80);
    }
    made.thread = 0;
    made.launch("multi_tensor_scale", 64);
    made.to_host();
  }
  auto& calls = made.builder.trace.api_calls;
  std::vector<std::uint32_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return calls[a].thread < calls[b].thread; });
  std::vector<std::uint32_t> place(calls.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::stable_sort(calls.begin(), calls.end(), [](const auto& a, const auto& b) { return a.thread < b.thread; });
  for (auto& kernel : made.builder.trace.kernels) kernel.api = place[kernel.api];
  for (auto& op : made.builder.trace.mem_ops) op.api = place[op.api];
  const FoundStages found = infer_stages(made.builder.trace);
  CHECK(found.stages.size() == 12);
  for (const auto& stage : found.stages) {
    CHECK(stage.thread == 0);
    CHECK(stage.name == "train_step");  // the other thread's kernels tell
  }
}

TEST_CASE("layers of a step are not its steps, also where each waits") {
  MadeGeneration made;
  for (int i = 0; i < 20; ++i) {
    made.launch("scale_inputs", 4);
    for (int layer = 0; layer < 8; ++layer) {
      made.layer(4, "flash_attention", 4);
      made.to_host();
    }
    made.launch("norm_of_all", 4);
  }
  check_steps(infer_stages(made.builder.trace), 20, Code::kStepsWithoutPrefill);
}

TEST_CASE("steps of a solver are steps") {
  MadeGeneration made;
  for (int i = 0; i < 50; ++i) {
    made.launch("spmv_csr", 64, 200);
    made.launch("dot_reduce", 8, 20);
    made.launch("axpy", 64, 40);
    made.launch("axpy", 64, 40);
    made.to_host();
  }
  check_steps(infer_stages(made.builder.trace), 50, Code::kStepsWithoutProducts);
}

TEST_CASE("what XLA tries out before it chooses is not a step") {
  MadeGeneration made;
  for (int i = 0; i < 400; ++i) made.launch("xla::gpu::RedzoneAllocatorKernel", 1, 5);
  for (int i = 0; i < 40; ++i) {
    made.launch("loop_add_fusion", 64, 200);
    made.launch("input_reduce_fusion", 8, 20);
    made.launch("gemm_fusion_dot", 64, 400);
    made.to_host();
  }
  check_steps(infer_stages(made.builder.trace), 40, Code::kStepsWithoutPrefill);
}

TEST_CASE("equal passes without a larger one before them are not called decoding") {
  MadeGeneration made;
  for (int i = 0; i < 20; ++i) made.step();
  check_steps(infer_stages(made.builder.trace), 20, Code::kStepsWithoutPrefill);
}

TEST_CASE("an encoder's batches of several sizes are not called prefill and decode") {
  MadeGeneration made;
  for (int i = 0; i < 10; ++i)
    for (const std::uint32_t rows : {64U, 8U, 8U, 8U}) {
      made.launch("embedding_lookup", rows);
      for (int layer = 0; layer < 4; ++layer) made.layer(rows, "flash_attention", rows);
      made.launch("mean_pool", rows);
      made.to_host();
    }
  const FoundStages found = infer_stages(made.builder.trace);
  for (const auto& stage : found.stages) CHECK(stage.name == "step");
}

TEST_CASE("of two threads without a generation the one with the most GPU time says why") {
  MadeGeneration made;
  made.launch("gemm", 1, 50);
  made.wait();
  made.thread = made.queue = 1;
  for (int i = 0; i < 20; ++i) made.step();
  check_steps(infer_stages(made.builder.trace), 20, Code::kStepsWithoutPrefill);
}

TEST_CASE("three steps are enough") {
  MadeGeneration made;
  made.request(3);
  made.request(3);
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("two steps are too few") {
  MadeGeneration made;
  made.request(2);
  for (const auto& stage : infer_stages(made.builder.trace).stages) CHECK(stage.name == "step");  // layers repeat; tokens are not known
}
