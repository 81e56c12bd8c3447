#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace nl {

// A report of `nl-stage stats`: the columns and cells of one `nsys stats` report.
struct StatTable {
  // int64: printed as it is; Tenth: a number rounded to one decimal; string: text; monostate: no value.
  struct Tenth {
    double value = 0;
  };
  using Cell = std::variant<std::int64_t, Tenth, std::string, std::monostate>;

  std::string report;                // "cuda_gpu_kern_sum"
  std::string title;                 // "CUDA GPU Kernel Summary"
  std::vector<std::string> columns;  // "Time (%)", "Total Time (ns)" …
  std::vector<std::vector<Cell>> rows;
  std::string missing;  // not empty: why the capture cannot answer this report
};

}  // namespace nl
