#include "analysis/figures/detail/collective_bands.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/figures/detail/detail.h"
#include "tests/catch.h"
#include "tests/unit/analysis/ranks/ranks_builder.h"

using namespace nl;

namespace {

constexpr std::uint32_t kMostBandLevelsAndOne = analysis::kMostBandLevels + 1;

RanksBuilder told_ranks(std::uint32_t ranks) {
  RanksBuilder b(ranks);
  for (RankEntry& rank : b.trace.ranks) rank.source = RankSource::kEnvironment;
  return b;
}

std::vector<std::string> names_in(const Detail& detail, const std::string& title) {
  std::vector<std::string> names;
  for (const DetailSlices& lane : detail.windows.at(0).lanes)
    if (detail.lanes[lane.lane].title == title)
      for (const DetailSlice& slice : lane.slices) names.push_back(detail.names[slice.name]);
  return names;
}

}  // namespace

TEST_CASE("a collective is one band over its ranks, which says who was waited for", "[ranks]") {
  RanksBuilder b = told_ranks(3);
  b.collective({100, 130, 400}, 500);
  b.collective({600, 600, 600}, 700);
  const auto bands = analysis::collective_bands(b.trace).list;
  REQUIRE(bands.size() == 2);
  CHECK(bands[0].start_ns == 100);
  CHECK(bands[0].all_there_ns == 400);
  CHECK(bands[0].end_ns == 500);
  CHECK(bands[0].name == "all_reduce of 3 ranks");
  CHECK(bands[0].awaited == "waits for rank 2");
  CHECK(bands[1].awaited.empty());
  CHECK(bands[1].level == 0);

  const Detail detail = analysis::make_detail(b.trace, {}, {});
  CHECK(names_in(detail, "Collectives of the ranks") == std::vector<std::string>{"all_reduce of 3 ranks", "all_reduce of 3 ranks"});
  CHECK(names_in(detail, "Waiting for the last rank") == std::vector<std::string>{"waits for rank 2"});
  const auto titled = [&](const std::string& title) {
    return std::any_of(detail.lanes.begin(), detail.lanes.end(), [&](const DetailLane& lane) { return lane.title == title; });
  };
  CHECK(titled("GPU 2 stream 20 of rank 2: kernels"));
  CHECK(detail.lanes[0].title == "Collectives of the ranks");
}

TEST_CASE("groups beside each other have bands on levels of their own, and ranks that were only counted are processes", "[ranks]") {
  RanksBuilder b(4);
  for (RankEntry& rank : b.trace.ranks) rank.source = RankSource::kOrder;
  b.collective({100, 150, std::nullopt, std::nullopt}, 500);
  b.collective({std::nullopt, std::nullopt, 120, 300}, 480);
  b.collective({600, 640, std::nullopt, std::nullopt}, 700);
  const auto bands = analysis::collective_bands(b.trace).list;
  REQUIRE(bands.size() == 3);
  CHECK(bands[0].level == 0);
  CHECK(bands[1].level == 1);
  CHECK(bands[2].level == 0);
  CHECK(bands[1].awaited == "waits for process " + std::to_string(b.trace.processes[3].pid));
}

TEST_CASE("more collectives at once than there are levels are left out, and no rank gives no band", "[ranks]") {
  RanksBuilder b(2 * kMostBandLevelsAndOne);
  for (std::uint32_t group = 0; group < kMostBandLevelsAndOne; ++group) {
    std::vector<std::optional<Ns>> arrivals(2 * kMostBandLevelsAndOne);
    arrivals[2 * group] = arrivals[2 * group + 1] = 100;
    b.collective(arrivals, 200);
  }
  CHECK(analysis::collective_bands(b.trace).list.size() == analysis::kMostBandLevels);
  CHECK(analysis::collective_bands(b.trace).left_out == 1);
  CHECK(analysis::make_detail(b.trace, {}, {}).slices_left_out == 1);
  CHECK(analysis::collective_bands(TraceBuilder().trace).list.empty());
}

TEST_CASE("members that leave one collective after others have come to the next do not push it to another level", "[ranks]") {
  RanksBuilder b = told_ranks(2);
  b.collective({100, 200}, 500);
  b.trace.kernels[1].duration_ns += 20;  // the second member leaves at 520
  b.collective({505, 530}, 700);
  const auto bands = analysis::collective_bands(b.trace);
  REQUIRE(bands.list.size() == 2);
  CHECK(bands.levels() == 1);
  CHECK(bands.list[0].end_ns == 505);
  CHECK(bands.list[1].start_ns == 505);
}

TEST_CASE("the collectives are shown however many lanes there are", "[ranks]") {
  RanksBuilder b = told_ranks(140);
  for (std::uint32_t rank = 0; rank < 140; ++rank) b.kernel("gemm", 50, 40, b.call(10, rank), 2 * rank);
  b.collective(std::vector<std::optional<Ns>>(140, 100), 200);
  const Detail detail = analysis::make_detail(b.trace, {}, {});
  CHECK(detail.lanes_left_out > 0);
  CHECK(detail.lanes.at(0).title == "Collectives of the ranks");
}
