#include "orchestrator/config/keys.h"

// model.*: what the model is and what it was given.
namespace nl::orchestrator {
namespace {

using Type = ModelAttribute::Type;

const std::vector<std::string_view> kTypes = {"f64", "f32", "tf32", "bf16", "f16", "fp8", "fp4", "int8", "int4"};

ConfigKey whole(std::string_view path, std::string_view help, double least = 1) {
  return {.path = path, .member = ModelAttribute{Type::kWhole}, .help = help, .least = least, .most = 1e15};
}

ConfigKey text(std::string_view path, std::string_view help, std::vector<std::string_view> allowed = {}) {
  return {.path = path, .member = ModelAttribute{Type::kText}, .help = help, .allowed = std::move(allowed)};
}

ConfigKey numbers(std::string_view path, std::string_view help) {
  return {.path = path, .member = ModelAttribute{Type::kNumbers}, .help = help, .least = 0, .most = 1e30};
}

// The decoder.
const std::vector<ConfigKey> kDecoderKeys = {
    {.path = "model.name", .member = +[](Config& c) -> std::string& { return c.model.name; }, .help = "what the reports call the model"},
    text("model.variant", "which of its variants, in your words: a checkpoint, a fine-tune, a quantisation"),
    text("model.architecture", "llama, qwen, mixtral …"),
    text("model.dtype", "the type of its weights", kTypes),
    text("model.compute_dtype", "the type it multiplies in, whose peak counts; empty: that of its weights", kTypes),
    text("model.quantization", "how its weights were quantised: gptq, awq, fp8 …"),
    text("model.kv_dtype", "the type of the cached keys and values; empty: the type it multiplies in", kTypes),
    whole("model.layers", "decoder layers"),
    whole("model.hidden_size", "width of the residual stream"),
    whole("model.heads", "query heads"),
    whole("model.kv_heads", "key/value heads; fewer than heads: grouped-query attention"),
    whole("model.head_dim", "width of a head"),
    whole("model.intermediate_size", "width of the feed-forward layer"),
    text("model.mlp", "the feed-forward layer: gated (three matrices) or plain (two)", {"gated", "plain"}),
    whole("model.vocab_size", "rows of the embedding and of the output head"),
    text("model.tied_embeddings", "embedding and output head are one matrix", {"true", "false"}),
    whole("model.sliding_window", "tokens that attention sees back; empty: all"),
    whole("model.sliding_layers", "layers with that window; empty: all", 0),
    whole("model.max_position", "longest context"),
    whole("model.parameters", "parameters in all"),
    text("model.attention_implementation", "sdpa, flash_attention_2 …"),
    {.path = "model.rope_theta", .member = ModelAttribute{Type::kNumber}, .help = "base of the rotary embedding", .least = 0},
    text("model.notes", "what a reader of the figures must know about this description"),
};

// Experts, latent attention, vision.
const std::vector<ConfigKey> kSpecialKeys = {
    whole("model.experts", "experts per layer; 0: none", 0),
    whole("model.experts_per_token", "experts that each token visits", 0),
    whole("model.moe_intermediate_size", "width of an expert; empty: intermediate_size"),
    whole("model.shared_experts", "experts that every token visits", 0),
    whole("model.shared_intermediate_size", "their width together; empty: shared_experts × moe_intermediate_size", 0),
    whole("model.first_dense_layers", "layers without experts, at the beginning", 0),
    whole("model.moe_layer_freq", "of the others, every n-th has experts"),
    whole("model.q_lora_rank", "latent attention: width of the compressed queries; empty: not compressed", 0),
    whole("model.kv_lora_rank", "latent attention: width of the compressed keys and values", 0),
    whole("model.qk_nope_head_dim", "latent attention: width of a query or key without position"),
    whole("model.qk_rope_head_dim", "latent attention: width of its part with position"),
    whole("model.v_head_dim", "latent attention: width of a value"),
    whole("model.vision_layers", "layers of the vision tower", 0),
    whole("model.vision_hidden_size", "its width"),
    whole("model.vision_heads", "its heads"),
    whole("model.vision_intermediate_size", "width of its feed-forward layer; empty: four times its width"),
    text("model.vision_mlp", "its feed-forward layer; empty: plain", {"gated", "plain"}),
    whole("model.vision_patch_size", "pixels of a patch's side"),
    whole("model.vision_patches", "patches of an image, as the tower sees them"),
    whole("model.sam_layers", "layers of a SAM encoder before that tower (DeepSeek-OCR)", 0),
    whole("model.sam_hidden_size", "its width"),
    whole("model.sam_intermediate_size", "width of its feed-forward layer; empty: four times its width"),
    whole("model.sam_patch_size", "pixels of its patches' side"),
    whole("model.sam_patches", "patches of an image, as it sees them"),
    whole("model.sam_window", "side of its attention windows, in patches; empty: each patch attends to its whole image"),
    whole("model.sam_global_layers", "its layers without windows", 0),
    text("model.sam_channels",
         "channels of the convolutions behind it, the first two at its resolution, each further at half the side: 256,256,512,1024"),
    whole("model.image_tokens", "tokens of an image, as the decoder sees them"),
    whole("model.images", "images in a sequence; empty: 1"),
    whole("model.projector_input_size", "width of what the projector between tower and decoder is given"),
    whole("model.projector_hidden_size", "width of the layer in its middle; empty: it is one matrix"),
};

// What was run.
const std::vector<ConfigKey> kUseKeys = {
    whole("model.batch_size", "sequences at a time"),
    whole("model.prompt_tokens", "tokens of the prompt of each, those of images included"),
    whole("model.decode_tokens", "tokens generated of each; used where the trace does not tell its decode steps apart"),
    text("model.prefill_logits", "tokens of the prompt that go through the output head; empty: last", {"last", "all"}),
    whole("model.tensor_parallel", "GPUs that share each layer; empty: 1"),
    numbers("model.stage_flops", "stage → floating-point operations of one window, for what is no transformer"),
    numbers("model.stage_bytes", "stage → bytes that one window must move at least"),
};

}  // namespace

const std::vector<ConfigKey>& model_keys() {
  static const std::vector<ConfigKey> keys = [] {
    std::vector<ConfigKey> all;
    for (const auto* part : {&kDecoderKeys, &kSpecialKeys, &kUseKeys}) all.insert(all.end(), part->begin(), part->end());
    return all;
  }();
  return keys;
}

}  // namespace nl::orchestrator
