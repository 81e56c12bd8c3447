#pragma once

#include <map>
#include <string>

namespace nl::analysis {

// Floating-point work of one launch, from what ncu counted. A multiply-add is two.
struct LaunchFlops {
  std::map<std::string, double> by_precision;  // "tensor bf16", "f32", "f16" (bf16 too), "f64"
  bool vector_counted = false;                 // the metrics of the ordinary pipes are there, if only as zero
  bool tensor_counted = false;                 // and those of the tensor pipe
  double total() const;
  std::string main_precision() const;          // the one with the most; "" where there is no work
};

LaunchFlops count_flops(const std::map<std::string, double>& metrics);

}  // namespace nl::analysis
