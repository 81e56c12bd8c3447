#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nl::exporters::perfetto {

// Rows by group, in each group by `before`: positions into the rows, which stay where they are.
struct Grouped {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> first;  // where each group begins; one more for the end
};

// Rows of a group beyond the last are left out, as are those that `keep` does not want.
template <class Rows, class Keep, class Group, class Before>
Grouped grouped(const Rows& rows, std::size_t groups, Keep keep, Group group, Before before) {
  Grouped out;
  out.first.assign(groups + 1, 0);
  for (const auto& row : rows)
    if (group(row) < groups && keep(row)) ++out.first[group(row) + 1];
  for (std::size_t i = 1; i <= groups; ++i) out.first[i] += out.first[i - 1];
  out.order.resize(out.first[groups]);
  std::vector<std::uint32_t> next(out.first.begin(), out.first.end() - 1);
  for (std::uint32_t i = 0; i < rows.size(); ++i)
    if (group(rows[i]) < groups && keep(rows[i])) out.order[next[group(rows[i])]++] = i;
  const auto by_row = [&](std::uint32_t a, std::uint32_t b) { return before(rows[a], rows[b]); };
  for (std::size_t i = 0; i < groups; ++i) {
    const auto begin = out.order.begin() + out.first[i], end = out.order.begin() + out.first[i + 1];
    if (!std::is_sorted(begin, end, by_row)) std::stable_sort(begin, end, by_row);  // captures nearly always are
  }
  return out;
}

}  // namespace nl::exporters::perfetto
