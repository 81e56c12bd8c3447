#pragma once

#include <map>
#include <string>

// Attributes of public models, as conf/model/llm/*.yaml has them.
namespace nl::test {

using Attributes = std::map<std::string, std::string>;

inline Attributes llama_8b() {
  return {{"architecture", "llama"}, {"dtype", "bf16"},       {"layers", "32"},    {"hidden_size", "4096"},
          {"heads", "32"},           {"kv_heads", "8"},       {"head_dim", "128"}, {"intermediate_size", "14336"},
          {"mlp", "gated"},          {"vocab_size", "128256"}};
}

inline Attributes mixtral() {
  Attributes shape = llama_8b();
  shape["vocab_size"] = "32000";
  shape["experts"] = "8";
  shape["experts_per_token"] = "2";
  return shape;
}

inline Attributes deepseek_v3() {
  return {{"architecture", "deepseek_v3"},
          {"dtype", "fp8"},
          {"layers", "61"},
          {"hidden_size", "7168"},
          {"heads", "128"},
          {"q_lora_rank", "1536"},
          {"kv_lora_rank", "512"},
          {"qk_nope_head_dim", "128"},
          {"qk_rope_head_dim", "64"},
          {"v_head_dim", "128"},
          {"intermediate_size", "18432"},
          {"mlp", "gated"},
          {"experts", "256"},
          {"experts_per_token", "8"},
          {"moe_intermediate_size", "2048"},
          {"shared_experts", "1"},
          {"first_dense_layers", "3"},
          {"vocab_size", "129280"}};
}

inline Attributes with(Attributes shape, const Attributes& more) {
  for (const auto& [key, value] : more) shape[key] = value;
  return shape;
}

}  // namespace nl::test
