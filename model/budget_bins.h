#pragma once

#include <array>

#include "model/stage.h"

namespace nl {

// The bins in the order of run.json, and of kBudgetBinKeys.
enum class BudgetBin : std::uint8_t {
  kCompute,
  kCommunication,
  kExposedCopy,
  kQueueWait,
  kSyncBlocked,
  kLaunchStarved,
  kOtherHost,
  kResidual,
  kLaunchLatency,
};
inline constexpr std::size_t kBudgetBins = 9;

// A bin of a budget by its key in run.json.
struct BudgetBinKey {
  const char* key;
  Ns Budget::* time_ns;
};

// In the order of that file.
inline constexpr std::array<BudgetBinKey, kBudgetBins> kBudgetBinKeys = {{{"gpu_compute_ns", &Budget::gpu_compute_ns},
                                                                          {"communication_ns", &Budget::communication_ns},
                                                                          {"exposed_copy_ns", &Budget::exposed_copy_ns},
                                                                          {"queue_wait_ns", &Budget::queue_wait_ns},
                                                                          {"sync_blocked_ns", &Budget::sync_blocked_ns},
                                                                          {"launch_starved_ns", &Budget::launch_starved_ns},
                                                                          {"other_host_ns", &Budget::other_host_ns},
                                                                          {"residual_ns", &Budget::residual_ns},
                                                                          {"launch_latency_ns", &Budget::launch_latency_ns}}};

}  // namespace nl
