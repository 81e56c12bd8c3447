#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/stage.h"
#include "model/trace.h"

// Idle time of a GPU in the windows of a stage, by the place of the window in which it lies.
namespace nl::analysis {

inline constexpr std::uint32_t kWholeGraphName = kNone - 1;  // of work: a CUDA graph as a whole, which has no name

// Values of which at most some thousands are kept: every one, then every second, and so on.
class ThinnedValues {
 public:
  void add(Ns value) {
    if (seen_++ % stride_ == 0) values_.push_back(value);
    if (values_.size() < kMost) return;
    for (std::size_t i = 0; 2 * i < values_.size(); ++i) values_[i] = values_[2 * i];
    values_.resize((values_.size() + 1) / 2);
    stride_ *= 2;
  }
  void add(const ThinnedValues& more) {
    for (const Ns value : more.values_) add(value);
  }
  const std::vector<Ns>& kept() const { return values_; }

 private:
  static constexpr std::size_t kMost = 2048;
  std::vector<Ns> values_;
  std::uint64_t seen_ = 0, stride_ = 1;
};

// How often lengths come, in eighths of an octave: enough for a median.
class LengthCounts {
 public:
  void add(Ns length_ns);
  void add(const LengthCounts& more);
  Ns median_ns() const;  // 0 of nothing

 private:
  static constexpr std::size_t kParts = 8, kOctaves = 45;
  std::vector<std::uint32_t> counts_;  // empty until the first comes
  std::uint64_t all_ = 0;
};

// The gaps at one place of the windows: between the same two pieces of work, after the same number of pieces of work of the window. A gap
// that begins before its window or ends after it lies at the edge: it is counted by what is around it alone.
struct GapSum {
  std::uint32_t before = kNone, after = kNone;  // names of the work: StringId values, or kWholeGraphName
  bool at_edge = false;
  std::uint32_t place = 0;  // pieces of work of the window before it
  std::uint64_t count = 0, windows = 0;
  Budget budget;  // wall_ns: all of it
  Ns after_wait_ns = 0;
  ThinnedValues by_window;
  std::vector<std::uint32_t> samples;  // indices into HostSamples::samples, of the launching thread

  void add(const GapSum& more);
};

// What one lane has in the windows of one stage.
class GapTable {
 public:
  struct Gap {
    std::uint32_t window = 0;
    std::uint32_t before = kNone, after = kNone;
    bool at_edge = false;
    std::uint32_t place = 0;
    Budget budget;
    Ns after_wait_ns = 0;
  };
  // Gaps that are shorter than this are not looked at one by one. A window has at most a thousand longer ones.
  static Ns least_ns(Ns window_ns) { return std::max<Ns>(5'000, std::min<Ns>(window_ns / 1000, kSurelyLongNs)); }

  // Longer ones have another reason than a launch, whatever the program. They are kept apart from those at the same place that are shorter.
  static constexpr Ns kSurelyLongNs = 160'000;

  // Returns where its samples belong; valid until the next call.
  std::vector<std::uint32_t>& add(const Gap& gap);
  void add_late(Ns length_ns) { late_.add(length_ns); }     // any gap, however short, that waits for a launch
  void close(Ns idle_ns) { idle_windows_ += idle_ns > 0; }  // a window, with all of its idle time

  std::vector<GapSum> sums() const;  // by place
  const LengthCounts& late() const { return late_; }
  std::uint64_t idle_windows() const { return idle_windows_; }
  std::uint64_t gaps() const { return gaps_; }
  void count_gap() { ++gaps_; }

 private:
  struct Place {
    GapSum sum;
    std::vector<std::pair<std::uint32_t, Ns>> open;  // windows that may have more of it, and what they have
  };
  void keep_longest();
  static void finish_window(Place& place, Ns time_ns);

  using Key = std::array<std::uint32_t, 5>;
  std::map<Key, Place> places_;
  LengthCounts late_;
  std::uint64_t idle_windows_ = 0, gaps_ = 0;
};

}  // namespace nl::analysis
