#include "workloads/llm_cuda.h"

#include <cstdio>
#include <cstdlib>

#include "nvtx/nl_nvtx.hpp"
#include "workloads/llm_kernels.cuh"

namespace nl::llm {
namespace {

using nvtx::Operator;

void require(cudaError_t result, const char* what, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "nl-llm-cuda: %s (line %d): %s\n", what, line, cudaGetErrorString(result));
  std::exit(1);
}
#define NL_CUDA(call) require(call, #call, __LINE__)
#define NL_LAUNCHED(kernel) require(cudaGetLastError(), kernel, __LINE__)

std::size_t size_of(int rows, int width) { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(width); }
unsigned blocks_for(int count, int each) { return static_cast<unsigned>((count + each - 1) / each); }

}  // namespace

template <typename T>
DeviceArray<T>::DeviceArray(std::size_t count) {
  if (count > 0) NL_CUDA(cudaMalloc(&data_, count * sizeof(T)));
}

template <typename T>
DeviceArray<T>::DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
  NL_CUDA(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}

DeviceLayer::DeviceLayer(const LayerWeights& weights)
    : attention_norm(weights.attention_norm), q(weights.q), k(weights.k), v(weights.v), o(weights.o), mlp_norm(weights.mlp_norm),
      gate(weights.gate), up(weights.up), down(weights.down) {}

DeviceWeights::DeviceWeights(const Weights& weights) : embedding(weights.embedding), final_norm(weights.final_norm), head(weights.head) {
  for (const LayerWeights& layer : weights.layers) layers.emplace_back(layer);
}

CudaModel::CudaModel(const Shape& shape, const DeviceWeights& weights, int capacity, bool graph)
    : shape_(shape), weights_(weights), capacity_(capacity), graph_wanted_(graph), tokens_(static_cast<std::size_t>(capacity)),
      position_(1), token_(1), x_(size_of(capacity, shape.hidden)), normed_(size_of(capacity, shape.hidden)),
      q_(size_of(capacity, shape.q_width())), k_(size_of(capacity, shape.kv_width())), v_(size_of(capacity, shape.kv_width())),
      attended_(size_of(capacity, shape.q_width())), gate_(size_of(capacity, shape.intermediate)),
      up_(size_of(capacity, shape.intermediate)), logits_(static_cast<std::size_t>(shape.vocab)) {
  NL_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  NL_CUDA(cudaMallocHost(&token_on_host_, sizeof(int)));
  for (int i = 0; i < shape.layers; ++i) {
    key_cache_.emplace_back(size_of(capacity, shape.kv_width()));
    value_cache_.emplace_back(size_of(capacity, shape.kv_width()));
  }
  // More than 48 KiB of shared memory has to be asked for; more than the device has is refused here.
  NL_CUDA(cudaFuncSetAttribute(attention, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(size_of(capacity, sizeof(float)))));
}

CudaModel::~CudaModel() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
  cudaFreeHost(token_on_host_);
  cudaStreamDestroy(stream_);
}

void CudaModel::reset() { NL_CUDA(cudaMemsetAsync(position_.get(), 0, sizeof(int), stream_)); }

void CudaModel::launch_prefill(const std::vector<int>& prompt) {
  NL_CUDA(cudaMemcpyAsync(tokens_.get(), prompt.data(), prompt.size() * sizeof(int), cudaMemcpyHostToDevice, stream_));
  int rows = static_cast<int>(prompt.size());
  {
    Operator op{"embedding"};
    embed_rows<<<static_cast<unsigned>(rows), 256, 0, stream_>>>(x_.get(), weights_.embedding.get(), tokens_.get(), shape_.hidden);
    NL_LAUNCHED("embed_rows");
  }
  forward(rows);
}

void CudaModel::launch_decode() {
  // The first step runs as it is, so that every kernel is loaded before it is captured.
  if (graph_wanted_ && warm_ && graph_ == nullptr) capture();
  warm_ = true;
  if (graph_ != nullptr) {
    NL_CUDA(cudaGraphLaunch(graph_, stream_));
    return;
  }
  embed_rows<<<1, 256, 0, stream_>>>(x_.get(), weights_.embedding.get(), token_.get(), shape_.hidden);
  NL_LAUNCHED("embed_rows");
  forward(1);
}

void CudaModel::capture() {
  cudaGraph_t graph = nullptr;
  graph_wanted_ = false;  // so that launch_decode() launches what is to be captured
  NL_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  launch_decode();
  NL_CUDA(cudaStreamEndCapture(stream_, &graph));
  NL_CUDA(cudaGraphInstantiateWithFlags(&graph_, graph, 0));
  NL_CUDA(cudaGraphDestroy(graph));
  graph_wanted_ = true;
}

int CudaModel::wait() {
  NL_CUDA(cudaMemcpyAsync(token_on_host_, token_.get(), sizeof(int), cudaMemcpyDeviceToHost, stream_));
  NL_CUDA(cudaStreamSynchronize(stream_));
  return *token_on_host_;
}

void CudaModel::forward(int rows) {
  for (int layer = 0; layer < shape_.layers; ++layer) {
    attention_block(layer, rows);
    mlp_block(layer, rows);
  }
  norm_rows(weights_.final_norm, x_.get() + size_of(rows - 1, shape_.hidden), 1);
  {
    Operator op{"lm_head"};
    multiply(logits_.get(), normed_.get(), weights_.head, 1, shape_.hidden, shape_.vocab, false);
  }
  Operator op{"argmax"};
  argmax<<<1, 256, 0, stream_>>>(token_.get(), logits_.get(), shape_.vocab);
  NL_LAUNCHED("argmax");
  advance<<<1, 1, 0, stream_>>>(position_.get(), rows);
  NL_LAUNCHED("advance");
}

void CudaModel::attention_block(int layer, int rows) {
  const DeviceLayer& weights = weights_.layers[static_cast<std::size_t>(layer)];
  float* keys = key_cache_[static_cast<std::size_t>(layer)].get();
  float* values = value_cache_[static_cast<std::size_t>(layer)].get();
  auto count = static_cast<unsigned>(rows), heads = static_cast<unsigned>(shape_.heads), kv_heads = static_cast<unsigned>(shape_.kv_heads);
  auto half = static_cast<unsigned>(shape_.head_dim / 2);
  norm_rows(weights.attention_norm, x_.get(), rows);
  {
    Operator op{"qkv_proj", layer};
    multiply(q_.get(), normed_.get(), weights.q, rows, shape_.hidden, shape_.q_width(), false);
    multiply(k_.get(), normed_.get(), weights.k, rows, shape_.hidden, shape_.kv_width(), false);
    multiply(v_.get(), normed_.get(), weights.v, rows, shape_.hidden, shape_.kv_width(), false);
  }
  {
    Operator op{"rope", layer};
    rope<<<dim3(heads, count), half, 0, stream_>>>(q_.get(), nullptr, position_.get(), shape_.head_dim, kRopeBase);
    rope<<<dim3(kv_heads, count), half, 0, stream_>>>(k_.get(), keys, position_.get(), shape_.head_dim, kRopeBase);
    store_values<<<count, 128, 0, stream_>>>(values, v_.get(), position_.get(), shape_.kv_width());
    NL_LAUNCHED("rope");
  }
  {
    Operator op{"attention", layer};
    attention<<<dim3(heads, count), 128, size_of(capacity_, sizeof(float)), stream_>>>(attended_.get(), q_.get(), keys, values,
                                                                                       position_.get(), shape_.kv_heads, shape_.head_dim);
    NL_LAUNCHED("attention");
  }
  Operator op{"o_proj", layer};
  multiply(x_.get(), attended_.get(), weights.o, rows, shape_.q_width(), shape_.hidden, true);
}

void CudaModel::mlp_block(int layer, int rows) {
  const DeviceLayer& weights = weights_.layers[static_cast<std::size_t>(layer)];
  norm_rows(weights.mlp_norm, x_.get(), rows);
  Operator op{"mlp", layer};
  multiply(gate_.get(), normed_.get(), weights.gate, rows, shape_.hidden, shape_.intermediate, false);
  multiply(up_.get(), normed_.get(), weights.up, rows, shape_.hidden, shape_.intermediate, false);
  int count = rows * shape_.intermediate;
  silu_multiply<<<blocks_for(count, 256), 256, 0, stream_>>>(gate_.get(), up_.get(), count);
  NL_LAUNCHED("silu_multiply");
  multiply(x_.get(), gate_.get(), weights.down, rows, shape_.intermediate, shape_.hidden, true);
}

void CudaModel::norm_rows(const DeviceArray<float>& weight, const float* in, int rows) {
  Operator op{"rms_norm"};
  rms_norm_rows<<<static_cast<unsigned>(rows), 256, 0, stream_>>>(normed_.get(), in, weight.get(), shape_.hidden, kNormEpsilon);
  NL_LAUNCHED("rms_norm_rows");
}

void CudaModel::multiply(float* out, const float* in, const DeviceArray<float>& matrix, int rows, int in_width, int out_width, bool add) {
  if (rows == 1) {
    unsigned blocks = blocks_for(out_width, 8);
    if (add) gemv<true><<<blocks, 256, 0, stream_>>>(out, in, matrix.get(), in_width, out_width);
    else gemv<false><<<blocks, 256, 0, stream_>>>(out, in, matrix.get(), in_width, out_width);
    NL_LAUNCHED("gemv");
    return;
  }
  dim3 blocks(blocks_for(out_width, kTile), blocks_for(rows, kTile)), threads(kTile, 8);
  if (add) gemm<true><<<blocks, threads, 0, stream_>>>(out, in, matrix.get(), rows, in_width, out_width);
  else gemm<false><<<blocks, threads, 0, stream_>>>(out, in, matrix.get(), rows, in_width, out_width);
  NL_LAUNCHED("gemm");
}

template class DeviceArray<float>;
template class DeviceArray<int>;

}  // namespace nl::llm
