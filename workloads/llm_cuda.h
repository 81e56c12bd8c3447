#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

#include "workloads/llm_options.h"
#include "workloads/llm_shape.h"

namespace nl::llm {

// Device memory, freed with it. Errors of CUDA end the program with the call and the reason.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count = 0);
  explicit DeviceArray(const std::vector<T>& values);
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray& operator=(DeviceArray&&) = delete;
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

struct DeviceLayer {
  explicit DeviceLayer(const LayerWeights& weights);
  DeviceArray<float> attention_norm, q, k, v, o, mlp_norm, gate, up, down;
};

struct DeviceWeights {
  explicit DeviceWeights(const Weights& weights);
  DeviceArray<float> embedding, final_norm, head;
  std::vector<DeviceLayer> layers;
};

// One sequence on one stream.
class CudaModel {
 public:
  CudaModel(const Shape& shape, const DeviceWeights& weights, int capacity, bool graph);
  ~CudaModel();
  CudaModel(const CudaModel&) = delete;
  CudaModel& operator=(const CudaModel&) = delete;

  void reset();
  int prefill(const std::vector<int>& prompt) { return launch_prefill(prompt), wait(); }
  int decode(int) { return launch_decode(), wait(); }  // the token is on the device already

  // For several sequences at once: launch them all, then wait for each.
  void launch_prefill(const std::vector<int>& prompt);
  void launch_decode();
  int wait();

 private:
  void forward(int rows);
  void attention_block(int layer, int rows);
  void mlp_block(int layer, int rows);
  void norm_rows(const DeviceArray<float>& weight, const float* in, int rows);
  void multiply(float* out, const float* in, const DeviceArray<float>& matrix, int rows, int in_width, int out_width, bool add);
  void capture();

  Shape shape_;
  const DeviceWeights& weights_;
  int capacity_;
  bool graph_wanted_;
  bool warm_ = false;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  int* token_on_host_ = nullptr;  // pinned
  DeviceArray<int> tokens_, position_, token_;
  DeviceArray<float> x_, normed_, q_, k_, v_, attended_, gate_, up_, logits_;
  std::vector<DeviceArray<float>> key_cache_, value_cache_;
};

}  // namespace nl::llm
