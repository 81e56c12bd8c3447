#include "analysis/account/peer_waits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

using Times = std::vector<std::pair<Ns, Ns>>;  // start and end of a rank's collectives of one kind, by start

bool can_be_paired(const std::vector<const Times*>& ranks) {
  if (ranks.size() < 2) return false;
  for (const Times* rank : ranks)
    if (rank->size() != ranks[0]->size()) return false;
  for (std::size_t i = 0; i < ranks[0]->size(); ++i) {
    Ns last_start = (*ranks[0])[i].first, first_end = (*ranks[0])[i].second;
    for (const Times* rank : ranks) {
      last_start = std::max(last_start, (*rank)[i].first);
      first_end = std::min(first_end, (*rank)[i].second);
    }
    if (last_start > first_end) return false;
  }
  return true;
}

// Where ranks arrive at the same instant, none of them is the last.
Arrival arrival_of(const std::vector<const Times*>& ranks, std::size_t rank, std::size_t number) {
  const Ns start = (*ranks[rank])[number].first;
  Ns last = std::numeric_limits<Ns>::min();  // of the others
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (i != rank) last = std::max(last, (*ranks[i])[number].first);
  if (last < start) return {0, true, start - last};
  return {last - start, false, 0};
}

// How far the clock of a process's rank may be off: 3 sigma of it.
double clock_error(const Trace& trace, std::uint64_t queue) {
  const std::uint32_t process = trace.queues[static_cast<std::size_t>(queue)].process;
  if (process >= trace.processes.size() || !trace.processes[process].rank) return 0;
  for (const RankEntry& entry : trace.ranks)
    if (entry.rank == *trace.processes[process].rank) return 3 * entry.residual_ns.value_or(0);
  return 0;
}

}  // namespace

std::unordered_map<std::uint32_t, Arrival> numbered_arrivals(const Trace& trace) {
  struct Last {
    Ns start_ns = std::numeric_limits<Ns>::min(), before_ns = std::numeric_limits<Ns>::min();
    std::uint32_t kernel = kNone;
  };
  std::unordered_map<std::uint32_t, Last> last;
  for (const CollectiveCall& call : trace.collectives) {
    const Ns start_ns = trace.kernels[call.kernel].start_ns;
    Last& of = last[call.number];
    if (start_ns > of.start_ns) of = {start_ns, of.start_ns, call.kernel};
    else of.before_ns = std::max(of.before_ns, start_ns);
  }
  std::vector<double> errors;
  for (std::size_t queue = 0; queue < trace.queues.size(); ++queue) errors.push_back(clock_error(trace, queue));
  std::unordered_map<std::uint32_t, Arrival> arrivals;
  for (const CollectiveCall& call : trace.collectives) {
    const Last& of = last[call.number];
    const Kernel& kernel = trace.kernels[call.kernel];
    const Ns behind_ns = of.start_ns - of.before_ns;
    const bool alone = of.kernel == call.kernel && static_cast<double>(behind_ns) > errors[kernel.queue];
    arrivals[call.kernel] = {of.start_ns - kernel.start_ns, alone, alone ? behind_ns : 0};
  }
  return arrivals;
}

PeerWaits::PeerWaits(const Trace& trace, const GpuLanes& lanes, const CommunicationKernels& kernels) {
  if (!kernels.any() || lanes.size() < 2) return;
  first_kernel_ = trace.kernels.data();
  numbered_ = numbered_arrivals(trace);
  std::array<bool, kCollectives> has_numbers = {};
  for (const CollectiveCall& call : trace.collectives)
    if (const auto kind = kernels.of(trace.kernels[call.kernel])) has_numbers[static_cast<std::size_t>(*kind)] = true;
  std::vector<std::array<Times, kCollectives>> times(lanes.size());
  for (const std::uint32_t i : start_order_of(trace.kernels, [&](const Kernel& kernel) { return kernels.of(kernel).has_value(); })) {
    const Kernel& kernel = trace.kernels[i];
    times[lanes.of_queue(kernel.queue)][static_cast<std::size_t>(*kernels.of(kernel))].emplace_back(kernel.start_ns, kernel.end_ns());
  }
  rows_.resize(lanes.size());
  for (std::size_t kind = 0; kind < kCollectives; ++kind) {
    if (has_numbers[kind]) continue;
    std::vector<const Times*> ranks;
    std::vector<std::size_t> lane_of_rank;
    for (std::size_t lane = 0; lane < times.size(); ++lane) {
      if (times[lane][kind].empty()) continue;
      ranks.push_back(&times[lane][kind]);
      lane_of_rank.push_back(lane);
    }
    if (!can_be_paired(ranks)) continue;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      for (std::size_t i = 0; i < ranks[rank]->size(); ++i) rows_[lane_of_rank[rank]][kind].arrivals.push_back(arrival_of(ranks, rank, i));
  }
}

std::optional<Arrival> PeerWaits::next(const Kernel& kernel, std::uint32_t lane, Collective kind) {
  if (first_kernel_ == nullptr) return std::nullopt;
  if (const auto found = numbered_.find(static_cast<std::uint32_t>(&kernel - first_kernel_)); found != numbered_.end())
    return found->second;
  if (lane >= rows_.size()) return std::nullopt;
  Row& row = rows_[lane][static_cast<std::size_t>(kind)];
  if (row.next >= row.arrivals.size()) return std::nullopt;
  return row.arrivals[row.next++];
}

}  // namespace nl::analysis
