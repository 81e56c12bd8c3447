#pragma once

#include <cstring>

namespace nl::collector {

// Kernels that talk to those of other GPUs, by name. They are never measured alone: a launch that we hold until it has
// ended keeps its peers from being launched, and one that is replayed waits for ever.
inline bool talks_to_peers(const char* kernel) {
  constexpr const char* kParts[] = {"nccl",     "nvshmem",    "allreduce",      "all_reduce",          "allgather", "all_gather",
                                    "alltoall", "all_to_all", "reduce_scatter", "cross_device_reduce", "multimem"};
  for (const char* part : kParts)
    if (strcasestr(kernel, part) != nullptr) return true;
  return false;
}

}  // namespace nl::collector
