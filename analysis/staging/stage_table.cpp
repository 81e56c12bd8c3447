#include "analysis/staging/stage_table.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "analysis/statistics/time_summary.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

std::string spelling(const Trace& trace, const StageTable::Group& group) {
  const std::string& domain = trace.strings[group.domain];
  return domain.empty() ? trace.strings[group.name] : domain + ":" + trace.strings[group.name];
}

std::uint64_t group_key(const Range& range) {
  // Names and domains are ids below 2^31 in any trace that fits in memory.
  return (std::uint64_t{range.name.value} << 32) ^ (std::uint64_t{range.domain.value} << 1) ^ static_cast<std::uint64_t>(range.style);
}

}  // namespace

bool never_closed(const Trace& trace, const Range& range) { return range.open || range.end_ns == trace.session_end_ns; }

std::string stage_of(const Trace& trace, const Range& range) {
  if (trace.strings[range.domain] == kStageDomain) return trace.strings[range.name];
  return nvtx::stage_of(trace.strings[range.domain], trace.strings[range.name]);
}

StageTable::StageTable(const Trace& trace) {
  std::vector<std::uint32_t> order(trace.ranges.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Range &x = trace.ranges[a], &y = trace.ranges[b];
    return std::tuple(x.start_ns, -x.end_ns, a) < std::tuple(y.start_ns, -y.end_ns, b);
  });
  group_of_range_.resize(trace.ranges.size());
  std::unordered_map<std::uint64_t, std::uint32_t> group_ids;
  for (const std::uint32_t i : order) {
    const Range& range = trace.ranges[i];
    const auto [found, added] = group_ids.try_emplace(group_key(range), static_cast<std::uint32_t>(groups_.size()));
    group_of_range_[i] = found->second;
    if (!added) continue;
    Group group{range.domain, range.name, range.style, kNone};
    const std::string stage = stage_of(trace, range);
    if (!stage.empty()) group.stage = intern_stage(stage);
    groups_.push_back(group);
  }
}

std::vector<bool> staged_threads(const Trace& trace, const StageTable& table) {
  std::vector<bool> staged(trace.threads.size(), false);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i)
    if (table.stage_of_range(i) != kNone && trace.ranges[i].thread < staged.size()) staged[trace.ranges[i].thread] = true;
  return staged;
}

std::uint32_t StageTable::intern_stage(std::string_view stage) {
  if (const auto known = find(stage); known != kNone) return known;
  // A lone decode_step is decoding all the same.
  const std::uint32_t parent = stage_kind(stage) == StageKind::kDecodeStep ? intern_stage(key_of(StageKind::kDecode)) : kNone;
  const auto id = static_cast<std::uint32_t>(stages_.size());
  stages_.emplace_back(stage);
  top_level_.push_back(parent == kNone ? id : parent);
  return id;
}

std::uint32_t StageTable::find(std::string_view stage) const {
  const auto found = std::find(stages_.begin(), stages_.end(), stage);
  return found == stages_.end() ? kNone : static_cast<std::uint32_t>(found - stages_.begin());
}

std::vector<StageEntry> StageTable::entries(const Trace& trace) const {
  std::vector<StageEntry> entries(stages_.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) entries[i].name = stages_[i];
  for (const auto& group : groups_) {
    if (group.stage == kNone) continue;
    StageEntry& entry = entries[group.stage];
    if (trace.strings[group.domain] == kStageDomain) {
      entry.source = trace.stage_origin.source;
      entry.confidence = trace.stage_origin.confidence;
    }
    auto& spellings = entry.ranges;
    const std::string text = spelling(trace, group);
    if (std::find(spellings.begin(), spellings.end(), text) == spellings.end()) spellings.push_back(text);
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {  // decode without ranges of its own is as sure as its steps
    StageEntry& parent = entries[top_level_[i]];
    if (top_level_[i] == i || !parent.ranges.empty()) continue;
    parent.source = entries[i].source;
    parent.confidence = entries[i].confidence;
  }
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const std::uint32_t stage = stage_of_range(i);
    if (stage != kNone && never_closed(trace, trace.ranges[i])) ++entries[stage].open_ranges;
  }
  return entries;
}

std::vector<TimeSummary> StageTable::group_walls(const Trace& trace) const {
  std::vector<std::vector<Ns>> durations(groups_.size());
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    if (!never_closed(trace, trace.ranges[i])) durations[group_of_range_[i]].push_back(trace.ranges[i].end_ns - trace.ranges[i].start_ns);
  std::vector<TimeSummary> walls;
  walls.reserve(groups_.size());
  for (auto& values : durations) {
    walls.push_back(summarise_times(values));
    values = {};
  }
  return walls;
}

}  // namespace nl::analysis
