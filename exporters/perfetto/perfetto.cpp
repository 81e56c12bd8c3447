#include "exporters/perfetto/perfetto.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/perfetto/lanes.h"
#include "exporters/perfetto/parts.h"
#include "model/words.h"

namespace nl::exporters {
namespace perfetto {
namespace {

std::vector<bool> launching_calls(const Trace& trace, const Window& window) {
  std::vector<bool> launches(trace.api_calls.size());
  const auto note = [&](std::uint32_t api) {
    if (api < launches.size()) launches[api] = true;
  };
  for (const auto& kernel : trace.kernels) note(kernel.api);
  for (const auto& op : trace.mem_ops) note(op.api);
  for (const auto& run : trace.graph_runs) note(run.api);
  if (window.cut)
    for (std::size_t i = 0; i < launches.size(); ++i)
      if (!window.holds(trace.api_calls[i].start_ns, trace.api_calls[i].end_ns())) launches[i] = false;
  return launches;
}

void write_cut(Packets& packets, const Window& window, const std::string& note) {
  const Track track = packets.track("nl-stage: cut", 0);
  for (const Ns at : {window.start_ns, window.end_ns}) packets.instant({track, at, Category::kNote, packets.name(note), 0, 0, {}});
}

std::uint64_t events_of(const Trace& trace) {
  return trace.kernels.size() + trace.mem_ops.size() + trace.graph_runs.size() + trace.api_calls.size() + trace.ranges.size() +
         trace.marks.size();
}

constexpr Ns kWindowSteps = 8192;

class Histogram {
 public:
  Histogram(Ns start_ns, Ns end_ns) : start_ns_(start_ns), step_ns_((end_ns - start_ns) / kWindowSteps + 1), counts_(kWindowSteps) {}
  void add(Ns time_ns) { ++counts_[at(time_ns)]; }
  std::size_t at(Ns time_ns) const {
    return static_cast<std::size_t>(std::clamp<Ns>((time_ns - start_ns_) / step_ns_, 0, kWindowSteps - 1));
  }
  Ns start_of(std::size_t step) const { return start_ns_ + static_cast<Ns>(step) * step_ns_; }

  // From the step of `first`, as far towards `last` as max goes; then after it, and last of all before it.
  Window grown(std::size_t first, std::size_t last, std::uint64_t max) const {
    std::uint64_t sum = 0;
    std::size_t end = first;
    const auto takes = [&](std::size_t step) { return sum + counts_[step] <= max; };
    while (end < last + 1 && takes(end)) sum += counts_[end++];
    const bool whole = end == last + 1;
    while (whole && end < counts_.size() && takes(end)) sum += counts_[end++];
    while (whole && first > 0 && takes(first - 1)) sum += counts_[--first];
    return {start_of(first), start_of(std::max(end, first + 1)) - 1, true};
  }

 private:
  Ns start_ns_, step_ns_;
  std::vector<std::uint64_t> counts_;
};

template <class Each>
void each_start(const Trace& trace, Each each) {
  for (const auto& row : trace.kernels) each(row.start_ns);
  for (const auto& row : trace.mem_ops) each(row.start_ns);
  for (const auto& row : trace.graph_runs) each(row.start_ns);
  for (const auto& row : trace.api_calls) each(row.start_ns);
  for (const auto& row : trace.ranges) each(row.start_ns);
  for (const auto& row : trace.marks) each(row.time_ns);
}

double seconds(Ns ns) { return static_cast<double>(ns) / 1e9; }

// Around the focus, wide enough for max_events slices and no wider.
Window choose_window(const Trace& trace, const PerfettoOptions& options) {
  Window all{0, trace.duration_ns, false};
  for (const auto& kernel : trace.kernels) all.end_ns = std::max(all.end_ns, kernel.end_ns());
  if (options.max_events == 0 || events_of(trace) <= options.max_events) return all;
  Histogram histogram(all.start_ns, all.end_ns);
  each_start(trace, [&](Ns start_ns) { histogram.add(start_ns); });
  const std::size_t first = histogram.at(options.focus_start_ns);
  return histogram.grown(first, std::max(first, histogram.at(options.focus_end_ns)), options.max_events);
}

// Iterations and findings.
void write_notes(Writing& to, const Run& run) {
  Lanes iterations(to.packets, [&](std::size_t lane) { return to.packets.track(lane == 0 ? "iterations" : "more iterations", 0); });
  std::size_t number = 0;
  for (const auto& iteration : run.iterations.list) {
    const std::string name = fmt::format("iteration {}{}", ++number, iteration.warmup ? " (warm-up)" : "");
    if (to.window.holds(iteration.start_ns, iteration.start_ns + iteration.wall_ns))
      iterations.add({0, iteration.start_ns, Category::kNote, to.packets.name(name), 0, 0, {}}, iteration.start_ns + iteration.wall_ns);
  }
  iterations.finish();
  struct Place {
    Ns start_ns, end_ns;
    const Finding* finding;
    const FindingEvidence* evidence;
  };
  std::vector<Place> places;
  for (const auto& finding : run.findings)
    for (const auto& evidence : finding.evidence)
      if (evidence.window_start_ns && evidence.window_end_ns && to.window.holds(*evidence.window_start_ns, *evidence.window_end_ns))
        places.push_back({*evidence.window_start_ns, *evidence.window_end_ns, &finding, &evidence});
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) { return std::tie(a.start_ns, b.end_ns) < std::tie(b.start_ns, a.end_ns); });
  Lanes findings(to.packets, [&](std::size_t) { return to.packets.track("findings", 0); });
  for (const Place& place : places) {
    std::string args;
    add_text_arg(args, Arg::kText, to.packets.text(place.evidence->text));
    findings.add({0, place.start_ns, Category::kNote, to.packets.name(place.finding->rule), 0, 0, args}, place.end_ns);
  }
  findings.finish();
}

}  // namespace
}  // namespace perfetto

PerfettoSummary write_perfetto(const Trace& trace, const PerfettoSink& sink, const PerfettoOptions& options) {
  using namespace perfetto;
  Packets packets(sink, trace.strings);
  if (trace.utc_start_ns && *trace.utc_start_ns > 0) packets.clock(*trace.utc_start_ns);
  const Window window = choose_window(trace, options);
  Writing to{trace, packets, window, launching_calls(trace, window), options.max_events};
  write_threads(to);
  write_queues(to);
  PerfettoSummary summary;
  summary.events = packets.events();
  summary.crowded = to.crowded;
  summary.left_out = events_of(trace) - summary.events - to.crowded;
  if (window.cut) {
    summary.note = fmt::format("{} of {} events: from {:.3f} s to {:.3f} s of the capture", summary.events, events_of(trace),
                               seconds(window.start_ns), seconds(window.end_ns));
    write_cut(packets, window, summary.note);
  }
  if (to.crowded > 0)
    summary.note += fmt::format("{}{} events are not shown: too many overlap on their track", summary.note.empty() ? "" : "; ", to.crowded);
  if (to.samples_joined > 1)
    summary.note +=
        fmt::format("{}sampled metrics: each value is the mean of {} samples", summary.note.empty() ? "" : "; ", to.samples_joined);
  if (options.run != nullptr) write_notes(to, *options.run);
  if (options.power != nullptr) write_power(to, *options.power);
  packets.finish();
  return summary;
}

PerfettoSummary write_perfetto(const Timeline& timeline, const PerfettoSink& sink) {
  using namespace perfetto;
  const StringPool none;
  Packets packets(sink, none);
  std::map<std::string, Track> groups;
  for (const TimelineLane& lane : timeline.lanes) {
    const bool gpu = lane.kind == LaneKind::kGpu;
    Track& group = groups[gpu ? "GPU" : "CPU"];
    if (group == 0) group = packets.process(kMadeUpPid + static_cast<std::uint32_t>(groups.size()), gpu ? "GPU" : "CPU");
    Lanes lanes(packets, [&](std::size_t) { return packets.track(fmt::format("{} · {}", lane.title, key_of(lane.kind)), group); });
    for (const TimelineSlice& slice : lane.slices) {
      if (slice.name >= timeline.names.size()) continue;
      std::string args;
      if (slice.merged > 1) add_arg(args, Arg::kMerged, slice.merged);
      const Category category = gpu ? Category::kKernel : lane.kind == LaneKind::kApi ? Category::kApi : Category::kRange;
      lanes.add({0, slice.start_ns, category, packets.name(timeline.names[slice.name]), 0, 0, args}, slice.start_ns + slice.duration_ns);
    }
    lanes.finish();
  }
  packets.finish();
  PerfettoSummary summary{packets.events(), timeline.slices_left_out, 0, "only " + timeline.what + ", from run.json"};
  return summary;
}

void focus_on_measured(const Run& run, PerfettoOptions& options) {
  bool any = false;
  for (const auto& iteration : run.iterations.list) {
    if (iteration.warmup) continue;
    options.focus_start_ns = any ? std::min(options.focus_start_ns, iteration.start_ns) : iteration.start_ns;
    options.focus_end_ns =
        any ? std::max(options.focus_end_ns, iteration.start_ns + iteration.wall_ns) : iteration.start_ns + iteration.wall_ns;
    any = true;
  }
}

}  // namespace nl::exporters
