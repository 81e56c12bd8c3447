#include "analysis/figures/detail/slice_tables.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "analysis/account/launch_waits.h"
#include "analysis/figures/stages/timeline.h"
#include "analysis/trace/kernel_class.h"
#include "model/words.h"
#include "nvtx/names.h"

namespace nl::analysis {
namespace {

Catalogue first_catalogue(const Trace& trace) {
  const std::vector<RangeSource> sources = range_sources(trace);
  if (!sources.empty()) return catalogue_of(trace, sources.front());
  Catalogue none;
  none.items.item_of_range.assign(trace.ranges.size(), kNone);
  return none;
}

std::vector<std::uint32_t> groups_of_ranges(const Catalogue& catalogue) {
  std::vector<std::uint32_t> groups = catalogue.items.item_of_range;
  for (std::uint32_t& item : groups)
    if (item != kNone) item = catalogue.items.group_of_item[item];
  return groups;
}

std::uint32_t innermost_of_two(const InnermostItem& items, const WorkOrigin& from, const WorkOrigin& launch) {
  if (!items.any()) return kNone;
  const std::uint32_t item = items.of(from);
  return item != kNone || from == launch ? item : items.of(launch);
}

std::vector<std::uint32_t> marked_lines(const Trace& trace) {
  std::vector<std::uint32_t> lines(trace.ranges.size(), kNone);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (trace.strings[trace.ranges[i].domain] == nvtx::kLineDomain) lines[i] = trace.ranges[i].name.value;
  return lines;
}

// The end of the thread's call before this one.
Ns ended_before(const CallsByThread& calls, const WorkOrigin& call) {
  const std::size_t first = first_call_from(calls, call.thread, call.start_ns);
  return first == calls.first(call.thread) ? std::numeric_limits<Ns>::min() : calls[first - 1].end_ns();
}

}  // namespace

std::uint32_t NameTable::of(LaneKind kind, StringId name) {
  const std::uint64_t key = std::uint64_t{name.value} << 2 | static_cast<std::uint64_t>(kind);
  const auto [found, added] = known_.try_emplace(key, 0u);
  if (added) found->second = of(shown_slice_name(kind, trace_.strings[name]));
  return found->second;
}

std::uint32_t KernelTable::of(std::uint32_t shape) {
  std::uint32_t& known = of_shape_[shape];
  if (known != kNone) return known;
  known = static_cast<std::uint32_t>(kernels_.size());
  const KernelShape& from = trace_.shapes[shape];
  const std::string& name = trace_.strings[from.name];
  const auto same = of_name_.find(from.name.value);  // a long name is looked at once, whatever its launches are like
  const KernelClass kind = same != of_name_.end() ? kernels_[same->second].kind : classify_kernel(name);
  kernels_.push_back({names_.of(name), kind, from.grid, from.block, from.registers_per_thread,
                      std::uint64_t{from.static_shared_bytes} + from.dynamic_shared_bytes});
  of_name_.try_emplace(from.name.value, known);
  return known;
}

std::uint32_t KernelTable::named(std::uint32_t shape) {
  const auto found = of_name_.find(trace_.shapes[shape].name.value);
  return found != of_name_.end() ? found->second : of(shape);
}

Origins::Origins(const Trace& trace, const std::vector<std::uint32_t>& ranges_by_start)
    : catalogue_(first_catalogue(trace)), operator_of_range_(groups_of_ranges(catalogue_)), layers_(layer_ranges(trace)),
      operators_(trace, operator_of_range_, ranges_by_start), innermost_layers_(trace, layers_.of_range, ranges_by_start) {}

std::uint32_t Origins::operator_of(const WorkOrigin& from, const WorkOrigin& launch) {
  const std::uint32_t found = innermost_of_two(operators_, from, launch);
  return found == kNone ? kNone : used_operators_.number(found, catalogue_.names[found]);
}

std::uint32_t Origins::layer_of(const WorkOrigin& from, const WorkOrigin& launch) {
  const std::uint32_t found = innermost_of_two(innermost_layers_, from, launch);
  return found == kNone ? kNone : used_layers_.number(found, layers_.names[found]);
}

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
