#pragma once

#include <cstdint>
#include <vector>

#include "analysis/figures/energy/energy.h"

namespace nl::analysis {

// The energy that one GPU has used by a moment, from its readings in one pass.
class EnergyCurve {
 public:
  // By the energy counter, or by its power where there is none.
  static EnergyCurve of_counter(const std::vector<PowerSample>& samples, std::int32_t device);
  static EnergyCurve of_power(const std::vector<PowerSample>& samples, std::int32_t device);

  bool empty() const { return points_.size() < 2; }
  bool covers(const UtcWindow& window) const;
  double joules(const UtcWindow& window) const { return at(window.second) - at(window.first); }
  std::uint64_t updates_in(const UtcWindow& window) const;  // readings with a new value

 private:
  struct Point {
    Ns utc_ns = 0;
    double joules = 0;
    bool update = true;
  };
  double at(Ns utc_ns) const;
  std::vector<Point> points_;
};

// Sorted, and overlapping ones joined.
std::vector<UtcWindow> united(std::vector<UtcWindow> windows);

}  // namespace nl::analysis
