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

TEST_CASE("a Llama's fields") {
  const auto llama = parsed(R"({"_name_or_path": "meta/Llama-3.1-8B/", "architectures": ["LlamaForCausalLM"], "model_type": "llama",
    "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "vocab_size": 128256, "max_position_embeddings": 131072, "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})");
  CHECK(llama.name == "Llama-3.1-8B");
  CHECK(llama.notes.empty());
  CHECK(llama.attributes == Attributes{{"architecture", "llama"}, {"dtype", "bf16"}, {"heads", "32"}, {"hidden_size", "4096"},
                                       {"intermediate_size", "14336"}, {"kv_heads", "8"}, {"layers", "32"}, {"max_position", "131072"},
                                       {"mlp", "gated"}, {"rope_theta", "500000"}, {"tied_embeddings", "false"}, {"vocab_size", "128256"}});
}

TEST_CASE("experts and latent attention keep their shape") {
  const auto deepseek = parsed(R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "n_routed_experts": 256, "n_shared_experts": 1,
    "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280, "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})").attributes;
  CHECK(deepseek.at("experts") == "256");
  CHECK(deepseek.at("shared_experts") == "1");
  CHECK(deepseek.at("first_dense_layers") == "3");
  CHECK(deepseek.at("kv_lora_rank") == "512");
  CHECK(deepseek.at("dtype") == "fp8");
  CHECK(deepseek.count("kv_heads") == 0);
  CHECK(deepseek.count("compute_dtype") == 0);
  const auto lite = parsed(R"({"model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27, "num_attention_heads": 16, "q_lora_rank": null,
    "kv_lora_rank": 512, "intermediate_size": 10944, "vocab_size": 102400})");
  CHECK(lite.attributes.count("q_lora_rank") == 0);
  CHECK(says(lite, "torch_dtype is missing: bytes and MFU are not known"));
}

TEST_CASE("families that name things otherwise") {
  const auto gpt2 = parsed(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024, "n_inner": null, "vocab_size": 50257})").attributes;
  CHECK(gpt2.at("intermediate_size") == "3072");
  CHECK(gpt2.at("mlp") == "plain");
  CHECK(gpt2.at("tied_embeddings") == "true");
  const auto opt = parsed(R"({"model_type": "opt", "hidden_size": 4096, "ffn_dim": 16384, "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 50272,
    "torch_dtype": "float16"})").attributes;
  CHECK(opt.at("intermediate_size") == "16384");
  CHECK(opt.at("dtype") == "f16");
  const auto falcon = parsed(R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32, "multi_query": true,
    "vocab_size": 65024})").attributes;
  CHECK(falcon.at("kv_heads") == "1");
  CHECK(falcon.at("intermediate_size") == "18176");
}

TEST_CASE("sliding windows are those that are used") {
  const std::string rest = R"("hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 26, "num_attention_heads": 4, "vocab_size": 10})";
  const auto with = [&](const std::string& fields) { return parsed(("{" + fields + "," + rest).c_str()).attributes; };
  CHECK(with(R"("model_type": "mistral", "sliding_window": 4096)").at("sliding_window") == "4096");
  CHECK(with(R"("model_type": "mistral", "sliding_window": 4096)").count("sliding_layers") == 0);
  CHECK(with(R"("model_type": "mistral", "sliding_window": null)").count("sliding_window") == 0);
  CHECK(with(R"("model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": false)").count("sliding_window") == 0);
  CHECK(with(R"("model_type": "gemma2", "sliding_window": 4096)").at("sliding_layers") == "13");
  CHECK(with(R"("model_type": "gemma3_text", "sliding_window": 512, "sliding_window_pattern": 6)").at("sliding_layers") == "22");
  CHECK(with(R"("model_type": "x", "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention", 7])").at("sliding_layers") == "2");
}

TEST_CASE("a model that sees: nested configurations, and the family's defaults where they are left out") {
  const auto llava = parsed(R"({"model_type": "llava", "image_seq_length": 576, "text_config": {"model_type": "llama", "vocab_size": 32064, "torch_dtype": "float16"},
    "vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024, "image_size": 336, "intermediate_size": 4096, "num_attention_heads": 16,
    "num_hidden_layers": 24, "patch_size": 14}})");
  CHECK(llava.attributes.at("hidden_size") == "4096");
  CHECK(llava.attributes.at("intermediate_size") == "11008");
  CHECK(says(llava, "text_config leaves out num_hidden_layers: the llama family's own default, 32, is taken"));
  CHECK(llava.attributes.at("vision_patches") == "577");
  CHECK(llava.attributes.at("image_tokens") == "576");
  CHECK(llava.attributes.at("projector_hidden_size") == "4096");
  const auto qwen = parsed(R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
    "num_key_value_heads": 4, "vocab_size": 152064, "torch_dtype": "bfloat16", "vision_config": {"depth": 32, "embed_dim": 1280, "hidden_size": 3584,
    "mlp_ratio": 4, "num_heads": 16, "patch_size": 14, "spatial_merge_size": 2}})");
  CHECK(qwen.attributes.at("vision_hidden_size") == "1280");
  CHECK(qwen.attributes.at("vision_intermediate_size") == "5120");
  CHECK(qwen.attributes.at("projector_input_size") == "5120");
  CHECK(qwen.attributes.count("vision_patches") == 0);
  CHECK(says(qwen, "--set model.vision_patches=…"));
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

TEST_CASE("an unknown family with the usual names works; what is missing is named with what it would give") {
  const auto other = parsed(R"({"model_type": "brandnew", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4})");
  CHECK(other.attributes.at("layers") == "2");
  CHECK(says(other, "'brandnew' is not known by name"));
  CHECK(says(other, "vocab_size is missing: the work of the output head is not known; --set model.vocab_size=… gives it"));
  CHECK(says(other, "intermediate_size is missing: the work of the feed-forward layers is not known"));
  const auto bad = parsed(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": -3, "num_attention_heads": "four", "vocab_size": 1.5,
    "intermediate_size": [1], "head_dim": 1e300})");
  CHECK(bad.attributes.count("layers") + bad.attributes.count("heads") + bad.attributes.count("vocab_size") + bad.attributes.count("head_dim") == 0);
  CHECK(says(bad, "num_hidden_layers is -3, which is no size: left out"));
  CHECK(says(bad, "num_attention_heads is \"four\", which is no size: left out"));
}

TEST_CASE("what is no configuration is refused with its place") {
  const auto cut = error_of("{\n  \"hidden_size\": 64,\n  \"num_hidden_layers\" 2\n}");
  CHECK(cut.kind == nl::ErrorKind::kConfig);
  CHECK(cut.message == "this is no valid JSON");
  CHECK(cut.where == "config.json:3:23");  // where the colon should have been, the 2 stands
  CHECK(error_of("").where == "config.json:1:1");
  CHECK(error_of("{\"a\": 1").where.substr(0, 14) == "config.json:1:");
  CHECK(error_of("[1, 2]").message == "this JSON is no model configuration: it holds no fields");
  CHECK(error_of("{}").message.find("describes no transformer") != std::string::npos);
  CHECK(error_of("{\"hidden_size\": 1e999}").kind == nl::ErrorKind::kConfig);
  CHECK(error_of(std::string(100000, '[')).message == "this is no valid JSON");
  CHECK(error_of("{\"a\": \"\xff\xfe\"}").message == "this is no valid JSON");
  CHECK(error_of("{\"text_config\": 3, \"vision_config\": []}").message.find("describes no transformer") != std::string::npos);
}

TEST_CASE("a file is named after its folder where it does not name itself") {
  const fs::path folder = fs::temp_directory_path() / "nl-hf-config-test" / "my-model";
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << R"({"model_type": "llama", "hidden_size": 64})";
  CHECK(nl::parsers::read_hf_config(folder / "config.json").name == "my-model");
  fs::remove_all(folder.parent_path());
  CHECK_THROWS_AS(nl::parsers::read_hf_config(folder / "config.json"), nl::Error);
}
