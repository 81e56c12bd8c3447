#include "workloads/llm_cpu.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "nvtx/nl_nvtx.hpp"

namespace nl::llm {
namespace {

using nvtx::Operator;

std::size_t size_of(int rows, int width) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width); }
float* row(std::vector<float>& values, int index, int width) { return values.data() + size_of(index, width); }
const float* row(const std::vector<float>& values, int index, int width) { return values.data() + size_of(index, width); }

// Sixteen sums side by side: vectors, without allowing the compiler to reorder additions.
float dot(const float* a, const float* b, int n) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (float lane : lanes) sum += lane;
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

void softmax(float* values, int n) {
  float largest = *std::max_element(values, values + n);
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i] = std::exp(values[i] - largest);
  for (int i = 0; i < n; ++i) values[i] /= sum;
}

void add(std::vector<float>& to, const std::vector<float>& from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] += from[i];
}

int most_likely(const std::vector<float>& logits) {
  return static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

}  // namespace

CpuModel::CpuModel(const Shape& shape, const Weights& weights, int capacity, int threads)
    : shape_(shape), weights_(weights), capacity_(capacity), pool_(threads) {
  for (auto* cache : {&key_cache_, &value_cache_})
    cache->assign(static_cast<std::size_t>(shape.layers), std::vector<float>(size_of(capacity, shape.kv_width())));
}

int CpuModel::prefill(const std::vector<int>& prompt) { return most_likely(forward(prompt)); }

int CpuModel::decode(int token) { return most_likely(forward({token})); }

const std::vector<float>& CpuModel::forward(const std::vector<int>& tokens) {
  int rows = static_cast<int>(tokens.size());
  if (rows == 0 || length_ + rows > capacity_) throw std::length_error("the sequence does not fit the KV cache");
  embed(tokens);
  for (int layer = 0; layer < shape_.layers; ++layer) {
    attention_block(layer, rows);
    mlp_block(layer, rows);
  }
  length_ += rows;
  x_.erase(x_.begin(), x_.end() - shape_.hidden);  // only the last token's logits are wanted
  norm_rows(weights_.final_norm, 1);
  Operator op{"lm_head"};
  multiply(logits_, normed_, weights_.head, 1, shape_.vocab);
  return logits_;
}

void CpuModel::embed(const std::vector<int>& tokens) {
  Operator op{"embedding"};
  x_.clear();
  for (int token : tokens) {
    const float* from = row(weights_.embedding, token, shape_.hidden);
    x_.insert(x_.end(), from, from + shape_.hidden);
  }
}

void CpuModel::attention_block(int layer, int rows) {
  const LayerWeights& weights = weights_.layers[static_cast<std::size_t>(layer)];
  norm_rows(weights.attention_norm, rows);
  {
    Operator op{"qkv_proj", layer};
    multiply(q_, normed_, weights.q, rows, shape_.q_width());
    multiply(k_, normed_, weights.k, rows, shape_.kv_width());
    multiply(v_, normed_, weights.v, rows, shape_.kv_width());
  }
  {
    Operator op{"rope", layer};
    rope(q_, shape_.heads, rows);
    rope(k_, shape_.kv_heads, rows);
  }
  {
    Operator op{"attention", layer};
    attend(layer, rows);
  }
  Operator op{"o_proj", layer};
  multiply(projected_, attended_, weights.o, rows, shape_.hidden);
  add(x_, projected_, size_of(rows, shape_.hidden));
}

void CpuModel::mlp_block(int layer, int rows) {
  const LayerWeights& weights = weights_.layers[static_cast<std::size_t>(layer)];
  norm_rows(weights.mlp_norm, rows);
  Operator op{"mlp", layer};
  multiply(gate_, normed_, weights.gate, rows, shape_.intermediate);
  multiply(up_, normed_, weights.up, rows, shape_.intermediate);
  for (std::size_t i = 0; i < gate_.size(); ++i) gate_[i] *= up_[i] / (1.0F + std::exp(-gate_[i]));
  multiply(projected_, gate_, weights.down, rows, shape_.hidden);
  add(x_, projected_, size_of(rows, shape_.hidden));
}

void CpuModel::norm_rows(const std::vector<float>& weight, int rows) {
  Operator op{"rms_norm"};
  int width = shape_.hidden;
  normed_.resize(size_of(rows, width));
  for (int r = 0; r < rows; ++r) {
    const float* in = row(x_, r, width);
    float* out = row(normed_, r, width);
    float scale = 1.0F / std::sqrt(dot(in, in, width) / static_cast<float>(width) + kNormEpsilon);
    for (int i = 0; i < width; ++i) out[i] = in[i] * scale * weight[static_cast<std::size_t>(i)];
  }
}

void CpuModel::multiply(std::vector<float>& out, const std::vector<float>& in, const std::vector<float>& matrix, int rows, int out_width) {
  int in_width = static_cast<int>(matrix.size()) / out_width;
  out.resize(size_of(rows, out_width));
  pool_.run(out_width, [&](int begin, int end) {
    for (int o = begin; o < end; ++o)
      for (int r = 0; r < rows; ++r) row(out, r, out_width)[o] = dot(row(in, r, in_width), row(matrix, o, in_width), in_width);
  });
}

// Rotates the two halves of every head against each other, by an angle that grows with the position.
void CpuModel::rope(std::vector<float>& values, int heads, int rows) {
  int half = shape_.head_dim / 2;
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < half; ++i) {
      float angle =
          static_cast<float>(length_ + r) * std::pow(kRopeBase, -2.0F * static_cast<float>(i) / static_cast<float>(shape_.head_dim));
      float cosine = std::cos(angle), sine = std::sin(angle);
      for (int h = 0; h < heads; ++h) {
        float* head = row(values, r * heads + h, shape_.head_dim);
        float a = head[i], b = head[i + half];
        head[i] = a * cosine - b * sine;
        head[i + half] = b * cosine + a * sine;
      }
    }
}

void CpuModel::attend(int layer, int rows) {
  std::vector<float>& keys = key_cache_[static_cast<std::size_t>(layer)];
  std::vector<float>& values = value_cache_[static_cast<std::size_t>(layer)];
  std::copy_n(k_.begin(), size_of(rows, shape_.kv_width()), row(keys, length_, shape_.kv_width()));
  std::copy_n(v_.begin(), size_of(rows, shape_.kv_width()), row(values, length_, shape_.kv_width()));
  attended_.assign(size_of(rows, shape_.q_width()), 0.0F);
  int dim = shape_.head_dim, group = shape_.heads / shape_.kv_heads;
  float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  pool_.run(shape_.heads, [&](int begin, int end) {
    std::vector<float> scores(static_cast<std::size_t>(length_ + rows));
    for (int h = begin; h < end; ++h)
      for (int r = 0; r < rows; ++r) {
        int seen = length_ + r + 1;  // a token attends to itself and to all before it
        const float* query = row(q_, r * shape_.heads + h, dim);
        float* out = row(attended_, r * shape_.heads + h, dim);
        for (int t = 0; t < seen; ++t)
          scores[static_cast<std::size_t>(t)] = scale * dot(query, row(keys, t * shape_.kv_heads + h / group, dim), dim);
        softmax(scores.data(), seen);
        for (int t = 0; t < seen; ++t) {
          const float* value = row(values, t * shape_.kv_heads + h / group, dim);
          for (int i = 0; i < dim; ++i) out[i] += scores[static_cast<std::size_t>(t)] * value[i];
        }
      }
  });
}

}  // namespace nl::llm
