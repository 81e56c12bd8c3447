// The shipped shapes, and Hugging Face configurations, against what their makers publish.
#include "analysis/figures/efficiency/llm_shape.h"
#include "model/error.h"
#include "orchestrator/config/config.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using nl::test::FakeTree;

namespace {

[[maybe_unused]] const int kModelData = setenv("NL_STAGE_DATA", NL_SOURCE_ROOT, 1);

nl::analysis::LlmShape shape_of(const fs::path& model) {
  return nl::analysis::read_llm_shape(nl::orchestrator::load_config({.model_file = model}).model.attributes);
}

struct Published {
  const char* model;
  double total_billions, active_billions;  // as published: to two or three digits
};

void check(const nl::analysis::LlmShape& shape, const Published& published) {
  INFO(published.model);
  CHECK(shape.missing.empty());
  const auto count = nl::analysis::count_parameters(shape);
  // Norms, biases and learned positions are left out; the published figures are rounded.
  CHECK(count.total / 1e9 == Approx(published.total_billions).epsilon(0.005));
  // Whether "active" includes embedding and head differs between publishers.
  const double embeddings = 2 * shape.vocab_size * shape.hidden_size / 1e9;
  CHECK(count.active / 1e9 <= published.active_billions * 1.02 + embeddings);
  CHECK(count.active / 1e9 >= published.active_billions * 0.98 - embeddings);
}

}  // namespace

TEST_CASE("shipped models have the published number of parameters") {
  for (const Published& published : {Published{"llama-3.1-8b", 8.03, 8.03},
                                     {"qwen2.5-7b", 7.62, 7.62},
                                     {"mixtral-8x7b", 46.7, 12.9},
                                     {"deepseek-v3", 671, 37},
                                     {"deepseek-v2-lite", 15.7, 2.4},
                                     {"llava-1.5-7b", 7.06, 7.06},
                                     {"qwen2-vl-7b", 8.29, 8.29},
                                     {"deepseek-ocr", 3.34, 0.57 + 0.4}})  // of the decoder, and of the vision towers
    check(shape_of(published.model), published);
}

TEST_CASE("the capture's own model file describes it") {
  const auto shape = shape_of(NL_FIXTURES "/h200-llama/model.yaml");
  CHECK(shape.missing.empty());
  CHECK(shape.all_prefill_logits);
  CHECK(shape.prompt_tokens == 256);
  // 4 layers of 11.3 M weights, embedding and head of 32.8 M each.
  CHECK(nl::analysis::count_parameters(shape).total == 4 * (1024. * 24 * 64 + 1024. * 1024 + 3 * 1024. * 2816) + 2 * 32000. * 1024);
}

TEST_CASE("configurations of public models have the published number of parameters") {
  struct Text {
    Published published;
    const char* json;
  };
  FakeTree tree;
  for (const Text& text : {
           Text{{"Llama-3.1-8B", 8.03, 8.03},
                R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
             "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "torch_dtype": "bfloat16"})"},
           {{"Mistral-7B-v0.1", 7.24, 7.24},
            R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
             "num_attention_heads": 32, "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000, "torch_dtype": "bfloat16"})"},
           {{"Qwen2.5-0.5B", 0.494, 0.494},
            R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24,
             "num_attention_heads": 14, "num_key_value_heads": 2, "tie_word_embeddings": true, "vocab_size": 151936, "torch_dtype": "bfloat16",
             "sliding_window": 32768, "use_sliding_window": false})"},
           {{"Qwen3-30B-A3B", 30.5, 3.3},
            R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "moe_intermediate_size": 768,
             "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
             "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})"},
           {{"Qwen1.5-MoE-A2.7B", 14.3, 2.7},
            R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632, "moe_intermediate_size": 1408,
             "shared_expert_intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "num_experts": 60,
             "num_experts_per_tok": 4, "vocab_size": 151936, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})"},
           {{"Mixtral-8x22B", 141, 39},
            R"({"model_type": "mixtral", "hidden_size": 6144, "intermediate_size": 16384, "num_hidden_layers": 56,
             "num_attention_heads": 48, "num_key_value_heads": 8, "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32768, "torch_dtype": "bfloat16"})"},
           {{"DeepSeek-V2", 236, 21},
            R"({"model_type": "deepseek_v2", "hidden_size": 5120, "intermediate_size": 12288, "moe_intermediate_size": 1536,
             "num_hidden_layers": 60, "num_attention_heads": 128, "n_routed_experts": 160, "n_shared_experts": 2, "num_experts_per_tok": 6,
             "first_k_dense_replace": 1, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
             "v_head_dim": 128, "vocab_size": 102400, "torch_dtype": "bfloat16"})"},
           {{"gemma-2b", 2.51, 2.51},
            R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18, "num_attention_heads": 8,
             "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 256000, "torch_dtype": "bfloat16"})"},
           {{"gemma-2-9b", 9.24, 9.24},
            R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "num_hidden_layers": 42, "num_attention_heads": 16,
             "num_key_value_heads": 8, "head_dim": 256, "sliding_window": 4096, "vocab_size": 256000, "torch_dtype": "bfloat16"})"},
           {{"Phi-3-mini", 3.82, 3.82},
            R"({"model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32,
             "num_key_value_heads": 32, "sliding_window": 2047, "vocab_size": 32064, "torch_dtype": "bfloat16"})"},
           {{"gpt-neox-20b", 20.55, 20.55},
            R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576, "num_hidden_layers": 44,
             "num_attention_heads": 64, "vocab_size": 50432, "tie_word_embeddings": false, "torch_dtype": "float16"})"},
           {{"opt-6.7b", 6.66, 6.66},
            R"({"model_type": "opt", "hidden_size": 4096, "ffn_dim": 16384, "num_hidden_layers": 32, "num_attention_heads": 32,
             "vocab_size": 50272, "torch_dtype": "float16"})"},
           {{"gpt2-xl", 1.558, 1.558},
            R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48, "n_positions": 1024, "vocab_size": 50257})"},
           {{"llava-1.5-7b", 7.06, 7.06},
            R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064, "torch_dtype": "float16"},
             "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16,
             "num_hidden_layers": 24, "patch_size": 14}})"},
       })
    check(shape_of(tree.write(std::string(text.published.model) + "/config.json", text.json).parent_path()), text.published);
}

TEST_CASE("--model takes a config.json or its folder; --set wins over it, and the notes are kept") {
  FakeTree tree;
  const auto file =
      tree.write("tiny/config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 128, "vocab_size": 100})");
  const auto config = nl::orchestrator::load_config({.model_file = file, .sets = {"model.layers=3", "model.batch_size=2"}});
  CHECK(config.model.name == "tiny");
  CHECK(config.model.attributes.at("layers") == "3");
  CHECK(config.model.attributes.at("hidden_size") == "64");
  CHECK(config.model.attributes.at("notes").find("torch_dtype is missing") == 0);
  CHECK(config.sources.back() == file.string());
  CHECK(nl::orchestrator::load_config({.model_file = file.parent_path()}).model.attributes.at("layers") == "2");
  const auto again = nl::orchestrator::load_config({.runner_file = tree.write("config.yaml", config.composed_yaml)});
  CHECK(again.model.attributes == config.model.attributes);
  const auto broken = tree.write("broken/config.json", "{\"hidden_size\": 64,\n");
  try {
    nl::orchestrator::load_config({.model_file = broken});
    FAIL("no error was thrown");
  } catch (const nl::Error& error) {
    CHECK(error.where == broken.string() + ":2:1");
  }
}

TEST_CASE("work that is no transformer's is configured by stage, and survives config.yaml") {
  FakeTree tree;
  const auto config = nl::orchestrator::load_config(
      {.model_file = tree.write("gemm.yaml", "model: {dtype: bf16, stage_flops: {gemm: 1.0995e12, other: 5}}\n"),
       .sets = {"model.stage_flops.other=6", "model.stage_bytes={gemm: 402653184}"}});
  CHECK(config.model.attributes ==
        std::map<std::string, std::string>{
            {"dtype", "bf16"}, {"stage_bytes.gemm", "402653184"}, {"stage_flops.gemm", "1.0995e12"}, {"stage_flops.other", "6"}});
  const auto again = nl::orchestrator::load_config({.runner_file = tree.write("config.yaml", config.composed_yaml)});
  CHECK(again.model.attributes == config.model.attributes);
  const auto shape = nl::analysis::read_llm_shape(again.model.attributes);
  CHECK(shape.stage_flops == std::map<std::string, double>{{"gemm", 1.0995e12}, {"other", 6}});
  for (const char* bad : {"model: {stage_flops: 3}\n", "model: {stage_flops: {gemm: much}}\n", "model: {stage_flops: {gemm: -1}}\n",
                          "model: {stage_flops: [1]}\n"}) {
    INFO(bad);
    CHECK_THROWS_AS(nl::orchestrator::load_config({.model_file = tree.write("bad.yaml", bad)}), nl::Error);
  }
}
