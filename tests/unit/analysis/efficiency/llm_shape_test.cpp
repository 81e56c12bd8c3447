#include "analysis/efficiency/llm_shape.h"

#include "tests/catch.h"
#include "tests/unit/analysis/efficiency/llm_shapes.h"

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
  CHECK(deepseek.total == Approx(671.03e9).epsilon(0.0001));      // published as 671 B
  CHECK(deepseek.active == Approx(37.55e9).epsilon(0.001));       // published as 37 B
}

TEST_CASE("what is not said is assumed aloud, or missing") {
  const auto bare = nl::analysis::read_llm_shape({{"layers", "2"}, {"hidden_size", "512"}, {"heads", "8"}, {"intermediate_size", "1024"}, {"vocab_size", "100"}});
  CHECK(bare.missing.empty());
  CHECK(bare.kv_heads == 8);
  CHECK(bare.head_dim == 64);
  CHECK(bare.gated_mlp);
  REQUIRE(bare.assumptions.size() == 3);
  CHECK(bare.assumptions[1] == "model.kv_heads is not set; assumed model.heads, 8");
  const auto nothing = nl::analysis::read_llm_shape({});
  CHECK(nothing.missing ==
        std::vector<std::string>{"model.layers", "model.hidden_size", "model.heads", "model.intermediate_size", "model.vocab_size"});
  CHECK(nl::analysis::read_llm_shape(with(mixtral(), {{"experts_per_token", ""}})).missing == std::vector<std::string>{"model.experts_per_token"});
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
  CHECK(wrong.assumptions[0] == "the model file contradicts itself: model.parameters is 7e+10, the shape gives 8.03e+09");
  CHECK(nl::analysis::read_llm_shape(with(llama_8b(), {{"parameters", "8030261248"}})).assumptions.empty());
}
