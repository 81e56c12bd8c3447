#include "analysis/staging/found/work.h"

#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::analysis::WorkAmount;
using nl::analysis::WorkAmounts;
using nl::analysis::WorkSequence;

namespace {

WorkAmount amount_of(std::uint32_t kernels, double blocks_log2, double ns_log2) {
  WorkAmount amount;
  amount.kernels = kernels;
  amount.blocks_log2 = blocks_log2;
  amount.ns_log2 = ns_log2;
  return amount;
}

}  // namespace

TEST_CASE("what a stretch of launches puts on the GPU") {
  MadeGeneration made;
  made.launch("gemm", 16, 32);
  made.launch("rope", 4, 15);
  made.whole_graph(300);
  made.launch("fused_adam", 1, 64);
  const auto sequences = nl::analysis::work_sequences(made.builder.trace);
  REQUIRE(sequences.size() == 1);
  REQUIRE(sequences[0].size() == 4);
  const WorkAmounts amounts(made.builder.trace, sequences[0]);
  const WorkAmount kernels = amounts.between(0, 2);
  CHECK(kernels.kernels == 2);
  CHECK(kernels.graphs == 0);
  CHECK(kernels.products == 1);
  CHECK(kernels.training == 0);
  CHECK(kernels.gpu_ns == 47);
  CHECK(kernels.blocks_log2 == 3);  // the mean of 4 and 2
  CHECK(kernels.ns_log2 == 5);      // 32 has six binary digits, 15 has four
  const WorkAmount rest = amounts.between(2, 4);
  CHECK(rest.kernels == 1);
  CHECK(rest.graphs == 1);
  CHECK(rest.products == 1);  // a graph may hold any
  CHECK(rest.training == 1);
  CHECK(rest.gpu_ns == 364);
  CHECK(amounts.between(1, 1).blocks_log2 == 0);
  CHECK(amounts.gpu_ns_before(0) == 0);
  CHECK(amounts.gpu_ns_before(3) == 347);
}

TEST_CASE("what a graph holds counts as if it was launched one by one") {
  MadeGeneration made;
  const auto graph = made.builder.call(made.now, 0, "cudaGraphLaunch");
  made.kernel(graph, "gemm", 4, 16, made.now + 5);
  made.kernel(graph, "gemm_backward", 4, 16, made.now + 25);
  made.kernel(graph, "sgd", 0, 0, made.now + 45);
  const auto sequence = nl::analysis::work_sequences(made.builder.trace).at(0);
  REQUIRE(sequence.size() == 1);
  const WorkAmount all = WorkAmounts(made.builder.trace, sequence).between(0, 1);
  CHECK(all.kernels == 3);
  CHECK(all.graphs == 0);
  CHECK(all.products == 2);
  CHECK(all.training == 2);
  CHECK(all.gpu_ns == 32);
  CHECK(all.blocks_log2 == Approx(4 / 3.0).margin(0.05));  // a grid without blocks counts as one; logarithms in sixteenths
  CHECK(all.ns_log2 == Approx(10 / 3.0));
}

TEST_CASE("kernels of training are told by their names") {
  for (const char* name : {"layer_norm_Backward", "flash_bwd", "bwd_kernel", "multi_tensor_Adam", "cutlass_wgrad", "cutlass_dgrad",
                           "OptimizerStep", "GradInput", "grad_input", "sgd_step", "forward", "gemm"}) {
    INFO(name);
    MadeGeneration made;
    made.launch(name);
    const auto sequence = nl::analysis::work_sequences(made.builder.trace).at(0);
    const bool trains = std::string(name) != "forward" && std::string(name) != "gemm";
    CHECK(WorkAmounts(made.builder.trace, sequence).between(0, 1).training == (trains ? 1 : 0));
  }
}

TEST_CASE("the work of a call that launches and waits stands before its wait") {
  MadeGeneration made;
  made.launch("gemm", 1, 20);
  made.builder.copy(nl::MemOpKind::kDeviceToHost, made.now + 5, made.now + 8, made.builder.call(made.now, 0, "cudaMemcpy"));
  made.now += 20;
  made.wait();
  made.wait();
  made.launch("get_rows", 1, 10);
  const auto sequence = nl::analysis::work_sequences(made.builder.trace).at(0);
  REQUIRE(sequence.size() == 4);
  CHECK_FALSE(sequence.waits_at(0));
  CHECK(sequence.symbols[1] == WorkSequence::kToHost);
  CHECK(sequence.symbols[2] == WorkSequence::kWait);
  CHECK(sequence.calls == std::vector<std::uint32_t>{0, 1, 3, 4});  // waits in a row are one, the last
  CHECK(sequence.looks_up_at(3));
  CHECK_FALSE(sequence.looks_up_at(0));
  CHECK(sequence.waits_at(1));
}

TEST_CASE("lookups of embeddings are told by their names, and rotary ones are none") {
  const std::pair<const char*, bool> names[] = {
      {"indexSelectSmallIndex", true}, {"vectorized_gather_kernel", true}, {"triton_poi_fused_embedding_0", true},
      {"EmbeddingKernel", true},       {"k_get_rows_float", true},         {"rotary_embedding_kernel", false},
      {"RotaryEmbed", false},          {"gatherTopK_embed", false},        {"gemm", false}};
  for (const auto& [name, looks_up] : names) {
    INFO(name);
    MadeGeneration made;
    made.launch(name);
    CHECK(nl::analysis::work_sequences(made.builder.trace).at(0).looks_up_at(0) == looks_up);
  }
}

TEST_CASE("threads without work have no sequence, kernels of other grids are the same work") {
  MadeGeneration made;
  made.builder.call(10, 0, "cudaGetDevice");
  made.thread = 1;
  made.launch("gemm", 4);
  made.launch("gemm", 8);
  made.launch("gemv", 8);
  const auto sequences = nl::analysis::work_sequences(made.builder.trace);
  REQUIRE(sequences.size() == 1);
  CHECK(sequences[0].thread == 1);
  CHECK(sequences[0].symbols[0] == sequences[0].symbols[1]);
  CHECK(sequences[0].symbols[0] != sequences[0].symbols[2]);
}

TEST_CASE("more rows: more blocks or longer kernels, and the other not much less") {
  using nl::analysis::has_more_rows;
  const WorkAmount step = amount_of(10, 5, 5);
  CHECK_FALSE(has_more_rows(step, step));
  CHECK(has_more_rows(amount_of(10, 5.45, 5), step));
  CHECK_FALSE(has_more_rows(amount_of(10, 5.35, 5), step));
  CHECK(has_more_rows(amount_of(10, 5.5, 4.75), step));
  CHECK_FALSE(has_more_rows(amount_of(10, 5.5, 4.65), step));
  CHECK(has_more_rows(amount_of(10, 4.75, 5.45), step));
  CHECK_FALSE(has_more_rows(amount_of(10, 4.65, 5.45), step));
  CHECK_FALSE(has_more_rows(amount_of(10, 5, 5.35), step));
  // Of graphs captured at graph level only the time is known: three tenths more.
  WorkAmount graph, longer;
  graph.graphs = 1;
  graph.gpu_ns = 100;
  longer.gpu_ns = 130;
  CHECK_FALSE(has_more_rows(longer, graph));
  longer.gpu_ns = 131;
  CHECK(has_more_rows(longer, graph));
  WorkAmount timed = amount_of(10, 5, 5);
  timed.gpu_ns = 100;
  CHECK(has_more_rows(longer, timed));  // has no kernels of its own
}
