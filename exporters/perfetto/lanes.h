#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "exporters/perfetto/packets.h"

namespace nl::exporters::perfetto {

// Rows by group, in each group by `before`: positions into the rows, which stay where they are.
struct Grouped {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> first;  // where each group begins; one more for the end
};

// Rows of a group beyond the last are left out, as are those that `keep` rejects.
template <class Rows, class Keep, class Group, class Before>
Grouped grouped(const Rows& rows, std::size_t groups, Keep keep, Group group, Before before) {
  Grouped out;
  out.first.assign(groups + 1, 0);
  for (const auto& row : rows)
    if (group(row) < groups && keep(row)) ++out.first[group(row) + 1];
  for (std::size_t i = 1; i <= groups; ++i) out.first[i] += out.first[i - 1];
  out.order.resize(out.first[groups]);
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (group(rows[i]) < groups && keep(rows[i])) out.order[next[group(rows[i])]++] = i;
  const auto by_row = [&](std::uint32_t a, std::uint32_t b) { return before(rows[a], rows[b]); };
  for (std::size_t i = 0; i < groups; ++i) {
    const auto begin = out.order.begin() + out.first[i], end = out.order.begin() + out.first[i + 1];
    if (!std::is_sorted(begin, end, by_row)) std::stable_sort(begin, end, by_row);  // captures nearly always are
  }
  return out;
}

// Slices of one thread, stream or domain. Perfetto's tracks hold slices that lie inside one another; one that sticks
// out of the slice it begins in goes to a further track beside it.
template <class MakeTrack>
class Lanes {
 public:
  Lanes(Packets& packets, MakeTrack make) : packets_(packets), make_(std::move(make)) {}

  // By start; of those with one start the longest first. An end before the start counts as the start.
  // False: there is no lane for it.
  bool add(Packets::Event event, Ns end_ns) {
    end_ns = std::max(end_ns, event.time_ns);
    for (std::size_t lane = 0; lane < kMaxLanes; ++lane) {
      if (lane == lanes_.size()) lanes_.push_back({make_(lane), {}});
      Lane& at = lanes_[lane];
      close(at, event.time_ns);
      if (!at.ends.empty() && at.ends.back() < end_ns) continue;
      event.track = at.track;
      packets_.begin(event);
      at.ends.push_back(end_ns);
      return true;
    }
    return false;
  }
  void finish() {
    for (Lane& lane : lanes_)
      while (!lane.ends.empty()) pop(lane);
  }

 private:
  static constexpr std::size_t kMaxLanes = 32;
  struct Lane {
    Track track = 0;
    std::vector<Ns> ends;
  };
  void pop(Lane& lane) {
    packets_.end(lane.track, lane.ends.back());
    lane.ends.pop_back();
  }
  void close(Lane& lane, Ns now_ns) {
    while (!lane.ends.empty() && lane.ends.back() <= now_ns) pop(lane);
  }

  Packets& packets_;
  MakeTrack make_;
  std::vector<Lane> lanes_;
};

}  // namespace nl::exporters::perfetto
