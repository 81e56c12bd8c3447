// nl-llm-cuda: the CUDA twin of nl-llm-cpu. Same model, same weights, same tokens (--check compares them).
#include <cstdio>
#include <deque>

#include "workloads/llm_cpu.h"
#include "workloads/llm_cuda.h"

namespace {

using namespace nl::llm;

// Several sequences as one model: each on its stream, all of them launched before any is waited for.
class Batch {
 public:
  Batch(const Options& options, const DeviceWeights& weights) {
    for (int i = 0; i < options.streams; ++i) {
      prompts.push_back(random_prompt(options.shape, options.prompt, options.seed + static_cast<std::uint64_t>(i)));
      models_.emplace_back(options.shape, weights, options.capacity(), options.graph);
    }
    tokens.resize(prompts.size());
  }
  void reset() {
    for (auto& sequence : tokens) sequence.clear();
    for (CudaModel& model : models_) model.reset();
  }
  int prefill(const std::vector<int>&) {
    for (std::size_t i = 0; i < models_.size(); ++i) models_[i].launch_prefill(prompts[i]);
    return wait();
  }
  int decode(int) {
    for (CudaModel& model : models_) model.launch_decode();
    return wait();
  }

  std::vector<std::vector<int>> prompts, tokens;

 private:
  int wait() {
    for (std::size_t i = 0; i < models_.size(); ++i) tokens[i].push_back(models_[i].wait());
    return tokens[0].back();
  }

  std::deque<CudaModel> models_;
};

bool same_as_cpu(const Options& options, const Weights& weights, const Batch& batch) {
  CpuModel model(options.shape, weights, options.capacity(), options.threads);
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    std::vector<int> expected = generate(model, batch.prompts[i], options.steps).tokens;
    for (std::size_t t = 0; t < expected.size(); ++t)
      if (expected[t] != batch.tokens[i][t]) {
        std::fprintf(stderr, "nl-llm-cuda: sequence %zu differs from the CPU's at token %zu: %d, not %d\n", i, t, batch.tokens[i][t],
                     expected[t]);
        return false;
      }
  }
  std::printf("check: %zu sequences of %d tokens equal the CPU's\n", batch.tokens.size(), options.steps + 1);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = parse_options(argc, argv, Program::kCuda);
  int devices = 0;
  cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "nl-llm-cuda: no usable GPU: %s\n", found != cudaSuccess ? cudaGetErrorString(found) : "none found");
    return 1;
  }
  Weights weights = random_weights(options.shape, options.seed);
  DeviceWeights on_device(weights);
  Batch batch(options, on_device);
  for (int i = 0; another_iteration(options, i); ++i) print_iteration(options, i, generate(batch, batch.prompts[0], options.steps));
  return options.check && !same_as_cpu(options, weights, batch) ? 3 : 0;
}
