#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "analysis/figures/operators/step_windows.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {

// How long the work of the steps takes in the clean pass, which traces nothing else. The operator pass slows everything down, so an
// operator gets these times.
class CleanTimes {
 public:
  CleanTimes(const Trace& trace, const StepWindows& windows);

  struct Stage {
    std::uint64_t windows = 0;       // measured ones
    double wall_ns = 0, gpu_ns = 0;  // of all of them
  };
  const Stage* stage(const std::string& name) const;

  // The mean time of this work in the stage, of the same launch configuration or size where the stage has it; nothing where the
  // stage has no work of this name. `trace` is the trace of the row.
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

// The steps of the operator pass in which operators were recorded, and their GPU work with the times that it takes in the clean
// pass. What is counted of such a step stands for the measured steps of its stage in the clean pass.
class OperatorWork {
 public:
  // `operators`: the ranges that are operators. The windows of the operator pass are warm-up where those of the clean pass are.
  OperatorWork(const Trace& trace, const StepWindows& windows, const RangeItems& operators, const CleanTimes& clean);

  struct Stage {
    std::string name;
    std::uint64_t windows = 0;  // with operators
    double wall_ns = 0;         // of them
    double weight = 0;          // measured windows of the clean pass for each of them
    const CleanTimes::Stage* clean = nullptr;
  };
  const std::vector<Stage>& stages() const { return stages_; }

  // How long the work takes in the clean pass; the recorded time where the clean pass has no such work in the stage.
  double time_of(const std::string& stage, const WorkRow& row) const;

  // Host and GPU time of other ranges of these steps, or of the operators, over all measured steps of the clean pass.
  RangeTally tally(const RangeItems& items) const;
  double recorded_share() const;  // of the GPU time of the steps: of work that the clean pass does not have

 private:
  struct Row {
    WorkRow work;
    std::uint32_t window = kNone;
    double time_ns = 0;
  };
  void choose_windows(const RangeItems& operators);
  void collect_rows();
  void add_host(const RangeItems& items, class TallySums& sums) const;

  const Trace& trace_;
  const StepWindows& windows_;
  const CleanTimes& clean_;
  RangeIndex index_;
  std::vector<std::uint32_t> stage_of_window_;  // kNone: it does not count
  std::vector<Stage> stages_;
  std::vector<Row> rows_;
  std::map<std::pair<std::string, std::string>, double> factors_;  // stage and work: see collect_rows()
  double recorded_ns_ = 0, all_ns_ = 0;
};

}  // namespace nl::analysis
