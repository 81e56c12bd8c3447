#include "analysis/runs/compare/cause.h"

namespace nl::analysis {

Comparison with_cause(Comparison times, const Comparison& cause) {
  times.waterfall = cause.waterfall;
  times.kernels = cause.kernels;
  times.kernels_missing = cause.kernels_missing;
  for (CompareSection Comparison::* section :
       {&Comparison::budget, &Comparison::operators, &Comparison::layers, &Comparison::api, &Comparison::nsys_counters,
        &Comparison::ncu_counters, &Comparison::efficiency, &Comparison::host_code})
    times.*section = cause.*section;
  if (times.energy.missing) times.energy = cause.energy;
  return times;
}

}  // namespace nl::analysis
