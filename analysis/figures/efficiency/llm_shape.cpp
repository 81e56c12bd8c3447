#include "analysis/figures/efficiency/llm_shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace nl::analysis {
namespace {

class Attributes {
 public:
  Attributes(const std::map<std::string, std::string>& values, std::vector<std::string>& assumptions)
      : values_(values), assumptions_(assumptions) {}

  std::string text(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? "" : found->second;
  }

  std::optional<double> number(const std::string& name) const {
    const std::string value = text(name);
    if (value.empty()) return std::nullopt;
    const auto parsed = parse(value);
    if (!parsed) not_a_number(name, value);
    return parsed;
  }

  // Zero means "has none" here.
  std::optional<double> positive(const std::string& name) const {
    const auto value = number(name);
    return value && *value > 0 ? value : std::nullopt;
  }

  // "256,512"; empty where one of them is not a number
  std::vector<double> numbers(const std::string& name) const {
    const std::string value = text(name);
    std::vector<double> found;
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find(',', at), value.size());
      const auto parsed = parse(std::string_view(value).substr(at, end - at));
      if (!parsed) {
        not_a_number(name, value);
        return {};
      }
      found.push_back(*parsed);
      at = end + 1;
    }
    return found;
  }

  // "8x512:30,8x128:4": 30 calls with 8 sequences of 512 tokens, and 4 of 128; empty where one of them is no such number
  std::vector<ModelInputs> inputs(const std::string& name) const {
    const std::string value = text(name);
    std::vector<ModelInputs> found;
    for (std::size_t at = 0; at < value.size();) {
      const std::size_t end = std::min(value.find(',', at), value.size());
      const std::string_view each = std::string_view(value).substr(at, end - at);
      const std::size_t by = std::min(each.find('x'), each.size()), times = std::min(each.find(':'), each.size());
      const auto batch = parse(each.substr(0, by)), calls = parse(each.substr(std::min(times + 1, each.size())));
      const auto length = by < times ? parse(each.substr(by + 1, times - by - 1)) : std::nullopt;
      if (!batch || !length || !calls || *batch * *length * *calls <= 0) {
        not_a_number(name, value);
        return {};
      }
      found.push_back({*batch, *length, *calls});
      at = end + 1;
    }
    return found;
  }

  std::optional<bool> either(const std::string& name, std::string_view yes, std::string_view no) const {
    const std::string value = text(name);
    return value == yes ? std::optional(true) : value == no ? std::optional(false) : std::nullopt;
  }

  // "stage_flops.gemm" → "gemm"
  std::map<std::string, double> numbers_below(const std::string& prefix) const {
    std::map<std::string, double> found;
    for (const auto& [name, value] : values_)
      if (name.size() > prefix.size() + 1 && name.compare(0, prefix.size() + 1, prefix + ".") == 0)
        if (const auto parsed = number(name)) found.emplace(name.substr(prefix.size() + 1), *parsed);
    return found;
  }

 private:
  static std::optional<double> parse(std::string_view value) {
    double parsed = 0;
    const char* end = value.data() + value.size();
    const auto [stopped, failed] = std::from_chars(value.data(), end, parsed);
    const bool good = failed == std::errc{} && stopped == end && std::isfinite(parsed) && parsed >= 0 && parsed <= 1e30;
    return good ? std::optional(parsed) : std::nullopt;
  }

  void not_a_number(const std::string& name, const std::string& value) const {
    assumptions_.push_back(fmt::format("model.{} is '{}', which is not a number; ignored", name, value.substr(0, 40)));
  }

  const std::map<std::string, std::string>& values_;
  std::vector<std::string>& assumptions_;
};

bool has_plain_mlp(std::string architecture) {
  std::transform(architecture.begin(), architecture.end(), architecture.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  static constexpr std::array kPlain = {"gpt2", "gpt_neox", "gptj", "gpt_bigcode", "opt", "bloom", "falcon", "mpt", "phi", "starcoder2"};
  return std::find(kPlain.begin(), kPlain.end(), architecture) != kPlain.end();
}

double moe_layers(double layers, double first_dense, double frequency) {
  double count = 0;
  for (double i = first_dense; i < std::min(layers, 10000.0); ++i) count += std::fmod(i, frequency) == 0 ? 1 : 0;
  return count;
}

void read_attention(const Attributes& in, LlmShape& shape) {
  const auto rank = in.positive("kv_lora_rank");
  if (!rank) {
    const auto kv_heads = in.positive("kv_heads");
    shape.kv_heads = kv_heads.value_or(shape.heads);
    if (!kv_heads && shape.heads > 0)
      shape.assumptions.push_back(fmt::format("model.kv_heads is not set; assumed model.heads, {:g}", shape.heads));
    const auto head_dim = in.positive("head_dim");
    shape.head_dim = head_dim.value_or(shape.heads > 0 ? shape.hidden_size / shape.heads : 0);
    if (!head_dim && shape.heads > 0)
      shape.assumptions.push_back(fmt::format("model.head_dim is not set; assumed hidden_size ÷ heads, {:g}", shape.head_dim));
    return;
  }
  MlaShape mla;
  mla.q_lora_rank = in.positive("q_lora_rank");
  mla.kv_lora_rank = *rank;
  const auto needed = [&](const char* name) {
    const auto value = in.positive(name);
    if (!value) shape.missing.push_back(fmt::format("model.{}", name));
    return value.value_or(0);
  };
  mla.qk_nope_head_dim = needed("qk_nope_head_dim");
  mla.qk_rope_head_dim = needed("qk_rope_head_dim");
  mla.v_head_dim = needed("v_head_dim");
  shape.mla = mla;
}

void read_moe(const Attributes& in, LlmShape& shape) {
  const auto experts = in.positive("experts");
  if (!experts) return;
  MoeShape moe;
  moe.experts = *experts;
  moe.experts_per_token = in.positive("experts_per_token").value_or(0);
  if (moe.experts_per_token == 0) shape.missing.push_back("model.experts_per_token");
  const auto size = in.positive("moe_intermediate_size");
  moe.intermediate_size = size.value_or(shape.intermediate_size);
  if (!size) shape.assumptions.push_back("model.moe_intermediate_size is not set; assumed intermediate_size");
  moe.shared_intermediate_size =
      in.positive("shared_intermediate_size").value_or(in.number("shared_experts").value_or(0) * moe.intermediate_size);
  moe.layers = moe_layers(shape.layers, in.number("first_dense_layers").value_or(0), in.positive("moe_layer_freq").value_or(1));
  shape.moe = moe;
}

void read_sam(const Attributes& in, double images, LlmShape& shape) {
  const auto layers = in.positive("sam_layers");
  if (!layers) return;
  SamShape sam;
  sam.layers = *layers;
  sam.hidden_size = in.positive("sam_hidden_size").value_or(0);
  sam.intermediate_size = in.positive("sam_intermediate_size").value_or(4 * sam.hidden_size);
  sam.patches = in.positive("sam_patches").value_or(0);
  const double side = in.number("sam_patch_size").value_or(0), window = in.number("sam_window").value_or(0);
  sam.patch_values = 3 * side * side;
  sam.window = window * window;
  sam.global_layers = std::min(sam.layers, in.number("sam_global_layers").value_or(0));
  sam.channels = in.numbers("sam_channels");
  sam.images = images;
  shape.sam = sam;
}

void read_vision(const Attributes& in, LlmShape& shape) {
  const double images = in.positive("images").value_or(1);
  read_sam(in, images, shape);
  if (const auto layers = in.positive("vision_layers")) {
    VisionShape vision;
    vision.layers = *layers;
    vision.hidden_size = in.positive("vision_hidden_size").value_or(0);
    vision.heads = in.positive("vision_heads").value_or(0);
    vision.intermediate_size = in.positive("vision_intermediate_size").value_or(4 * vision.hidden_size);
    vision.gated_mlp = in.text("vision_mlp") == "gated";
    vision.patches = in.positive("vision_patches").value_or(0);
    const double side = in.number("vision_patch_size").value_or(0);
    vision.patch_values = 3 * side * side;
    vision.images = images;
    shape.vision = vision;
  }
  const auto input = in.positive("projector_input_size");
  if (!input) return;
  shape.projector =
      ProjectorShape{in.positive("image_tokens").value_or(0), *input, in.positive("projector_hidden_size").value_or(0), images};
}

void read_dtypes(const Attributes& in, LlmShape& shape) {
  static constexpr std::array kComputed = {"f64", "f32", "tf32", "bf16", "f16"};
  shape.weight_dtype = in.text("dtype");
  shape.compute_dtype = in.text("compute_dtype");
  if (shape.compute_dtype.empty() && shape.weight_dtype != "int4") shape.compute_dtype = shape.weight_dtype;
  shape.kv_dtype = in.text("kv_dtype");
  if (!shape.kv_dtype.empty() || shape.weight_dtype.empty()) return;
  const bool wide = std::find(kComputed.begin(), kComputed.end(), shape.compute_dtype) != kComputed.end();
  shape.kv_dtype = wide ? shape.compute_dtype : "bf16";
  if (!wide) shape.assumptions.push_back("model.kv_dtype is not set; assumed bf16");
}

void read_run(const Attributes& in, LlmShape& shape) {
  shape.tensor_parallel = in.positive("tensor_parallel").value_or(1);
  shape.batch_size = in.positive("batch_size");
  shape.prompt_tokens = in.positive("prompt_tokens");
  shape.decode_tokens = in.positive("decode_tokens");
  shape.all_prefill_logits = in.text("prefill_logits") == "all";
  shape.stage_flops = in.numbers_below("stage_flops");
  shape.stage_bytes = in.numbers_below("stage_bytes");
}

// What is configured goes before what the process noted.
void read_inputs(const Attributes& in, LlmShape& shape) {
  shape.causal = in.either("attention_mask", "causal", "full");
  shape.head = in.either("output_head", "all", "none");
  shape.checkpointing = in.text("gradient_checkpointing") == "true";
  shape.inputs = in.inputs("inputs");
  shape.training = in.inputs("training_inputs");
  const auto length = in.positive("sequence_tokens");
  if (length && shape.batch_size) shape.inputs = shape.training = {{*shape.batch_size, *length, 1}};
}

// A config may state the parameters and the shape. If the two disagree, one of them is wrong, and a note says so.
void check_parameters(const Attributes& in, LlmShape& shape) {
  const auto said = in.positive("parameters");
  if (!said || !shape.missing.empty()) return;
  const double counted = count_parameters(shape).total;
  if (std::abs(counted - *said) > 0.05 * *said)
    shape.assumptions.push_back(fmt::format("model.parameters is {:.4g}, but the shape gives {:.4g}", *said, counted));
}

}  // namespace

LlmShape read_llm_shape(const std::map<std::string, std::string>& attributes) {
  LlmShape shape;
  const Attributes in(attributes, shape.assumptions);
  const std::pair<const char*, double*> needed[] = {{"layers", &shape.layers},
                                                    {"hidden_size", &shape.hidden_size},
                                                    {"heads", &shape.heads},
                                                    {"intermediate_size", &shape.intermediate_size},
                                                    {"vocab_size", &shape.vocab_size}};
  for (const auto& [name, value] : needed) {
    *value = in.positive(name).value_or(0);
    // A model of experts alone has no other feed-forward layer.
    const bool experts_only = std::string_view(name) == "intermediate_size" && in.positive("moe_intermediate_size");
    if (*value != 0 || experts_only) continue;
    shape.missing.push_back(fmt::format("model.{}", name));
    if (value != &shape.vocab_size) shape.layers_missing.push_back(shape.missing.back());
  }
  const std::size_t sizes_missing = shape.missing.size();
  const std::string mlp = in.text("mlp");
  shape.gated_mlp = mlp.empty() ? !has_plain_mlp(in.text("architecture")) : mlp != "plain";
  if (mlp.empty() && shape.missing.empty())
    shape.assumptions.push_back(fmt::format("model.mlp is not set; assumed {}", shape.gated_mlp ? "gated" : "plain"));
  shape.tied_embeddings = in.text("tied_embeddings") == "true";
  read_attention(in, shape);
  read_moe(in, shape);
  shape.layers_missing.insert(shape.layers_missing.end(), shape.missing.begin() + static_cast<std::ptrdiff_t>(sizes_missing),
                              shape.missing.end());
  shape.sliding_window = in.positive("sliding_window");
  if (shape.sliding_window) shape.sliding_layers = std::min(shape.layers, in.number("sliding_layers").value_or(shape.layers));
  read_vision(in, shape);
  read_dtypes(in, shape);
  read_run(in, shape);
  read_inputs(in, shape);
  check_parameters(in, shape);
  if (const std::string notes = in.text("notes"); !notes.empty()) shape.assumptions.push_back(notes);
  return shape;
}

std::optional<double> dtype_bytes(const std::string& dtype) {
  static const std::map<std::string, double> kBytes = {{"f64", 8}, {"f32", 4},  {"tf32", 4},  {"bf16", 2},  {"f16", 2},
                                                       {"fp8", 1}, {"int8", 1}, {"fp4", 0.5}, {"int4", 0.5}};
  const auto found = kBytes.find(dtype);
  return found == kBytes.end() ? std::nullopt : std::optional(found->second);
}

LayerWeights layer_weights(const LlmShape& shape) {
  const double width = shape.hidden_size;
  const double matrices = shape.gated_mlp ? 3 : 2;
  LayerWeights weights;
  if (shape.mla) {
    const MlaShape& mla = *shape.mla;
    const double query = shape.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim);
    weights.qkv = mla.q_lora_rank ? *mla.q_lora_rank * (width + query) : width * query;
    weights.qkv += width * (mla.kv_lora_rank + mla.qk_rope_head_dim);
    weights.kv_up = mla.kv_lora_rank * shape.heads * (mla.qk_nope_head_dim + mla.v_head_dim);
    weights.out = shape.heads * mla.v_head_dim * width;
  } else {
    weights.qkv = width * (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    weights.out = shape.heads * shape.head_dim * width;
  }
  weights.dense_mlp = matrices * width * shape.intermediate_size;
  if (!shape.moe) return weights;
  weights.expert = matrices * width * shape.moe->intermediate_size;
  weights.shared_experts = matrices * width * shape.moe->shared_intermediate_size;
  weights.router = width * shape.moe->experts;
  return weights;
}

double vision_layer_weights(const VisionShape& vision) {
  return 4 * vision.hidden_size * vision.hidden_size + (vision.gated_mlp ? 3 : 2) * vision.hidden_size * vision.intermediate_size;
}

double sam_layer_weights(const SamShape& sam) {
  return 4 * sam.hidden_size * sam.hidden_size + 2 * sam.hidden_size * sam.intermediate_size;
}

std::vector<Convolution> sam_convolutions(const SamShape& sam) {
  std::vector<Convolution> all;
  double before = sam.hidden_size, places = sam.patches;
  for (std::size_t i = 0; i < sam.channels.size(); ++i) {
    if (i > 1) places /= 4;
    all.push_back({i == 0 ? 1.0 : 3.0, before, sam.channels[i], places});
    before = sam.channels[i];
  }
  return all;
}

double projector_weights(const LlmShape& shape) {
  if (!shape.projector) return 0;
  const ProjectorShape& projector = *shape.projector;
  if (projector.hidden_size == 0) return projector.input_size * shape.hidden_size;
  return projector.hidden_size * (projector.input_size + shape.hidden_size);
}

ParameterCount count_parameters(const LlmShape& shape) {
  const LayerWeights layer = layer_weights(shape);
  const double expert_layers = shape.moe ? shape.moe->layers : 0;
  const double everywhere = shape.layers * (layer.qkv + layer.kv_up + layer.out) + (shape.layers - expert_layers) * layer.dense_mlp +
                            expert_layers * (layer.shared_experts + layer.router) +
                            (shape.tied_embeddings ? 1 : 2) * shape.vocab_size * shape.hidden_size;
  double seeing = 0;
  if (shape.vision)
    seeing += shape.vision->layers * vision_layer_weights(*shape.vision) + shape.vision->patch_values * shape.vision->hidden_size;
  if (shape.sam) {
    seeing += shape.sam->layers * sam_layer_weights(*shape.sam) + shape.sam->patch_values * shape.sam->hidden_size;
    for (const Convolution& convolution : sam_convolutions(*shape.sam)) seeing += convolution.weights();
  }
  seeing += projector_weights(shape);
  const double experts = shape.moe ? shape.moe->experts : 0, visited = shape.moe ? shape.moe->experts_per_token : 0;
  return {everywhere + expert_layers * experts * layer.expert + seeing, everywhere + expert_layers * visited * layer.expert + seeing};
}

}  // namespace nl::analysis
