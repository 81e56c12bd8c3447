#include "analysis/figures/detail/slices.h"

#include <algorithm>

namespace nl::analysis {
namespace {

// The first stretch that ends after the time. What lasts no time is shown where it stands.
Spans::const_iterator first_showing(const Spans& exact, Ns time_ns) {
  return std::upper_bound(exact.begin(), exact.end(), time_ns, [](Ns time, const auto& span) { return time < span.second; });
}

bool reaches(Spans::const_iterator window, Spans::const_iterator end, Ns start_ns, Ns end_ns) {
  return window != end && window->first < std::max(end_ns, start_ns + 1);
}

}  // namespace

SliceCollector::SliceCollector(const Spans& exact, std::size_t lanes) : exact_(exact), windows_(exact.size()) {
  for (Shown& window : windows_) {
    window.lanes.resize(lanes);
    for (std::uint32_t i = 0; i < lanes; ++i) window.lanes[i].lane = i;
  }
}

bool SliceCollector::shows(Ns start_ns, Ns end_ns) const {
  return reaches(first_showing(exact_, start_ns), exact_.end(), start_ns, end_ns);
}

template <class Visit>
void SliceCollector::each(std::uint32_t lane, const DetailSlice& slice, Visit visit) {
  const Ns end_ns = slice.start_ns + slice.duration_ns;
  for (auto window = first_showing(exact_, slice.start_ns); reaches(window, exact_.end(), slice.start_ns, end_ns); ++window) {
    Shown& shown = windows_[static_cast<std::size_t>(window - exact_.begin())];
    visit(shown, shown.lanes[lane].slices);
  }
}

void SliceCollector::add(std::uint32_t lane, const DetailSlice& slice) {
  each(lane, slice, [&](Shown&, DetailSliceList& slices) { slices.push_back(slice); });
}

void SliceCollector::add_call(std::uint32_t lane, const DetailSlice& slice, std::uint32_t api) {
  each(lane, slice, [&](Shown& window, DetailSliceList& slices) {
    window.calls.push_back({api, lane, static_cast<std::uint32_t>(slices.size())});
    slices.push_back(slice);
  });
}

void SliceCollector::end_calls() {
  for (Shown& window : windows_)
    std::sort(window.calls.begin(), window.calls.end(), [](const Call& a, const Call& b) { return a.api < b.api; });
}

void SliceCollector::add_work(std::uint32_t lane, DetailSlice slice, std::uint32_t api) {
  each(lane, slice, [&](Shown& window, DetailSliceList& slices) {
    const auto call = std::lower_bound(window.calls.begin(), window.calls.end(), api,
                                       [](const Call& each, std::uint32_t wanted) { return each.api < wanted; });
    const bool shown = call != window.calls.end() && call->api == api;
    slice.launch_lane = shown ? call->lane : kNone;
    slice.launch_slice = shown ? call->slice : kNone;
    slices.push_back(slice);
  });
}

std::vector<DetailWindow> SliceCollector::take() {
  std::vector<DetailWindow> out;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    DetailWindow& window = out.emplace_back();
    window.start_ns = exact_[i].first;
    window.end_ns = exact_[i].second;
    std::vector<std::uint32_t> place(windows_[i].lanes.size(), kNone);
    for (DetailSlices& lane : windows_[i].lanes) {
      if (lane.slices.empty()) continue;
      place[lane.lane] = static_cast<std::uint32_t>(window.lanes.size());
      window.lanes.push_back(std::move(lane));
    }
    for (DetailSlices& lane : window.lanes)
      for (DetailSlice& slice : lane.slices)
        if (slice.launch_lane != kNone) slice.launch_lane = place[slice.launch_lane];
  }
  return out;
}

}  // namespace nl::analysis
