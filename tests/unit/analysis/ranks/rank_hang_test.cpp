#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"

using namespace nl;

namespace {

constexpr Ns kHungSecond = 1'000'000'000;

// Three ranks with a few steps together. Then the ranks of `waiting` call a collective that never runs, and rank 1 is in a range.
struct HungRanks : RanksBuilder {
  explicit HungRanks(const std::vector<std::uint32_t>& waiting, Ns end_ns = 60 * kHungSecond) : RanksBuilder(3) {
    for (Ns step = 0; step < 5; ++step) collective({1000 + 1000 * step, 1010 + 1000 * step, 1020 + 1000 * step}, 1500 + 1000 * step);
    for (const std::uint32_t rank : waiting) range("ncclAllReduce", 10 * kHungSecond + rank, 10 * kHungSecond + rank + 50, rank);
    range("forward", 2 * kHungSecond, 3 * kHungSecond, 1);
    range("save_checkpoint", 4 * kHungSecond, end_ns, 1).open = true;
    for (RankEntry& rank : trace.ranks) rank.capture_end_ns = end_ns;
  }
  Range& range(const char* name, Ns start_ns, Ns end_ns, std::uint32_t thread) {
    Range& made = trace.ranges.emplace_back();
    made.name = trace.strings.intern(name);
    made.start_ns = start_ns;
    made.end_ns = end_ns;
    made.thread = thread;
    return made;
  }
  std::optional<RankHang> hang() const { return figures().hang; }
};

}  // namespace

TEST_CASE("The rank that others wait for when the captures end is told, with what it did last", "[ranks]") {
  const auto hang = HungRanks({0, 2}).hang();
  REQUIRE(hang);
  CHECK(hang->waiting == std::vector<std::uint32_t>{0, 2});
  REQUIRE(hang->absent.size() == 1);
  CHECK(hang->absent[0].rank == 1);
  CHECK(hang->absent[0].range == "save_checkpoint");
  CHECK(hang->absent[0].in_range);
  CHECK(hang->absent[0].since_ns == 4 * kHungSecond);
  CHECK(hang->kind == Collective::kAllReduce);
  CHECK(hang->waited_ns == 50 * kHungSecond);
}

TEST_CASE("Of a rank that is in no range any more the last one is told", "[ranks]") {
  HungRanks ranks({0, 2});
  ranks.trace.ranges.pop_back();
  const auto hang = ranks.hang();
  REQUIRE(hang);
  CHECK(hang->absent[0].range == "forward");
  CHECK_FALSE(hang->absent[0].in_range);
  CHECK(hang->absent[0].since_ns == 3 * kHungSecond);
}

TEST_CASE("No rank is said to be waited for where the captures do not show it", "[ranks]") {
  CHECK_FALSE(HungRanks({}).hang());
  CHECK_FALSE(HungRanks({0, 1, 2}).hang());                                   // all wait: they may call different collectives
  CHECK_FALSE(HungRanks({0, 2}, 10 * kHungSecond + kHungSecond / 2).hang());  // not long yet
  HungRanks early({0, 2});
  early.trace.ranks[1].capture_end_ns = 20 * kHungSecond;  // what it did later is not known
  CHECK_FALSE(early.hang());
  HungRanks unknown({0, 2});
  unknown.trace.ranks[2].capture_end_ns.reset();
  CHECK_FALSE(unknown.hang());
  HungRanks long_ones({0, 2});  // such a collective is nothing new
  long_ones.collective({100, 100, 100}, 6 * kHungSecond);
  CHECK_FALSE(long_ones.hang());
}
