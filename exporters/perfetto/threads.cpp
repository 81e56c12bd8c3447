#include <fmt/format.h>

#include <map>
#include <tuple>

#include "exporters/perfetto/lanes.h"
#include "exporters/perfetto/parts.h"
#include "model/rank_titles.h"

namespace nl::exporters::perfetto {
namespace {

class Threads {
 public:
  explicit Threads(Writing& to) : to_(to), tracks_(to.trace.threads.size()) {
    for (std::size_t i = 0; i < to.trace.processes.size(); ++i) {
      const std::string &name = to.trace.processes[i].name, rank = rank_title(to.trace, static_cast<std::uint32_t>(i));
      const std::string title = name.empty() ? "process" : name;
      to.packets.process(pid_of(static_cast<std::uint32_t>(i)), rank.empty() ? title : fmt::format("{} · {}", rank, title));
    }
  }

  // Perfetto takes process and thread 0 for the system's idle task.
  std::uint32_t pid_of(std::uint32_t process) const {
    const auto& all = to_.trace.processes;
    const std::uint32_t made_up = kMadeUpPid + 0x10000 + (process & 0xFFFF);
    return process < all.size() && all[process].pid != 0 ? all[process].pid : made_up;
  }
  Track track(std::uint32_t thread) {
    if (thread >= tracks_.size()) {
      if (nowhere_ == 0) nowhere_ = to_.packets.track("unknown thread", 0);
      return nowhere_;
    }
    if (tracks_[thread] == 0) {
      const auto& row = to_.trace.threads[thread];
      const std::uint32_t pid = pid_of(row.process);
      tracks_[thread] = to_.packets.thread(pid, row.tid != 0 ? row.tid : kMadeUpPid + 0x20000 + thread, row.name);
    }
    return tracks_[thread];
  }

 private:
  Writing& to_;
  std::vector<Track> tracks_;
  Track nowhere_ = 0;
};

void write_calls(Writing& to, Threads& threads) {
  const auto& calls = to.trace.api_calls;
  for (std::size_t i = 0; i < calls.size();) {
    const auto thread = static_cast<std::uint32_t>(calls[i].thread);
    Lanes lanes(to.packets, [&](std::size_t lane) {
      return lane == 0 ? threads.track(thread) : to.packets.track(fmt::format("calls {}", lane + 1), threads.track(thread));
    });
    for (; i < calls.size() && calls[i].thread == thread; ++i) {
      if (!to.window.holds(calls[i].start_ns, calls[i].end_ns())) continue;
      Packets::Event event{0, calls[i].start_ns, Category::kApi, to.packets.name(calls[i].name), 0, 0, {}};
      if (to.launches[i]) event.flow = i + 1;
      if (!lanes.add(event, calls[i].end_ns())) ++to.crowded;
    }
    lanes.finish();
  }
}

// One track a thread, domain and style: ranges of different domains may overlap, as may those of start and end.
class RangeGroups {
 public:
  using Key = std::tuple<std::uint32_t, std::uint32_t, RangeStyle>;
  explicit RangeGroups(const Trace& trace) {
    for (const auto& range : trace.ranges) groups_.emplace(key(range), 0);
    std::size_t number = 0;
    for (auto& [key, group] : groups_) group = number++;
  }
  std::size_t size() const { return groups_.size(); }
  std::size_t of(const Range& range) {
    if (!last_ || last_->first != key(range)) last_ = &*groups_.find(key(range));
    return last_->second;
  }

 private:
  static Key key(const Range& range) { return {range.thread, range.domain.value, range.style}; }
  std::map<Key, std::size_t> groups_;
  const std::pair<const Key, std::size_t>* last_ = nullptr;
};

std::string title_of(const Trace& trace, const Range& range, std::size_t lane) {
  const std::string& domain = trace.strings[range.domain];
  std::string title = domain.empty() ? "NVTX" : "NVTX " + domain;
  if (range.style == RangeStyle::kStartEnd) title += " (start/end)";
  return lane == 0 ? title : fmt::format("{} {}", title, lane + 1);
}

void range_args(const Trace& trace, const Range& range, std::string& args) {
  args.clear();
  if (range.payload) add_signed_arg(args, Arg::kPayload, *range.payload);
  if (range.open) add_arg(args, Arg::kOpen, 1);
  if (range.end_thread < trace.threads.size()) add_arg(args, Arg::kEndedByThread, trace.threads[range.end_thread].tid);
}

void write_ranges(Writing& to, Threads& threads) {
  const auto& ranges = to.trace.ranges;
  RangeGroups groups(to.trace);
  const auto keep = [&](const Range& r) { return to.window.holds(r.start_ns, r.end_ns); };
  const auto before = [](const Range& a, const Range& b) { return std::tie(a.start_ns, b.end_ns) < std::tie(b.start_ns, a.end_ns); };
  const Grouped all = grouped(ranges, groups.size(), keep, [&](const Range& r) { return groups.of(r); }, before);
  std::string args;
  for (std::size_t group = 0; group + 1 < all.first.size(); ++group) {
    if (all.first[group] == all.first[group + 1]) continue;
    const Range& one = ranges[all.order[all.first[group]]];
    Lanes lanes(to.packets, [&](std::size_t lane) { return to.packets.track(title_of(to.trace, one, lane), threads.track(one.thread)); });
    for (std::size_t i = all.first[group]; i < all.first[group + 1]; ++i) {
      const Range& range = ranges[all.order[i]];
      range_args(to.trace, range, args);
      if (!lanes.add({0, range.start_ns, Category::kRange, to.packets.name(range.name), 0, 0, args}, range.end_ns)) ++to.crowded;
    }
    lanes.finish();
  }
}

void write_marks(Writing& to, Threads& threads) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Track> tracks;
  for (const Mark& mark : to.trace.marks) {
    if (!to.window.holds(mark.time_ns, mark.time_ns)) continue;
    Track& track = tracks[{mark.thread, mark.domain.value}];
    const std::string& domain = to.trace.strings[mark.domain];
    if (track == 0) track = to.packets.track(domain.empty() ? "NVTX marks" : "NVTX " + domain + " marks", threads.track(mark.thread));
    to.packets.instant({track, mark.time_ns, Category::kMark, to.packets.name(mark.name), 0, 0, {}});
  }
}

}  // namespace

void write_threads(Writing& to) {
  Threads threads(to);
  write_calls(to, threads);
  write_ranges(to, threads);
  write_marks(to, threads);
}

}  // namespace nl::exporters::perfetto
