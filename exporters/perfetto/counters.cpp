#include "exporters/perfetto/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/text/figure_text.h"
#include "model/metric_series.h"

namespace nl::exporters::perfetto {
namespace {

constexpr Ns kSteps = 4096;
constexpr const char* kCopies[] = {"bytes copied to the device", "bytes copied from the device", "bytes copied on the device"};

}  // namespace

Counters::Counters(const Window& window)
    : start_ns_(window.start_ns), step_ns_(std::max<Ns>((window.end_ns - window.start_ns) / kSteps + 1, 1000)) {}

std::size_t Counters::step_at(Ns time_ns) const {
  return static_cast<std::size_t>(std::clamp<Ns>((time_ns - start_ns_) / step_ns_, 0, kSteps - 1));
}

Counters::Steps& Counters::steps(std::int32_t device) {
  Steps& steps = devices_[device];
  if (steps.busy_ns.empty()) {
    steps.busy_ns.resize(kSteps);
    for (auto& bytes : steps.bytes) bytes.resize(kSteps);
  }
  return steps;
}

void Counters::busy(std::int32_t device, Ns start_ns, Ns end_ns) {
  Steps& at = steps(device);
  start_ns = std::max(start_ns, start_ns_);
  end_ns = std::min(end_ns, start_ns_ + kSteps * step_ns_);
  for (std::size_t step = step_at(start_ns); start_ns < end_ns && step < at.busy_ns.size(); ++step) {
    const Ns until = std::min(end_ns, start_ns_ + static_cast<Ns>(step + 1) * step_ns_);
    at.busy_ns[step] += until - start_ns;
    start_ns = until;
  }
}

void Counters::copied(std::int32_t device, MemOpKind kind, Ns end_ns, std::uint64_t bytes) {
  const int which = kind == MemOpKind::kHostToDevice                                       ? 0
                    : kind == MemOpKind::kDeviceToHost                                     ? 1
                    : kind == MemOpKind::kDeviceToDevice || kind == MemOpKind::kPeerToPeer ? 2
                                                                                           : -1;
  if (which >= 0) steps(device).bytes[static_cast<std::size_t>(which)][step_at(end_ns)] += bytes;
}

void Counters::write(Packets& packets, std::int32_t device, Track gpu) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  write_busy(packets, found->second, packets.counter("work in flight (mean)", {}, gpu));
  for (std::size_t which = 0; which < found->second.bytes.size(); ++which) {
    const auto& bytes = found->second.bytes[which];
    if (std::all_of(bytes.begin(), bytes.end(), [](std::uint64_t b) { return b == 0; })) continue;
    const Track track = packets.counter(kCopies[which], MetricUnit::kBytes, gpu);
    std::uint64_t sum = 0;
    packets.count(track, start_ns_, std::int64_t{0});
    for (std::size_t step = 0; step < bytes.size(); ++step) {
      if (bytes[step] == 0) continue;
      sum += bytes[step];
      packets.count(track, start_ns_ + static_cast<Ns>(step) * step_ns_, static_cast<std::int64_t>(sum));
    }
  }
}

void Counters::write_busy(Packets& packets, const Steps& steps, Track track) const {
  Ns last = -1;
  for (std::size_t step = 0; step < steps.busy_ns.size(); ++step) {
    if (steps.busy_ns[step] == last) continue;
    last = steps.busy_ns[step];
    packets.count(track, start_ns_ + static_cast<Ns>(step) * step_ns_, static_cast<double>(last) / static_cast<double>(step_ns_));
  }
}

std::uint64_t sample_step(const Writing& to) {
  std::uint64_t values = 0;
  for (const MetricSeries& series : to.trace.metric_series)
    for (const Ns start_ns : series.start_ns)
      if (to.window.holds(start_ns, start_ns)) values += series.metrics.size();
  return to.max_samples == 0 ? 1 : std::max<std::uint64_t>(1, (values + to.max_samples - 1) / to.max_samples);
}

void write_series(Writing& to, const MetricSeries& series, Track gpu) {
  const std::size_t width = series.metrics.size();
  for (std::size_t metric = 0; metric < width; ++metric) {
    const SampledMetric shown(series.metrics[metric]);
    const Track track = to.packets.counter(shown.name, unit_of(shown.name), gpu);
    Ns start_ns = 0;
    double sum = 0;
    std::uint64_t joined = 0, known = 0;
    const auto put = [&] {
      if (known > 0) to.packets.count(track, start_ns, sum / static_cast<double>(known));
      sum = 0;
      joined = known = 0;
    };
    for (std::size_t row = 0; row < series.start_ns.size(); ++row) {
      if (!to.window.holds(series.start_ns[row], series.start_ns[row])) continue;
      if (joined++ == 0) start_ns = series.start_ns[row];
      if (const auto value = shown.value(series, row, metric)) sum += *value, ++known;
      if (joined == to.samples_joined) put();
    }
    put();
  }
}

void write_power(Writing& to, const std::vector<PowerSample>& samples) {
  if (!to.trace.utc_start_ns) return;
  std::map<std::pair<std::int32_t, const char*>, Track> tracks;
  const auto put = [&](const PowerSample& sample, const char* what, MetricUnit unit, const std::optional<double>& value) {
    const Ns time_ns = sample.utc_ns - *to.trace.utc_start_ns;
    if (!value || !std::isfinite(*value) || time_ns < 0 || !to.window.holds(time_ns, time_ns)) return;
    Track& track = tracks[{sample.device, what}];
    if (track == 0) track = to.packets.counter(fmt::format("GPU {} {}", sample.device, what), unit, 0);
    to.packets.count(track, time_ns, *value);
  };
  for (const PowerSample& sample : samples) {
    put(sample, "power", MetricUnit::kWatts, sample.power_w);
    put(sample, "SM clock", MetricUnit::kMegahertz, sample.sm_clock_mhz);
    put(sample, "memory clock", MetricUnit::kMegahertz, sample.memory_clock_mhz);
    put(sample, "temperature", MetricUnit::kCelsius, sample.temperature_c);
  }
}

}  // namespace nl::exporters::perfetto
