#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/found/work.h"
#include "model/trace.h"

namespace nl::analysis {

// Four neighbours in a sequence: two before a place and two from it on. Where a step's end meets the next one's start they are
// seldom the same as inside a step, however often its layers repeat.
class Neighbourhoods {
 public:
  Neighbourhoods(const WorkSequence& sequence, const WorkAmounts& amounts);

  struct Kind {
    std::uint32_t count = 0;
    std::uint32_t period = 0;      // the distance that most of its places have to the one before, roughly
    std::uint32_t regular = 0;     // how many do
    std::uint64_t regular_ns = 0;  // and how long the work between them takes the GPU
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  std::uint32_t kind_at(std::size_t place) const { return kind_at_[place]; }
  bool too_many() const { return too_many_; }  // hardly any is there twice: nothing repeats

 private:
  void vote();
  void count_regular(const WorkAmounts& amounts);

  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_at_;  // by place
  bool too_many_ = false;
};

// True where the distance is about the period: a longer context may need one kernel more.
inline bool about(std::uint64_t distance, std::uint64_t period) {
  const std::uint64_t apart = distance > period ? distance - period : period - distance;
  return apart * 16 <= period;
}

// What repeats at one distance: layers, steps, requests.
struct Level {
  std::uint32_t period = 0;
  std::vector<std::uint32_t> kinds;  // neighbourhoods that are there once a period, the most regular first
  std::uint64_t repeats = 0;         // of the first
  std::uint64_t covered_ns = 0;      // of the GPU's time, by it
};

// The shortest period first.
std::vector<Level> find_levels(const Neighbourhoods& neighbourhoods);

// Steps that follow each other without a break: each ends where the next begins.
struct StepRun {
  std::vector<std::uint32_t> starts;  // places in the sequence
  std::uint32_t end = 0;              // of the last
  std::uint32_t end_of(std::size_t step) const { return step + 1 < starts.size() ? starts[step + 1] : end; }
};

// A sequence cut at one of its levels.
struct StepCut {
  std::vector<StepRun> runs;
  std::size_t steps = 0;
  double regular = 0;      // share of the steps that are about as long as the period
  double after_wait = 0;   // share of the steps that begin right after a wait or a copy to the host
  double after_pause = 0;  // share of the steps before which the thread launches nothing for longer than inside them
};

// Where steps begin: after the wait that the lookup of the embedding follows, or the longest pause; where steps have no wait, where
// their runs begin and end.
StepCut cut_steps(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const Neighbourhoods& neighbourhoods,
                  const Level& level);

// What a thread's steps are, by how much they do: decoding, where a larger prefill comes before each run of equal steps.
struct Generation {
  struct Step {
    std::uint32_t first = 0, last = 0;  // places in the sequence, last excluded
    bool prefill = false;
    bool ends_run = false;  // what follows is not a step of the same request
  };
  std::vector<Step> steps;
  std::size_t decode_steps = 0, prefills = 0, runs = 0;
  std::size_t prefilled_runs = 0;  // runs that a prefill comes before
  std::uint64_t training_kernels = 0;
  std::uint32_t products = 0;  // of a typical step, see WorkAmount
  bool looks_up = false;       // a typical step looks up embeddings, or runs a graph that may
  bool chooses = false;        // and chooses a token, or runs a graph that may
};

Generation find_generation(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const StepCut& cut);

}  // namespace nl::analysis
