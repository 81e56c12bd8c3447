#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/figures/operators/range_tally.h"
#include "analysis/staging/staged_trace.h"
#include "analysis/trace/range_index.h"
#include "model/trace.h"

namespace nl::analysis {

// One execution of a model: a prefill, a decode step, a vision tower.
struct StepWindow {
  std::string stage;
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t thread = kNone;
  std::uint64_t number = 0;  // of its stage, in the order of process, thread and start
  bool warmup = false;
  bool holds(std::uint32_t on_thread, Ns from_ns, Ns until_ns) const {
    return thread == on_thread && start_ns <= from_ns && until_ns <= end_ns;
  }
};

// The windows by which operators are counted. Requests and decode are made of them; what lies inside one, sampling for instance, is part
// of it. A stage with another name counts where it lies outside all of them, and decode where its steps are not marked.
class StepWindows {
 public:
  explicit StepWindows(const StagedTrace& staged);
  StepWindows(std::vector<StepWindow> windows, std::size_t threads);

  const std::vector<StepWindow>& all() const { return windows_; }
  // The innermost around this stretch of a thread's time; kNone: none.
  std::uint32_t find(std::uint32_t thread, Ns start_ns, Ns end_ns) const;
  std::uint32_t parent(std::uint32_t window) const { return parents_[window]; }  // the step around it; kNone: none
  // Takes over which windows are warm-up from another trace of the same workload, for stages with as many windows in both.
  void take_warmup_from(const StepWindows& other);
  std::vector<std::string> stages() const;  // as they first begin

 private:
  struct Stretch {
    Ns start_ns;
    std::uint32_t window;  // the innermost from then on
  };
  void nest(std::uint32_t thread);
  std::uint64_t count(const std::string& stage) const;

  std::vector<StepWindow> windows_;
  std::vector<std::uint32_t> parents_;
  std::vector<std::vector<Stretch>> stretches_;  // by thread
};

// Of a profile of PyTorch without stages: the steps that the profiler itself was told of (ProfilerStep#3), else the whole profile of the
// thread with the most operators, as one.
StepWindows profile_windows(const Trace& trace);

// The operators of each window.
struct WindowOperators {
  std::vector<std::uint64_t> ranges;    // operators that run in it, those of the windows inside it too
  std::vector<std::uint64_t> replayed;  // work of CUDA graphs that it launches whose nodes were made inside operators
  // True where the window has ranges, or replayed work where no window of its stage has ranges. Warm-up counts only where it is all.
  std::vector<bool> chosen;
};
WindowOperators operators_by_window(const Trace& trace, const StepWindows& steps, const RangeItems& operators, const RangeIndex& index);

// The innermost of the ranges that count around the origin of work; kNone: none. The same nodes come again with every launch of their graph.
class InnermostRange {
 public:
  InnermostRange(const RangeIndex& index, const RangeItems& items) : index_(index), items_(items) {}
  std::uint32_t of(const WorkOrigin& origin);

 private:
  const RangeIndex& index_;
  const RangeItems& items_;
  std::map<std::pair<std::uint32_t, Ns>, std::uint32_t> nodes_;
  std::vector<std::uint32_t> around_;
};

}  // namespace nl::analysis
