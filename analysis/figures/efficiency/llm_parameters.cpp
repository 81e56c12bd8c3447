#include <map>

#include "analysis/figures/efficiency/llm_shape.h"

namespace nl::analysis {

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
