#include "analysis/trace/range_index.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace nl::analysis {
namespace {

constexpr std::uint32_t kNotLookedFor = kNone - 1;

}  // namespace

RangeIndex::RangeIndex(const Trace& trace, std::optional<Ns> open_end_ns, Of of) : trace_(trace), open_end_ns_(open_end_ns) {
  lanes_.resize(trace.threads.size());
  parents_.assign(trace.ranges.size(), kNotLookedFor);
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const Range& range = trace.ranges[i];
    if (of == Of::kWorkload && is_found_stage(trace, range)) continue;
    if (range.thread < lanes_.size() && range.end_thread == kNone) lanes_[range.thread].ranges.push_back(i);
  }
  for (Lane& lane : lanes_) {
    std::sort(lane.ranges.begin(), lane.ranges.end(), [&](std::uint32_t a, std::uint32_t b) {
      Ns start_a = trace.ranges[a].start_ns, start_b = trace.ranges[b].start_ns;
      if (start_a != start_b) return start_a < start_b;
      Ns end_a = this->end_ns(a), end_b = this->end_ns(b);
      return end_a != end_b ? end_a > end_b : a < b;
    });
    for (std::uint32_t range : lane.ranges) lane.starts.push_back(trace.ranges[range].start_ns);
    find_parents(lane);
    std::size_t leaves = std::bit_ceil(std::max<std::size_t>(lane.ranges.size(), 1));
    lane.latest_end.assign(2 * leaves, std::numeric_limits<Ns>::min());
    for (std::size_t i = 0; i < lane.ranges.size(); ++i) lane.latest_end[leaves + i] = this->end_ns(lane.ranges[i]);
    for (std::size_t i = leaves - 1; i > 0; --i) lane.latest_end[i] = std::max(lane.latest_end[2 * i], lane.latest_end[2 * i + 1]);
  }
}

Ns RangeIndex::end_ns(std::uint32_t range) const {
  const Range& r = trace_.ranges[range];
  return r.open && open_end_ns_ ? *open_end_ns_ : r.end_ns;
}

void RangeIndex::collect(const Lane& lane, std::size_t node, std::size_t begin, std::size_t width, std::size_t limit, Ns end_ns,
                         std::vector<std::uint32_t>& out) const {
  if (begin >= limit || lane.latest_end[node] < end_ns) return;
  if (width == 1) {
    out.push_back(lane.ranges[begin]);
    return;
  }
  collect(lane, 2 * node, begin, width / 2, limit, end_ns, out);
  collect(lane, 2 * node + 1, begin + width / 2, width / 2, limit, end_ns, out);
}

void RangeIndex::enclosing(std::uint32_t thread, Ns start_ns, Ns end_ns, std::vector<std::uint32_t>& out) const {
  out.clear();
  if (thread >= lanes_.size()) return;
  const Lane& lane = lanes_[thread];
  auto begun = std::upper_bound(lane.starts.begin(), lane.starts.end(), start_ns) - lane.starts.begin();
  collect(lane, 1, 0, lane.latest_end.size() / 2, static_cast<std::size_t>(begun), end_ns, out);
}

void RangeIndex::enclosing(const ApiCall& call, std::vector<std::uint32_t>& out) const {
  enclosing(static_cast<std::uint32_t>(call.thread), call.start_ns, call.end_ns(), out);
}

Ns RangeIndex::next_start_ns(std::uint32_t thread, Ns time_ns) const {
  if (thread >= lanes_.size()) return std::numeric_limits<Ns>::max();
  const std::vector<Ns>& starts = lanes_[thread].starts;
  auto next = std::upper_bound(starts.begin(), starts.end(), time_ns);
  return next == starts.end() ? std::numeric_limits<Ns>::max() : *next;
}

// One pass with a stack: thousands of nested ranges would each find all of those around them. Ranges with the same times stand beside each
// other in the lane; each of them is around the others.
void RangeIndex::find_parents(Lane& lane) {
  std::vector<std::size_t> open;  // the first of each group of equal times, outermost first
  const auto times = [&](std::size_t at) { return std::pair(lane.starts[at], end_ns(lane.ranges[at])); };
  for (std::size_t first = 0, next = 0; first < lane.ranges.size(); first = next) {
    const auto [start, end] = times(first);
    while (next < lane.ranges.size() && times(next) == std::pair(start, end)) ++next;
    if (end <= start) continue;  // what only touches such a range is around it, too: parent_of() looks for it
    while (!open.empty() && times(open.back()).second < end) {
      if (times(open.back()).second > start) lane.nested = false;
      open.pop_back();
    }
    const std::uint32_t outer = open.empty() ? kNone : lane.ranges[open.back()];
    for (std::size_t at = first; at < next; ++at) {
      const std::uint32_t other = next - first < 2 ? outer : lane.ranges[at == first ? first + 1 : first];
      parents_[lane.ranges[at]] = other;
    }
    open.push_back(first);
  }
}

std::uint32_t RangeIndex::parent_of(std::uint32_t range) const {
  const std::uint32_t thread = trace_.ranges[range].thread;
  const bool known = thread < lanes_.size() && lanes_[thread].nested && parents_[range] != kNotLookedFor;
  return known ? parents_[range] : shortest_around(range);
}

std::uint32_t RangeIndex::shortest_around(std::uint32_t range) const {
  const Range& child = trace_.ranges[range];
  std::vector<std::uint32_t> around;
  enclosing(child.thread, child.start_ns, end_ns(range), around);
  auto length = [&](std::uint32_t r) { return end_ns(r) - trace_.ranges[r].start_ns; };
  std::uint32_t parent = kNone;
  for (std::uint32_t candidate : around) {
    if (candidate == range) continue;
    bool tighter = parent == kNone || length(candidate) < length(parent);
    if (tighter || (length(candidate) == length(parent) && candidate < parent)) parent = candidate;
  }
  return parent;
}

}  // namespace nl::analysis
