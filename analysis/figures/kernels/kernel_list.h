#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/account/gpu_sweep.h"
#include "analysis/staging/staged_trace.h"
#include "model/run.h"

namespace nl::analysis {

// Which kernels matter: the top N by GPU time inside these stages.
struct KernelChoice {
  std::vector<std::string> stages = {"prefill", "decode"};
  std::size_t top_n = 10;

  std::vector<std::uint32_t> stage_ids(const StageTable& table) const;  // of those that the trace has
};

struct KernelList {
  std::optional<std::vector<KernelEntry>> kernels;  // most time first, the chosen ones marked; nothing: not captured
  std::optional<Remark> missing;                    // why not
  std::optional<Remark> fallback;                   // no kernel ran in the stages: those of the whole capture are chosen
};

// Every kernel of the capture, by name and GPU. Their times include warm-up; kernels that run only in warm-up are chosen last.
KernelList list_kernels(const StagedTrace& staged, const GpuSweep& sweep, const KernelChoice& choice);

// The kernels alone, for passes that still have to choose what they measure.
std::optional<std::vector<KernelEntry>> list_kernels(const StagedTrace& staged, const KernelChoice& choice);

}  // namespace nl::analysis
