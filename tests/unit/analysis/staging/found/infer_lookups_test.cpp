// Steps and prefills begin with the lookup of the embeddings, and other work looks up rows too.
#include "analysis/staging/found/sources.h"
#include "tests/unit/analysis/staging/found/made_generation.h"

using nl::analysis::infer_stages;

namespace {

constexpr const char* kGather = "vectorized_gather_kernel";

// Before its layers the host asks the GPU whether the mask has gaps, and thinks about the answer for longer than between two steps.
// experts: how many of them have tokens. The host may ask the GPU for that, too.
void forward_of_experts(MadeGeneration& made, std::uint32_t rows, int experts, bool asks) {
  made.launch("copy_of_last_token");
  made.launch("embedding_lookup", rows);
  made.launch("mask_sum");
  made.to_host();
  made.now += 60;
  for (int i = 0; i < made.layers; ++i) {
    made.layer(rows, "flash_attention", 4);
    made.launch("router_gemm", rows);
    if (asks) made.to_host();
    for (int expert = 0; expert < experts; ++expert) {
      made.launch(kGather, rows);
      made.launch("experts_gemm", 8 * rows, 20 * rows);
    }
  }
  made.launch("lm_head_gemv", 100);
  made.launch("argmax");
  made.to_host();
}

void prepare_request(MadeGeneration& made) {
  made.launch("cumulated_mask");
  made.to_host();
}

void layers_of_encoder(MadeGeneration& made) {
  for (int i = 0; i < 3; ++i) made.layer(64, "flash_attention", 4);
}

void decode(MadeGeneration& made) {
  for (int i = 0; i < 8; ++i) made.step();
  made.now += 500;
}

}  // namespace

TEST_CASE("rows that experts gather are no embedding: steps begin before the wait in their middle") {
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    prepare_request(made);
    for (int i = 0; i < 9; ++i) {
      made.begin(i == 0 ? "prefill" : "decode_step");
      forward_of_experts(made, i == 0 ? 64 : 1, 1, false);
    }
    made.now += 500;
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("a loop over experts gathers more often in prefill than in a step") {
  const bool asks = GENERATE(false, true);
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    prepare_request(made);
    made.launch("fill_unfinished");
    made.begin("prefill");
    forward_of_experts(made, 64, 8, asks);
    for (int i = 0; i < 8; ++i) {
      made.begin("decode_step");
      forward_of_experts(made, 1, 2, asks);
    }
    made.now += 500;
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("sampling that looks up rows only while decoding does not move the start of prefill") {
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    prepare_request(made);
    made.launch("fill_unfinished");
    made.launch("fill_positions");
    for (int i = 0; i < 9; ++i) {
      made.begin(i == 0 ? "prefill" : "decode_step");
      made.forward(i == 0 ? 64 : 1);
      if (i > 0) made.launch(kGather);  // the logits of tokens that were generated before, for a penalty
      made.to_host();
    }
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("prefill with an encoder inside begins with the embeddings of the text") {
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    prepare_request(made);
    made.begin("prefill");
    made.launch("embedding_lookup", 64);
    made.launch("patch_convolution", 64);
    made.launch(kGather, 64);  // the positions of the patches
    layers_of_encoder(made);
    for (int i = 0; i < made.layers; ++i) made.layer(64, "flash_attention", 4);
    made.launch("lm_head_gemv", 100);
    made.launch("argmax");
    made.to_host();
    decode(made);
  }
  check_inferred(made, infer_stages(made.builder.trace));
}

TEST_CASE("lookups of other work before prefill are no part of it") {
  const bool waited = GENERATE(true, false);
  MadeGeneration made;
  for (int request = 0; request < 3; ++request) {
    prepare_request(made);
    made.launch(kGather, 64);
    layers_of_encoder(made);
    if (waited) made.wait();  // else its products tell: 12, a step has 17
    made.prefill();
    decode(made);
  }
  check_inferred(made, infer_stages(made.builder.trace));
}
