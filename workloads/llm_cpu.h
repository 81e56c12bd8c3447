#pragma once

#include <vector>

#include "workloads/llm_shape.h"
#include "workloads/thread_pool.h"

namespace nl::llm {

// One sequence on the CPU.
class CpuModel {
 public:
  CpuModel(const Shape& shape, const Weights& weights, int capacity, int threads);

  void reset() { length_ = 0; }
  int prefill(const std::vector<int>& prompt);  // returns the most likely next token
  int decode(int token);

  // Appends the tokens to the sequence and returns the logits after the last of them.
  const std::vector<float>& forward(const std::vector<int>& tokens);

 private:
  void embed(const std::vector<int>& tokens);
  void attention_block(int layer, int rows);
  void mlp_block(int layer, int rows);
  void rope(std::vector<float>& values, int heads, int rows);
  void attend(int layer, int rows);
  void norm_rows(const std::vector<float>& weight, int rows);
  void multiply(std::vector<float>& out, const std::vector<float>& in, const std::vector<float>& matrix, int rows, int out_width);

  Shape shape_;
  const Weights& weights_;
  int capacity_;
  int length_ = 0;  // tokens in the cache
  ThreadPool pool_;
  std::vector<std::vector<float>> key_cache_, value_cache_;  // per layer [position][kv_width]
  std::vector<float> x_, normed_, q_, k_, v_, attended_, projected_, gate_, up_, logits_;
};

}  // namespace nl::llm
