#include "analysis/figures/efficiency/llm_shape.h"

#include "tests/catch.h"
#include "tests/unit/analysis/figures/efficiency/llm_shapes.h"

using namespace nl::test;

TEST_CASE("a shape's matrices hold the published number of parameters") {
  // 8,030,261,248 with the norms, of which this leaves out 65 × 4096.
  const auto llama = nl::analysis::count_parameters(nl::analysis::read_llm_shape(llama_8b()));
  CHECK(llama.total == 8030261248.0 - 65 * 4096);
  CHECK(llama.active == llama.total);
  const auto mixtral_count = nl::analysis::count_parameters(nl::analysis::read_llm_shape(mixtral()));
  CHECK(mixtral_count.total == 46702792704.0 - 65 * 4096);
  CHECK(mixtral_count.active == Approx(12.88e9).epsilon(0.001));  // published as 12.9 B
  const auto deepseek = nl::analysis::count_parameters(nl::analysis::read_llm_shape(deepseek_v3()));
  CHECK(deepseek.total == Approx(671.03e9).epsilon(0.0001));  // published as 671 B
  CHECK(deepseek.active == Approx(37.55e9).epsilon(0.001));   // published as 37 B
}

TEST_CASE("what is not said is assumed aloud, or missing") {
  const auto bare = nl::analysis::read_llm_shape(
      {{"layers", "2"}, {"hidden_size", "512"}, {"heads", "8"}, {"intermediate_size", "1024"}, {"vocab_size", "100"}});
  CHECK(bare.missing.empty());
  CHECK(bare.kv_heads == 8);
  CHECK(bare.head_dim == 64);
  CHECK(bare.gated_mlp);
  CHECK(bare.assumptions == std::vector<std::string>{"model.mlp is not set; assumed gated",
                                                     "model.kv_heads is not set; assumed model.heads, 8",
                                                     "model.head_dim is not set; assumed hidden_size ÷ heads, 64"});
  const auto nothing = nl::analysis::read_llm_shape({});
  CHECK(nothing.assumptions.empty());
  CHECK(nothing.kv_heads == 0);
  CHECK(nothing.head_dim == 0);
  CHECK(nothing.missing ==
        std::vector<std::string>{"model.layers", "model.hidden_size", "model.heads", "model.intermediate_size", "model.vocab_size"});
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"experts_per_token", ""}})).missing ==
        std::vector<std::string>{"model.experts_per_token"});
  CHECK(nl::analysis::read_llm_shape(with(deepseek_v3(), {{"v_head_dim", "0"}})).missing == std::vector<std::string>{"model.v_head_dim"});
  CHECK_FALSE(nl::analysis::read_llm_shape({{"architecture", "GPT2"}}).gated_mlp);
  CHECK_FALSE(nl::analysis::read_llm_shape({{"architecture", "llama"}, {"mlp", "plain"}}).gated_mlp);
}

TEST_CASE("a value that is no number is left out and named") {
  for (const char* bad : {"four", "-4", "nan", "1e400", "4 ", "0x20"}) {
    const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), {{"layers", bad}}));
    INFO(bad);
    CHECK(shape.missing == std::vector<std::string>{"model.layers"});
    REQUIRE(shape.assumptions.size() == 1);
    CHECK(shape.assumptions[0] == std::string("model.layers is '") + bad + "', which is not a number; ignored");
  }
}

TEST_CASE("layers with experts are counted as the families place them") {
  CHECK(nl::analysis::read_llm_shape(mixtral()).moe->layers == 32);
  CHECK(nl::analysis::read_llm_shape(mixtral()).moe->intermediate_size == 14336);
  CHECK(nl::analysis::read_llm_shape(deepseek_v3()).moe->layers == 58);
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"moe_layer_freq", "2"}})).moe->layers == 16);
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"first_dense_layers", "40"}})).moe->layers == 0);
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"layers", "1e29"}})).moe->layers <= 10000);  // ends
  CHECK_FALSE(nl::analysis::read_llm_shape(with(mixtral(), {{"experts", "0"}})).moe);
}

TEST_CASE("types: weights, products, cache") {
  const auto types = [](const Attributes& more) {
    const auto shape = nl::analysis::read_llm_shape(more);
    return std::vector<std::string>{shape.weight_dtype, shape.compute_dtype, shape.kv_dtype};
  };
  using Types = std::vector<std::string>;
  CHECK(types({{"dtype", "bf16"}}) == Types{"bf16", "bf16", "bf16"});
  CHECK(types({{"dtype", "int4"}}) == Types{"int4", "", "bf16"});
  CHECK(types({{"dtype", "int4"}, {"compute_dtype", "f16"}}) == Types{"int4", "f16", "f16"});
  CHECK(types({{"dtype", "fp8"}}) == Types{"fp8", "fp8", "bf16"});
  CHECK(types({{"dtype", "bf16"}, {"kv_dtype", "fp8"}}) == Types{"bf16", "bf16", "fp8"});
  CHECK(types({}) == Types{"", "", ""});
  CHECK(nl::analysis::dtype_bytes("int4") == 0.5);
  CHECK_FALSE(nl::analysis::dtype_bytes("bf17"));
}

TEST_CASE("a shape that has not the parameters it claims is called so") {
  const auto wrong = nl::analysis::read_llm_shape(with(llama_8b(), {{"parameters", "70000000000"}}));
  REQUIRE(wrong.assumptions.size() == 1);
  CHECK(wrong.assumptions[0] == "model.parameters is 7e+10, but the shape gives 8.03e+09");
  CHECK(nl::analysis::read_llm_shape(with(llama_8b(), {{"parameters", "8030261248"}})).assumptions.empty());
}

TEST_CASE("numbers have a sensible size, and what is cited of others is short") {
  CHECK(nl::analysis::read_llm_shape({{"layers", "1e30"}}).layers == 1e30);
  CHECK(nl::analysis::read_llm_shape({{"layers", "2e30"}}).layers == 0);
  CHECK(nl::analysis::read_llm_shape({{"images", "0"}, {"vision_layers", "1"}}).vision->images == 1);
  const auto cited = nl::analysis::read_llm_shape({{"batch_size", std::string(50, 'x')}});
  CHECK(cited.assumptions ==
        std::vector<std::string>{"model.batch_size is '" + std::string(40, 'x') + "', which is not a number; ignored"});
}

TEST_CASE("the work of stages is read by the stage's name") {
  const auto shape = nl::analysis::read_llm_shape({{"stage_flops.gemm", "5"},
                                                   {"stage_flops.a.b", "0"},
                                                   {"stage_flops.", "6"},
                                                   {"stage_flopsxgemm", "7"},
                                                   {"stage_bytes.gemm", "8"},
                                                   {"stage_bytes.bad", "much"}});
  CHECK(shape.stage_flops == std::map<std::string, double>{{"gemm", 5}, {"a.b", 0}});
  CHECK(shape.stage_bytes == std::map<std::string, double>{{"gemm", 8}});
}

TEST_CASE("architectures with two matrices in their feed-forward layers are known by name") {
  for (const char* plain : {"gpt2", "GPT_NeoX", "gptj", "gpt_bigcode", "OPT", "bloom", "Falcon", "mpt", "phi", "starcoder2"}) {
    INFO(plain);
    CHECK_FALSE(nl::analysis::read_llm_shape({{"architecture", plain}}).gated_mlp);
  }
  for (const char* gated : {"", "llama", "phi3", "qwen2"}) CHECK(nl::analysis::read_llm_shape({{"architecture", gated}}).gated_mlp);
  CHECK(nl::analysis::read_llm_shape({{"architecture", "gpt2"}, {"mlp", "gated"}}).gated_mlp);
  const auto plain = nl::analysis::read_llm_shape(with(llama_8b(), {{"architecture", "gpt2"}, {"mlp", ""}}));
  CHECK(plain.assumptions == std::vector<std::string>{"model.mlp is not set; assumed plain"});
  CHECK(nl::analysis::layer_weights(plain).dense_mlp == 2. * 4096 * 14336);
}

TEST_CASE("experts: their size, those that all tokens visit, and models that have nothing else") {
  const auto assumed = nl::analysis::read_llm_shape(mixtral());
  CHECK(assumed.assumptions == std::vector<std::string>{"model.moe_intermediate_size is not set; assumed intermediate_size"});
  CHECK(assumed.moe->shared_intermediate_size == 0);
  const auto shared = nl::analysis::read_llm_shape(with(mixtral(), {{"moe_intermediate_size", "100"}, {"shared_experts", "3"}}));
  CHECK(shared.assumptions.empty());
  CHECK(shared.moe->intermediate_size == 100);
  CHECK(shared.moe->shared_intermediate_size == 300);
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"shared_intermediate_size", "700"}, {"shared_experts", "3"}}))
            .moe->shared_intermediate_size == 700);
  const auto only = nl::analysis::read_llm_shape(with(mixtral(), {{"intermediate_size", ""}, {"moe_intermediate_size", "100"}}));
  CHECK(only.missing.empty());
  CHECK(nl::analysis::read_llm_shape(with(llama_8b(), {{"intermediate_size", ""}})).missing ==
        std::vector<std::string>{"model.intermediate_size"});
}

TEST_CASE("weights: tied embeddings once, the vision tower and its projector as well") {
  const double llama = 8030261248.0 - 65 * 4096;
  const auto total = [](const Attributes& more) {
    return nl::analysis::count_parameters(nl::analysis::read_llm_shape(with(llama_8b(), more))).total;
  };
  CHECK(total({{"tied_embeddings", "true"}}) == llama - 128256. * 4096);
  CHECK(total({{"tied_embeddings", "yes"}}) == llama);
  const Attributes tower = {{"vision_layers", "2"}, {"vision_hidden_size", "100"}};
  CHECK(total(tower) == llama + 2 * (4 * 100 * 100 + 2 * 100 * 400));
  CHECK(total(with(tower, {{"vision_mlp", "gated"}, {"vision_intermediate_size", "300"}, {"vision_patch_size", "14"}})) ==
        llama + 2 * (4 * 100 * 100 + 3 * 100 * 300) + 3 * 14 * 14 * 100);
  CHECK(total({{"projector_input_size", "100"}}) == llama + 100 * 4096);
  CHECK(total({{"projector_input_size", "100"}, {"projector_hidden_size", "50"}}) == llama + 50 * (100 + 4096));
}

TEST_CASE("a claimed number of parameters may be five percent off") {
  const auto said = [](const char* parameters, const Attributes& more = {}) {
    return nl::analysis::read_llm_shape(with(with(llama_8b(), {{"parameters", parameters}}), more)).assumptions.size();
  };
  CHECK(said("7700000000") == 0);  // 8.03e9 are 4.3 % more
  CHECK(said("7600000000") == 1);  // 5.7 %
  CHECK(said("8400000000") == 0);
  CHECK(said("8500000000") == 1);
  CHECK(said("1", {{"layers", ""}}) == 0);  // nothing to compare with
  const Attributes sized = {{"experts", "8"}, {"experts_per_token", "2"}, {"vocab_size", "32000"}, {"moe_intermediate_size", "14336"}};
  CHECK(said("46700000000", sized) == 0);  // Mixtral: all experts, not those that a token visits
  CHECK(said("12900000000", sized) == 1);
}

TEST_CASE("what the model file says of the run, of its cache and of itself") {
  const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), {{"batch_size", "4"},
                                                                    {"prompt_tokens", "512"},
                                                                    {"decode_tokens", "16"},
                                                                    {"tensor_parallel", "2"},
                                                                    {"prefill_logits", "all"},
                                                                    {"sliding_window", "128"},
                                                                    {"sliding_layers", "99"},
                                                                    {"dtype", "fp8"},
                                                                    {"notes", "measured by hand"}}));
  CHECK(shape.batch_size == 4.0);
  CHECK(shape.prompt_tokens == 512.0);
  CHECK(shape.decode_tokens == 16.0);
  CHECK(shape.tensor_parallel == 2);
  CHECK(shape.all_prefill_logits);
  CHECK(shape.sliding_window == 128.0);
  CHECK(shape.sliding_layers == 32);
  CHECK(shape.assumptions == std::vector<std::string>{"model.kv_dtype is not set; assumed bf16", "measured by hand"});
  const auto plain = nl::analysis::read_llm_shape(llama_8b());
  CHECK_FALSE(plain.all_prefill_logits);
  CHECK(plain.sliding_layers == 0);
  CHECK(plain.tensor_parallel == 1);
  CHECK_FALSE(plain.vision);
  CHECK_FALSE(plain.projector);
  CHECK(nl::analysis::read_llm_shape(with(llama_8b(), {{"sliding_window", "128"}, {"sliding_layers", "0"}})).sliding_layers == 0);
}

TEST_CASE("each type has its bytes") {
  const std::map<std::string, double> bytes = {{"f64", 8}, {"f32", 4}, {"tf32", 4}, {"bf16", 2},
                                               {"f16", 2}, {"fp8", 1}, {"int8", 1}, {"fp4", 0.5}};
  for (const auto& [type, size] : bytes) {
    INFO(type);
    CHECK(nl::analysis::dtype_bytes(type) == size);
    const auto cache = nl::analysis::read_llm_shape({{"dtype", type}}).kv_dtype;
    CHECK(cache == (size >= 2 ? type : "bf16"));  // a narrower type is not taken for the cache unless the model says so
  }
}
