#include "analysis/figures/energy/energy_curve.h"

#include <algorithm>

namespace nl::analysis {

EnergyCurve EnergyCurve::of_counter(const std::vector<PowerSample>& samples, std::int32_t device) {
  EnergyCurve curve;
  std::optional<double> before;
  for (const PowerSample& sample : samples) {
    if (sample.device != device || !sample.energy_j) continue;
    if (before && *sample.energy_j < *before) return {};  // the driver was loaded anew: nothing holds
    // Between two changes the counter stands still while the GPU does not: only changes are points.
    if (before && *sample.energy_j > *before) curve.points_.push_back({sample.utc_ns, *sample.energy_j, true});
    before = sample.energy_j;
  }
  return curve;
}

EnergyCurve EnergyCurve::of_power(const std::vector<PowerSample>& samples, std::int32_t device) {
  EnergyCurve curve;
  double watts_before = 0;
  for (const PowerSample& sample : samples) {
    if (sample.device != device || !sample.power_w) continue;
    Point point{sample.utc_ns, 0, true};
    if (!curve.points_.empty()) {
      const Point& last = curve.points_.back();
      if (point.utc_ns <= last.utc_ns) continue;
      const double seconds = static_cast<double>(point.utc_ns - last.utc_ns) * 1e-9;
      point.joules = last.joules + seconds * (watts_before + *sample.power_w) / 2;
      point.update = *sample.power_w != watts_before;
    }
    watts_before = *sample.power_w;
    curve.points_.push_back(point);
  }
  return curve;
}

bool EnergyCurve::covers(const UtcWindow& window) const {
  return !empty() && points_.front().utc_ns <= window.first && window.second <= points_.back().utc_ns;
}

double EnergyCurve::at(Ns utc_ns) const {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), utc_ns, [](Ns time, const Point& point) { return time < point.utc_ns; });
  if (after == points_.begin()) return points_.front().joules;
  if (after == points_.end()) return points_.back().joules;
  const Point& before = *(after - 1);
  const double share = static_cast<double>(utc_ns - before.utc_ns) / static_cast<double>(after->utc_ns - before.utc_ns);
  return before.joules + share * (after->joules - before.joules);
}

std::uint64_t EnergyCurve::updates_in(const UtcWindow& window) const {
  const auto first =
      std::lower_bound(points_.begin(), points_.end(), window.first, [](const Point& point, Ns time) { return point.utc_ns < time; });
  std::uint64_t count = 0;
  for (auto point = first; point != points_.end() && point->utc_ns < window.second; ++point) count += point->update;
  return count;
}

std::vector<UtcWindow> united(std::vector<UtcWindow> windows) {
  std::sort(windows.begin(), windows.end());
  std::vector<UtcWindow> joined;
  for (const UtcWindow& window : windows) {
    if (window.second <= window.first) continue;
    if (!joined.empty() && window.first <= joined.back().second) joined.back().second = std::max(joined.back().second, window.second);
    else joined.push_back(window);
  }
  return joined;
}

}  // namespace nl::analysis
