#include "analysis/figures/detail/name_table.h"

#include "analysis/figures/stages/timeline_lane.h"

namespace nl::analysis {

std::uint32_t NameTable::of(LaneKind kind, StringId name) {
  const std::uint64_t key = std::uint64_t{name.value} << 2 | static_cast<std::uint64_t>(kind);
  const auto [found, added] = known_.try_emplace(key, 0u);
  if (added) found->second = of(shown_slice_name(kind, trace_.strings[name]));
  return found->second;
}

std::uint32_t NameTable::of(const std::string& shown) {
  const auto [found, added] = ids_.try_emplace(shown, static_cast<std::uint32_t>(names_.size()));
  if (added) names_.push_back(shown);
  return found->second;
}

}  // namespace nl::analysis
