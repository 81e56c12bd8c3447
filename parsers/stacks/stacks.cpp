#include "parsers/stacks/stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "nvtx/names.h"
#include "parsers/input_files.h"
#include "parsers/registry.h"
#include "parsers/stacks/stack_file.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

constexpr std::size_t kMarksAround = 2;  // on either side

// The upper of the two middle ones where their number is even.
Ns middle_of(std::vector<Ns> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

// CLOCK_MONOTONIC of one process as times of the trace. The two clocks drift by some microseconds a second, and a mark may come
// late, never early: each time has the smallest offset of the marks around it.
class ClockMarks {
 public:
  void add(Ns monotonic_ns, Ns trace_ns) { marks_.emplace_back(monotonic_ns, trace_ns - monotonic_ns); }

  void finish() {
    std::sort(marks_.begin(), marks_.end());
    std::vector<Ns> smooth;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const std::size_t first = i > kMarksAround ? i - kMarksAround : 0, last = std::min(marks_.size(), i + kMarksAround + 1);
      Ns least = marks_[i].second;
      for (std::size_t near = first; near < last; ++near) least = std::min(least, marks_[near].second);
      smooth.push_back(least);
    }
    for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i].second = smooth[i];
  }

  Ns first_ns() const { return marks_.front().first; }

  Ns trace_time(Ns monotonic_ns) const {
    auto after = std::lower_bound(marks_.begin(), marks_.end(), std::pair(monotonic_ns, Ns{0}),
                                  [](const auto& a, const auto& b) { return a.first < b.first; });
    if (after == marks_.end()) --after;
    if (after != marks_.begin()) {
      const auto before = after - 1;
      if (monotonic_ns - before->first < after->first - monotonic_ns) after = before;
    }
    return monotonic_ns + after->second;
  }

 private:
  std::vector<std::pair<Ns, Ns>> marks_;  // the clock, and what the trace's is ahead of it
};

// Takes the clock marks of each process out of the trace.
std::map<std::uint32_t, ClockMarks> take_clock_marks(Trace& trace) {
  std::map<std::uint32_t, ClockMarks> processes;
  std::erase_if(trace.marks, [&](const Mark& mark) {
    const auto time_ns = nvtx::parse_clock_mark(trace.strings[mark.domain], trace.strings[mark.name]);
    if (!time_ns) return false;
    const std::uint32_t process = mark.thread < trace.threads.size() ? trace.threads[mark.thread].process : kNone;
    if (process < trace.processes.size()) processes[trace.processes[process].pid].add(*time_ns, mark.time_ns);
    return true;
  });
  for (auto& [pid, marks] : processes) marks.finish();
  return processes;
}

constexpr std::size_t kMaxNamedProcesses = 5;

class StackJoin {
 public:
  explicit StackJoin(Trace& trace) : trace_(trace), clocks_(take_clock_marks(trace)) {}

  void add(const fs::path& file) {
    StackFile stacks = read_stack_file(file);
    add_damage(trace_.stats.rows_damaged, stacks.damaged, file.filename().string());
    if (stacks.host.samples.empty() && stacks.host.collections.empty()) return;
    const auto marked = clocks_.find(stacks.pid);
    if (marked != clocks_.end() && !trace_.monotonic_start_ns) return add(stacks, marked->second);
    const bool traced =
        std::any_of(trace_.processes.begin(), trace_.processes.end(), [&](const Process& each) { return each.pid == stacks.pid; });
    if (!traced && stacks.sampler == HostSampler::kPerf) return;  // it had loaded CUDA, and did not use it
    if (!traced || !trace_.monotonic_start_ns) return strangers_.push_back(fmt::format("process {}", stacks.pid));
    ClockMarks clock;  // the trace has that clock itself
    clock.add(*trace_.monotonic_start_ns, 0);
    add(stacks, clock);
  }

  void finish() {
    note_strangers();
    if (host_.samples.empty() && host_.collections.empty()) return;
    order_samples(host_);
    trace_.stats.rows_read["host samples"] += host_.samples.size();
    trace_.host = std::move(host_);
  }

 private:
  void add(const StackFile& stacks, const ClockMarks& clock) {
    if (host_.sampler != HostSampler::kPython) host_.sampler = stacks.sampler;
    std::vector<std::uint32_t> frames;
    for (const HostFrame& frame : stacks.host.frames) frames.push_back(frame_of(frame));
    const auto first_stack = static_cast<std::uint32_t>(host_.stacks.size());
    for (std::vector<std::uint32_t> stack : stacks.host.stacks) {
      for (std::uint32_t& frame : stack) frame = frames[frame];
      host_.stacks.push_back(std::move(stack));
    }
    for (HostSample sample : stacks.host.samples) {
      sample.time_ns = clock.trace_time(sample.time_ns);
      sample.stack += first_stack;
      host_.samples.push_back(sample);
    }
    for (GarbageCollection garbage : stacks.host.collections) {
      const Ns duration_ns = garbage.end_ns - garbage.start_ns;
      garbage.start_ns = clock.trace_time(garbage.start_ns);
      garbage.end_ns = garbage.start_ns + duration_ns;
      host_.collections.push_back(garbage);
    }
    if (stacks.cost) add(*stacks.cost, std::min(clock.first_ns(), *stacks.first_ns));
  }

  // cost_share is that of the process with the largest overhead of sampling.
  void add(const StackFile::Cost& cost, Ns start_ns) {
    host_.lost += cost.lost;
    if (cost.time_ns <= start_ns) return;
    const double share = static_cast<double>(cost.cost_ns) / static_cast<double>(cost.time_ns - start_ns);
    host_.cost_share = std::max(host_.cost_share.value_or(0), std::clamp(share, 0.0, 1.0));
  }

  // Processes of one program have the same frames.
  std::uint32_t frame_of(const HostFrame& frame) {
    const auto [found, added] = frames_.try_emplace(frame, static_cast<std::uint32_t>(host_.frames.size()));
    if (added) host_.frames.push_back(frame);
    return found->second;
  }

  void note_strangers() {
    if (strangers_.empty()) return;
    const std::size_t more = strangers_.size() > kMaxNamedProcesses ? strangers_.size() - kMaxNamedProcesses : 0;
    strangers_.resize(strangers_.size() - more);
    if (more > 0) strangers_.push_back(fmt::format("{} more", more));
    trace_.stats.notes.push_back({Code::kStacksNotJoined, {fmt::format("{}", fmt::join(strangers_, ", "))}});
  }

  Trace& trace_;
  std::map<std::uint32_t, ClockMarks> clocks_;  // by pid
  std::map<HostFrame, std::uint32_t> frames_;
  HostSamples host_;
  std::vector<std::string> strangers_;
};

Ns median_period(const std::vector<HostSample>& samples) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Ns> latest;
  std::vector<Ns> periods;
  for (const HostSample& sample : samples) {
    const auto [before, first] = latest.try_emplace({sample.pid, sample.tid}, sample.time_ns);
    if (!first) periods.push_back(sample.time_ns - std::exchange(before->second, sample.time_ns));
  }
  return periods.empty() ? 0 : middle_of(std::move(periods));
}

}  // namespace

std::vector<fs::path> stack_files(const fs::path& folder) { return process_files(folder, "stacks-", ".txt"); }

void join_stacks(const std::vector<fs::path>& files, Trace& trace) {
  StackJoin join(trace);
  for (const fs::path& file : files) join.add(file);
  join.finish();
}

extern const Format kStacksFormat = {.name = "stacks",
                                     .help = "sampled stacks of a run (stacks-<pid>.txt), beside its capture",
                                     .known_as = "sampled stacks (stacks-<pid>.txt)",
                                     .gives = Gives::kHostStacks,
                                     .together = true,
                                     .is_own = [](const FileHead& head) { return head.starts_with(kStacksMagic); }};

void order_samples(HostSamples& host) {
  std::stable_sort(host.samples.begin(), host.samples.end(),
                   [](const HostSample& a, const HostSample& b) { return a.time_ns < b.time_ns; });
  std::stable_sort(host.collections.begin(), host.collections.end(),
                   [](const GarbageCollection& a, const GarbageCollection& b) { return a.start_ns < b.start_ns; });
  host.period_ns = median_period(host.samples);
}

}  // namespace nl::parsers
