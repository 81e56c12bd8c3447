#pragma once

#include <cmath>

#include "model/comparison.h"

namespace nl::test {

// Ten runs a side, and one kernel that takes 0.3 ms more of a step of 10 ms in B.
inline Comparison slower_kernel() {
  Comparison out;
  for (int i = 0; i < 10; ++i) {
    out.a.runs.push_back({"a" + std::to_string(i), "a", "", static_cast<std::uint64_t>(2 * i + 1), false});
    out.b.runs.push_back({"b" + std::to_string(i), "b", "", static_cast<std::uint64_t>(2 * i + 2), false});
  }
  out.basis = CompareBasis::kRuns;
  out.order = RunOrder::kInterleaved;
  out.verdict = CompareVerdict::kRegressed;
  out.reason = LineReason::kDecided;
  out.main_stage = "decode_step";
  CompareLine step;
  step.key = step.stage = "decode_step";
  step.a = CompareEstimate{10e6, 9.9e6, 10.1e6, 10};
  step.b = CompareEstimate{10.3e6, 10.2e6, 10.4e6, 10};
  step.change = CompareChange{std::log(1.03), std::log(1.02), std::log(1.04), 0.95};
  step.p_value = step.q_value = 0.001;
  step.verdict = CompareVerdict::kRegressed;
  step.reason = LineReason::kDecided;
  out.stages.lines = {step};
  out.waterfall = Waterfall{"decode_step",
                            10'000'000,
                            10'300'000,
                            {{WaterfallPart::kKernels, "void gemm<float>(int)", KernelRelation::kSame, 6'000'000, 6'300'000},
                             {WaterfallPart::kBin, "launch_starved_ns", KernelRelation::kSame, 4'000'000, 4'000'000}}};
  for (CompareSection* section : {&out.headline, &out.budget, &out.operators, &out.layers, &out.api, &out.nsys_counters, &out.ncu_counters,
                                  &out.efficiency, &out.energy, &out.host_code})
    section->missing = LineReason::kNotCaptured;
  out.kernels_missing = LineReason::kNotCaptured;
  return out;
}

}  // namespace nl::test
