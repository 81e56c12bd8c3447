#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// The model that nl-llm-cpu and nl-llm-cuda run: a decoder-only transformer as Llama has it (RMSNorm, RoPE,
// grouped-query attention with a KV cache, a gated SiLU MLP, a head of its own), float32, random weights.
namespace nl::llm {

struct Shape {
  int layers = 4;
  int hidden = 256;
  int heads = 8;
  int kv_heads = 4;
  int head_dim = 32;
  int intermediate = 704;
  int vocab = 1024;

  int q_width() const { return heads * head_dim; }
  int kv_width() const { return kv_heads * head_dim; }
};

inline constexpr float kNormEpsilon = 1e-5F;
inline constexpr float kRopeBase = 10000.0F;

// The same proportions at another width: heads of 32, two query heads to a key head, 11/4 for the MLP.
Shape shape_of(int layers, int hidden);

// Matrices are [out][in], row-major.
struct LayerWeights {
  std::vector<float> attention_norm, q, k, v, o;
  std::vector<float> mlp_norm, gate, up, down;
};

struct Weights {
  std::vector<float> embedding;  // [vocab][hidden]
  std::vector<LayerWeights> layers;
  std::vector<float> final_norm;
  std::vector<float> head;  // [vocab][hidden]
};

// The same seed gives the same numbers on every machine.
Weights random_weights(const Shape& shape, std::uint64_t seed);
std::vector<int> random_prompt(const Shape& shape, int length, std::uint64_t seed);

std::uint64_t checksum(const std::vector<int>& tokens);

}  // namespace nl::llm
