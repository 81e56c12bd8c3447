#pragma once

#include <array>

#include "model/stage.h"

// The bins of a budget as every report names them, in the order in which they are drawn.
namespace nl::exporters::report {

struct BudgetBin {
  const char* key;  // of its colour, and in class names
  const char* label;
  const char* meaning;  // one line, for the legend
  const char* plain;    // "the GPU … 81 %", for people who never saw a profiler
  Ns Budget::* time;
};

inline constexpr std::array<BudgetBin, 9> kBudgetBins = {{
    {"compute", "GPU compute", "a kernel runs", "computes", &Budget::gpu_compute_ns},
    {"communication", "exposed communication", "communication with other GPUs runs and no compute kernel",
     "only exchanges data with other GPUs", &Budget::communication_ns},
    {"copy", "exposed copies", "a copy or memset runs and no kernel", "only copies data", &Budget::exposed_copy_ns},
    {"queue", "queue wait", "GPU idle; its next work is already launched", "pauses between two pieces of work", &Budget::queue_wait_ns},
    {"sync", "blocked in sync", "GPU idle; the host waits inside a synchronising call", "waits while the program collects results",
     &Budget::sync_blocked_ns},
    {"starved", "launch-starved", "GPU idle; the host has not begun to launch its next work", "waits for the program",
     &Budget::launch_starved_ns},
    {"latency", "launch latency", "GPU idle; the host has begun to launch its next work, which has not started",
     "waits for launched work to start", &Budget::launch_latency_ns},
    {"host", "other host work", "GPU idle; nothing more is launched in the window", "waits for other work on the CPU",
     &Budget::other_host_ns},
    {"residual", "residual", "GPU idle; the launch of its next work is not in the capture", "is idle for a reason that was not captured",
     &Budget::residual_ns},
}};

}  // namespace nl::exporters::report
