#include "load/arrivals.h"

#include <cmath>
#include <numbers>

#include "model/draw.h"

namespace nl::load {
namespace {

double unit(Draw& draw) { return (static_cast<double>(draw.bits() >> 11) + 1) * 0x1p-53; }  // above 0, up to 1

double exponential(Draw& draw) { return -std::log(unit(draw)); }

double normal(Draw& draw) {
  const double radius = std::sqrt(2 * exponential(draw));
  return radius * std::cos(2 * std::numbers::pi * unit(draw));
}

// Of scale 1. Marsaglia and Tsang 2000, "A simple method for generating gamma variables"; a shape below 1 by the power of a uniform number.
double gamma(Draw& draw, double shape) {
  if (shape < 1) {
    const double power = std::pow(unit(draw), 1 / shape);
    return gamma(draw, shape + 1) * power;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(draw), root = 1 + c * x, cube = root * root * root;
    if (root > 0 && std::log(unit(draw)) < 0.5 * x * x + d - d * cube + d * std::log(cube)) return d * cube;
  }
}

}  // namespace

std::vector<Ns> arrival_times(const LoadArrivals& arrivals, std::size_t count, Ns most_ns) {
  std::vector<Ns> times;
  Draw draw(arrivals.seed.value_or(0));
  const double mean_ns = 1e9 / arrivals.rate_per_s.value_or(1), shape = arrivals.burstiness.value_or(1);
  double at_ns = 0;
  for (std::size_t i = 0; i < count; ++i) {
    switch (arrivals.kind) {
      case ArrivalKind::kPoisson: at_ns += mean_ns * exponential(draw); break;
      case ArrivalKind::kGamma: at_ns += mean_ns * gamma(draw, shape) / shape; break;
      default: at_ns = mean_ns * static_cast<double>(i); break;  // of a constant rate: no sum of rounded gaps
    }
    if (!(at_ns < static_cast<double>(most_ns))) break;
    times.push_back(std::llround(at_ns));
  }
  return times;
}

}  // namespace nl::load
