#pragma once

#include <map>
#include <string>

#include "model/fingerprint.h"
#include "model/run.h"

namespace nl::analysis {

// What was counted of a kernel: the mean over its measured launches, by the time that the launches of their shape take.
FingerprintCounters fingerprint_counters(const Run& run, const KernelEntry& kernel, const DevicePeaks* peaks);

// The mean of several, by their times. What one of them does not know does not count in the mean of that figure.
class CounterMean {
 public:
  void add(const FingerprintCounters& counters, double weight);
  FingerprintCounters result() const;

 private:
  struct Sum {
    double value = 0, weight = 0;
  };
  static constexpr std::size_t kFigures = 5;
  std::array<Sum, kFigures> sums_;
};

}  // namespace nl::analysis
