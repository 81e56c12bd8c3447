#pragma once

#include <cstdint>
#include <vector>

#include "analysis/staging/found/work_amount.h"
#include "analysis/staging/found/work_sequence.h"

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

// A little more or less than the period: a longer context may need a kernel more.
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

}  // namespace nl::analysis
