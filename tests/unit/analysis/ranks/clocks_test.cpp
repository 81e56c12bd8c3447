#include "analysis/ranks/clocks.h"

#include <cmath>

#include "analysis/ranks/alignment.h"
#include "analysis/ranks/groups.h"
#include "tests/catch.h"
#include "tests/unit/analysis/ranks/planted.h"

using namespace nl;
using namespace nl::analysis::ranks;
using nl::test::PlantedClock;
using nl::test::PlantedRun;

namespace {

constexpr Ns kPlantedMs = 1'000'000;

// How far a time of the capture is put off the true one, at the end of the run.
double planted_error(const CaptureClock& clock, const PlantedClock& planted, Ns true_ns) {
  return static_cast<double>(std::llabs(clock.line(planted(true_ns)) - true_ns));
}

}  // namespace

TEST_CASE("A shift of 137 ms and a drift of 40 ppm are found to 5 us and 2 ppm", "[ranks]") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const std::vector<PlantedClock> clocks = {{}, {137 * kPlantedMs, 40e-6}};
    PlantedRun run(seed);
    run.add_group({0, 1}, clocks, 600, 5 * kPlantedMs, 5000);  // 3 s: the drift is then known to 0.4 ppm
    const auto found = fit_clocks(run.tracks(), 2, true);
    REQUIRE(found[1].by == RankClock::kCollectives);
    CHECK(found[1].collectives == 600);
    CHECK(std::abs(found[1].line.drift * 1e6 - 40) < 2);
    CHECK(planted_error(found[1], clocks[1], 0) < 5000);
    CHECK(planted_error(found[1], clocks[1], 1500 * kPlantedMs) < 5000);
    CHECK(found[1].residual_ns > 4000);  // of two ends of 5 us each: 7 us
    CHECK(found[1].residual_ns < 10'000);
    CHECK_FALSE(found[1].ambiguous);
  }
}

TEST_CASE("Clocks apart by seconds and drifting by 100 ppm are found", "[ranks]") {
  const std::vector<PlantedClock> clocks = {{}, {-4'000 * kPlantedMs, 100e-6}, {37'000 * kPlantedMs, -100e-6}};
  PlantedRun run(3);
  run.add_group({0, 1, 2}, clocks, 2000, 10 * kPlantedMs, 5000);
  const auto found = fit_clocks(run.tracks(), 3, true);
  for (std::size_t i : {1, 2}) {
    REQUIRE(found[i].by == RankClock::kCollectives);
    CHECK(planted_error(found[i], clocks[i], 0) < 2000);
    CHECK(planted_error(found[i], clocks[i], 20'000 * kPlantedMs) < 2000);
  }
}

TEST_CASE("A clock that was set during the capture is not followed as if it were a line", "[ranks]") {
  const std::vector<PlantedClock> clocks = {{}, {}};
  PlantedRun run(5);
  run.add_group({0, 1}, clocks, 400, 5 * kPlantedMs, 3000);
  auto tracks = run.tracks();
  for (std::size_t i = 200; i < 400; ++i) {  // by NTP
    tracks[1].events[i].start_ns += kPlantedMs / 2;
    tracks[1].events[i].end_ns += kPlantedMs / 2;
  }
  const auto found = fit_clocks(tracks, 2, true);
  REQUIRE(found[1].by == RankClock::kCollectives);
  CHECK(found[1].residual_ns > kLooseNs);
}

TEST_CASE("Groups that do not include the first rank reach it over others", "[ranks]") {
  // Tensor parallel pairs 0-1 and 2-3, data parallel pairs 0-2 and 1-3.
  const std::vector<PlantedClock> clocks = {{}, {12 * kPlantedMs, 5e-6}, {-80 * kPlantedMs, -7e-6}, {3 * kPlantedMs, 20e-6}};
  PlantedRun run(11);
  run.add_group({0, 1}, clocks, 400, 3 * kPlantedMs, 2000);
  run.add_group({2, 3}, clocks, 400, 3 * kPlantedMs, 2000);
  run.add_group({0, 2}, clocks, 60, 20 * kPlantedMs, 2000);
  auto tracks = run.tracks();
  const auto found = fit_clocks(tracks, 4, true);
  for (std::size_t i : {1, 2, 3}) {
    INFO("capture " << i);
    REQUIRE(found[i].by == RankClock::kCollectives);
    CHECK(planted_error(found[i], clocks[i], 0) < 3000);
    CHECK(planted_error(found[i], clocks[i], 1200 * kPlantedMs) < 3000);
  }
  CHECK(found[3].fitted_to == 2);
  CHECK(found[3].residual_ns > found[2].residual_ns);  // it stands on that of 2

  for (Track& track : tracks)
    for (CollectiveEvent& event : track.events) {
      event.start_ns = found[track.capture].line(event.start_ns);
      event.end_ns = found[track.capture].line(event.end_ns);
    }
  std::vector<double> residuals;
  for (const CaptureClock& clock : found) residuals.push_back(clock.residual_ns);
  const auto calls = number_collectives(tracks, residuals, {0, 10'000, 20'000, 30'000});
  CHECK(calls.size() == 2 * (400 + 400 + 60));
  std::vector<int> members(400 + 400 + 60);
  for (const CollectiveCall& call : calls) {
    CHECK(call.members == 2);
    ++members.at(call.number);
  }
  CHECK(std::all_of(members.begin(), members.end(), [](int count) { return count == 2; }));
}

TEST_CASE("A capture that began later is aligned by the clock of the day", "[ranks]") {
  const std::vector<PlantedClock> clocks = {{}, {2 * kPlantedMs, 3e-6}};
  PlantedRun run(17);
  run.add_group({0, 1}, clocks, 300, 5 * kPlantedMs, 3000);
  auto tracks = run.tracks();
  tracks[1].events.erase(tracks[1].events.begin(), tracks[1].events.begin() + 35);
  const auto found = align(tracks[0], tracks[1], true);
  REQUIRE(found);
  CHECK(found->shift == -35);
  CHECK_FALSE(found->ambiguous);
  CHECK(found->pairs == 265);
}

TEST_CASE("Steps that are all alike are told apart by the clock of the day, and that is said", "[ranks]") {
  Track first, second;
  for (int i = 0; i < 200; ++i) {  // exactly 10 ms apart
    first.events.push_back({i * 10 * kPlantedMs, i * 10 * kPlantedMs + 1000, 0, 1, Leaving::kTogether});
    if (i >= 20)
      second.events.push_back(
          {i * 10 * kPlantedMs + 2 * kPlantedMs, i * 10 * kPlantedMs + 2 * kPlantedMs + 1000, 0, 1, Leaving::kTogether});
  }
  const auto found = align(first, second, true);
  REQUIRE(found);
  CHECK(found->ambiguous);
  CHECK(found->shift == -20);
}

TEST_CASE("Captures of other collectives, or without any, have no common clock", "[ranks]") {
  PlantedRun run(1);
  run.add_group({0, 1}, {{}, {}}, 50, 5 * kPlantedMs, 3000);
  auto tracks = run.tracks();
  for (CollectiveEvent& event : tracks[1].events) event.what += 100;
  CHECK(fit_clocks(tracks, 3, true)[1].by == RankClock::kNone);
  CHECK(fit_clocks(tracks, 3, true)[2].by == RankClock::kNone);  // has none
  CHECK(fit_clocks({}, 2, true)[1].by == RankClock::kNone);
}

TEST_CASE("Groups that go at another pace are not taken for clocks that do", "[ranks]") {
  PlantedRun run(11);
  const std::vector<PlantedClock> clocks = {{0, 0}, {40'000, 20e-6}, {-30'000, 0}, {10'000, -15e-6}};
  run.add_group({0, 1}, clocks, 300, 1'000'000, 3'000);
  run.add_group({2, 3}, clocks, 300, 1'400'000, 3'000);  // the same calls, each a little later
  const auto fitted = fit_clocks(run.tracks(), 4, true);
  CHECK(fitted[1].by == RankClock::kCollectives);
  CHECK(fitted[1].residual_ns < 10'000);
  CHECK(fitted[2].by == RankClock::kNone);
  CHECK(fitted[3].by == RankClock::kNone);
}

TEST_CASE("A thousand ranks are put on one clock", "[ranks]") {
  std::vector<PlantedClock> clocks;
  std::vector<std::uint32_t> members;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    clocks.push_back({i == 0 ? 0 : (i * 7919 % 1000 - 500) * kPlantedMs, i == 0 ? 0 : (i % 41 - 20.0) * 1e-6});
    members.push_back(i);
  }
  PlantedRun run(23);
  run.add_group(members, clocks, 100, 5 * kPlantedMs, 3000);
  const auto found = fit_clocks(run.tracks(), 1000, true);
  for (std::uint32_t i = 1; i < 1000; ++i) {
    REQUIRE(found[i].by == RankClock::kCollectives);
    REQUIRE(planted_error(found[i], clocks[i], 250 * kPlantedMs) < 5000);
  }
}

TEST_CASE("What who arrives last adds to the ends is not taken for an offset", "[ranks]") {
  // As sends and receives of two H100 over NVLink: the ends are 20 us apart where the one is last, and 0 where the other is.
  for (const std::size_t every : {2, 3}) {  // the second is last every other time, or every third
    INFO("every " << every);
    PlantedRun run(29);
    const std::vector<PlantedClock> clocks = {{}, {137 * kPlantedMs, 40e-6}};
    run.add_group({0, 1}, clocks, 200, 5 * kPlantedMs, 1000);
    auto tracks = run.tracks();
    for (std::size_t i = 0; i < 200; ++i) {
      CollectiveEvent &first = tracks[0].events[i], &second = tracks[1].events[i];
      first.leaving = second.leaving = Leaving::kInPairs;
      const bool second_last = i % every == 0;
      first.start_ns = first.end_ns - (second_last ? 400'000 : 100'000);
      second.start_ns = second.end_ns - (second_last ? 100'000 : 400'000);
      second.end_ns += second_last ? 10'000 : -10'000;
    }
    const auto found = fit_clocks(tracks, 2, true);
    REQUIRE(found[1].by == RankClock::kCollectives);
    CHECK(planted_error(found[1], clocks[1], 0) < 1000);
    CHECK(planted_error(found[1], clocks[1], 1000 * kPlantedMs) < 1000);
    CHECK(found[1].residual_ns < 2500);
  }
}
