#include "parsers/hf/config.h"

#include <fstream>

#include "model/error.h"
#include "tests/catch.h"

namespace fs = std::filesystem;

namespace {

nl::parsers::HfConfig parsed(const char* text) { return nl::parsers::parse_hf_config(text, "config.json"); }

nl::Error error_of(const std::string& text) {
  try {
    nl::parsers::parse_hf_config(text, "config.json");
  } catch (const nl::Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  throw 0;
}

bool says(const nl::parsers::HfConfig& config, const std::string& part) {
  for (const auto& note : config.notes)
    if (note.find(part) != std::string::npos) return true;
  return false;
}

using Attributes = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("encoders: plain feed-forward layers but ModernBERT's, and no causal mask") {
  const auto bert = parsed(R"({"model_type": "bert", "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
    "num_attention_heads": 12, "vocab_size": 30522, "torch_dtype": "float32"})");
  CHECK(bert.attributes.at("mlp") == "plain");
  CHECK(bert.attributes.at("attention_mask") == "full");
  CHECK(bert.attributes.at("tied_embeddings") == "true");
  CHECK(bert.notes.empty());
  const auto small =
      parsed(R"({"model_type": "distilbert", "dim": 768, "hidden_dim": 3072, "n_layers": 6, "n_heads": 12, "vocab_size": 30522,
    "torch_dtype": "float32"})");
  CHECK(small.attributes.at("hidden_size") == "768");
  CHECK(small.attributes.at("intermediate_size") == "3072");
  CHECK(small.attributes.at("layers") == "6");
  const auto modern = parsed(R"({"model_type": "modernbert", "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 22,
    "num_attention_heads": 12, "vocab_size": 50368, "local_attention": 128, "global_attn_every_n_layers": 3, "torch_dtype": "float32"})");
  CHECK(modern.attributes.at("mlp") == "gated");
  CHECK(modern.attributes.at("sliding_window") == "128");
  CHECK(modern.attributes.at("sliding_layers") == "14");
  CHECK(modern.notes.empty());
  CHECK_FALSE(parsed(R"({"model_type": "bert", "is_decoder": true, "hidden_size": 8, "num_hidden_layers": 1})")
                  .attributes.contains("attention_mask"));
}

TEST_CASE("a Llama's fields") {
  const auto llama = parsed(R"({"_name_or_path": "meta/Llama-3.1-8B/", "architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 131072, "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
  CHECK(llama.name == "Llama-3.1-8B");
  CHECK(llama.notes.empty());
  CHECK(llama.attributes == Attributes{{"architecture", "llama"},
                                       {"dtype", "bf16"},
                                       {"heads", "32"},
                                       {"hidden_size", "4096"},
                                       {"intermediate_size", "14336"},
                                       {"kv_heads", "8"},
                                       {"layers", "32"},
                                       {"max_position", "131072"},
                                       {"mlp", "gated"},
                                       {"rope_theta", "500000"},
                                       {"tied_embeddings", "false"},
                                       {"vocab_size", "128256"}});
}

TEST_CASE("experts and latent attention keep their shape") {
  const auto deepseek =
      parsed(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})")
          .attributes;
  CHECK(deepseek.at("experts") == "256");
  CHECK(deepseek.at("shared_experts") == "1");
  CHECK(deepseek.at("first_dense_layers") == "3");
  CHECK(deepseek.at("moe_layer_freq") == "1");
  CHECK(deepseek.at("kv_lora_rank") == "512");
  CHECK(deepseek.at("dtype") == "fp8");
  CHECK(deepseek.count("kv_heads") == 0);
  CHECK(deepseek.count("compute_dtype") == 0);
  const auto lite =
      parsed(R"({"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16, "q_lora_rank": null,
    "kv_lora_rank": 512, "intermediate_size": 10944, "vocab_size": 102400})");
  CHECK(lite.attributes.count("q_lora_rank") == 0);
  CHECK(says(lite, "torch_dtype is missing: bytes and MFU are not known"));
}

TEST_CASE("families that name things otherwise") {
  const auto gpt2 =
      parsed(
          R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null, "vocab_size": 50257})")
          .attributes;
  CHECK(gpt2.at("intermediate_size") == "3072");
  CHECK(gpt2.at("mlp") == "plain");
  CHECK(gpt2.at("tied_embeddings") == "true");
  const auto opt =
      parsed(
          R"({"model_type": "opt", "hidden_size": 4096, "ffn_dim": 16384, "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50272,
    "torch_dtype": "float16"})")
          .attributes;
  CHECK(opt.at("intermediate_size") == "16384");
  CHECK(opt.at("dtype") == "f16");
  const auto falcon =
      parsed(R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32, "multi_query": true,
    "vocab_size": 65024})")
          .attributes;
  CHECK(falcon.at("kv_heads") == "1");
  CHECK(falcon.at("intermediate_size") == "18176");
}

TEST_CASE("sliding windows are those that are used") {
  const std::string rest =
      R"("hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 26, "num_attention_heads": 4, "vocab_size": 10})";
  const auto with = [&](const std::string& fields) { return parsed(("{" + fields + "," + rest).c_str()).attributes; };
  CHECK(with(R"("model_type": "mistral", "sliding_window": 4096)").at("sliding_window") == "4096");
  CHECK(with(R"("model_type": "mistral", "sliding_window": 4096)").count("sliding_layers") == 0);
  CHECK(with(R"("model_type": "mistral", "sliding_window": null)").count("sliding_window") == 0);
  CHECK(with(R"("model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": false)").count("sliding_window") == 0);
  CHECK(with(R"("model_type": "gemma2", "sliding_window": 4096)").at("sliding_layers") == "13");
  CHECK(with(R"("model_type": "gemma3_text", "sliding_window": 512, "sliding_window_pattern": 6)").at("sliding_layers") == "22");
  CHECK(
      with(
          R"("model_type": "x", "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", 7, null])")
          .at("sliding_layers") == "2");
}

TEST_CASE("a model that sees: nested configurations, and the family's defaults where they are left out") {
  const auto llava = parsed(
      R"({"model_type": "llava", "image_seq_length": 576, "text_config": {"model_type": "llama", "vocab_size": 32064, "torch_dtype": "float16"},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16,
    "num_hidden_layers": 24, "patch_size": 14}})");
  CHECK(llava.attributes.at("hidden_size") == "4096");
  CHECK(llava.attributes.at("intermediate_size") == "11008");
  CHECK(says(llava, "text_config leaves out num_hidden_layers: the llama family's own default, 32, is taken"));
  CHECK(llava.attributes.at("vision_patches") == "577");
  CHECK(llava.attributes.at("image_tokens") == "576");
  CHECK(llava.attributes.at("projector_hidden_size") == "4096");
  const auto qwen = parsed(
      R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
    "num_key_value_heads": 4, "vocab_size": 152064, "torch_dtype": "bfloat16", "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 3584,
    "mlp_ratio": 4, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2}})");
  CHECK(qwen.attributes.at("vision_hidden_size") == "1280");
  CHECK(qwen.attributes.at("vision_intermediate_size") == "5120");
  CHECK(qwen.attributes.at("projector_input_size") == "5120");
  CHECK(qwen.attributes.count("vision_patches") == 0);
  CHECK(says(qwen, "--set model.vision_patches=…"));
}

// As published, without the fields that say nothing of a shape.
TEST_CASE("DeepSeek-OCR: both vision towers, which it has in the place of a width") {
  const auto ocr = parsed(
      R"({"architectures": ["DeepseekOCRForCausalLM"], "candidate_resolutions": [[1024, 1024]], "first_k_dense_replace": 1, "hidden_size": 1280,
    "intermediate_size": 6848, "kv_lora_rank": null, "language_config": {"architectures": ["DeepseekV2ForCausalLM"], "first_k_dense_replace": 1,
      "hidden_size": 1280, "intermediate_size": 6848, "kv_lora_rank": null, "max_position_embeddings": 8192, "moe_intermediate_size": 896,
      "n_routed_experts": 64, "n_shared_experts": 2, "num_attention_heads": 10, "num_experts_per_tok": 6, "num_hidden_layers": 12,
      "num_key_value_heads": 10, "q_lora_rank": null, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "torch_dtype": "bfloat16", "use_mla": false,
      "v_head_dim": 0, "vocab_size": 129280},
    "model_type": "deepseek_vl_v2", "projector_config": {"input_dim": 2048, "model_type": "mlp_projector", "n_embed": 1280, "projector_type": "linear"},
    "torch_dtype": "bfloat16", "vision_config": {"image_size": 1024, "mlp_ratio": 3.7362, "model_name": "deeplip_b_l", "model_type": "vision", "width": {
      "clip-l-14-224": {"heads": 16, "image_size": 224, "layers": 24, "patch_size": 14, "width": 1024},
      "sam_vit_b": {"downsample_channels": [512, 1024], "global_attn_indexes": [2, 5, 8, 11], "heads": 12, "layers": 12, "width": 768}}}})");
  const std::map<std::string, std::string> expected = {{"architecture", "deepseek_vl_v2"},
                                                       {"dtype", "bf16"},
                                                       {"layers", "12"},
                                                       {"hidden_size", "1280"},
                                                       {"heads", "10"},
                                                       {"kv_heads", "10"},
                                                       {"intermediate_size", "6848"},
                                                       {"mlp", "gated"},
                                                       {"experts", "64"},
                                                       {"experts_per_token", "6"},
                                                       {"moe_intermediate_size", "896"},
                                                       {"shared_experts", "2"},
                                                       {"first_dense_layers", "1"},
                                                       {"vocab_size", "129280"},
                                                       {"tied_embeddings", "false"},
                                                       {"max_position", "8192"},
                                                       {"sam_layers", "12"},
                                                       {"sam_hidden_size", "768"},
                                                       {"sam_patch_size", "16"},
                                                       {"sam_patches", "4096"},
                                                       {"sam_window", "14"},
                                                       {"sam_global_layers", "4"},
                                                       {"sam_channels", "256,256,512,1024"},
                                                       {"vision_layers", "24"},
                                                       {"vision_hidden_size", "1024"},
                                                       {"vision_heads", "16"},
                                                       {"vision_intermediate_size", "4096"},
                                                       {"vision_mlp", "plain"},
                                                       {"vision_patches", "257"},
                                                       {"image_tokens", "256"},
                                                       {"projector_input_size", "2048"}};
  CHECK(ocr.attributes == expected);
  CHECK(ocr.notes.size() == 2);
  CHECK(says(ocr, "SAM's patches of 16 pixels, windows of 14 patches and 256 channels are those of its code"));
  CHECK(says(ocr, "one view of 1024 × 1024 pixels"));
}

TEST_CASE("two towers of which one is damaged: what is there is taken") {
  const auto half = parsed(R"({"hidden_size": 8, "num_hidden_layers": 1, "vision_config": {"image_size": 64, "width": {"sam_vit_b": 7,
    "clip-x": {"layers": 2, "width": "wide"}}}})");
  CHECK(half.attributes.at("vision_layers") == "2");
  CHECK(half.attributes.count("vision_hidden_size") + half.attributes.count("sam_layers") + half.attributes.count("image_tokens") == 0);
  CHECK(says(half, "width is"));
}

TEST_CASE("quantised checkpoints multiply in their own type") {
  const auto with = [](const std::string& how) {
    return parsed((R"({"model_type": "llama", "hidden_size": 64, "torch_dtype": "float16", "quantization_config": )" + how + "}").c_str());
  };
  CHECK(with(R"({"quant_method": "awq", "bits": 4})").attributes.at("dtype") == "int4");
  CHECK(with(R"({"quant_method": "awq", "bits": 4})").attributes.at("compute_dtype") == "f16");
  CHECK(with(R"({"quant_method": "gptq", "bits": 8})").attributes.at("dtype") == "int8");
  CHECK(with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})").attributes.at("dtype") == "int4");
  CHECK(with(R"({"quant_method": "new"})").attributes.count("dtype") == 0);
  CHECK(says(with(R"({"quant_method": "new"})"), "the quantisation 'new' is not known"));
}

TEST_CASE("how a model that sees is quantised stands beside its parts or in its text model, and beside them counts") {
  const auto with = [](const std::string& root, const std::string& text) {
    return parsed(("{\"quantization_config\": " + root + ", \"text_config\": {\"hidden_size\": 64, \"quantization_config\": " + text + "}}")
                      .c_str())
        .attributes;
  };
  CHECK(with(R"({"bits": 8})", R"({"bits": 4})").at("dtype") == "int8");
  CHECK(with("null", R"({"bits": 4})").at("dtype") == "int4");
}

TEST_CASE("an unknown family with the usual names works; what is missing is named with what it would give") {
  const auto other = parsed(R"({"model_type": "brandnew", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4})");
  CHECK(other.attributes.at("layers") == "2");
  CHECK(says(other, "'brandnew' is not known by name"));
  CHECK(says(other, "vocab_size is missing: the work of the output head is not known; --set model.vocab_size=… gives it"));
  CHECK(says(other, "intermediate_size is missing: the work of the feed-forward layers is not known"));
  const auto bad =
      parsed(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": -3, "num_attention_heads": "four", "vocab_size": 1.5,
    "intermediate_size": [1], "head_dim": 1e300})");
  CHECK(bad.attributes.count("layers") + bad.attributes.count("heads") + bad.attributes.count("vocab_size") +
            bad.attributes.count("head_dim") ==
        0);
  CHECK(says(bad, "num_hidden_layers is -3, which is no size: left out"));
  CHECK(says(bad, "intermediate_size is missing"));
  CHECK_FALSE(says(bad, "intermediate_size is [1]"));  // one size for each layer, in some families
  CHECK(says(bad, "num_attention_heads is \"four\", which is no size: left out"));
}

TEST_CASE("whole configurations: each field in its place, and nothing besides") {
  const auto experts = parsed(
      R"({"_name_or_path": "org\\moe\\", "model_type": "qwen2_moe", "hidden_size": 11, "intermediate_size": 12, "num_hidden_layers": 13,
    "num_attention_heads": 14, "num_key_value_heads": 15, "vocab_size": 16, "head_dim": 17, "num_experts": 18, "num_experts_per_tok": 19,
    "moe_intermediate_size": 20, "num_shared_experts": 21, "shared_expert_intermediate_size": 22, "first_k_dense_replace": 23, "decoder_sparse_step": 24,
    "max_position_embeddings": 25, "rope_theta": 1.5, "sliding_window": 26, "max_window_layers": 5, "mlp_only_layers": [1, 2], "tie_word_embeddings": true,
    "torch_dtype": "torch.float32", "cross_attention_layers": [3]})");
  CHECK(experts.name == "moe");
  CHECK(experts.attributes == Attributes{{"architecture", "qwen2_moe"},
                                         {"dtype", "f32"},
                                         {"experts", "18"},
                                         {"experts_per_token", "19"},
                                         {"first_dense_layers", "23"},
                                         {"head_dim", "17"},
                                         {"heads", "14"},
                                         {"hidden_size", "11"},
                                         {"intermediate_size", "12"},
                                         {"kv_heads", "15"},
                                         {"layers", "13"},
                                         {"max_position", "25"},
                                         {"mlp", "gated"},
                                         {"moe_intermediate_size", "20"},
                                         {"moe_layer_freq", "24"},
                                         {"rope_theta", "1.5"},
                                         {"shared_experts", "21"},
                                         {"shared_intermediate_size", "22"},
                                         {"sliding_layers", "8"},
                                         {"sliding_window", "26"},
                                         {"tied_embeddings", "true"},
                                         {"vocab_size", "16"}});
  CHECK(experts.notes == std::vector<std::string>{"its cross-attention layers are counted as if they attended to the text",
                                                  "mlp_only_layers names 2 layers without experts: they are counted as if they had them"});
  const auto latent = parsed(
      R"({"model_type": "deepseek_v3", "hidden_size": 11, "moe_intermediate_size": 12, "num_hidden_layers": 13, "num_attention_heads": 14,
    "q_lora_rank": 15, "kv_lora_rank": 16, "qk_nope_head_dim": 17, "qk_rope_head_dim": 18, "v_head_dim": 19, "head_dim": 20, "vocab_size": 21,
    "n_routed_experts": 22, "dtype": "half", "mlp_only_layers": []})");
  CHECK(latent.attributes == Attributes{{"architecture", "deepseek_v3"},
                                        {"dtype", "f16"},
                                        {"experts", "22"},
                                        {"heads", "14"},
                                        {"hidden_size", "11"},
                                        {"kv_lora_rank", "16"},
                                        {"layers", "13"},
                                        {"mlp", "gated"},
                                        {"moe_intermediate_size", "12"},
                                        {"q_lora_rank", "15"},
                                        {"qk_nope_head_dim", "17"},
                                        {"qk_rope_head_dim", "18"},
                                        {"tied_embeddings", "false"},
                                        {"v_head_dim", "19"},
                                        {"vocab_size", "21"}});
  CHECK(latent.notes ==
        std::vector<std::string>{
            "num_experts_per_tok is missing: the work of the experts is not known; --set model.experts_per_token=… gives it"});
  const auto nested = parsed(R"({"model_type": "llava", "torch_dtype": "float64", "tie_word_embeddings": true,
    "text_config": {"model_type": "mistral", "tie_word_embeddings": false}})");
  CHECK(nested.attributes == Attributes{{"architecture", "mistral"},
                                        {"dtype", "f64"},
                                        {"heads", "32"},
                                        {"hidden_size", "4096"},
                                        {"intermediate_size", "14336"},
                                        {"kv_heads", "8"},
                                        {"layers", "32"},
                                        {"mlp", "gated"},
                                        {"tied_embeddings", "true"},
                                        {"vocab_size", "32000"}});
  CHECK(nested.notes.size() == 5);
}

TEST_CASE("other names of one field, and which of them counts") {
  const auto with = [](const std::string& fields) { return parsed(("{\"hidden_size\": 8, " + fields + "}").c_str()).attributes; };
  const struct {
    const char *field, *key;
  } names[] = {{"n_layer", "layers"},         {"num_layers", "layers"},         {"n_layers", "layers"},
               {"n_heads", "heads"},          {"n_ctx", "max_position"},        {"ffn_hidden_size", "intermediate_size"},
               {"d_ff", "intermediate_size"}, {"kv_channels", "head_dim"},      {"num_kv_heads", "kv_heads"},
               {"n_head_kv", "kv_heads"},     {"num_local_experts", "experts"}, {"moe_num_experts", "experts"}};
  for (const auto& [field, key] : names) CHECK(with("\"" + std::string(field) + "\": 5").at(key) == "5");
  for (const char* field : {"num_experts_per_token", "moe_topk", "moe_top_k"})
    CHECK(with("\"num_experts\": 9, \"" + std::string(field) + "\": 5").at("experts_per_token") == "5");
  CHECK(with(R"("num_hidden_layers": 0, "n_layer": 5)").count("layers") == 0);
  CHECK(with(R"("num_hidden_layers": 1000000000000)").at("layers") == "1000000000000");
  CHECK(with(R"("num_hidden_layers": 1000000000001)").count("layers") == 0);
  CHECK(with(R"("rope_theta": 0)").count("rope_theta") == 0);
  // One head for all where the family says so, unless it is of the newer kind.
  CHECK(with(R"("multi_query": true, "num_kv_heads": 71)").at("kv_heads") == "1");
  CHECK(with(R"("multi_query": true, "new_decoder_architecture": true, "num_kv_heads": 8)").at("kv_heads") == "8");
  CHECK(with(R"("multi_query": false)").count("kv_heads") == 0);
  const std::pair<const char*, const char*> types[] = {
      {"bfloat16", "bf16"}, {"float16", "f16"}, {"float", "f32"}, {"float8_e4m3fn", "fp8"}};
  for (const auto& [name, key] : types) CHECK(with("\"torch_dtype\": \"torch." + std::string(name) + "\"").at("dtype") == key);
  const std::pair<const char*, const char*> quantised[] = {{R"({"quant_method": "fbgemm_fp8"})", "fp8"},
                                                           {R"({"quant_method": "mxfp4"})", "fp4"},
                                                           {R"({"w_bit": 4})", "int4"},
                                                           {R"({"load_in_8bit": true})", "int8"}};
  for (const auto& [how, key] : quantised) CHECK(with(R"("quantization_config": )" + std::string(how)).at("dtype") == key);
  for (const char* tied :
       {"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "gpt_neo", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "starcoder2"})
    CHECK(with("\"model_type\": \"" + std::string(tied) + "\"").at("tied_embeddings") == "true");
  for (const char* plain : {"gpt2", "gpt_neox", "gptj", "gpt_neo", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2"})
    CHECK(with("\"model_type\": \"" + std::string(plain) + "\"").at("intermediate_size") == "32");
}

TEST_CASE("sliding windows of the families that name no layer types") {
  const auto layers = [](const std::string& fields) {
    const auto attributes = parsed(("{\"hidden_size\": 8, \"sliding_window\": 4," + fields + "}").c_str()).attributes;
    return attributes.count("sliding_layers") == 1 ? attributes.at("sliding_layers") : "";
  };
  CHECK(layers(R"("model_type": "gemma2", "num_hidden_layers": 27)") == "14");
  CHECK(layers(R"("model_type": "gemma3", "num_hidden_layers": 27)") == "23");
  CHECK(layers(R"("model_type": "gemma3", "num_hidden_layers": 27, "sliding_window_pattern": 0)") == "0");
  CHECK(layers(R"("model_type": "qwen2_vl", "num_hidden_layers": 28, "max_window_layers": 20)") == "8");
  CHECK(layers(R"("model_type": "qwen2", "num_hidden_layers": 28, "max_window_layers": 30)") == "0");
  CHECK(layers(R"("model_type": "qwen3", "num_hidden_layers": 28, "max_window_layers": 20)").empty());
  CHECK(layers(R"("model_type": "gemma2", "n_layer": 27)").empty());
}

TEST_CASE("towers of vision: each field in its place") {
  const auto vision = [](const std::string& root, const std::string& tower) {
    const auto config = parsed(("{\"hidden_size\": 7, \"num_hidden_layers\": 1, " + root + "\"vision_config\": " + tower + "}").c_str());
    std::string text;
    for (const auto& [key, value] : config.attributes)
      if (key.starts_with("vision") || key.starts_with("proj") || key.starts_with("image")) text += key + " " + value + ", ";
    return text + (says(config, "taken as one matrix") ? "one matrix" : "") + (says(config, "depends on its size") ? "of any size" : "");
  };
  CHECK(vision(R"("model_type": "llava_next", )",
               R"({"model_type": "siglip", "hidden_size": 10, "num_hidden_layers": 2, "num_attention_heads": 3,
               "intermediate_size": 40, "patch_size": 14, "image_size": 70})") ==
        "image_tokens 25, projector_hidden_size 7, projector_input_size 10, vision_heads 3, vision_hidden_size 10, "
        "vision_intermediate_size 40, "
        "vision_layers 2, vision_mlp plain, vision_patch_size 14, vision_patches 25, ");
  CHECK(vision(R"("model_type": "qwen2_5_vl", )",
               R"({"depth": 2, "width": 10, "num_heads": 3, "mlp_ratio": 3, "spatial_patch_size": 14, "image_size": 56,
               "spatial_merge_size": 2})") ==
        "image_tokens 4, projector_hidden_size 40, projector_input_size 40, vision_heads 3, vision_hidden_size 10, "
        "vision_intermediate_size 30, "
        "vision_layers 2, vision_mlp gated, vision_patch_size 14, vision_patches 16, ");
  CHECK(vision(R"("model_type": "mllama", "mm_tokens_per_image": 9, )",
               R"({"layers": 2, "num_global_layers": 3, "hidden_size": 10, "attention_heads": 4,
               "vision_output_dim": 50, "patch_size": 14, "image_size": 13, "mlp_ratio": 100})") ==
        "image_tokens 9, projector_input_size 50, vision_heads 4, vision_hidden_size 10, vision_intermediate_size 640, vision_layers 5, "
        "vision_mlp plain, "
        "vision_patch_size 14, one matrixof any size");
  CHECK(vision("", R"({"hidden_size": 10, "patch_size": 14, "image_size": 14, "mlp_ratio": 0, "spatial_merge_size": 64})") ==
        "image_tokens 1, projector_input_size 10, vision_hidden_size 10, vision_intermediate_size 10, vision_mlp plain, vision_patch_size "
        "14, "
        "vision_patches 1, one matrix");
}

TEST_CASE("families that are known by name are taken without a word, all others with one") {
  const auto of = [](const std::string& type) {
    return parsed(("{\"model_type\": \"" + type +
                   "\", \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 1, \"vocab_size\": 9, "
                   "\"intermediate_size\": 7, \"torch_dtype\": \"float16\"}")
                      .c_str());
  };
  for (const char* gated :
       {"llama", "mistral", "mixtral", "qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "qwen2_vl", "qwen2_5_vl", "deepseek_v2", "deepseek_v3",
        "gemma", "gemma2", "gemma3", "gemma3_text", "phi3", "mllama_text_model", "qwen2_vl_text", "qwen2_5_vl_text"}) {
    INFO(gated);
    CHECK(of(gated).attributes.at("mlp") == "gated");
    CHECK(of(gated).notes.empty());
  }
  for (const char* plain : {"gpt2", "gpt_neox", "gptj", "gpt_neo", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2"}) {
    INFO(plain);
    CHECK(of(plain).attributes.at("mlp") == "plain");
    CHECK(of(plain).attributes.at("intermediate_size") == "7");
    CHECK(of(plain).notes.empty());
  }
  CHECK(of("brandnew").attributes.at("mlp") == "gated");
  CHECK(of("brandnew").notes ==
        std::vector<std::string>{"the architecture 'brandnew' is not known by name: its feed-forward layer is taken as gated; "
                                 "--set model.mlp=plain where it is not"});
}

TEST_CASE("each size that is missing is named, with what is not known without it") {
  CHECK(parsed(R"({"model_type": "llama", "num_hidden_layers": 1, "torch_dtype": "float16"})").notes ==
        std::vector<std::string>{
            "hidden_size is missing: the work of every stage is not known; --set model.hidden_size=… gives it",
            "intermediate_size is missing: the work of the feed-forward layers is not known; --set model.intermediate_size=… gives it",
            "num_attention_heads is missing: the work of attention is not known; --set model.heads=… gives it",
            "vocab_size is missing: the work of the output head is not known; --set model.vocab_size=… gives it"});
  CHECK(says(parsed(R"({"hidden_size": 8})"),
             "num_hidden_layers is missing: the work of every stage is not known; --set model.layers=… gives it"));
  CHECK(says(parsed(R"({"hidden_size": 8, "vision_config": {}})"),
             "how many patches an image has depends on its size: --set model.vision_patches=… and "
             "model.image_tokens=… give the vision tower's work"));
  CHECK(
      says(parsed(R"({"hidden_size": 8, "vision_config": {}})"), "the projector between vision tower and decoder is taken as one matrix"));
}

TEST_CASE("the text model of one that sees has one of three names") {
  for (const char* name : {"text_config", "llm_config", "language_config"}) {
    INFO(name);
    CHECK(parsed(("{\"hidden_size\": 5, \"" + std::string(name) + "\": {\"hidden_size\": 8}}").c_str()).attributes.at("hidden_size") ==
          "8");
  }
  CHECK(parsed(R"({"llm_config": {"hidden_size": 5}, "text_config": {"hidden_size": 8}})").attributes.at("hidden_size") == "8");
  const auto opt = parsed(R"({"model_type": "opt", "d_model": 8})").attributes;
  CHECK(opt.at("hidden_size") == "8");
  CHECK(opt.at("intermediate_size") == "32");
  CHECK(parsed(R"({"hidden_size": 8, "num_experts": 2, "interleave_moe_layer_step": 3})").attributes.at("moe_layer_freq") == "3");
}

TEST_CASE("what is no configuration is refused with its place") {
  const auto cut = error_of("{\n  \"hidden_size\": 64,\n  \"num_hidden_layers\" 2\n}");
  CHECK(cut.kind == nl::ErrorKind::kConfig);
  CHECK(cut.message == "this is no valid JSON");
  CHECK(cut.where == "config.json:3:23");  // where the colon should have been, the 2 stands
  CHECK(error_of("").where == "config.json:1:1");
  CHECK(error_of("{\n  \"a\": 1,\n}").where == "config.json:3:1");
  CHECK(error_of("{\"a\": 1").where.substr(0, 14) == "config.json:1:");
  CHECK(error_of("[1, 2]").message == "this JSON is no model configuration: it holds no fields");
  CHECK(error_of("{}").message.find("describes no transformer") != std::string::npos);
  CHECK(error_of("{\"hidden_size\": 1e999}").kind == nl::ErrorKind::kConfig);
  CHECK(error_of(std::string(100000, '[')).message == "the JSON is nested more than 128 deep");
  CHECK(error_of("{\"a\": \"\xff\xfe\"}").message == "this is no valid JSON");
  CHECK(error_of("{\"text_config\": 3, \"vision_config\": []}").message.find("describes no transformer") != std::string::npos);
}

TEST_CASE("a file is named after its folder where it does not name itself") {
  const fs::path folder = fs::temp_directory_path() / "nl-hf-config-test" / "my-model";
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << R"({"model_type": "llama", "hidden_size": 64})";
  CHECK(nl::parsers::read_hf_config(folder / "config.json").name == "my-model");
  std::ofstream(folder / "other.json") << R"({"model_type": "llama", "hidden_size": 64})";
  CHECK(nl::parsers::read_hf_config(folder / "other.json").name == "other");
  std::ofstream(folder / "named.json") << R"({"_name_or_path": "org/itself//", "hidden_size": 64})";
  CHECK(nl::parsers::read_hf_config(folder / "named.json").name == "itself");
  fs::resize_file(folder / "named.json", (16 << 20) + 1);
  try {
    nl::parsers::read_hf_config(folder / "named.json");
    FAIL("a file of more than 16 MiB was read");
  } catch (const nl::Error& error) {
    CHECK(error.message.find("16777217 bytes") != std::string::npos);
  }
  fs::remove_all(folder.parent_path());
  CHECK_THROWS_AS(nl::parsers::read_hf_config(folder / "config.json"), nl::Error);
}
