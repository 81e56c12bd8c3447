#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/trace.h"

namespace nl::analysis {

// True for a stage that nl-stage found and added to the trace.
inline bool is_found_stage(const Trace& trace, const Range& range) { return trace.strings[range.domain] == kStageDomain; }

// Which ranges enclose an API call: those of the same thread that start at or before it and end at or
// after it. A range that another thread ended encloses nothing, as nsys has it.
class RangeIndex {
 public:
  enum class Of { kAll, kWorkload };  // kWorkload: without the stages that nl-stage found, which no other tool sees
  // `open_end_ns`: where ranges that were never closed end, if not where the trace says.
  explicit RangeIndex(const Trace& trace, std::optional<Ns> open_end_ns = std::nullopt, Of of = Of::kAll);

  // Indices into Trace::ranges, outermost first, into `out`. Costs the logarithm of the thread's ranges
  // for each one found, also where they overlap without being nested.
  void enclosing(const ApiCall& call, std::vector<std::uint32_t>& out) const;
  void enclosing(std::uint32_t thread, Ns start_ns, Ns end_ns, std::vector<std::uint32_t>& out) const;
  // The shortest range around a range, or kNone. Of two with the same times each encloses the other.
  std::uint32_t parent_of(std::uint32_t range) const;
  // When the next range of the thread starts after that time; the largest time where none does.
  Ns next_start_ns(std::uint32_t thread, Ns time_ns) const;
  // The end that this index uses; it differs from Range::end_ns only for ranges that were never closed.
  Ns end_ns(std::uint32_t range) const;

 private:
  // The ranges of a thread by start, and over them a tree of the latest end of each stretch.
  struct Lane {
    std::vector<std::uint32_t> ranges;
    std::vector<Ns> starts;
    std::vector<Ns> latest_end;  // node i has the children 2i and 2i + 1; the leaves are the last half
    bool nested = true;          // no two of them overlap without one enclosing the other
  };
  void collect(const Lane& lane, std::size_t node, std::size_t begin, std::size_t width, std::size_t limit, Ns end_ns,
               std::vector<std::uint32_t>& out) const;

  const Trace& trace_;
  std::optional<Ns> open_end_ns_;
  void find_parents(Lane& lane);
  std::uint32_t shortest_around(std::uint32_t range) const;

  std::vector<Lane> lanes_;             // by thread
  std::vector<std::uint32_t> parents_;  // by range, of nested lanes
};

}  // namespace nl::analysis
