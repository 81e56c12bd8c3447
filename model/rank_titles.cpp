#include "model/rank_titles.h"

#include <fmt/core.h>

#include <algorithm>

namespace nl {

std::string rank_title(const Trace& trace, std::uint32_t process) {
  if (process >= trace.processes.size() || !trace.processes[process].rank) return {};
  const std::uint32_t rank = *trace.processes[process].rank;
  const auto entry = std::find_if(trace.ranks.begin(), trace.ranks.end(), [&](const RankEntry& each) { return each.rank == rank; });
  return entry != trace.ranks.end() && number_known(*entry) ? fmt::format("rank {}", rank) : std::string();
}

std::string rank_or_process(const Trace& trace, std::uint32_t process) {
  std::string title = rank_title(trace, process);
  if (title.empty()) title = fmt::format("process {}", process < trace.processes.size() ? trace.processes[process].pid : 0);
  return title;
}

}  // namespace nl
