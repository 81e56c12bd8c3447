#include "analysis/ranks/shards.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/trace/communication_kernels.h"

namespace nl::analysis::ranks {

std::vector<bool> shards_of_others(const Trace& trace, std::uint64_t fewest) {
  std::vector<bool> shards(trace.processes.size(), false);
  const CommunicationKernels communication(trace);
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> members;  // number → processes
  for (const CollectiveCall& call : trace.collectives) {
    const Kernel& kernel = trace.kernels[call.kernel];
    const std::uint32_t process = trace.queues[static_cast<std::size_t>(kernel.queue)].process;
    if (communication.of(kernel) == Collective::kAllReduce && process < shards.size()) members[call.number].push_back(process);
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> shared;  // first process of the group, another one
  for (auto& [number, processes] : members) {
    const std::uint32_t first = *std::min_element(processes.begin(), processes.end());
    for (const std::uint32_t process : processes)
      if (process != first) ++shared[{first, process}];
  }
  for (const auto& [pair, count] : shared)
    if (count >= fewest) shards[pair.second] = true;
  return shards;
}

}  // namespace nl::analysis::ranks
