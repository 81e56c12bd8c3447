#include "workloads/llm_shape.h"

#include <cmath>

namespace nl::llm {
namespace {

// splitmix64: the standard library's distributions differ from one implementation to the next.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  float centred() { return static_cast<float>(bits() >> 40) * (2.0F / 16777216.0F) - 1.0F; }

 private:
  std::uint64_t state_;
};

// Uniform with variance 1/in, so that activations neither grow nor die from layer to layer.
std::vector<float> matrix(Random& random, int out, int in) {
  std::vector<float> values(static_cast<std::size_t>(out) * static_cast<std::size_t>(in));
  float scale = std::sqrt(3.0F / static_cast<float>(in));
  for (float& value : values) value = random.centred() * scale;
  return values;
}

std::vector<float> norm(Random& random, int width) {
  std::vector<float> values(static_cast<std::size_t>(width));
  for (float& value : values) value = 1.0F + 0.1F * random.centred();
  return values;
}

}  // namespace

Shape shape_of(int layers, int hidden) {
  Shape shape;
  shape.layers = layers;
  shape.hidden = hidden;
  shape.heads = hidden / shape.head_dim;
  shape.kv_heads = shape.heads % 2 == 0 ? shape.heads / 2 : shape.heads;
  shape.intermediate = hidden * 11 / 4;
  return shape;
}

Weights random_weights(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Weights weights;
  weights.embedding = matrix(random, shape.vocab, shape.hidden);
  for (float& value : weights.embedding) value *= std::sqrt(static_cast<float>(shape.hidden));
  for (int i = 0; i < shape.layers; ++i) {
    LayerWeights layer;
    layer.attention_norm = norm(random, shape.hidden);
    layer.q = matrix(random, shape.q_width(), shape.hidden);
    layer.k = matrix(random, shape.kv_width(), shape.hidden);
    layer.v = matrix(random, shape.kv_width(), shape.hidden);
    layer.o = matrix(random, shape.hidden, shape.q_width());
    layer.mlp_norm = norm(random, shape.hidden);
    layer.gate = matrix(random, shape.intermediate, shape.hidden);
    layer.up = matrix(random, shape.intermediate, shape.hidden);
    layer.down = matrix(random, shape.hidden, shape.intermediate);
    weights.layers.push_back(std::move(layer));
  }
  weights.final_norm = norm(random, shape.hidden);
  weights.head = matrix(random, shape.vocab, shape.hidden);
  return weights;
}

std::vector<int> random_prompt(const Shape& shape, int length, std::uint64_t seed) {
  Random random(seed ^ 0x70726F6D7074ULL);
  std::vector<int> tokens(static_cast<std::size_t>(length));
  for (int& token : tokens) token = static_cast<int>(random.bits() % static_cast<std::uint64_t>(shape.vocab));
  return tokens;
}

std::uint64_t checksum(const std::vector<int>& tokens) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (int token : tokens) hash = (hash ^ static_cast<std::uint64_t>(token)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace nl::llm
