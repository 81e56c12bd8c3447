#include "analysis/figures/energy/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/trace/covered_time.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

constexpr std::uint64_t kLeastUpdates = 5;

std::set<std::int32_t> devices_of(const std::vector<SampledPass>& passes) {
  std::set<std::int32_t> devices;
  for (const auto& pass : passes)
    for (const auto& sample : pass.samples) devices.insert(sample.device);
  return devices;
}

using Curves = std::vector<std::vector<EnergyCurve>>;  // of each pass, of each device

Curves make_curves(const std::vector<SampledPass>& passes, const std::set<std::int32_t>& devices, bool counter) {
  Curves curves;
  for (const auto& pass : passes) {
    auto& of_pass = curves.emplace_back();
    for (const auto device : devices)
      of_pass.push_back(counter ? EnergyCurve::of_counter(pass.samples, device) : EnergyCurve::of_power(pass.samples, device));
  }
  return curves;
}

bool all_empty(const Curves& curves) {
  return std::all_of(curves.begin(), curves.end(), [](const auto& pass) {
    return std::any_of(pass.begin(), pass.end(), [](const auto& curve) { return curve.empty(); });
  });
}

struct StageSum {
  double joules = 0, seconds = 0;
  std::uint64_t windows = 0, updates = 0;
  std::optional<double> tokens_per_window;

  // Windows that the readings do not span are left out; time in several windows at once counts once.
  void add(const StageWindows& stage, const std::vector<EnergyCurve>& curves) {
    std::vector<UtcWindow> covered;
    for (const UtcWindow& window : stage.utc_ns)
      if (window.second > window.first &&
          std::all_of(curves.begin(), curves.end(), [&](const auto& curve) { return curve.covers(window); }))
        covered.push_back(window);
    windows += covered.size();
    std::vector<std::uint64_t> seen(curves.size(), 0);
    for (const UtcWindow& window : united(covered)) {
      seconds += static_cast<double>(window.second - window.first) * 1e-9;
      for (std::size_t i = 0; i < curves.size(); ++i) {
        joules += curves[i].joules(window);
        seen[i] += curves[i].updates_in(window);
      }
    }
    if (!seen.empty()) updates += *std::min_element(seen.begin(), seen.end());
    if (!tokens_per_window) tokens_per_window = stage.tokens_per_window;
  }

  StageEnergy result(const std::string& name, EnergySource source) const {
    StageEnergy energy;
    energy.stage = name;
    energy.samples = updates;
    if (updates < kLeastUpdates || windows == 0) {
      energy.note = fmt::format("too short: its windows have {} new readings of the {}, and {} are needed; run more iterations", updates,
                                source == EnergySource::kCounter ? key_of(source) : "power", kLeastUpdates);
      return energy;
    }
    energy.joules_per_window = joules / static_cast<double>(windows);
    energy.mean_power_w = joules / seconds;
    if (tokens_per_window && *tokens_per_window > 0) energy.joules_per_token = *energy.joules_per_window / *tokens_per_window;
    return energy;
  }
};

void add_stages(const std::vector<SampledPass>& passes, const Curves& curves, Energy& energy) {
  std::vector<std::string> order;
  std::map<std::string, StageSum> sums;
  for (std::size_t i = 0; i < passes.size(); ++i)
    for (const StageWindows& stage : passes[i].stages) {
      if (!sums.contains(stage.stage)) order.push_back(stage.stage);
      sums[stage.stage].add(stage, curves[i]);
    }
  for (const auto& name : order) energy.stages.push_back(sums[name].result(name, energy.source));
}

// Of one GPU while stages ran: between them it idles, and its clocks mean nothing.
class ClockSum {
 public:
  void add(const PowerSample& sample) {
    ++summary_.samples;
    if (sample.power_w) power_.push_back(*sample.power_w);
    if (sample.sm_clock_mhz) clocks_.push_back(*sample.sm_clock_mhz);
    if (sample.temperature_c) summary_.temperature_max_c = std::max(summary_.temperature_max_c.value_or(-273.15), *sample.temperature_c);
    if (sample.power_limit_w)
      summary_.power_limit_w = std::min(summary_.power_limit_w.value_or(*sample.power_limit_w), *sample.power_limit_w);
    if (!sample.throttle_reasons) return;
    ++with_reasons_;
    if (*sample.throttle_reasons & kSlowingReasons) ++throttled_;
    for (std::uint64_t bit = 1; bit <= 0x80; bit <<= 1)
      if (*sample.throttle_reasons & kSlowingReasons & bit) ++reasons_[bit];
  }

  ClockSummary result(std::int32_t device) {
    summary_.device = device;
    if (!power_.empty()) {
      double sum = 0;
      for (const double watts : power_) sum += watts;
      summary_.power_mean_w = sum / static_cast<double>(power_.size());
      summary_.power_max_w = *std::max_element(power_.begin(), power_.end());
    }
    if (!clocks_.empty()) {
      std::sort(clocks_.begin(), clocks_.end());
      summary_.sm_clock_min_mhz = clocks_.front();
      summary_.sm_clock_median_mhz = (clocks_[clocks_.size() / 2] + clocks_[(clocks_.size() - 1) / 2]) / 2;
      summary_.sm_clock_max_mhz = clocks_.back();
    }
    if (with_reasons_ > 0) summary_.throttled_share = static_cast<double>(throttled_) / static_cast<double>(with_reasons_);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranked(reasons_.begin(), reasons_.end());
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [bit, count] : ranked) summary_.throttle_reasons.emplace_back(throttle_word(bit));
    return summary_;
  }

 private:
  ClockSummary summary_;
  std::vector<double> power_, clocks_;
  std::map<std::uint64_t, std::uint64_t> reasons_;  // bit → readings
  std::uint64_t with_reasons_ = 0, throttled_ = 0;
};

void add_clocks(const std::vector<SampledPass>& passes, const std::set<std::int32_t>& devices, Energy& energy) {
  std::map<std::int32_t, ClockSum> sums;
  for (const auto& pass : passes) {
    std::vector<UtcWindow> all;
    for (const auto& stage : pass.stages) all.insert(all.end(), stage.utc_ns.begin(), stage.utc_ns.end());
    all = united(std::move(all));
    for (const auto& sample : pass.samples)
      if (overlaps(all, {sample.utc_ns, sample.utc_ns + 1})) sums[sample.device].add(sample);
  }
  for (const auto device : devices) energy.devices.push_back(sums[device].result(device));
}

}  // namespace

std::string_view throttle_word(std::uint64_t bit) {
  switch (bit) {
    case 0x01: return "idle";
    case 0x02: return "application clocks";
    case 0x04: return "power cap";
    case 0x08: return "hardware slowdown";
    case 0x10: return "sync boost";
    case 0x20: return "thermal slowdown by the driver";
    case 0x40: return "thermal slowdown by the hardware";
    case 0x80: return "power brake";
    case 0x100: return "display clocks";
    default: return "unknown reason";
  }
}

Energy measure_energy(const std::string& pass, const std::vector<SampledPass>& passes) {
  Energy energy;
  energy.pass = pass;
  const auto devices = devices_of(passes);
  if (devices.empty()) {
    energy.note = "no GPU readings";
    return energy;
  }
  Curves curves = make_curves(passes, devices, true);
  energy.source = EnergySource::kCounter;
  if (all_empty(curves)) {
    curves = make_curves(passes, devices, false);
    energy.source = EnergySource::kPower;
  }
  if (all_empty(curves)) energy.source = EnergySource::kNone;
  add_stages(passes, curves, energy);
  add_clocks(passes, devices, energy);
  if (energy.stages.empty()) energy.note = "no energy per stage: no stage is marked, or the capture has no start time";
  return energy;
}

EnergyCurve EnergyCurve::of_counter(const std::vector<PowerSample>& samples, std::int32_t device) {
  EnergyCurve curve;
  std::optional<double> before;
  for (const PowerSample& sample : samples) {
    if (sample.device != device || !sample.energy_j) continue;
    if (before && *sample.energy_j < *before) return {};  // the driver was loaded anew: nothing holds
    // The counter is constant between two updates although the GPU uses energy: only updates are points.
    if (before && *sample.energy_j > *before) curve.points_.push_back({sample.utc_ns, *sample.energy_j, true});
    before = sample.energy_j;
  }
  return curve;
}

EnergyCurve EnergyCurve::of_power(const std::vector<PowerSample>& samples, std::int32_t device) {
  EnergyCurve curve;
  double watts_before = 0;
  for (const PowerSample& sample : samples) {
    if (sample.device != device || !sample.power_w) continue;
    Point point{sample.utc_ns, 0, true};
    if (!curve.points_.empty()) {
      const Point& last = curve.points_.back();
      if (point.utc_ns <= last.utc_ns) continue;
      const double seconds = static_cast<double>(point.utc_ns - last.utc_ns) * 1e-9;
      point.joules = last.joules + seconds * (watts_before + *sample.power_w) / 2;
      point.update = *sample.power_w != watts_before;
    }
    watts_before = *sample.power_w;
    curve.points_.push_back(point);
  }
  return curve;
}

bool EnergyCurve::covers(const UtcWindow& window) const {
  return !empty() && points_.front().utc_ns <= window.first && window.second <= points_.back().utc_ns;
}

double EnergyCurve::at(Ns utc_ns) const {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), utc_ns, [](Ns time, const Point& point) { return time < point.utc_ns; });
  if (after == points_.begin()) return points_.front().joules;
  if (after == points_.end()) return points_.back().joules;
  const Point& before = *(after - 1);
  const double share = static_cast<double>(utc_ns - before.utc_ns) / static_cast<double>(after->utc_ns - before.utc_ns);
  return before.joules + share * (after->joules - before.joules);
}

std::uint64_t EnergyCurve::updates_in(const UtcWindow& window) const {
  const auto first =
      std::lower_bound(points_.begin(), points_.end(), window.first, [](const Point& point, Ns time) { return point.utc_ns < time; });
  std::uint64_t count = 0;
  for (auto point = first; point != points_.end() && point->utc_ns < window.second; ++point) count += point->update;
  return count;
}

bool overlaps(const std::vector<UtcWindow>& spans, const UtcWindow& window) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), window.first, [](Ns time, const UtcWindow& span) { return time < span.second; });
  return after != spans.end() && after->first < window.second;
}

std::vector<UtcWindow> united(std::vector<UtcWindow> windows) {
  std::erase_if(windows, [](const UtcWindow& window) { return window.second <= window.first; });
  return union_of(std::move(windows));
}

std::vector<StageWindows> stage_windows(const StagedTrace& staged) {
  const std::optional<std::int64_t>& utc_start_ns = staged.trace.utc_start_ns;
  if (!utc_start_ns) return {};
  const StageTable& table = staged.table;
  std::vector<StageWindows> found(table.stages().size());
  for (const Window& window : staged.windows)
    if (window.stage != kNone && !window.warmup && window.end_ns > window.start_ns)
      found[window.stage].utc_ns.emplace_back(*utc_start_ns + window.start_ns, *utc_start_ns + window.end_ns);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].stage = table.stages()[i];
  std::erase_if(found, [](const StageWindows& stage) { return stage.utc_ns.empty(); });
  return found;
}

}  // namespace nl::analysis
