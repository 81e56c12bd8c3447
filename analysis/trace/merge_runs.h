#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nl::analysis {

// Sorts stably by merging what is in order already: rows of a capture are a few runs of it, one of each rank or thread.
template <class Less>
void merge_runs(std::vector<std::uint32_t>& order, Less less) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (less(order[i], order[i - 1])) ends.push_back(i);
  ends.push_back(order.size());
  std::vector<std::uint32_t> merged(ends.size() > 1 ? order.size() : 0);
  const auto at = [](std::vector<std::uint32_t>& of, std::size_t place) { return of.begin() + static_cast<std::ptrdiff_t>(place); };
  while (ends.size() > 1) {
    std::vector<std::size_t> longer;
    std::size_t begin = 0;
    for (std::size_t run = 0; run < ends.size(); run += 2) {
      const std::size_t middle = ends[run], end = ends[std::min(run + 1, ends.size() - 1)];
      std::merge(at(order, begin), at(order, middle), at(order, middle), at(order, end), at(merged, begin), less);
      longer.push_back(begin = end);
    }
    order.swap(merged);
    ends = std::move(longer);
  }
}

}  // namespace nl::analysis
