#include "model/fingerprint.h"

#include <algorithm>

namespace nl {

std::array<bool, kFingerprintFeatures.size()> known_features(const FingerprintItem& item, bool ridge) {
  const FingerprintCounters& counted = item.counters;
  return {true,
          ridge && counted.intensity,
          counted.occupancy.has_value(),
          counted.warp_efficiency.has_value(),
          counted.l2_hit.has_value(),
          counted.dram_use.has_value()};
}

std::vector<std::size_t> Fingerprint::missing_features() const {
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < kFingerprintFeatures.size(); ++i)
    if (std::none_of(items.begin(), items.end(), [&](const FingerprintItem& item) { return known_features(item, ridge.has_value())[i]; }))
      missing.push_back(i);
  return missing;
}

}  // namespace nl
