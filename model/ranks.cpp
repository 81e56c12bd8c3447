#include "model/ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace nl {

const RankEntry* rank_of(const std::vector<RankEntry>& ranks, std::uint32_t pid) {
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const RankEntry& rank) {
    return std::find(rank.pids.begin(), rank.pids.end(), pid) != rank.pids.end();
  });
  return found != ranks.end() ? &*found : nullptr;
}

std::string gpu_name(const std::vector<RankEntry>& ranks, std::int32_t device, std::uint32_t pid) {
  if (pid == 0) return fmt::format("GPU {}", device);
  const RankEntry* rank = rank_of(ranks, pid);
  if (rank == nullptr || !number_known(*rank)) return fmt::format("GPU {} (process {})", device, pid);
  return fmt::format("GPU {} (rank {}, process {})", device, rank->rank, pid);
}

}  // namespace nl
