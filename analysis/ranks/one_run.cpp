#include "analysis/ranks/one_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/ranks/clocks.h"
#include "analysis/ranks/groups.h"
#include "analysis/ranks/join.h"
#include "model/error.h"
#include "model/time.h"

namespace nl::analysis::ranks {
namespace {

constexpr Ns kSecond = 1'000'000'000;
// Clocks of the day of two machines are apart by seconds where no service sets them. One machine has one, but each tool reads it in its way.
constexpr Ns kApartOnMachines = 60 * kSecond, kApartOnMachine = 2 * kSecond;

bool all_know_the_day(const std::vector<RankCapture>& captures) {
  return std::all_of(captures.begin(), captures.end(), [](const RankCapture& capture) { return capture.trace.utc_start_ns.has_value(); });
}

// Both count from one boot of one machine, which reads its clock of the day a moment later.
bool one_clock(const Trace& a, const Trace& b) {
  if (a.rank.host.empty() || a.rank.host != b.rank.host || !a.monotonic_start_ns || !b.monotonic_start_ns) return false;
  if (!a.utc_start_ns || !b.utc_start_ns) return false;
  const Ns apart_ns = (*a.utc_start_ns - *a.monotonic_start_ns) - (*b.utc_start_ns - *b.monotonic_start_ns);
  return apart_ns < kSecond && apart_ns > -kSecond;
}

std::vector<Ns> shifts_of(const std::vector<RankCapture>& captures, bool seeded) {
  const Trace& first = captures.front().trace;
  std::vector<Ns> shifts;
  for (const RankCapture& capture : captures) {
    if (one_clock(first, capture.trace)) shifts.push_back(*capture.trace.monotonic_start_ns - *first.monotonic_start_ns);
    else shifts.push_back(seeded ? *capture.trace.utc_start_ns - *first.utc_start_ns : 0);
  }
  return shifts;
}

// Where collectives tell nothing of a clock, it may still be that of the first capture.
std::vector<CaptureClock> clocks_of(const std::vector<RankCapture>& captures, const std::vector<Track>& tracks, bool seeded) {
  std::vector<CaptureClock> clocks = fit_clocks(tracks, captures.size(), seeded);
  for (std::size_t i = 1; i < captures.size(); ++i)
    if (clocks[i].by == RankClock::kNone && one_clock(captures.front().trace, captures[i].trace)) clocks[i].by = RankClock::kMachine;
  return clocks;
}

std::vector<Track> tracks_of(const std::vector<RankCapture>& captures, const std::vector<Ns>& shifts) {
  std::vector<Track> all;
  for (std::uint32_t i = 0; i < captures.size(); ++i) add_tracks(captures[i].trace, i, shifts[i], all);
  return all;
}

[[noreturn]] void refuse(const RankCapture& first, const RankCapture& other, const std::string& why) {
  throw Error(ErrorKind::kInput, "the captures are not of one run: " + why, fmt::format("{} and {}", first.file, other.file),
              "import them one at a time, or give the ranks of one run");
}

// Another run of the same program has the same collectives: the clocks of the day tell it.
void refuse_other_runs(const std::vector<RankCapture>& captures, const std::vector<Ns>& shifts, const std::vector<CaptureClock>& clocks,
                       bool seeded) {
  const RankCapture& first = captures.front();
  for (std::size_t i = 1; i < captures.size(); ++i) {
    const RankCapture& other = captures[i];
    const bool fitted = clocks[i].by == RankClock::kCollectives;
    if (!fitted && !seeded) refuse(first, other, "they share no collectives, and do not say when they were made");
    if (!seeded) continue;
    const bool one_machine = !first.trace.rank.host.empty() && first.trace.rank.host == other.trace.rank.host;
    const Ns between_ns = std::max(shifts[i] - first.trace.duration_ns, -shifts[i] - other.trace.duration_ns);  // below 0: they overlap
    const Ns apart_ns = fitted ? std::max(clocks[i].line.offset_ns, -clocks[i].line.offset_ns) : between_ns;
    if (apart_ns > (fitted && !one_machine ? kApartOnMachines : kApartOnMachine))
      refuse(first, other, fmt::format("they were made {:.0f} s after each other", static_cast<double>(apart_ns) / 1e9));
  }
}

std::vector<ClockLine> moved_to_zero(const std::vector<RankCapture>& captures, const std::vector<Ns>& shifts,
                                     const std::vector<CaptureClock>& clocks, Ns& first_ns) {
  first_ns = 0;
  for (std::size_t i = 0; i < captures.size(); ++i) first_ns = std::min(first_ns, clocks[i].line(shifts[i]));
  std::vector<ClockLine> lines;
  for (const CaptureClock& clock : clocks) {
    lines.push_back(clock.line);
    lines.back().offset_ns += first_ns;
  }
  return lines;
}

class OneRun {
 public:
  explicit OneRun(std::vector<RankCapture> captures)
      : captures_(std::move(captures)), seeded_(all_know_the_day(captures_)), shifts_(shifts_of(captures_, seeded_)),
        tracks_(tracks_of(captures_, shifts_)), clocks_(clocks_of(captures_, tracks_, seeded_)) {}

  Trace join() {
    refuse_other_runs(captures_, shifts_, clocks_, seeded_);
    std::vector<RankEntry> ranks = entries();
    std::vector<Remark> notes = remarks();
    put_on_one_clock();
    Ns first_ns = 0;
    const std::vector<ClockLine> lines = moved_to_zero(captures_, shifts_, clocks_, first_ns);
    const std::optional<std::int64_t> utc_ns = captures_.front().trace.utc_start_ns;
    const std::vector<std::uint32_t> first_kernels = kernels_before();
    for (RankEntry& entry : ranks) {
      if (entry.drift_from_ns) *entry.drift_from_ns -= first_ns;
      if (entry.capture_end_ns) *entry.capture_end_ns -= first_ns;
    }
    Trace trace = ranks::join(parts(lines));
    trace.collectives = number_collectives(tracks_, residuals(), first_kernels);
    if (utc_ns) trace.utc_start_ns = *utc_ns + first_ns;
    name_places(trace, ranks);
    trace.ranks = std::move(ranks);
    for (Remark& note : notes) add_once(trace.stats.notes, std::move(note));
    return trace;
  }

 private:
  std::vector<RankEntry> entries() const {
    std::vector<RankEntry> ranks;
    for (std::size_t i = 0; i < captures_.size(); ++i) {
      const CaptureClock& clock = clocks_[i];
      RankEntry entry;
      entry.rank = captures_[i].rank;
      entry.source = captures_[i].source;
      entry.host = captures_[i].trace.rank.host;
      entry.file = captures_[i].file;
      entry.clock = clock.by != RankClock::kNone ? clock.by : seeded_ ? RankClock::kWallClock : RankClock::kNone;
      if (const auto end_ns = captures_[i].trace.session_end_ns) entry.capture_end_ns = clock.line(*end_ns + shifts_[i]);
      if (clock.by == RankClock::kCollectives) {
        entry.offset_ns = clock.line.offset_ns;
        entry.drift_ppm = clock.line.drift * 1e6;
        entry.drift_error_ppm = clock.drift_error * 1e6;
        entry.drift_from_ns = clock.line(clock.line.from_ns);
        entry.residual_ns = clock.residual_ns;
        entry.residual_max_ns = clock.residual_max_ns;
        entry.collectives = clock.collectives;
      }
      ranks.push_back(std::move(entry));
    }
    return ranks;
  }

  bool communicates(std::size_t capture) const {
    return std::any_of(tracks_.begin(), tracks_.end(), [&](const Track& track) { return track.capture == capture; });
  }

  std::vector<Remark> remarks() const {
    std::vector<Remark> notes;
    const auto name = [&](std::size_t capture) { return std::to_string(captures_[capture].rank); };
    for (std::size_t i = 1; i < captures_.size(); ++i) {
      const CaptureClock& clock = clocks_[i];
      const std::string to = name(clock.fitted_to);
      if (!communicates(i) && !tracks_.empty()) notes.push_back({Code::kRankNotCounted, {name(i)}});
      else if (communicates(i) && clock.by == RankClock::kNone)
        notes.push_back({Code::kRankClockNotFitted, {name(i), name(0), "their collectives do not match"}});
      else if (clock.residual_ns > kLooseNs)
        notes.push_back({Code::kRankClockLoose, {name(i), to, fmt::format("{:.2f} ms", clock.residual_ns / 1e6)}});
      if (clock.ambiguous) notes.push_back({Code::kRanksAmbiguous, {name(i), to}});
    }
    return notes;
  }

  // The tracks, so that those of one collective can be told by their times. Of captures whose clock is not known there are none.
  void put_on_one_clock() {
    std::erase_if(tracks_, [&](const Track& track) { return clocks_[track.capture].by == RankClock::kNone; });
    for (Track& track : tracks_)
      for (CollectiveEvent& event : track.events) {
        event.start_ns = clocks_[track.capture].line(event.start_ns);
        event.end_ns = clocks_[track.capture].line(event.end_ns);
      }
  }

  std::vector<double> residuals() const {
    std::vector<double> all;
    for (const CaptureClock& clock : clocks_) all.push_back(clock.residual_ns);
    return all;
  }

  std::vector<std::uint32_t> kernels_before() const {
    std::vector<std::uint32_t> before;
    std::uint32_t kernels = 0;
    for (const RankCapture& capture : captures_) {
      before.push_back(kernels);
      kernels += static_cast<std::uint32_t>(capture.trace.kernels.size());
    }
    return before;
  }

  std::vector<Part> parts(const std::vector<ClockLine>& lines) {
    std::vector<Part> all;
    for (std::size_t i = 0; i < captures_.size(); ++i)
      all.push_back({std::move(captures_[i].trace), shifts_[i], lines[i], captures_[i].rank});
    return all;
  }

  static void name_places(const Trace& trace, std::vector<RankEntry>& ranks) {
    for (RankEntry& entry : ranks) {
      std::set<std::int32_t> devices;
      const auto of_rank = [&](std::uint32_t process) {
        return process < trace.processes.size() && trace.processes[process].rank == entry.rank;
      };
      for (const Process& process : trace.processes)
        if (process.rank == entry.rank && process.pid != 0) entry.pids.push_back(process.pid);
      for (const Queue& queue : trace.queues)
        if (of_rank(queue.process)) devices.insert(queue.device);
      entry.devices.assign(devices.begin(), devices.end());
    }
  }

  std::vector<RankCapture> captures_;
  bool seeded_;
  std::vector<Ns> shifts_;
  std::vector<Track> tracks_;
  std::vector<CaptureClock> clocks_;
};

}  // namespace

namespace {

// The processes that have numbered collectives, by their pid.
std::vector<std::uint32_t> communicating(const Trace& trace) {
  std::vector<std::uint32_t> processes;
  for (const CollectiveCall& call : trace.collectives)
    add_once(processes, trace.queues[static_cast<std::size_t>(trace.kernels[call.kernel].queue)].process);
  std::erase_if(processes, [&](std::uint32_t process) { return process >= trace.processes.size(); });
  std::sort(processes.begin(), processes.end(),
            [&](std::uint32_t a, std::uint32_t b) { return trace.processes[a].pid < trace.processes[b].pid; });
  return processes;
}

// Whether a launcher told each of them its number, and no two the same.
bool all_told(const Trace& trace, const std::vector<std::uint32_t>& processes) {
  std::set<std::uint32_t> once;
  return std::all_of(processes.begin(), processes.end(), [&](std::uint32_t process) {
    return trace.processes[process].rank && once.insert(*trace.processes[process].rank).second;
  });
}

void number_in_order(const std::vector<std::uint32_t>& processes, Trace& trace) {
  for (Process& process : trace.processes) process.rank.reset();
  for (std::uint32_t i = 0; i < processes.size(); ++i) trace.processes[processes[i]].rank = i;
}

// One for each number that the processes have: what loads the data of a rank is of it, too.
std::vector<RankEntry> entries_by_number(const Trace& trace, RankSource source) {
  std::map<std::uint32_t, RankEntry> ranks;
  for (const Process& process : trace.processes)
    if (process.rank) ranks[*process.rank].pids.push_back(process.pid);
  for (const Queue& queue : trace.queues)
    if (queue.process < trace.processes.size() && trace.processes[queue.process].rank)
      add_once(ranks[*trace.processes[queue.process].rank].devices, queue.device);
  std::vector<RankEntry> entries;
  for (auto& [number, entry] : ranks) {
    entry.rank = number;
    entry.source = source;
    entry.host = trace.rank.host;
    entry.clock = RankClock::kMachine;
    entry.capture_end_ns = trace.session_end_ns;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

void tell_ranks(Trace& trace) {
  if (!trace.ranks.empty() || trace.processes.size() < 2) return;
  std::vector<Track> tracks;
  add_tracks(trace, 0, 0, tracks);
  if (tracks.size() > 1) trace.collectives = number_collectives(tracks, {0}, {0});
  const std::vector<std::uint32_t> processes = communicating(trace);
  const bool told = all_told(trace, processes);
  if (!told) number_in_order(processes, trace);
  trace.ranks = entries_by_number(trace, told ? RankSource::kEnvironment : RankSource::kOrder);
  if (trace.ranks.size() > 1) return;
  trace.collectives.clear();
  trace.ranks.clear();
}

Trace one_run(std::vector<RankCapture> captures) { return OneRun(std::move(captures)).join(); }

}  // namespace nl::analysis::ranks
