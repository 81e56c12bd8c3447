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

std::string rank_text(const RankEntry& rank) {
  return number_known(rank) || rank.pids.empty() ? fmt::format("rank {}", rank.rank) : fmt::format("process {}", rank.pids[0]);
}

std::string rank_texts(const std::vector<RankEntry>& ranks, const std::vector<std::uint32_t>& numbers) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names;
  for (const RankEntry& rank : ranks)
    if (std::find(numbers.begin(), numbers.end(), rank.rank) != numbers.end()) names.push_back(rank_text(rank));
  if (names.size() > kMost) return fmt::format("{} … {} ({} ranks)", names.front(), names.back(), names.size());
  std::string all;
  for (std::size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 < names.size() ? ", " : " and ") + names[i];
  return all;
}

std::string gpu_name(const std::vector<RankEntry>& ranks, std::int32_t device, std::uint32_t pid) {
  if (pid == 0) return fmt::format("GPU {}", device);
  const RankEntry* rank = rank_of(ranks, pid);
  if (rank == nullptr || !number_known(*rank)) return fmt::format("GPU {} (process {})", device, pid);
  return fmt::format("GPU {} (rank {}, process {})", device, rank->rank, pid);
}

}  // namespace nl
