#include "analysis/ranks/groups.h"

#include <algorithm>
#include <cstddef>

#include "analysis/ranks/alignment.h"

namespace nl::analysis::ranks {
namespace {

constexpr Ns kLeavesWithinNs = 50'000;  // members of a collective leave it so near to each other

struct Member {
  std::size_t track = 0;
  std::ptrdiff_t shift = 0;  // its event is event i + shift for the group's event i
};

struct Group {
  std::vector<Member> members;  // the first one's events are the group's
};

bool same_place(const Track& a, const Track& b) { return a.capture == b.capture && a.process == b.process && a.device == b.device; }

class Grouping {
 public:
  Grouping(const std::vector<Track>& tracks, const std::vector<double>& residuals_ns) : tracks_(tracks), residuals_ns_(residuals_ns) {
    for (std::size_t i = 0; i < tracks.size(); ++i) place(i);
  }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  void place(std::size_t track) {
    Group* best = nullptr;
    Match best_match;
    for (Group& group : groups_) {
      const bool taken = std::any_of(group.members.begin(), group.members.end(),
                                     [&](const Member& member) { return same_place(tracks_[member.track], tracks_[track]); });
      if (taken) continue;
      const std::size_t first = group.members.front().track;
      const auto found = match(tracks_[first], tracks_[track], tolerance(first, track));
      if (!found || (best != nullptr && found->apart_ns >= best_match.apart_ns)) continue;
      best = &group;
      best_match = *found;
    }
    if (best == nullptr) groups_.push_back({{{track, 0}}});
    else best->members.push_back({track, best_match.shift});
  }

  Ns tolerance(std::size_t a, std::size_t b) const {
    return kLeavesWithinNs + static_cast<Ns>(3 * (residuals_ns_[tracks_[a].capture] + residuals_ns_[tracks_[b].capture]));
  }

  const std::vector<Track>& tracks_;
  const std::vector<double>& residuals_ns_;
  std::vector<Group> groups_;
};

// The events that every member has.
std::pair<std::ptrdiff_t, std::ptrdiff_t> shared_events(const Group& group, const std::vector<Track>& tracks) {
  std::ptrdiff_t from = 0, to = static_cast<std::ptrdiff_t>(tracks[group.members.front().track].events.size());
  for (const Member& member : group.members) {
    from = std::max(from, -member.shift);
    to = std::min(to, static_cast<std::ptrdiff_t>(tracks[member.track].events.size()) - member.shift);
  }
  return {from, to};
}

}  // namespace

std::vector<CollectiveCall> number_collectives(const std::vector<Track>& tracks, const std::vector<double>& residuals_ns,
                                               const std::vector<std::uint32_t>& kernels) {
  std::vector<CollectiveCall> calls;
  std::uint32_t number = 0;
  const Grouping grouping(tracks, residuals_ns);
  for (const Group& group : grouping.groups()) {
    if (group.members.size() < 2) continue;
    const auto [from, to] = shared_events(group, tracks);
    for (std::ptrdiff_t event = from; event < to; ++event, ++number)
      for (const Member& member : group.members) {
        const Track& track = tracks[member.track];
        const CollectiveEvent& own = track.events[static_cast<std::size_t>(event + member.shift)];
        calls.push_back({kernels[track.capture] + own.kernel, number, static_cast<std::uint32_t>(group.members.size())});
      }
  }
  std::sort(calls.begin(), calls.end(), [](const CollectiveCall& a, const CollectiveCall& b) { return a.kernel < b.kernel; });
  return calls;
}

}  // namespace nl::analysis::ranks
