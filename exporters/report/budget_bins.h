#pragma once

#include <array>

#include "model/stage.h"

// The bins of a budget as every report names them, in the order in which they are drawn.
namespace nl::exporters {

struct BudgetBin {
  const char* key;  // of its colour, and in class names
  const char* label;
  const char* meaning;  // one line, for the legend
  const char* plain;    // "the GPU …", for people who never saw a profiler
  Ns Budget::*time;
};

inline constexpr std::array<BudgetBin, 7> kBudgetBins = {{
    {"compute", "GPU compute", "a kernel runs", "the GPU computes", &Budget::gpu_compute_ns},
    {"copy", "exposed copies", "no kernel runs, but a copy or a memset does", "data is copied and nothing is computed",
     &Budget::exposed_copy_ns},
    {"queue", "queue wait", "GPU idle; its next work is already launched", "the GPU is between two pieces of work",
     &Budget::queue_wait_ns},
    {"sync", "blocked in sync", "GPU idle; the host waits inside a synchronising call",
     "the program waits for results instead of preparing more work", &Budget::sync_blocked_ns},
    {"starved", "launch-starved", "GPU idle; its next work is launched only afterwards",
     "the GPU waits for the program to hand it the next piece of work", &Budget::launch_starved_ns},
    {"host", "other host work", "GPU idle; nothing more is launched in the window",
     "the program works on the CPU and the GPU has nothing to do", &Budget::other_host_ns},
    {"residual", "residual", "GPU idle before work whose launch is not in the capture",
     "the measurement cannot tell why the GPU is idle", &Budget::residual_ns},
}};

}  // namespace nl::exporters
