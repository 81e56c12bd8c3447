#include "analysis/collectives/speeds.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/statistics/bootstrap.h"

namespace nl::analysis::collectives {
namespace {

using Key = std::tuple<std::string, std::string, bool, std::uint64_t, TimingSource>;  // communicator, kind, point to point, size, source

struct OneRank {
  const TimedCalls* about = nullptr;
  std::vector<TimedCall> calls;  // by sequence
};
using ByRank = std::map<std::uint32_t, OneRank>;

std::map<Key, ByRank> gathered(std::span<const InspectorFile> files) {
  std::map<Key, ByRank> all;
  for (const InspectorFile& file : files)
    for (const TimedCalls& series : file.series) {
      OneRank& rank = all[{series.communicator, series.kind, series.point_to_point, series.size_bytes, series.source}][series.rank];
      if (rank.about == nullptr) rank.about = &series;
      rank.calls.insert(rank.calls.end(), series.calls.begin(), series.calls.end());
    }
  return all;
}

std::uint64_t sort_and_drop_repeated(std::vector<TimedCall>& calls) {
  std::stable_sort(calls.begin(), calls.end(), [](const TimedCall& a, const TimedCall& b) { return a.sequence < b.sequence; });
  const std::size_t before = calls.size();
  calls.erase(std::unique(calls.begin(), calls.end(), [](const TimedCall& a, const TimedCall& b) { return a.sequence == b.sequence; }),
              calls.end());
  return before - calls.size();
}

template <class Value>
double median_over(const std::vector<TimedCall>& calls, Value TimedCall::* member) {
  std::vector<double> values;
  for (const TimedCall& call : calls) values.push_back(static_cast<double>(call.*member));
  return median_of(std::move(values));
}

RankSpeed speed_of(const OneRank& rank) {
  const auto [least, most] = std::minmax_element(rank.calls.begin(), rank.calls.end(),
                                                 [](const TimedCall& a, const TimedCall& b) { return a.time_us < b.time_us; });
  const TimedCalls& about = *rank.about;
  return {.rank = about.rank,
          .host = about.host,
          .pid = about.pid,
          .calls = rank.calls.size(),
          .median_us = median_over(rank.calls, &TimedCall::time_us),
          .least_us = least->time_us,
          .most_us = most->time_us,
          .algorithm_gbs = median_over(rank.calls, &TimedCall::algorithm_gbs),
          .bus_gbs = median_over(rank.calls, &TimedCall::bus_gbs)};
}

// Steps through the numbers of all ranks at once. The ranks are in the order of `speed.by_rank`.
void count_shortest(const std::vector<const std::vector<TimedCall>*>& ranks, CollectiveSpeed& speed) {
  std::vector<std::size_t> at(ranks.size());
  for (const TimedCall& first : *ranks.front()) {
    std::size_t shortest = 0, present = 0;
    bool alone = true;
    double least = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const std::vector<TimedCall>& calls = *ranks[i];
      while (at[i] < calls.size() && calls[at[i]].sequence < first.sequence) ++at[i];
      if (at[i] == calls.size() || calls[at[i]].sequence != first.sequence) break;
      const double time_us = calls[at[i]].time_us;
      alone = present == 0 || time_us < least || (alone && time_us > least);
      if (present++ == 0 || time_us < least) least = time_us, shortest = i;
    }
    if (present < ranks.size()) continue;
    ++speed.calls_of_all;
    if (alone) ++speed.by_rank[shortest].shortest;
  }
}

CollectiveSpeed row_of(const Key& key, const ByRank& ranks) {
  const TimedCalls& about = *ranks.begin()->second.about;
  CollectiveSpeed speed;
  std::tie(speed.communicator, speed.kind, speed.point_to_point, speed.size_bytes, speed.source) = key;
  speed.name = about.name;
  speed.ranks = about.ranks;
  speed.nodes = about.nodes;
  std::vector<const std::vector<TimedCall>*> calls;
  for (const auto& [rank, of_rank] : ranks) {
    speed.by_rank.push_back(speed_of(of_rank));
    calls.push_back(&of_rank.calls);
  }
  speed.absent = speed.ranks > ranks.size() ? speed.ranks - static_cast<std::uint32_t>(ranks.size()) : 0;
  if (calls.size() > 1 && !speed.point_to_point && speed.absent == 0) count_shortest(calls, speed);
  return speed;
}

double time_of(const CollectiveSpeed& speed) {
  double longest = 0;
  for (const RankSpeed& rank : speed.by_rank) longest = std::max(longest, rank.median_us * static_cast<double>(rank.calls));
  return longest;
}

}  // namespace

Speeds collective_speeds(std::span<const InspectorFile> files) {
  Speeds speeds;
  std::map<Key, ByRank> all = gathered(files);
  for (auto& [key, ranks] : all) {
    for (auto& [rank, of_rank] : ranks) {
      speeds.repeated += sort_and_drop_repeated(of_rank.calls);
      speeds.calls += of_rank.calls.size();
    }
    speeds.table.push_back(row_of(key, ranks));
    for (auto& [rank, of_rank] : ranks) of_rank.calls = {};
  }
  std::stable_sort(speeds.table.begin(), speeds.table.end(),
                   [](const CollectiveSpeed& a, const CollectiveSpeed& b) { return time_of(a) > time_of(b); });
  return speeds;
}

}  // namespace nl::analysis::collectives
