#include "analysis/trace/merge_runs.h"

#include <numeric>
#include <random>

#include "tests/catch.h"

using namespace nl::analysis;

TEST_CASE("merging runs is a stable sort, of rows in any order") {
  std::mt19937 dice(20261119);
  for (const std::size_t rows : {0u, 1u, 2u, 3u, 100u, 5000u})
    for (const std::size_t runs : {1u, 2u, 5u, 64u, 5000u}) {
      std::vector<int> keys(rows);
      for (int& key : keys) key = static_cast<int>(dice() % (rows / 4 + 2));  // many are equal
      const std::size_t length = rows / runs + 1;
      for (std::size_t begin = 0; begin < rows; begin += length)
        std::sort(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                  keys.begin() + static_cast<std::ptrdiff_t>(std::min(rows, begin + length)));
      const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; };
      std::vector<std::uint32_t> expected(rows);
      std::iota(expected.begin(), expected.end(), 0u);
      std::vector<std::uint32_t> order = expected;
      std::stable_sort(expected.begin(), expected.end(), earlier);
      merge_runs(order, earlier);
      CHECK(order == expected);
    }
}
