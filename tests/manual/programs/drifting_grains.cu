// Grains in a flow, in plain CUDA: no Python, no library, no marks. Each step moves the grains and counts them in cells; a function on the
// host sets the wind in between, and every 25th step writes a picture. Build: nvcc -O2 -o drifting_grains drifting_grains.cu
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kGrains = 1 << 22, kSide = 1024, kSteps = 410, kOutputEvery = 25;

struct Grain {
  float x, y, vx, vy;
};

__global__ void scatter(Grain* grains) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kGrains) return;
  const unsigned mixed = i * 2654435761u;
  grains[i] = {(mixed & 0xffff) / 65536.0f, (mixed >> 16) / 65536.0f, 0, 0};
}

__global__ void clear_cells(int* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kSide * kSide) cells[i] = 0;
}

__global__ void count_grains(const Grain* grains, int* cells) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kGrains) return;
  const int x = min(kSide - 1, int(grains[i].x * kSide)), y = min(kSide - 1, int(grains[i].y * kSide));
  atomicAdd(&cells[y * kSide + x], 1);
}

__global__ void smooth_cells(const int* cells, float* pressure) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = i % kSide, y = i / kSide;
  if (y >= kSide) return;
  float sum = 0;
  for (int dy = -2; dy <= 2; ++dy)
    for (int dx = -2; dx <= 2; ++dx) sum += cells[((y + dy + kSide) % kSide) * kSide + (x + dx + kSide) % kSide];
  pressure[i] = sum / 25;
}

__global__ void push_grains(Grain* grains, const float* pressure, float wind_x, float wind_y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kGrains) return;
  Grain grain = grains[i];
  const int x = min(kSide - 1, int(grain.x * kSide)), y = min(kSide - 1, int(grain.y * kSide));
  const float left = pressure[y * kSide + (x + kSide - 1) % kSide], right = pressure[y * kSide + (x + 1) % kSide];
  grain.vx = 0.99f * grain.vx + 1e-6f * (left - right) + wind_x;
  grain.vy = 0.99f * grain.vy + wind_y;
  grain.x = grain.x + grain.vx - floorf(grain.x + grain.vx);
  grain.y = grain.y + grain.vy - floorf(grain.y + grain.vy);
  grains[i] = grain;
}

__global__ void draw_picture(const float* pressure, unsigned char* picture) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kSide * kSide) picture[i] = static_cast<unsigned char>(fminf(255, 16 * pressure[i]));
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// About 2 ms on the host, in every step, while the GPU is idle.
float steer_wind(int step) {
  const double end = seconds() + 0.002;
  double wind = 0;
  while (seconds() < end) wind = std::sin(0.01 * step + wind);
  return static_cast<float>(1e-5 * wind);
}

unsigned blocks(int items) { return (items + 255) / 256; }

}  // namespace

int main() {
  Grain* grains;
  int* cells;
  float* pressure;
  unsigned char* picture;
  if (cudaMalloc(&grains, sizeof(Grain) * kGrains) != cudaSuccess) return 1;
  cudaMalloc(&cells, sizeof(int) * kSide * kSide);
  cudaMalloc(&pressure, sizeof(float) * kSide * kSide);
  cudaMalloc(&picture, kSide * kSide);
  std::vector<unsigned char> shown(kSide * kSide);
  scatter<<<blocks(kGrains), 256>>>(grains);
  cudaDeviceSynchronize();
  const double begin = seconds();
  int outputs = 0;
  for (int step = 0; step < kSteps; ++step) {
    const float wind = steer_wind(step);
    clear_cells<<<blocks(kSide * kSide), 256>>>(cells);
    count_grains<<<blocks(kGrains), 256>>>(grains, cells);
    smooth_cells<<<blocks(kSide * kSide), 256>>>(cells, pressure);
    push_grains<<<blocks(kGrains), 256>>>(grains, pressure, wind, -wind);
    cudaDeviceSynchronize();
    if (step % kOutputEvery != kOutputEvery - 1) continue;
    draw_picture<<<blocks(kSide * kSide), 256>>>(pressure, picture);
    cudaMemcpy(shown.data(), picture, shown.size(), cudaMemcpyDeviceToHost);
    ++outputs;
  }
  const double step_ms = 1e3 * (seconds() - begin) / kSteps;
  std::printf(
      "{\"kind\": \"unknown\", \"steps\": %d, \"unit\": \"step\", \"outputs\": %d, \"cause\": \"steer_wind, 2 ms on the host in every "
      "step\", "
      "\"step_ms\": %.3f}\n",
      kSteps, outputs, step_ms);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
