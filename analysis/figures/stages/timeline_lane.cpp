#include "analysis/figures/stages/timeline_lane.h"

#include <algorithm>

#include "analysis/trace/operator_names.h"
#include "model/cuda_calls.h"
#include "nvtx/names.h"

namespace nl::analysis {

void LaneDrawing::set_limit(const TimelineView& view, std::uint64_t most) {
  if (count <= most) return;
  // One merged slice and the start of one that is longer than a cell fit into each cell.
  const Ns cells = std::max<Ns>(1, static_cast<Ns>(most) / 2 - 1);
  cell_ns_ = (view.end_ns - view.start_ns) / cells + 1;
}

void LaneDrawing::add(const TimelineView& view, Ns start_ns, Ns end_ns, StringId name) {
  if (hidden) {
    ++left_out;
    return;
  }
  start_ns = std::max(start_ns, view.start_ns);
  end_ns = std::min(end_ns, view.end_ns);
  if (!slices.empty()) start_ns = std::max(start_ns, slices.back().end_ns);
  if (end_ns < start_ns || (end_ns == start_ns && !slices.empty() && slices.back().end_ns == end_ns)) {
    ++left_out;
    return;
  }
  const Ns length = end_ns - start_ns;
  if (cell_ns_ > 0 && length < cell_ns_ && !slices.empty()) {
    Slice& last = slices.back();
    const auto cell = [&](Ns time) { return (time - view.start_ns) / cell_ns_; };
    if (cell(last.start_ns) == cell(start_ns)) {  // never after a long one: it ends in a later cell than it starts
      last.end_ns = end_ns;
      ++last.merged;
      if (length > last.longest_ns) {
        last.longest_ns = length;
        last.name = name;
      }
      return;
    }
  }
  slices.push_back({start_ns, end_ns, name, 1, length});
}

std::string shown_slice_name(LaneKind kind, const std::string& name) {
  if (kind == LaneKind::kRanges) return nvtx::normalise_range({}, split_operator_name(name).name).name;
  if (kind == LaneKind::kApi && !name.empty()) return std::string(without_api_version(name));
  return name.empty() ? (kind == LaneKind::kGpu ? "CUDA graph" : "unnamed") : name;
}

void share_slices(const TimelineView& view, std::uint64_t total, std::vector<LaneDrawing*> lanes) {
  std::stable_sort(lanes.begin(), lanes.end(), [](const LaneDrawing* a, const LaneDrawing* b) { return a->count < b->count; });
  std::uint64_t left = lanes.size();
  for (LaneDrawing* lane : lanes) {
    const std::uint64_t fair = total / left;
    lane->set_limit(view, fair);
    total -= std::min(lane->count, fair);
    --left;
  }
}

}  // namespace nl::analysis
