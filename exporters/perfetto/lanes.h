#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "exporters/perfetto/packets.h"

namespace nl::exporters::perfetto {

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
