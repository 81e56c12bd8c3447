#include "analysis/figures/stages/stage_entries.h"

#include <cstdint>
#include <vector>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("windows are listed by their start, whatever thread they come from") {
  const WindowSeries series = window_series({{300, 3}, {100, 1}, {200, 2}});
  CHECK(series.wall_ns == std::vector<Ns>{1, 2, 3});
  CHECK(series.windows_each == 1);
  CHECK(window_series({}).wall_ns.empty());
}

TEST_CASE("of more windows than are listed, each value is the median of as many") {
  std::vector<std::pair<Ns, Ns>> windows;
  for (Ns i = 0; i < 2500; ++i) windows.emplace_back(i * 10, i % 3 == 1 ? 900 : i);  // three at a time: i, 900, i + 2
  const WindowSeries series = window_series(windows);
  CHECK(series.windows_each == 3);
  REQUIRE(series.wall_ns.size() == 833);  // 2499 windows; the last one alone would count as much as three
  CHECK(series.wall_ns[0] == 2);          // of 0, 900, 2
  CHECK(series.wall_ns[400] == 1200);     // of 1200, 900, 1202
}

namespace {

PowerSample slowed_reading(Ns utc_ns, std::uint64_t reasons, std::int32_t device = 0) {
  PowerSample sample;
  sample.utc_ns = utc_ns;
  sample.device = device;
  sample.throttle_reasons = reasons;
  return sample;
}

}  // namespace

TEST_CASE("windows on a slowed GPU are left out of the series, and counted") {
  constexpr std::uint64_t kPowerCap = 0x04, kIdle = 0x01;
  SampledPass traced;
  traced.samples = {slowed_reading(0, kIdle), slowed_reading(100, kPowerCap), slowed_reading(150, 0, 1), slowed_reading(200, 0),
                    slowed_reading(300, 0)};
  traced.stages = {{"decode_step", {{20, 50}, {90, 110}, {120, 150}, {199, 230}, {230, 270}}, {}}, {"unknown", {{0, 400}}, {}}};
  std::vector<StageEntry> stages(1);
  stages[0].name = "decode_step";
  stages[0].series = window_series({{20, 30}, {90, 20}, {120, 30}, {199, 31}, {230, 40}});
  leave_out_throttled(traced, stages);
  CHECK(stages[0].series.wall_ns == std::vector<Ns>{30, 40});  // slowed from 100 until the reading at 200
  CHECK(stages[0].series.throttled == 3);
}

TEST_CASE("where no reading shows a slowed GPU, the series stays as it was") {
  SampledPass traced;
  traced.samples = {slowed_reading(0, 0), slowed_reading(100, 0)};
  traced.stages = {{"decode_step", {{20, 50}}, {}}};
  std::vector<StageEntry> stages(1);
  stages[0].name = "decode_step";
  stages[0].series = {{7}, 1, 0};
  leave_out_throttled(traced, stages);
  CHECK(stages[0].series.wall_ns == std::vector<Ns>{7});
}
