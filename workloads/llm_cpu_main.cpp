// nl-llm-cpu: a small transformer on the CPU, with NVTX ranges, for profiling where there is no GPU.
#include "workloads/llm_cpu.h"
#include "workloads/llm_options.h"

int main(int argc, char** argv) {
  using namespace nl::llm;
  Options options = parse_options(argc, argv, Program::kCpu);
  Weights weights = random_weights(options.shape, options.seed);
  std::vector<int> prompt = random_prompt(options.shape, options.prompt, options.seed);
  CpuModel model(options.shape, weights, options.capacity(), options.threads);
  for (int i = 0; another_iteration(options, i); ++i) print_iteration(options, i, generate(model, prompt, options.steps));
  return 0;
}
