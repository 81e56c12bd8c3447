#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

// What the model section of a configuration says about a model, as numbers.
namespace nl::analysis {

struct MoeShape {
  double experts = 0;
  double experts_per_token = 0;
  double intermediate_size = 0;         // of one expert
  double shared_intermediate_size = 0;  // of the experts that every token visits, together; 0: there are none
  double layers = 0;                    // that have experts; the others have one feed-forward layer
};

// Multi-head latent attention: keys and values are kept compressed.
struct MlaShape {
  std::optional<double> q_lora_rank;  // empty: queries are not compressed
  double kv_lora_rank = 0;
  double qk_nope_head_dim = 0;
  double qk_rope_head_dim = 0;
  double v_head_dim = 0;
};

struct VisionShape {
  double layers = 0, hidden_size = 0, heads = 0, intermediate_size = 0;
  bool gated_mlp = false;
  double patches = 0;       // of one image, as the tower sees them
  double patch_values = 0;  // colours × pixels of a patch; 0: not known
  double images = 1;        // a sequence
};

// SAM's encoder before the tower: most layers attend inside windows, and convolutions behind it leave fewer tokens.
struct SamShape {
  double layers = 0, hidden_size = 0, intermediate_size = 0;
  double patches = 0;  // of one image
  double patch_values = 0;
  double window = 0;             // patches that one attends to in most layers; 0: all
  double global_layers = 0;      // that have no windows
  std::vector<double> channels;  // of the convolutions: 1 × 1 and 3 × 3 at its resolution, then 3 × 3 of stride 2
  double images = 1;
};

struct ProjectorShape {
  double tokens = 0;  // of one image, after merging
  double input_size = 0;
  double hidden_size = 0;  // 0: one matrix, no layer between
  double images = 1;
};

// Calls of a model with inputs of one size.
struct ModelInputs {
  double batch = 0, length = 0;  // sequences, and tokens of each
  double calls = 1;
};

struct LlmShape {
  double layers = 0, hidden_size = 0, heads = 0, kv_heads = 0, head_dim = 0, intermediate_size = 0, vocab_size = 0;
  bool gated_mlp = true;
  bool tied_embeddings = false;
  std::optional<MoeShape> moe;
  std::optional<MlaShape> mla;
  std::optional<double> sliding_window;
  double sliding_layers = 0;  // that see no further back than the window
  std::optional<VisionShape> vision;
  std::optional<SamShape> sam;
  std::optional<ProjectorShape> projector;
  bool all_prefill_logits = false;                    // the head runs over the whole prompt, not only its last token
  std::string weight_dtype, compute_dtype, kv_dtype;  // empty: not known
  double tensor_parallel = 1;
  std::optional<double> batch_size, prompt_tokens, decode_tokens;
  std::optional<bool> causal;                 // each token attends to those before it, or to all; empty: not known
  std::optional<bool> head;                   // of a program that trains: the output head runs over all tokens; empty: not known
  bool checkpointing = false;                 // the backward pass computes the forward pass again
  std::vector<ModelInputs> inputs, training;  // of programs that do not generate: what a call of the model gets, a forward pass of training
  std::map<std::string, double> stage_flops, stage_bytes;  // of one window, for models other than transformers

  std::vector<std::string> missing;         // keys without which the decoder's work is not known; empty: it is
  std::vector<std::string> layers_missing;  // of them, those without which that of its layers is not: all but the vocabulary
  std::vector<std::string> assumptions;     // what was not said and how it was taken
};

// From ModelInfo::attributes. A value that makes no sense is left out, and `assumptions` says so.
LlmShape read_llm_shape(const std::map<std::string, std::string>& attributes);

// Bytes of one value: 2 for bf16, half a byte for int4; nothing for an unknown type.
std::optional<double> dtype_bytes(const std::string& dtype);

// Weights of the matrices; norms and biases (under a ten-thousandth) are left out.
struct ParameterCount {
  double total = 0;
  double active = 0;  // that one token visits: all but the experts it does not; an untied embedding counts
};
ParameterCount count_parameters(const LlmShape& shape);

// The number of weights in the parts of one layer.
struct LayerWeights {
  double qkv = 0;    // with latent attention: both steps of the query, the down projection of keys and values
  double kv_up = 0;  // latent attention only: from the compressed keys and values to the heads'
  double out = 0;
  double dense_mlp = 0, expert = 0, shared_experts = 0, router = 0;
};
LayerWeights layer_weights(const LlmShape& shape);

double vision_layer_weights(const VisionShape& vision);
double projector_weights(const LlmShape& shape);
double sam_layer_weights(const SamShape& sam);

// One convolution behind SAM's encoder.
struct Convolution {
  double side = 0;         // of its kernel
  double in = 0, out = 0;  // channels
  double places = 0;       // of one image, at which it is computed
  double weights() const { return side * side * in * out; }
};
std::vector<Convolution> sam_convolutions(const SamShape& sam);

}  // namespace nl::analysis
