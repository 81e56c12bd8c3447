#include "parsers/hf/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "model/error.h"
#include "model/input_bounds.h"
#include "parsers/hf/fields.h"

namespace nl::parsers {
namespace {

using nlohmann::json;
using Names = std::initializer_list<const char*>;

constexpr std::uintmax_t kLargestBytes = 16 << 20;  // a config.json has a few kilobytes

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

json parse_json(std::string_view text, const std::string& where) {
  try {
    return json::parse(json_within_bounds(text, where));
  } catch (const json::parse_error& error) {
    const std::size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    const std::size_t start = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    throw Error(ErrorKind::kConfig, "this is no valid JSON",
                fmt::format("{}:{}:{}", where, line, start == std::string_view::npos ? at + 1 : at - start),
                "check commas, brackets and quotes near there");
  } catch (const json::exception& error) {
    throw Error(ErrorKind::kConfig, "this JSON cannot be read", where, json_fault(error.what()));
  }
}

class TextModel {
 public:
  TextModel(const HfFields& root, const HfFields& fields, bool nested, HfConfig& out)
      : root_(root), in_(fields), nested_(nested), type_(fields.text("model_type")), out_(out) {
    if (type_.empty()) type_ = root.text("model_type");
  }

  void map() {
    if (!type_.empty()) out_.attributes["architecture"] = type_;
    size("layers", {"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, "the work of every stage");
    size("hidden_size", {"hidden_size", "n_embd", "d_model", "dim"}, "the work of every stage");
    size("heads", {"num_attention_heads", "n_head", "n_heads"}, "the work of attention");
    size("vocab_size", {"vocab_size"}, "the work of the output head");
    map_mlp();
    map_attention();
    map_experts();
    map_window();
    map_encoder();
    map_dtype();
    out_.attributes["tied_embeddings"] = tied() ? "true" : "false";
    optional_size("max_position", {"max_position_embeddings", "n_positions", "n_ctx"});
    if (const auto theta = in_.number("rope_theta"); theta && *theta > 0) out_.attributes["rope_theta"] = fmt::format("{}", *theta);
    if (in_.list("cross_attention_layers")) out_.notes.push_back("its cross-attention layers are counted as if they attended to the text");
  }

 private:
  void put(const char* key, long long value) { out_.attributes[key] = std::to_string(value); }

  bool optional_size(const char* key, Names names) {
    const auto value = in_.whole(names);
    if (value && *value > 0) put(key, *value);
    return value && *value > 0;
  }

  void size(const char* key, Names names, const char* unknown_without) {
    if (optional_size(key, names)) return;
    if (const auto usual = family_default(key); usual > 0) {
      put(key, usual);
      out_.notes.push_back(
          fmt::format("text_config leaves out {}: the {} family's own default, {}, is taken", *names.begin(), type_, usual));
      return;
    }
    out_.notes.push_back(fmt::format("{} is missing: {} is not known; --set model.{}=… gives it", *names.begin(), unknown_without, key));
  }

  // A nested text_config is written without the fields that have the family's default.
  long long family_default(std::string_view key) const {
    if (!nested_ || !is_one_of(type_, {"llama", "mistral"})) return 0;
    if (key == "layers" || key == "heads") return 32;
    if (key == "hidden_size") return 4096;
    if (key == "intermediate_size") return type_ == "llama" ? 11008 : 14336;
    return key == "kv_heads" && type_ == "mistral" ? 8 : key == "vocab_size" ? 32000 : 0;
  }

  // Each token attends to the whole sequence, in both directions.
  bool encoder() const {
    return is_one_of(type_, {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "electra", "mpnet", "ernie", "modernbert"});
  }

  void map_encoder() {
    if (!encoder() || in_.truth("is_decoder").value_or(false)) return;
    out_.attributes["attention_mask"] = "full";
    const auto layers = in_.whole({"num_hidden_layers"}), each = in_.whole({"global_attn_every_n_layers"});
    if (type_ != "modernbert" || !layers || !each || *each <= 0 || !optional_size("sliding_window", {"local_attention"})) return;
    put("sliding_layers", *layers - (*layers + *each - 1) / *each);
  }

  bool plain_mlp() const {
    return (encoder() && type_ != "modernbert") ||
           is_one_of(type_, {"gpt2", "gpt_neox", "gptj", "gpt_neo", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2"});
  }

  void map_mlp() {
    const bool gated = is_one_of(
        type_, {"llama",       "mistral",     "mixtral",           "qwen2",          "qwen3",          "qwen2_moe", "qwen3_moe", "qwen2_vl",
                "qwen2_5_vl",  "deepseek_v2", "deepseek_v3",       "deepseek_vl_v2", "modernbert",     "gemma",     "gemma2",    "gemma3",
                "gemma3_text", "phi3",        "mllama_text_model", "qwen2_vl_text",  "qwen2_5_vl_text"});
    out_.attributes["mlp"] = plain_mlp() ? "plain" : "gated";
    if (!gated && !plain_mlp())
      out_.notes.push_back(
          fmt::format("the architecture '{}' is not known by name: its feed-forward layer is taken as gated; --set model.mlp=plain "
                      "where it is not",
                      type_));
    if (optional_size("intermediate_size", {"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff", "hidden_dim"})) return;
    const auto width = in_.whole({"hidden_size", "n_embd", "d_model", "dim"});
    if (plain_mlp() && width && *width > 0) put("intermediate_size", 4 * *width);  // what these families do where it is left out
    else if (!in_.whole({"moe_intermediate_size"})) size("intermediate_size", {"intermediate_size"}, "the work of the feed-forward layers");
  }

  void map_attention() {
    if (in_.whole({"kv_lora_rank"})) {
      for (const char* key : {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
        optional_size(key, {key});
      return;
    }
    optional_size("head_dim", {"head_dim", "kv_channels"});
    const bool one_for_all = in_.truth("multi_query").value_or(false) && !in_.truth("new_decoder_architecture").value_or(false);
    if (optional_size("kv_heads", {"num_key_value_heads", "num_kv_heads", "n_head_kv"}) && !one_for_all) return;
    if (one_for_all) put("kv_heads", 1);
    else if (const auto usual = family_default("kv_heads"); usual > 0) put("kv_heads", usual);
  }

  void map_experts() {
    if (!optional_size("experts", {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"})) return;
    if (!optional_size("experts_per_token", {"num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k"}))
      out_.notes.push_back(
          "num_experts_per_tok is missing: the work of the experts is not known; --set model.experts_per_token=… gives it");
    optional_size("moe_intermediate_size", {"moe_intermediate_size"});
    optional_size("shared_experts", {"n_shared_experts", "num_shared_experts"});
    optional_size("shared_intermediate_size", {"shared_expert_intermediate_size"});
    optional_size("first_dense_layers", {"first_k_dense_replace"});
    optional_size("moe_layer_freq", {"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step"});
    if (const json* plain = in_.list("mlp_only_layers"); plain && !plain->empty())
      out_.notes.push_back(
          fmt::format("mlp_only_layers names {} layers without experts: they are counted as if they had them", plain->size()));
  }

  void map_window() {
    if (!in_.truth("use_sliding_window").value_or(true)) return;
    const auto layers = in_.whole({"num_hidden_layers"});
    if (!optional_size("sliding_window", {"sliding_window"}) || !layers) return;
    if (const json* types = in_.list("layer_types")) {
      put("sliding_layers", std::count_if(types->begin(), types->end(), [](const json& type) { return type == "sliding_attention"; }));
    } else if (type_ == "gemma2") {
      put("sliding_layers", (*layers + 1) / 2);
    } else if (type_ == "gemma3" || type_ == "gemma3_text") {
      const long long pattern = std::max(1LL, in_.whole({"sliding_window_pattern"}).value_or(6));
      put("sliding_layers", *layers - *layers / pattern);
    } else if (const auto first = in_.whole({"max_window_layers"}); first && type_.compare(0, 5, "qwen2") == 0) {
      put("sliding_layers", std::max(0LL, *layers - *first));
    }
  }

  void map_dtype() {
    std::string dtype;
    for (const HfFields* fields : {&in_, &root_})
      for (const char* name : {"torch_dtype", "dtype"})
        if (dtype.empty()) dtype = short_dtype(fields->text(name));
    const json* quantised = root_.object("quantization_config");
    if (!quantised) quantised = in_.object("quantization_config");
    if (quantised) {
      map_quantisation(HfFields(*quantised, out_.notes), dtype);
    } else if (dtype.empty()) {
      out_.notes.push_back("torch_dtype is missing: bytes and MFU are not known; --set model.dtype=bf16 (or what it is) gives them");
    } else {
      out_.attributes["dtype"] = dtype;
    }
  }

  void map_quantisation(const HfFields& how, const std::string& computed) {
    const std::string method = how.text("quant_method");
    const auto bits = how.whole({"bits", "w_bit"});
    if (!method.empty()) out_.attributes["quantization"] = method;
    std::string weights;
    if (method == "fp8" || method == "fbgemm_fp8") weights = "fp8";
    if (bits == 4 || how.truth("load_in_4bit").value_or(false) || method == "mxfp4") weights = method == "mxfp4" ? "fp4" : "int4";
    if (bits == 8 || how.truth("load_in_8bit").value_or(false)) weights = "int8";
    if (weights.empty()) {
      out_.notes.push_back(
          fmt::format("the quantisation '{}' is not known: bytes and MFU are not; --set model.dtype=… gives them", method));
      return;
    }
    out_.attributes["dtype"] = weights;
    if (weights != "fp8" && !computed.empty()) out_.attributes["compute_dtype"] = computed;
  }

  bool tied() const {
    for (const HfFields* fields : {&root_, &in_})
      if (const auto said = fields->truth("tie_word_embeddings")) return *said;
    return encoder() || is_one_of(type_, {"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "gpt_neo", "gpt_bigcode", "opt", "bloom",
                                          "falcon", "mpt", "starcoder2"});
  }

  const HfFields& root_;
  const HfFields& in_;
  bool nested_;
  std::string type_;
  HfConfig& out_;
};

std::string name_in(const HfFields& root) {
  std::string name = root.text("_name_or_path");
  while (!name.empty() && (name.back() == '/' || name.back() == '\\')) name.pop_back();
  return name.substr(name.find_last_of("/\\") + 1);
}

}  // namespace

std::string short_dtype(std::string_view name) {
  if (name.starts_with("torch.")) name.remove_prefix(6);
  static const std::map<std::string_view, std::string_view> kShort = {{"bfloat16", "bf16"},    {"float16", "f16"}, {"half", "f16"},
                                                                      {"float32", "f32"},      {"float", "f32"},   {"float64", "f64"},
                                                                      {"float8_e4m3fn", "fp8"}};
  const auto found = kShort.find(name);
  return found == kShort.end() ? "" : std::string(found->second);
}

HfConfig parse_hf_config(std::string_view text, const std::string& where) {
  const json document = parse_json(text, where);
  HfConfig out;
  if (!document.is_object())
    throw Error(ErrorKind::kConfig, "this JSON is no model configuration: it holds no fields", where,
                "give the config.json of a Hugging Face model");
  const HfFields root(document, out.notes);
  const json* nested = nullptr;
  for (const char* name : {"text_config", "llm_config", "language_config"})
    if (!nested) nested = root.object(name);
  const HfFields fields(nested ? *nested : document, out.notes);
  TextModel(root, fields, nested != nullptr, out).map();
  if (out.attributes.count("layers") + out.attributes.count("hidden_size") + out.attributes.count("heads") == 0)
    throw Error(ErrorKind::kConfig,
                "this JSON describes no transformer: it has none of num_hidden_layers, hidden_size and num_attention_heads", where,
                "give the config.json of a Hugging Face model, or write a model file (conf/model/llm/generic.yaml)");
  map_hf_vision(root, fields, out);
  out.name = name_in(root);
  std::sort(out.notes.begin(), out.notes.end());  // a bad field is met each time it is asked for
  out.notes.erase(std::unique(out.notes.begin(), out.notes.end()), out.notes.end());
  return out;
}

HfConfig read_hf_config(const std::filesystem::path& file) {
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(file, failed);
  std::ifstream in(file, std::ios::binary);
  if (failed || !in)
    throw Error(ErrorKind::kConfig, "the model's configuration cannot be read", file.string(), "check its name and permissions");
  if (bytes > kLargestBytes)
    throw Error(ErrorKind::kConfig, fmt::format("this is no config.json: it has {} bytes", bytes), file.string(),
                "give the config.json of a Hugging Face model");
  std::ostringstream text;
  text << in.rdbuf();
  HfConfig config = parse_hf_config(text.str(), file.string());
  const std::filesystem::path folder = std::filesystem::absolute(file, failed).lexically_normal().parent_path();
  if (config.name.empty()) config.name = file.filename() == "config.json" ? folder.filename().string() : file.stem().string();
  return config;
}

}  // namespace nl::parsers
