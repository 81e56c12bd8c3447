#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// A Hugging Face config.json → the attributes of nl-stage's model section.
//
//   num_hidden_layers, n_layer …             layers
//   hidden_size, n_embd, d_model             hidden_size
//   num_local_experts, n_routed_experts …    experts
//   kv_lora_rank, qk_rope_head_dim …         the same names: latent attention
//   torch_dtype, quantization_config         dtype, compute_dtype
//   text_config, vision_config               the decoder; vision_layers …, image_tokens, projector_…
//   vision_config.width.sam_vit_b, .clip-…   sam_layers …; vision_layers …
namespace nl::parsers {

struct HfConfig {
  std::string name;                               // of the model, or of the folder; may be empty
  std::map<std::string, std::string> attributes;  // keys of the model section
  std::vector<std::string> notes;                 // what is missing or was assumed
};

// "torch.bfloat16", "bfloat16" → "bf16"; empty: no type that is known
std::string short_dtype(std::string_view name);

// Throws Error(kConfig) with file:line:column where the text is not JSON, or does not describe a transformer.
HfConfig read_hf_config(const std::filesystem::path& file);

// `where` names the text in errors.
HfConfig parse_hf_config(std::string_view text, const std::string& where);

}  // namespace nl::parsers
