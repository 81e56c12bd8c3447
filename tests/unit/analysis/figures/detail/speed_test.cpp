#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/figures/detail/innermost.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

namespace {

using nl::Ns;

template <class Work>
double processor_seconds(const Work& work) {
  double least_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {  // the least: a neighbour on the same core makes one turn dearer
    const std::clock_t start = std::clock();
    work();
    least_s = std::min(least_s, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return least_s;
}

// Requests of a server: all are open in the middle, and they end in another order than they began.
Ns end_of_range(Ns i, Ns count) { return count + (i * 7919) % count; }

// The peer: the same ranges one after the other, of which never two are open.
nl::Trace trace_of(std::uint32_t count, bool together) {
  TraceBuilder b;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ns start_ns = together ? Ns{i} : Ns{2} * i;
    b.range("", "aten::mm", start_ns, together ? end_of_range(i, count) : start_ns + 1);
  }
  return std::move(b.trace);
}

std::vector<std::uint32_t> in_order(const nl::Trace& trace) {
  std::vector<std::uint32_t> order(trace.ranges.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<nl::analysis::Window> windows_of(std::uint32_t count, bool together) {
  std::vector<nl::analysis::Window> windows(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    windows[i].start_ns = together ? Ns{i} : Ns{2} * i;
    windows[i].end_ns = together ? end_of_range(i, count) : windows[i].start_ns + 1;
  }
  return windows;
}

}  // namespace

// A heap costs a logarithm: seen are 1.5 to 4 times the peer's time. One look at all open ranges for each end, as it once was,
// costs more than 100 times the peer at this size and more at larger ones; 20 leaves room for sanitizers and a cold cache.
TEST_CASE("ranges that are all open together take about as long as ranges one after the other", "[speed]") {
  constexpr std::uint32_t kRanges = 40'000;
  double seconds[2];
  for (const bool together : {false, true}) {
    const nl::Trace trace = trace_of(kRanges, together);
    const std::vector<std::uint32_t> items(kRanges, 0), order = in_order(trace);
    seconds[together] = processor_seconds([&] { CHECK(nl::analysis::InnermostItem(trace, items, order).any()); });
  }
  INFO("together " << seconds[1] << " s, in a row " << seconds[0] << " s");
  CHECK(seconds[1] < 20 * seconds[0]);
}

TEST_CASE("windows that are all open together take about as long as windows one after the other", "[speed]") {
  constexpr std::uint32_t kWindows = 40'000;
  double seconds[2];
  for (const bool together : {false, true}) {
    const auto windows = windows_of(kWindows, together);
    Ns told_ns = 0;
    seconds[together] = processor_seconds([&] {
      told_ns = 0;
      const nl::analysis::InnermostStages stages(1, windows);
      for (std::uint32_t i = 0; i < kWindows; ++i)
        stages.each_of_window(i, 0, 3 * Ns{kWindows}, [&](Ns start_ns, Ns end_ns) { told_ns += end_ns - start_ns; });
    });
    Ns last_ns = 0;
    for (const auto& window : windows) last_ns = std::max(last_ns, window.end_ns);
    CHECK(told_ns == (together ? last_ns : Ns{kWindows}));  // each moment once
  }
  INFO("together " << seconds[1] << " s, in a row " << seconds[0] << " s");
  CHECK(seconds[1] < 20 * seconds[0]);
}
