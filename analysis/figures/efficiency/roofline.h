#pragma once

#include <map>
#include <string>

#include "analysis/trace/kernel_class.h"
#include "model/run.h"

namespace nl::analysis {

struct Precision {
  std::string name;             // "tensor bf16", "f32", "f16" (bf16 too), "f64"
  std::string peak_dtype = {};  // under which peaks are listed
  bool peak_is_higher = false;  // than that one, by how much is not listed
  friend bool operator<(const Precision& a, const Precision& b) { return a.name < b.name; }
};

// Floating-point work of one launch, from what ncu counted. A multiply-add is two.
struct LaunchFlops {
  std::map<Precision, double> by_precision;
  bool vector_counted = false;  // the metrics of the ordinary pipes are there, if only as zero
  bool tensor_counted = false;  // and those of the tensor pipe
  double total() const;
  Precision main_precision() const;  // the one with the most; without a name where there is no work
};

// `kind`: what the kernel does. Elementwise kernels, copies, reductions and norms compute in single precision whatever their
// data are; compilers convert and move values with half-precision instructions, which do not count as work.
LaunchFlops count_flops(const std::map<std::string, double>& metrics, KernelClass kind = KernelClass::kOther);

// A point for every launch of the run that ncu measured with FLOP counts, DRAM bytes and a duration, and notes for those that
// lack one. Peaks (efficiency_of) and ncu's samples (match_ncu) come first.
Roofline roofline_of(const Run& run);

}  // namespace nl::analysis
