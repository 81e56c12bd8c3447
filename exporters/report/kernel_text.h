#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"

// How kernels and times are worded in every Markdown report.
namespace nl::exporters {

inline constexpr const char* kNoValue = "—";

std::string percent_text(const std::optional<double>& percent);  // "61.5", or a dash
std::string time_text(double ns);                                // "1.23 ms", for people
std::string split_text(const KernelEntry& kernel);               // "decode 92 %, none 8 %"

// A name without its template and call arguments.
std::string short_kernel_name(std::string_view name);

// The sample that stands for the kernel: the one whose shape took the most time; nullptr where there is none.
const NcuSample* main_sample(const KernelEntry& kernel);

// Numbers the names that had to be shortened, and lists them in full.
class NameFootnotes {
 public:
  std::string cell(const std::string& name);  // "at::native::reduce_kernel<...>(...) [3]"
  std::string list() const;                   // empty where no name was shortened

 private:
  std::vector<std::string> names_;
};

}  // namespace nl::exporters
