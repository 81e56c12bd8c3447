#pragma once

#include <cmath>

namespace nl::exporters {

// The next of 1, 2, 5, 10 … that holds it: where an axis ends.
inline double round_up(double value) {
  if (!(value > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (value <= factor * power) return factor * power;
  return 10 * power;
}

}  // namespace nl::exporters
