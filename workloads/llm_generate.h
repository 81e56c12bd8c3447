#pragma once

#include <chrono>
#include <vector>

#include "nvtx/nl_nvtx.hpp"

namespace nl::llm {

struct Generation {
  std::vector<int> tokens;
  double prefill_s = 0;
  double decode_s = 0;
};

// Greedy: the prompt at once, then one token after another, each from the one before. `Model` is CpuModel
// or its CUDA twin; its calls return when their token is known.
template <typename Model>
Generation generate(Model& model, const std::vector<int>& prompt, int steps) {
  using Clock = std::chrono::steady_clock;
  auto seconds_since = [](Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Generation result;
  nvtx::tokens(static_cast<std::int64_t>(prompt.size()), 1);
  model.reset();
  Clock::time_point begin = Clock::now();
  {
    nvtx::Scope prefill{nvtx::kPrefill};
    result.tokens.push_back(model.prefill(prompt));
  }
  result.prefill_s = seconds_since(begin);
  nvtx::mark("first token");
  begin = Clock::now();
  {
    nvtx::Scope decode{nvtx::kDecodeAll};
    for (int i = 0; i < steps; ++i) {
      nvtx::Scope step{nvtx::kDecodeStep, i};
      result.tokens.push_back(model.decode(result.tokens.back()));
    }
  }
  result.decode_s = seconds_since(begin);
  return result;
}

}  // namespace nl::llm
