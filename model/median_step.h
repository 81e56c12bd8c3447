#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/prediction.h"
#include "model/stage.h"

// The window of median length of the stage that is the program's unit of work, as it was captured: what a reader sees first. A lane fills the
// window from its begin to its end, as fine as a page can draw it. Its shares are those of the window.
namespace nl {

struct StepGpu {
  std::int32_t device = 0;
  std::uint32_t pid = 0;
  std::vector<Ns> end_ns;       // of each part, since the window's begin,
  std::vector<BudgetBin> bins;  // and what it is
};

struct MedianStep {
  std::string stage;
  Ns start_ns = 0, wall_ns = 0;     // since the start of the capture
  std::uint64_t windows = 0;        // measured ones that it is the median of
  std::optional<Budget> budget;     // of this window, the mean over its GPUs; empty: no GPU data in the capture
  std::vector<StepGpu> gpus;        // of its process, at most kMostDrawnGpus
  std::uint64_t gpus_left_out = 0;  // that it uses, too
  // Of its thread, with the CUDA calls of its process' other threads; empty: no CUDA calls in the capture.
  std::vector<Ns> host_end_ns;
  std::vector<Binding> host;
};

inline constexpr std::size_t kMostDrawnGpus = 8;

}  // namespace nl
