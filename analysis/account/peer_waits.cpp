#include "analysis/account/peer_waits.h"

#include <algorithm>
#include <utility>

#include "analysis/trace/gpu_order.h"
#include "analysis/trace/kernel_class.h"

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
  Ns last = start;
  bool alone = true;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i == rank) continue;
    last = std::max(last, (*ranks[i])[number].first);
    alone = alone && (*ranks[i])[number].first < start;
  }
  return {last - start, alone};
}

}  // namespace

CommunicationKernels::CommunicationKernels(const Trace& trace) {
  kinds_.resize(trace.shapes.size());
  for (std::size_t i = 0; i < trace.shapes.size(); ++i) {
    const std::string& name = trace.strings[trace.shapes[i].name];
    if (classify_kernel(name) != KernelClass::kCommunication) continue;
    kinds_[i] = collective_of(name);
    any_ = true;
  }
}

PeerWaits::PeerWaits(const Trace& trace, const GpuLanes& lanes, const CommunicationKernels& kernels) {
  if (!kernels.any() || lanes.size() < 2) return;
  std::vector<std::array<Times, kCollectives>> times(lanes.size());
  for (const std::uint32_t i : start_order_of(trace.kernels, [&](const Kernel& kernel) { return kernels.of(kernel).has_value(); })) {
    const Kernel& kernel = trace.kernels[i];
    times[lanes.of_queue(kernel.queue)][static_cast<std::size_t>(*kernels.of(kernel))].emplace_back(kernel.start_ns, kernel.end_ns());
  }
  rows_.resize(lanes.size());
  for (std::size_t kind = 0; kind < kCollectives; ++kind) {
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

std::optional<Arrival> PeerWaits::next(std::uint32_t lane, Collective kind) {
  if (lane >= rows_.size()) return std::nullopt;
  Row& row = rows_[lane][static_cast<std::size_t>(kind)];
  if (row.next >= row.arrivals.size()) return std::nullopt;
  return row.arrivals[row.next++];
}

}  // namespace nl::analysis
