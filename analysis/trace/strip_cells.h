#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "model/time.h"

namespace nl::analysis {

inline constexpr std::size_t kStripCells = 400;  // about as many as a page has pixels for, two to each

// A stretch of time in cells, each of one kind. What a cell leaves out goes on to the next: ten thousand kernels of a microsecond with pauses between
// them fill as much of the strip as of the time, wherever one of the two is longer in every cell.
template <std::size_t kKinds>
class StripCells {
 public:
  static constexpr std::size_t kNothing = kKinds;
  struct Part {
    double start_ns = 0, end_ns = 0;
    std::size_t kind = kNothing;
  };

  StripCells(Ns start_ns, Ns end_ns) : start_ns_(start_ns), length_ns_(end_ns - start_ns), times_(kStripCells) {}

  void add(Ns from, Ns to, std::size_t kind) {
    if (length_ns_ <= 0) return;
    const double first = place(from), last = place(to);
    for (double at = first; at < last;) {
      const auto cell = std::min(kStripCells - 1, static_cast<std::size_t>(at));
      const double until = std::min(last, static_cast<double>(cell + 1));
      times_[cell][kind] += until - at;
      at = std::max(until, static_cast<double>(cell + 1));
    }
  }

  // From begin to end, those of nothing among them.
  std::vector<Part> parts() const {
    std::vector<Part> parts;
    std::array<double, kKinds + 1> due{};
    const double width = static_cast<double>(length_ns_) / kStripCells;
    for (std::size_t cell = 0; cell < kStripCells; ++cell) {
      double rest = 1;
      for (std::size_t kind = 0; kind < kKinds; ++kind) {
        due[kind] += times_[cell][kind];
        rest -= times_[cell][kind];
      }
      due[kNothing] += std::max(0.0, rest);
      const std::size_t kind = kind_of(cell, due);
      due[kind] -= 1;
      const double start = static_cast<double>(cell) * width;
      if (!parts.empty() && parts.back().kind == kind) parts.back().end_ns = start + width;
      else parts.push_back({start, start + width, kind});
    }
    return parts;
  }

 private:
  // What is due the most of all that the cell has: a debt of cells before is not paid where its kind does not happen.
  std::size_t kind_of(std::size_t cell, const std::array<double, kKinds + 1>& due) const {
    double rest = 1;
    std::size_t best = kNothing;
    double most = -static_cast<double>(kStripCells);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      rest -= times_[cell][kind];
      if (times_[cell][kind] > 0 && due[kind] > most) {
        most = due[kind];
        best = kind;
      }
    }
    return best == kNothing || (rest > kLeastPause && due[kNothing] > most) ? kNothing : best;
  }

  // In cells.
  double place(Ns time) const {
    return std::clamp(static_cast<double>(time - start_ns_) / static_cast<double>(length_ns_), 0.0, 1.0) * static_cast<double>(kStripCells);
  }

  static constexpr double kLeastPause = 1e-6;  // of a cell: less is rounding

  Ns start_ns_, length_ns_;
  std::vector<std::array<double, kKinds>> times_;  // by cell and kind, of the cell
};

}  // namespace nl::analysis
