#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "analysis/ranks/tracks.h"

// Collectives of a made-up run as each rank's clock would have them.
namespace nl::test {

struct PlantedClock {
  Ns offset_ns = 0;
  double drift = 0;
  Ns operator()(Ns true_ns) const { return true_ns + offset_ns + static_cast<Ns>(drift * static_cast<double>(true_ns)); }
};

class PlantedRun {
 public:
  explicit PlantedRun(unsigned seed) : random_(seed) {}

  // One track of each member, with `count` collectives about `step_ns` apart, which members leave within `leave_ns` (sigma) of each other.
  void add_group(const std::vector<std::uint32_t>& members, const std::vector<PlantedClock>& clocks, int count, Ns step_ns, double leave_ns,
                 Ns first_ns = 0) {
    std::normal_distribution<double> leaves(0, leave_ns);
    std::uniform_int_distribution<Ns> apart(step_ns / 2, step_ns * 3 / 2), arrives(10'000, 200'000);
    std::vector<analysis::ranks::Track> tracks(members.size());
    Ns end_ns = first_ns;
    for (int i = 0; i < count; ++i) {
      end_ns += apart(random_);
      for (std::size_t m = 0; m < members.size(); ++m) {
        const Ns own_end_ns = end_ns + static_cast<Ns>(leaves(random_));
        const PlantedClock& clock = clocks[members[m]];
        const auto kernel = static_cast<std::uint32_t>(tracks[m].events.size());
        const std::uint32_t what = i % 7 == 0 ? 2u : 1u;  // a loop of two kinds
        tracks[m].events.push_back(
            {clock(own_end_ns - arrives(random_)), clock(own_end_ns), kernel, what, analysis::ranks::Leaving::kTogether});
      }
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      tracks[m].capture = tracks[m].process = members[m];
      all_.push_back(std::move(tracks[m]));
    }
  }

  // Those of a capture stand together.
  std::vector<analysis::ranks::Track> tracks() const {
    std::vector<analysis::ranks::Track> sorted = all_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.capture < b.capture; });
    return sorted;
  }

 private:
  std::mt19937 random_;
  std::vector<analysis::ranks::Track> all_;
};

}  // namespace nl::test
