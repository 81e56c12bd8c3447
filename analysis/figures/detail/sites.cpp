#include "analysis/figures/detail/sites.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "analysis/account/launch_waits.h"
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

// The end of the thread's call before this one.
Ns ended_before(const CallsByThread& calls, const WorkOrigin& call) {
  std::size_t first = calls.first(call.thread), last = calls.last(call.thread);
  while (first < last) {
    const std::size_t middle = first + (last - first) / 2;
    if (calls[middle].start_ns < call.start_ns) first = middle + 1;
    else last = middle;
  }
  return first == calls.first(call.thread) ? std::numeric_limits<Ns>::min() : calls[first - 1].end_ns();
}

}  // namespace

Sites::Sites(const Trace& trace, const CallsByThread& launches, const CallsByThread& other_calls,
             const std::vector<std::uint32_t>& ranges_by_start)
    : trace_(trace), line_of_range_(marked_lines(trace)), lines_(trace, line_of_range_, ranges_by_start), works_(trace.host.frames),
      samples_(samples_by_thread(trace)), launches_(launches), others_(other_calls) {}

std::uint32_t Sites::number(const DetailSite& site) {
  const auto [found, added] = numbers_.try_emplace({site.place, site.nearby}, static_cast<std::uint32_t>(sites_.size()));
  if (added) sites_.push_back(site);
  return found->second;
}

std::uint32_t Sites::of(const WorkOrigin& origin) {
  if (const std::uint32_t line = lines_.of(origin); line != kNone) return number({trace_.strings[StringId{line}], false});
  return sampled(origin);
}

std::uint32_t Sites::sampled(const WorkOrigin& origin) {
  if (origin.thread >= samples_.size() || samples_[origin.thread].empty()) return kNone;
  const std::vector<std::uint32_t>& samples = samples_[origin.thread];
  const auto time_of = [&](std::uint32_t sample) { return trace_.host.samples[sample].time_ns; };
  const auto after = std::lower_bound(samples.begin(), samples.end(), origin.start_ns,
                                      [&](std::uint32_t sample, Ns time_ns) { return time_of(sample) < time_ns; });
  std::uint32_t chosen = kNone;
  bool own = false;  // a sample that tells the call's own line goes before a nearer one
  Ns distance_ns = trace_.host.period_ns + 1;
  const auto look = [&](std::uint32_t sample) {
    const Ns away_ns = std::abs(time_of(sample) - origin.start_ns);
    const bool leads = leads_to(origin, time_of(sample));
    if (away_ns > trace_.host.period_ns || leads < own || (leads == own && away_ns >= distance_ns)) return;
    distance_ns = away_ns;
    own = leads;
    chosen = sample;
  };
  if (after != samples.begin()) look(*std::prev(after));
  if (after != samples.end()) look(*after);
  if (chosen == kNone) return kNone;
  const HostFrame& frame = trace_.host.frames[works_.calling_frame(trace_.host.stacks[trace_.host.samples[chosen].stack])];
  return number({place_text(frame) + " " + frame.function, !own});
}

bool Sites::leads_to(const WorkOrigin& call, Ns sample_ns) const {
  return sample_ns <= call.end_ns && ended_before(launches_, call) <= sample_ns && ended_before(others_, call) <= sample_ns;
}

}  // namespace nl::analysis
