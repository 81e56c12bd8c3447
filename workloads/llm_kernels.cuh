#pragma once

#include <cuda_runtime.h>

// The kernels of nl-llm-cuda: plain CUDA, float32, no library. Activations are [row][width], matrices
// [out][in], both row-major. Where a kernel needs the position of its first row it reads it from device
// memory, so that one CUDA graph serves every decode step.
namespace nl::llm {

__device__ inline float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, offset);
  return value;
}

// The sum over the block, on every thread. `scratch` holds 32 floats.
__device__ inline float block_sum(float value, float* scratch) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  value = warp_sum(value);
  __syncthreads();
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < warps; ++i) sum += scratch[i];
  return sum;
}

__device__ inline float block_max(float value, float* scratch) {
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, offset));
  __syncthreads();
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  float largest = scratch[0];
  for (int i = 1; i < warps; ++i) largest = fmaxf(largest, scratch[i]);
  return largest;
}

// One block a row.
__global__ void embed_rows(float* out, const float* embedding, const int* tokens, int width) {
  const float* from = embedding + static_cast<size_t>(tokens[blockIdx.x]) * width;
  float* to = out + static_cast<size_t>(blockIdx.x) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) to[i] = from[i];
}

// One block a row.
__global__ void rms_norm_rows(float* out, const float* in, const float* weight, int width, float epsilon) {
  __shared__ float scratch[32];
  const float* from = in + static_cast<size_t>(blockIdx.x) * width;
  float* to = out + static_cast<size_t>(blockIdx.x) * width;
  float sum = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += from[i] * from[i];
  float scale = 1.0F / sqrtf(block_sum(sum, scratch) / static_cast<float>(width) + epsilon);
  for (int i = threadIdx.x; i < width; i += blockDim.x) to[i] = from[i] * scale * weight[i];
}

// One row times a matrix: one warp for each output. kAdd: onto what is there, for the residual.
template <bool kAdd>
__global__ void gemv(float* out, const float* in, const float* matrix, int in_width, int out_width) {
  int o = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (o >= out_width) return;
  const float* weights = matrix + static_cast<size_t>(o) * in_width;
  float sum = 0;
  for (int i = lane; i < in_width; i += 32) sum += in[i] * weights[i];
  sum = warp_sum(sum);
  if (lane == 0) out[o] = kAdd ? out[o] + sum : sum;
}

constexpr int kTile = 32;

// Many rows times a matrix, in tiles of 32 x 32; blocks of (32, 8), four rows of the tile to a thread.
template <bool kAdd>
__global__ void gemm(float* out, const float* in, const float* matrix, int rows, int in_width, int out_width) {
  __shared__ float a[kTile][kTile + 1], b[kTile][kTile + 1];
  int row0 = blockIdx.y * kTile, out0 = blockIdx.x * kTile;
  float sums[4] = {};
  for (int k0 = 0; k0 < in_width; k0 += kTile) {
    int k = k0 + threadIdx.x;
    for (int y = threadIdx.y; y < kTile; y += 8) {
      a[y][threadIdx.x] = row0 + y < rows && k < in_width ? in[static_cast<size_t>(row0 + y) * in_width + k] : 0.0F;
      b[y][threadIdx.x] = out0 + y < out_width && k < in_width ? matrix[static_cast<size_t>(out0 + y) * in_width + k] : 0.0F;
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i)
      for (int j = 0; j < 4; ++j) sums[j] += a[threadIdx.y + 8 * j][i] * b[threadIdx.x][i];
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    int r = row0 + threadIdx.y + 8 * j, o = out0 + threadIdx.x;
    if (r >= rows || o >= out_width) continue;
    float* to = out + static_cast<size_t>(r) * out_width + o;
    *to = kAdd ? *to + sums[j] : sums[j];
  }
}

// grid (heads, rows), head_dim / 2 threads: rotates in place and, for keys, leaves the result in the cache.
__global__ void rope(float* values, float* cache, const int* position, int head_dim, float base) {
  int i = threadIdx.x, half = head_dim / 2;
  int at = *position + static_cast<int>(blockIdx.y);
  size_t head = static_cast<size_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  float* from = values + head * head_dim;
  float angle = static_cast<float>(at) * powf(base, -2.0F * static_cast<float>(i) / static_cast<float>(head_dim));
  float cosine = cosf(angle), sine = sinf(angle);
  float a = from[i], b = from[i + half];
  float low = a * cosine - b * sine, high = b * cosine + a * sine;
  from[i] = low;
  from[i + half] = high;
  if (cache == nullptr) return;
  float* to = cache + (static_cast<size_t>(at) * gridDim.x + blockIdx.x) * head_dim;
  to[i] = low;
  to[i + half] = high;
}

// One block a row: values go to the cache as they are.
__global__ void store_values(float* cache, const float* values, const int* position, int width) {
  size_t at = static_cast<size_t>(*position) + blockIdx.x;
  for (int i = threadIdx.x; i < width; i += blockDim.x) cache[at * width + i] = values[static_cast<size_t>(blockIdx.x) * width + i];
}

// grid (heads, rows): one query against all keys up to its own. Dynamic shared memory: a float for every
// position of the cache.
__global__ void attention(float* out, const float* q, const float* keys, const float* values, const int* position, int kv_heads,
                          int head_dim) {
  extern __shared__ float scores[];
  __shared__ float scratch[32];
  int heads = gridDim.x, kv_head = blockIdx.x / (heads / kv_heads);
  int seen = *position + static_cast<int>(blockIdx.y) + 1;
  size_t head = static_cast<size_t>(blockIdx.y) * heads + blockIdx.x;
  const float* query = q + head * head_dim;
  float scale = 1.0F / sqrtf(static_cast<float>(head_dim));
  float largest = -INFINITY;
  for (int t = threadIdx.x; t < seen; t += blockDim.x) {
    const float* key = keys + (static_cast<size_t>(t) * kv_heads + kv_head) * head_dim;
    float score = 0;
    for (int i = 0; i < head_dim; ++i) score += query[i] * key[i];
    scores[t] = score * scale;
    largest = fmaxf(largest, scores[t]);
  }
  largest = block_max(largest, scratch);
  float sum = 0;
  for (int t = threadIdx.x; t < seen; t += blockDim.x) sum += scores[t] = expf(scores[t] - largest);
  sum = block_sum(sum, scratch);  // its barriers also make every score visible
  for (int i = threadIdx.x; i < head_dim; i += blockDim.x) {
    float value = 0;
    for (int t = 0; t < seen; ++t) value += scores[t] * values[(static_cast<size_t>(t) * kv_heads + kv_head) * head_dim + i];
    out[head * head_dim + i] = value / sum;
  }
}

__global__ void silu_multiply(float* gate, const float* up, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) gate[i] *= up[i] / (1.0F + expf(-gate[i]));
}

// One block: the most likely token (the first of equals), which becomes the next input.
__global__ void argmax(int* token, const float* logits, int count) {
  __shared__ float values[256];
  __shared__ int indices[256];
  float best = -INFINITY;
  int index = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    if (logits[i] > best) {
      best = logits[i];
      index = i;
    }
  values[threadIdx.x] = best;
  indices[threadIdx.x] = index;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      int other = threadIdx.x + half;
      bool better = values[other] > values[threadIdx.x] || (values[other] == values[threadIdx.x] && indices[other] < indices[threadIdx.x]);
      if (better) {
        values[threadIdx.x] = values[other];
        indices[threadIdx.x] = indices[other];
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *token = indices[0];
}

__global__ void advance(int* position, int by) { *position += by; }

}  // namespace nl::llm
