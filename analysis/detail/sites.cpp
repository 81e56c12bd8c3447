#include "analysis/detail/sites.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/host/host_watch.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

std::vector<std::uint32_t> marked_lines(const Trace& trace) {
  std::vector<std::uint32_t> lines(trace.ranges.size(), kNone);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (trace.strings[trace.ranges[i].domain] == nvtx::kLineDomain) lines[i] = trace.ranges[i].name.value;
  return lines;
}

}  // namespace

Sites::Sites(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start)
    : trace_(trace), line_of_range_(marked_lines(trace)), lines_(trace, line_of_range_, ranges_by_start), works_(trace.host.frames),
      samples_(samples_by_thread(trace)) {}

std::uint32_t Sites::number(const std::string& text) {
  const auto [found, added] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (added) texts_.push_back(text);
  return found->second;
}

std::uint32_t Sites::of(const WorkOrigin& origin) {
  if (const std::uint32_t line = lines_.of(origin); line != kNone) return number(trace_.strings[StringId{line}]);
  return sampled(origin);
}

std::uint32_t Sites::sampled(const WorkOrigin& origin) {
  if (origin.thread >= samples_.size() || samples_[origin.thread].empty()) return kNone;
  const std::vector<std::uint32_t>& samples = samples_[origin.thread];
  const auto time_of = [&](std::uint32_t sample) { return trace_.host.samples[sample].time_ns; };
  const auto after = std::lower_bound(samples.begin(), samples.end(), origin.start_ns, [&](std::uint32_t sample, Ns time_ns) { return time_of(sample) < time_ns; });
  std::uint32_t nearest = kNone;
  Ns distance_ns = trace_.host.period_ns + 1;
  const auto look = [&](std::uint32_t sample) {
    const Ns away_ns = std::abs(time_of(sample) - origin.start_ns);
    if (away_ns >= distance_ns) return;
    distance_ns = away_ns;
    nearest = sample;
  };
  if (after != samples.begin()) look(*std::prev(after));
  if (after != samples.end()) look(*after);
  if (nearest == kNone) return kNone;
  const HostFrame& frame = trace_.host.frames[works_.calling_frame(trace_.host.stacks[trace_.host.samples[nearest].stack])];
  return number(place_text(frame) + " " + frame.function);
}

}  // namespace nl::analysis
