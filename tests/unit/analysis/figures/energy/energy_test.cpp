#include "analysis/figures/energy/energy.h"

#include <cmath>
#include <numbers>

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

namespace {

constexpr Ns kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr Ns kUtc = 1'790'000'000 * kSecond;  // some day in 2026

// 300 W, swinging by 100 W twice a second.
double watts(double s) { return 300 + 100 * std::sin(4 * std::numbers::pi * s); }
double joules(double s) { return 300 * s - 100 / (4 * std::numbers::pi) * (std::cos(4 * std::numbers::pi * s) - 1); }

// Readings every 20 ms of a counter that moves every `update_ms`.
std::vector<PowerSample> readings(double length_s, Ns update_ms, std::int32_t device = 0) {
  std::vector<PowerSample> samples;
  for (Ns at = 0; at <= static_cast<Ns>(length_s * 1e9); at += 20 * kMs) {
    PowerSample sample;
    sample.utc_ns = kUtc + at;
    sample.device = device;
    sample.energy_j = 5000 + joules(static_cast<double>(at / (update_ms * kMs) * update_ms) * 1e-3);
    sample.power_w = watts(static_cast<double>(at) * 1e-9);
    samples.push_back(sample);
  }
  return samples;
}

StageWindows stage_of_windows(const std::string& name, const std::vector<std::pair<double, double>>& windows_s) {
  StageWindows result{name, {}, std::nullopt};
  for (const auto& [from, to] : windows_s) result.utc_ns.emplace_back(kUtc + static_cast<Ns>(from * 1e9), kUtc + static_cast<Ns>(to * 1e9));
  return result;
}

}  // namespace

TEST_CASE("joules of a stage agree with the power curve they came from") {
  const auto samples = readings(10, 100);
  auto decode = stage_of_windows("decode", {{1.0, 3.0}, {4.03, 6.51}});
  decode.tokens_per_window = 64;
  const Energy energy = measure_energy("bare", {{samples, {decode, stage_of_windows("prefill", {{3.05, 3.15}})}}});
  CHECK(energy.pass == "bare");
  CHECK(energy.source == nl::EnergySource::kCounter);
  REQUIRE(energy.stages.size() == 2);
  const double exact = joules(3.0) - joules(1.0) + joules(6.51) - joules(4.03);
  // Between two moves of the counter, 100 ms apart, power is taken as constant: up to 100 W for 100 ms at each
  // of the four edges of some 1,300 J.
  CHECK(*energy.stages[0].joules_per_window * 2 == Approx(exact).margin(4 * 5));
  CHECK(*energy.stages[0].joules_per_token == Approx(*energy.stages[0].joules_per_window / 64));
  CHECK(*energy.stages[0].mean_power_w == Approx(300).margin(10));
  CHECK(energy.stages[0].samples >= 40);
  // A single move of the counter tells nothing of 100 ms.
  CHECK_FALSE(energy.stages[1].joules_per_window);
  CHECK_FALSE(energy.stages[1].mean_power_w);
  CHECK(energy.stages[1].note.find("and 5 are needed") != std::string::npos);
}

TEST_CASE("a constant power comes out exactly, however the windows lie") {
  std::vector<PowerSample> samples;
  for (Ns at = 0; at <= 4 * kSecond; at += 20 * kMs) {
    PowerSample sample;
    sample.utc_ns = kUtc + at;
    sample.energy_j = 250.0 * static_cast<double>(at) * 1e-9;
    samples.push_back(sample);
  }
  std::vector<std::pair<double, double>> steps;
  for (int i = 0; i < 200; ++i) steps.emplace_back(0.5 + i * 0.007, 0.5 + i * 0.007 + 0.004);
  const Energy energy = measure_energy("bare", {{samples, {stage_of_windows("decode_step", steps)}}});
  CHECK(*energy.stages[0].joules_per_window == Approx(250 * 0.004));
  CHECK(*energy.stages[0].mean_power_w == Approx(250));
}

TEST_CASE("without a counter the power readings are added up") {
  auto samples = readings(10, 100);
  for (auto& sample : samples) sample.energy_j.reset();
  const Energy energy = measure_energy("nsys", {{samples, {stage_of_windows("decode", {{1.0, 3.3}})}}});
  CHECK(energy.source == nl::EnergySource::kPower);
  // Trapezoids of 20 ms against a sine of 500 ms are low by (2π·20/500)²/12 = 0.5 % of its 100 W.
  CHECK(*energy.stages[0].joules_per_window == Approx(joules(3.3) - joules(1.0)).epsilon(0.005));
  for (auto& sample : samples) sample.power_w.reset();
  const Energy nothing = measure_energy("nsys", {{samples, {stage_of_windows("decode", {{1.0, 3.3}})}}});
  CHECK_FALSE(nothing.stages[0].joules_per_window);
}

TEST_CASE("windows outside the readings do not count, overlapping ones share") {
  const auto samples = readings(10, 100);
  const Energy half = measure_energy("bare", {{samples, {stage_of_windows("decode", {{-1, 0.5}, {2, 4}, {9.5, 11}})}}});
  CHECK(*half.stages[0].joules_per_window == Approx(joules(4) - joules(2)).epsilon(0.01));
  const Energy both = measure_energy("bare", {{samples, {stage_of_windows("decode", {{2, 4}, {2, 4}})}}});
  CHECK(*both.stages[0].joules_per_window == Approx((joules(4) - joules(2)) / 2).epsilon(0.01));
  CHECK(*both.stages[0].mean_power_w == Approx(300).margin(3));
}

TEST_CASE("passes and GPUs are added up") {
  auto samples = readings(10, 100);
  const auto second = readings(10, 100, 1);
  samples.insert(samples.end(), second.begin(), second.end());
  const SampledPass pass{samples, {stage_of_windows("decode", {{2, 4}})}};
  const Energy energy = measure_energy("bare", {pass, pass});
  CHECK(*energy.stages[0].joules_per_window == Approx(2 * (joules(4) - joules(2))).epsilon(0.01));
  CHECK(*energy.stages[0].mean_power_w == Approx(600).margin(5));
  REQUIRE(energy.devices.size() == 2);
  CHECK(energy.devices[0].device == 0);
  CHECK(energy.devices[1].device == 1);
}

TEST_CASE("a counter that went back is believed no more") {
  auto samples = readings(10, 100);
  for (auto& sample : samples)
    if (sample.utc_ns > kUtc + 5 * kSecond) *sample.energy_j -= 4000;
  CHECK(EnergyCurve::of_counter(samples, 0).empty());
  const Energy energy = measure_energy("bare", {{samples, {stage_of_windows("decode", {{2, 8}})}}});
  CHECK(energy.source == nl::EnergySource::kPower);
  CHECK(*energy.stages[0].joules_per_window == Approx(joules(8) - joules(2)).epsilon(0.005));
}

TEST_CASE("clocks and throttling are those of the stages alone") {
  std::vector<PowerSample> samples;
  for (int i = 0; i < 100; ++i) {
    PowerSample sample;
    sample.utc_ns = kUtc + i * 100 * kMs;
    const bool busy = i >= 20 && i < 60;
    sample.power_w = busy ? 600 + i : 70;
    sample.sm_clock_mhz = busy ? 1980 - i : 345;
    sample.temperature_c = busy ? 60 : 35;
    sample.power_limit_w = i < 40 ? 700 : 500;
    if (i % 2 == 0) sample.throttle_reasons = !busy ? 0x1 : i < 30 ? 0x4 | 0x40 : i < 40 ? 0x4 : 0x0;
    samples.push_back(sample);
  }
  // Steps inside it, in any order, change nothing.
  const Energy energy = measure_energy(
      "bare", {{samples, {stage_of_windows("decode_step", {{5.0, 5.5}, {3.0, 4.0}}), stage_of_windows("decode", {{2.0, 6.0}})}}});
  REQUIRE(energy.devices.size() == 1);
  const auto& gpu = energy.devices[0];
  CHECK(gpu.samples == 40);
  CHECK(*gpu.sm_clock_min_mhz == 1980 - 59);
  CHECK(*gpu.sm_clock_max_mhz == 1980 - 20);
  CHECK(*gpu.sm_clock_median_mhz == Approx(1980 - 39.5));
  CHECK(*gpu.power_max_w == 659);
  CHECK(*gpu.power_limit_w == 500);
  CHECK(*gpu.power_mean_w == Approx(639.5));
  CHECK(*gpu.temperature_max_c == 60);
  CHECK(*gpu.throttled_share == Approx(0.5));  // 10 of the 20 that asked
  CHECK(gpu.throttle_reasons == std::vector<std::string>{"power cap", "thermal slowdown by the hardware"});
}

TEST_CASE("idle and chosen clocks are no throttling") {
  CHECK((kSlowingReasons & 0x1) == 0);
  CHECK((kSlowingReasons & 0x2) == 0);
  CHECK((kSlowingReasons & 0x10) == 0);
  for (std::uint64_t bit = 1; bit <= 0x100; bit <<= 1) CHECK(throttle_word(bit) != "unknown reason");
}

TEST_CASE("no readings, no stages: said, not zero") {
  CHECK(measure_energy("bare", {}).note == "no GPU readings");
  const Energy energy = measure_energy("bare", {{readings(1, 100), {}}});
  CHECK(energy.note.find("no energy per stage: no stage is marked") == 0);
  CHECK(energy.devices.at(0).samples == 0);
  CHECK_FALSE(energy.devices.at(0).throttled_share);
}

TEST_CASE("windows in UTC, where the capture knows it") {
  Trace trace;
  trace.processes.push_back({1, "w"});
  trace.threads.push_back({0, 1, "w"});
  trace.has_range_data = true;
  Range range;
  range.start_ns = 10;
  range.end_ns = 30;
  range.name = trace.strings.intern("prefill");
  range.domain = trace.strings.intern("LLM");
  range.thread = 0;
  trace.ranges.push_back(range);
  WarmupRule all;
  all.mode = WarmupRule::Mode::kNone;
  CHECK(stage_windows({trace, all}).empty());
  trace.utc_start_ns = kUtc;
  const auto windows = stage_windows({trace, all});
  REQUIRE(windows.size() == 1);
  CHECK(windows[0].utc_ns == std::vector<UtcWindow>{{kUtc + 10, kUtc + 30}});
}

TEST_CASE("windows in UTC are the measured ones, by stage") {
  Trace trace;
  trace.processes.push_back({1, "w"});
  trace.threads.push_back({0, 1, "w"});
  trace.has_range_data = true;
  trace.utc_start_ns = kUtc;
  const auto add = [&](const char* name, Ns start, Ns end) {
    Range range;
    range.start_ns = start;
    range.end_ns = end;
    range.name = trace.strings.intern(name);
    range.domain = trace.strings.intern("LLM");
    range.thread = 0;
    trace.ranges.push_back(range);
  };
  add("prefill", 10, 20);
  add("load", 20, 25);  // only in the warm-up
  add("prefill", 30, 40);
  add("decode", 40, 50);
  add("decode", 60, 60);
  WarmupRule first;
  first.mode = WarmupRule::Mode::kCount;
  first.count = 1;
  const auto windows = stage_windows({trace, first});
  REQUIRE(windows.size() == 2);
  CHECK(windows[0].stage == "prefill");
  CHECK(windows[0].utc_ns == std::vector<UtcWindow>{{kUtc + 30, kUtc + 40}});
  CHECK(windows[1].stage == "decode");
  CHECK(windows[1].utc_ns == std::vector<UtcWindow>{{kUtc + 40, kUtc + 50}});
}
