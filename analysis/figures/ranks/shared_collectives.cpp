#include "analysis/figures/ranks/shared_collectives.h"

#include <algorithm>
#include <limits>

#include "analysis/trace/communication_kernels.h"

namespace nl::analysis {

SharedCollectives::SharedCollectives(const Trace& trace) : trace_(trace), arrivals_(numbered_arrivals(trace)) {
  for (std::size_t i = 0; i < trace.ranks.size(); ++i) index_.emplace(trace.ranks[i].rank, i);
  for (const CollectiveCall& call : trace.collectives) {
    if (call.number >= calls_.size()) calls_.resize(call.number + 1);
    calls_[call.number].push_back(call.kernel);
  }
  // NCCL's all-to-all of two members is a send and a receive of each, in kernels of the same name.
  std::unordered_set<std::uint32_t> exchanges;
  for (const MessageSize& message : trace.messages)
    if (message.kind == Collective::kAllToAll) exchanges.insert(message.kernel);
  const CommunicationKernels kernels(trace);
  for (const Members& members : calls_) {
    const auto kind = members.size() > 1 ? kernels.of(trace.kernels[members[0]]) : std::nullopt;
    const bool exchange = kind == Collective::kAllToAll || (kind && exchanges.contains(members[0]));
    if (exchange || (kind == Collective::kSendRecv && members.size() > 2)) all_to_all_.insert(members[0]);
    else if (kind == Collective::kSendRecv) of_pairs_.insert(members.begin(), members.end());
  }
}

std::optional<std::size_t> SharedCollectives::rank_of_process(std::uint32_t process) const {
  if (process >= trace_.processes.size() || !trace_.processes[process].rank) return std::nullopt;
  const auto found = index_.find(*trace_.processes[process].rank);
  return found == index_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> SharedCollectives::rank_of(std::uint32_t kernel) const {
  return rank_of_process(trace_.queues[static_cast<std::size_t>(trace_.kernels[kernel].queue)].process);
}

std::optional<std::uint32_t> SharedCollectives::last_of(const Members& members) const {
  for (const std::uint32_t kernel : members)
    if (arrivals_.at(kernel).last && rank_of(kernel)) return kernel;
  return std::nullopt;
}

Ns SharedCollectives::first_arrival_ns(const Members& members) const {
  Ns first_ns = std::numeric_limits<Ns>::max();
  for (const std::uint32_t kernel : members) first_ns = std::min(first_ns, trace_.kernels[kernel].start_ns);
  return first_ns;
}

Ns SharedCollectives::waited_ns(std::uint32_t kernel) const {
  const Arrival* at = arrival(kernel);
  return at != nullptr ? std::min(at->late_peer_ns, static_cast<Ns>(trace_.kernels[kernel].duration_ns)) : 0;
}

}  // namespace nl::analysis
