#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/figures/operators/step_windows.h"
#include "analysis/figures/operators/work_rows.h"

namespace nl::analysis {

// How long the work of the steps takes where nothing but it is traced: what an operator is worth, whose own pass slows everything down.
class CleanTimes {
 public:
  CleanTimes(const Trace& trace, const StepWindows& windows);

  struct Stage {
    std::uint64_t windows = 0;       // measured ones
    double wall_ns = 0, gpu_ns = 0;  // of all of them
  };
  const Stage* stage(const std::string& name) const;

  // The mean of this work in the stage, by its launch configuration or size where the stage has it so; nothing: the stage has
  // no work of this name. The trace is the one that the row is of.
  std::optional<double> mean_of(const std::string& stage, const Trace& trace, const WorkRow& row) const;
  std::optional<double> mean_of_name(const std::string& stage, const std::string& name) const;

 private:
  struct Sum {
    double total_ns = 0;
    std::uint64_t calls = 0;
    void add(double ns, std::uint64_t more) { total_ns += ns, calls += more; }
    double mean() const { return total_ns / static_cast<double>(calls); }
  };
  struct Size {
    Dim3 grid, block;
    std::uint64_t bytes = 0;
    friend auto operator<=>(const Size&, const Size&) = default;
  };
  static Size size_of(const Trace& trace, const WorkRow& row);

  using Name = std::pair<std::string, std::string>;  // stage, work
  std::map<std::string, Stage> stages_;
  std::map<Name, Sum> names_;
  std::map<std::pair<Name, Size>, Sum> sizes_;
};

}  // namespace nl::analysis
