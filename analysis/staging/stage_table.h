#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/run.h"
#include "model/trace.h"
#include "model/words.h"

namespace nl::analysis {

// nsys 2025 gives a range that was never closed the very end of the session as its end.
bool never_closed(const Trace& trace, const Range& range);

// The stage that a range of the trace stands for, marked or found; "" where it is not a stage.
std::string stage_of(const Trace& trace, const Range& range);

// The trace's ranges by name, and the stages that the names stand for.
class StageTable {
 public:
  explicit StageTable(const Trace& trace);

  struct Group {  // all ranges of one domain, name and style
    StringId domain, name;
    RangeStyle style = RangeStyle::kPushPop;
    std::uint32_t stage = kNone;
  };
  const std::vector<Group>& groups() const { return groups_; }
  std::uint32_t group_of(std::uint32_t range) const { return group_of_range_[range]; }

  std::uint32_t stage_of_range(std::uint32_t range) const { return groups_[group_of_range_[range]].stage; }

  // Stages in the order in which they first begin.
  const std::vector<std::string>& stages() const { return stages_; }
  std::uint32_t find(std::string_view stage) const;  // kNone where the trace has no such stage
  std::uint32_t find(StageKind stage) const { return find(key_of(stage)); }
  // The stage that kernels of this one are counted under: decode for decode_step, else itself.
  std::uint32_t top_level(std::uint32_t stage) const { return top_level_[stage]; }

  // Names, spellings and open ranges of all stages, in the order of stages(); nothing else.
  std::vector<StageEntry> entries(const Trace& trace) const;
  // Wall times of all groups, in the order of groups().
  std::vector<TimeSummary> group_walls(const Trace& trace) const;

 private:
  std::uint32_t intern_stage(std::string_view stage);

  std::vector<Group> groups_;
  std::vector<std::uint32_t> group_of_range_;
  std::vector<std::string> stages_;
  std::vector<std::uint32_t> top_level_;
};

// By thread: it has stages of its own. One without (autograd's, a loader's) works for those of its process.
std::vector<bool> staged_threads(const Trace& trace, const StageTable& table);

}  // namespace nl::analysis
