#include "analysis/figures/ranks/collective_rates.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace nl::analysis {
namespace {

bool leave_together(Collective kind) {
  switch (kind) {
    case Collective::kAllReduce:
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
    case Collective::kSendRecv: return true;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kPeerCopy:
    case Collective::kOther: return false;
  }
  return false;
}

const MessageSize* message_of(const Trace& trace, std::uint32_t kernel) {
  const auto found = std::lower_bound(trace.messages.begin(), trace.messages.end(), kernel,
                                      [](const MessageSize& message, std::uint32_t wanted) { return message.kernel < wanted; });
  return found != trace.messages.end() && found->kernel == kernel ? &*found : nullptr;
}

// What all members of a collective say of it; nothing where one says nothing or something else, or was not captured.
std::optional<MessageSize> agreed(const Trace& trace, const SharedCollectives::Members& members) {
  const MessageSize* first = members.empty() ? nullptr : message_of(trace, members.front());
  if (first == nullptr || first->members != members.size() || first->bytes == 0) return std::nullopt;
  for (const std::uint32_t kernel : members) {
    const MessageSize* message = message_of(trace, kernel);
    if (message == nullptr || message->kind != first->kind || message->bytes != first->bytes || message->members != first->members)
      return std::nullopt;
  }
  return *first;
}

Ns shortest_stay(const Trace& trace, const SharedCollectives::Members& members) {
  Ns shortest_ns = std::numeric_limits<Ns>::max();
  for (const std::uint32_t kernel : members) shortest_ns = std::min(shortest_ns, static_cast<Ns>(trace.kernels[kernel].duration_ns));
  return shortest_ns;
}

// By number, each once; empty: a member is of no rank.
std::vector<std::uint32_t> ranks_of(const Trace& trace, const SharedCollectives& shared, const SharedCollectives::Members& members) {
  std::vector<std::uint32_t> ranks;
  for (const std::uint32_t kernel : members) {
    const auto rank = shared.rank_of(kernel);
    if (!rank) return {};
    ranks.push_back(trace.ranks[*rank].rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

double bus_factor(Collective kind, std::size_t members) {
  const double part = members > 0 ? static_cast<double>(members - 1) / static_cast<double>(members) : 0;
  switch (kind) {
    case Collective::kAllReduce: return 2 * part;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll: return part;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSendRecv:
    case Collective::kPeerCopy:
    case Collective::kOther: return 1;
  }
  return 1;
}

std::vector<CollectiveRate> collective_rates(const Trace& trace, const SharedCollectives& shared) {
  if (trace.messages.empty()) return {};
  std::map<std::tuple<Collective, std::vector<std::uint32_t>, int>, CollectiveRate> sums;
  for (const auto& members : shared.calls()) {
    const auto message = agreed(trace, members);
    if (!message || !leave_together(message->kind)) continue;
    const Ns transfer_ns = shortest_stay(trace, members);
    std::vector<std::uint32_t> ranks = ranks_of(trace, shared, members);
    if (transfer_ns <= 0 || ranks.size() < 2) continue;
    CollectiveRate& sum = sums[{message->kind, ranks, std::bit_width(message->bytes)}];
    sum.kind = message->kind;
    sum.ranks = std::move(ranks);
    sum.bus_bytes_per_s = bus_factor(message->kind, message->members);  // times the algorithm's, once that is known
    ++sum.calls;
    sum.bytes += message->bytes;
    sum.transfer_ns += transfer_ns;
  }
  std::vector<CollectiveRate> rates;
  for (auto& [key, sum] : sums) {
    sum.algorithm_bytes_per_s = static_cast<double>(sum.bytes) / static_cast<double>(sum.transfer_ns) * 1e9;
    sum.bus_bytes_per_s *= sum.algorithm_bytes_per_s;
    rates.push_back(std::move(sum));
  }
  std::stable_sort(rates.begin(), rates.end(),
                   [](const CollectiveRate& a, const CollectiveRate& b) { return a.transfer_ns > b.transfer_ns; });
  if (rates.size() > kMaxCollectiveRates) rates.resize(kMaxCollectiveRates);
  return rates;
}

std::vector<RankPair> rank_pairs(const Trace& trace, const SharedCollectives& shared) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, RankPair> sums;
  for (const auto& members : shared.calls()) {
    if (!shared.is_pair(members)) continue;
    std::uint32_t first = members[0], second = members[1];
    if (!shared.rank_of(first) || !shared.rank_of(second)) continue;
    if (*shared.rank_of(first) > *shared.rank_of(second)) std::swap(first, second);
    const std::uint32_t lower = trace.ranks[*shared.rank_of(first)].rank, higher = trace.ranks[*shared.rank_of(second)].rank;
    RankPair& sum = sums[{lower, higher}];
    sum.first = lower;
    sum.second = higher;
    ++sum.calls;
    sum.first_waited_ns += shared.waited_ns(first);
    sum.second_waited_ns += shared.waited_ns(second);
    sum.transfer_ns += shortest_stay(trace, members);
  }
  std::vector<RankPair> pairs;
  for (const auto& [ranks, sum] : sums) pairs.push_back(sum);
  const auto waited_ns = [](const RankPair& pair) { return pair.first_waited_ns + pair.second_waited_ns; };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const RankPair& a, const RankPair& b) { return waited_ns(a) > waited_ns(b); });
  if (pairs.size() > kMaxRankPairs) pairs.resize(kMaxRankPairs);
  return pairs;
}

}  // namespace nl::analysis
