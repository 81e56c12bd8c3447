#include "analysis/account/gap_sums.h"

#include <algorithm>
#include <bit>

#include "analysis/account/gpu_mean.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMostPlaces = 4096;  // of one stage on one lane: then the shorter half is given up
constexpr std::size_t kOpenWindows = 8;    // windows of one stage that overlap each other

}  // namespace

void LengthCounts::add(Ns length_ns) {
  if (length_ns <= 0) return;
  const auto length = static_cast<std::uint64_t>(length_ns);
  const auto octave = static_cast<std::size_t>(std::bit_width(length) - 1);
  const std::uint64_t rest = length - (std::uint64_t{1} << octave);
  const auto part = static_cast<std::size_t>(octave >= 3 ? rest >> (octave - 3) : rest << (3 - octave));
  counts_.resize(kParts * kOctaves);
  ++counts_[std::min(octave * kParts + part, counts_.size() - 1)];
  ++all_;
}

void LengthCounts::add(const LengthCounts& more) {
  counts_.resize(std::max(counts_.size(), more.counts_.size()));
  for (std::size_t i = 0; i < more.counts_.size(); ++i) counts_[i] += more.counts_[i];
  all_ += more.all_;
}

Ns LengthCounts::median_ns() const {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (2 * below < all_ || all_ == 0) continue;
    const std::uint64_t octave = std::uint64_t{1} << (i / kParts);
    return static_cast<Ns>(octave + octave * (i % kParts) / kParts);
  }
  return 0;
}

void GapSum::add(const GapSum& more) {
  count += more.count;
  add_budget(budget, more.budget);
  after_wait_ns += more.after_wait_ns;
  samples.insert(samples.end(), more.samples.begin(), more.samples.end());
}

std::vector<std::uint32_t>& GapTable::add(const Gap& gap) {
  if (places_.size() >= kMostPlaces) keep_longest();
  Place& place = places_[{gap.before, gap.after, gap.at_edge ? 1u : 0u, gap.place, gap.budget.wall_ns >= kSurelyLongNs ? 1u : 0u}];
  GapSum& sum = place.sum;
  sum.before = gap.before;
  sum.after = gap.after;
  sum.at_edge = gap.at_edge;
  sum.place = gap.place;
  ++sum.count;
  add_budget(sum.budget, gap.budget);
  sum.after_wait_ns += gap.after_wait_ns;
  auto window = std::find_if(place.open.begin(), place.open.end(), [&](const auto& each) { return each.first == gap.window; });
  if (window == place.open.end()) {
    if (place.open.size() == kOpenWindows) {
      finish_window(place, place.open.front().second);
      place.open.erase(place.open.begin());
    }
    window = place.open.insert(place.open.end(), {gap.window, 0});
  }
  window->second += gap.budget.wall_ns;
  return sum.samples;
}

void GapTable::finish_window(Place& place, Ns time_ns) {
  ++place.sum.windows;
  place.sum.by_window.add(time_ns);
}

void GapTable::keep_longest() {
  std::vector<Ns> times;
  for (const auto& [key, place] : places_) times.push_back(place.sum.budget.wall_ns);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const Ns least = *middle;
  std::erase_if(places_, [&](const auto& each) { return each.second.sum.budget.wall_ns <= least; });
}

std::vector<GapSum> GapTable::sums() const {
  std::vector<GapSum> out;
  for (const auto& [key, place] : places_) {
    Place last = place;
    for (const auto& [window, time_ns] : last.open) finish_window(last, time_ns);
    out.push_back(std::move(last.sum));
  }
  return out;
}

}  // namespace nl::analysis
