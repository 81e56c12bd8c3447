#include "analysis/figures/energy/energy.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

constexpr Ns kSec = 1'000'000'000;

PowerSample reading(double at_s, std::optional<double> energy_j, std::optional<double> power_w = {}, std::int32_t device = 0) {
  PowerSample sample;
  sample.utc_ns = static_cast<Ns>(at_s * 1e9);
  sample.energy_j = energy_j;
  sample.power_w = power_w;
  sample.device = device;
  return sample;
}

// A counter that moves by 10 J every second, read in the middle of each and when it moved.
std::vector<PowerSample> steady(int seconds, std::int32_t device = 0, int step_s = 1) {
  std::vector<PowerSample> samples;
  for (int half = 0; half <= 2 * seconds; ++half) samples.push_back(reading(half / 2.0, 10.0 * (half / (2 * step_s)), {}, device));
  return samples;
}

SampledPass pass_of(std::vector<PowerSample> samples, Ns from_s, Ns to_s, std::optional<double> tokens = {}) {
  return {std::move(samples), {{"decode", {{from_s * kSec, to_s * kSec}}, tokens}}};
}

}  // namespace

TEST_CASE("a counter is known where it changed, and between") {
  const auto curve = EnergyCurve::of_counter(
      {reading(0, 10), reading(1, 10), reading(1.5, {}), reading(2, 20), reading(2.5, 999, {}, 1), reading(3, 20), reading(4, 40)}, 0);
  REQUIRE_FALSE(curve.empty());
  CHECK(curve.covers({2 * kSec, 4 * kSec}));
  CHECK_FALSE(curve.covers({2 * kSec - 1, 4 * kSec}));  // when the first reading was made the counter had stood for long
  CHECK_FALSE(curve.covers({2 * kSec, 4 * kSec + 1}));
  CHECK(curve.joules({2 * kSec, 4 * kSec}) == 20);
  CHECK(curve.joules({2 * kSec, 3 * kSec}) == 10);
  CHECK(curve.joules({5 * kSec / 2, 7 * kSec / 2}) == 10);
  CHECK(curve.updates_in({2 * kSec, 4 * kSec}) == 1);
  CHECK(curve.updates_in({2 * kSec, 4 * kSec + 1}) == 2);
  CHECK(curve.updates_in({2 * kSec + 1, 4 * kSec}) == 0);
  const auto once = EnergyCurve::of_counter({reading(0, 10), reading(1, 20)}, 0);
  CHECK(once.empty());
  CHECK_FALSE(once.covers({kSec, kSec}));
  CHECK(EnergyCurve::of_counter({reading(0, 10), reading(1, 20), reading(2, 19), reading(3, 30), reading(4, 40)}, 0).empty());
}

TEST_CASE("power is added up between readings, and only new values are updates") {
  const auto curve = EnergyCurve::of_power({reading(0, {}, 100), reading(1, {}, 100), reading(1.5, {}), reading(2, {}, 300),
                                            reading(2, {}, 900), reading(1, {}, 900), reading(3, {}, 300)},
                                           0);
  CHECK(curve.joules({0, kSec}) == 100);
  CHECK(curve.joules({kSec, 2 * kSec}) == 200);
  CHECK(curve.joules({2 * kSec, 3 * kSec}) == 300);
  CHECK(curve.joules({kSec, 3 * kSec / 2}) == 100);  // half the time, half of the 200 J
  CHECK(curve.updates_in({0, 4 * kSec}) == 2);       // the first, and 300 W
  CHECK(EnergyCurve::of_power({reading(0, {}, 100), reading(1, {}, 100, 1)}, 0).empty());
}

TEST_CASE("windows that overlap or touch become one, empty ones none") {
  const std::vector<UtcWindow> windows = {{10, 20}, {0, 5}, {3, 7}, {7, 8}, {30, 30}, {40, 35}, {12, 15}};
  CHECK(united(windows) == std::vector<UtcWindow>{{0, 8}, {10, 20}});
}

TEST_CASE("five new readings are enough, four are not") {
  const Energy enough = measure_energy("bare", {pass_of(steady(20), 2, 7, 8)});
  REQUIRE(enough.stages.size() == 1);
  CHECK(enough.stages[0].samples == 5);
  CHECK(enough.stages[0].note.empty());
  CHECK(enough.stages[0].joules_per_window == 50.0);
  CHECK(enough.stages[0].mean_power_w == 10.0);
  CHECK(enough.stages[0].joules_per_token == 6.25);
  const Energy few = measure_energy("bare", {pass_of(steady(20), 2, 6, 8)});
  CHECK(few.stages[0].samples == 4);
  CHECK_FALSE(few.stages[0].joules_per_window);
  CHECK_FALSE(few.stages[0].joules_per_token);
  CHECK(few.stages[0].note == "too short: its windows have 4 new readings of the energy counter, and 5 are needed; run more iterations");
  CHECK(measure_energy("bare", {pass_of(steady(20), 2, 6), pass_of(steady(20), 2, 3)}).stages[0].joules_per_window ==
        25.0);  // 5 in two passes
  CHECK_FALSE(measure_energy("bare", {pass_of(steady(20), 2, 7, 0)}).stages[0].joules_per_token);
  CHECK_FALSE(measure_energy("bare", {pass_of(steady(20), 2, 7)}).stages[0].joules_per_token);
}

TEST_CASE("of several GPUs the one that was read least decides, and one that was not read leaves nothing") {
  auto samples = steady(20);
  const auto slow = steady(20, 1, 2);  // 10 J in two seconds
  samples.insert(samples.end(), slow.begin(), slow.end());
  const Energy energy = measure_energy("bare", {pass_of(samples, 4, 16)});
  CHECK(energy.stages[0].samples == 6);
  CHECK(energy.stages[0].joules_per_window == 120.0 + 60.0);
  CHECK(energy.stages[0].mean_power_w == 15.0);
  for (auto& sample : samples)
    if (sample.device == 1) sample.energy_j.reset();
  const Energy unread = measure_energy("bare", {pass_of(samples, 4, 16)});
  CHECK(unread.source == EnergySource::kNone);
  CHECK_FALSE(unread.stages[0].joules_per_window);
  CHECK(unread.stages[0].note == "too short: its windows have 0 new readings of the power, and 5 are needed; run more iterations");
  for (auto& sample : samples) sample.power_w = 100;
  CHECK(measure_energy("bare", {pass_of(samples, 4, 16)}).source == EnergySource::kPower);
}

TEST_CASE("a pass without readings takes nothing from the others") {
  const Energy energy = measure_energy("bare", {pass_of({reading(0, 10)}, 4, 10), pass_of(steady(20), 4, 10)});
  CHECK(energy.source == EnergySource::kCounter);
  CHECK(energy.stages[0].joules_per_window == 60.0);
}

TEST_CASE("reasons for lower clocks, the most frequent first") {
  const std::pair<std::uint64_t, const char*> words[] = {{0x01, "idle"},
                                                         {0x02, "application clocks"},
                                                         {0x04, "power cap"},
                                                         {0x08, "hardware slowdown"},
                                                         {0x10, "sync boost"},
                                                         {0x20, "thermal slowdown by the driver"},
                                                         {0x40, "thermal slowdown by the hardware"},
                                                         {0x80, "power brake"},
                                                         {0x100, "display clocks"},
                                                         {0x200, "unknown reason"}};
  for (const auto& [bit, word] : words) CHECK(throttle_word(bit) == word);
  std::vector<PowerSample> samples;
  for (const std::uint64_t reasons : {0x80 | 0x04, 0x80 | 0x01, 0x20, 0x20, 0x20, 0x01 | 0x02 | 0x10 | 0x100, 0x08}) {
    samples.push_back(reading(static_cast<double>(samples.size()), {}));
    samples.back().throttle_reasons = reasons;
    samples.back().sm_clock_mhz = 1000.0 + static_cast<double>(samples.size() * samples.size());
    samples.back().temperature_c = -static_cast<double>(samples.size());
  }
  const Energy energy = measure_energy("bare", {pass_of(samples, 0, 7)});
  REQUIRE(energy.devices.size() == 1);
  const ClockSummary& gpu = energy.devices[0];
  CHECK(gpu.throttle_reasons ==
        std::vector<std::string>{"thermal slowdown by the driver", "power brake", "power cap", "hardware slowdown"});
  CHECK(*gpu.throttled_share == Approx(6 / 7.0));
  CHECK(gpu.sm_clock_median_mhz == 1016.0);  // of seven, the fourth
  CHECK(gpu.temperature_max_c == -1.0);
  CHECK_FALSE(gpu.power_mean_w);
  CHECK_FALSE(gpu.power_max_w);
}
