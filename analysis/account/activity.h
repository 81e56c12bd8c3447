#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/windows.h"
#include "analysis/trace/kernel_class.h"
#include "model/stage.h"
#include "model/trace.h"

namespace nl::analysis {

// Which stages have a measured window open in a process or thread, at times that only grow.
class OpenStages {
 public:
  void add(const Window& window);
  void sort();                                       // once, after all windows
  const std::vector<std::uint32_t>& at(Ns time_ns);  // each stage once
  // How often the stage has become open. Two windows of a stage have different numbers.
  std::uint32_t opened(std::uint32_t stage) const { return opened_[stage]; }

 private:
  void open(std::uint32_t stage);
  void close(std::uint32_t stage);

  struct Edge {
    Ns time_ns;
    std::uint32_t stage;
  };
  std::vector<Edge> starts_, ends_;
  std::size_t next_start_ = 0, next_end_ = 0;
  std::vector<std::uint32_t> depth_, opened_;  // by stage
  std::vector<std::uint32_t> open_;
};

// Counts what starts inside the measured windows of each stage. Work that two overlapping windows of a stage have
// in common counts once. GPU work comes in the order of its start.
class ActivitySweep {
 public:
  // staged: see staged_threads()
  ActivitySweep(const Trace& trace, const std::vector<Window>& windows, std::uint32_t stages, std::vector<bool> staged);

  void add(const Kernel& kernel, std::uint32_t process);
  void add(const MemOp& op, std::uint32_t process);
  void add(const GraphRun& run, std::uint32_t process);
  // Call it once, after all work: it adds the API calls.
  std::vector<StageActivity> finish();

 private:
  struct Chain {
    std::uint32_t opened = 0;  // a chain does not go on in the next window
    std::uint32_t length = 0;
  };
  struct StageState {
    StageActivity activity;
    std::vector<Chain> chains;  // by queue; grown as needed
    std::vector<bool> queues;
  };

  KernelClass kind_of(const Kernel& kernel, std::uint32_t queue);
  static void use_queue(StageState& stage, std::uint32_t queue);
  static void lengthen(StageState& stage, std::uint32_t queue, std::uint32_t opened, bool elementwise);
  void add_calls();

  const Trace& trace_;
  const std::vector<Window>& windows_;
  std::vector<bool> staged_;
  std::vector<OpenStages> processes_;
  struct ShapeKind {
    KernelClass kind = KernelClass::kOther;
    bool negates = false, concatenates = false;
  };
  std::vector<ShapeKind> kind_of_shape_;
  std::vector<bool> after_negation_;  // by queue: its latest kernel was one
  std::vector<StageState> stages_;
};

}  // namespace nl::analysis
