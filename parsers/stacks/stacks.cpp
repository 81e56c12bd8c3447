#include "parsers/stacks/stacks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "parsers/process_files.h"
#include "parsers/registry.h"
#include "parsers/sample_order.h"
#include "parsers/stacks/clock_marks.h"
#include "parsers/stacks/stack_file.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

constexpr std::size_t kMaxNamedProcesses = 5;

class StackJoin {
 public:
  explicit StackJoin(Trace& trace) : trace_(trace), clocks_(take_clock_marks(trace)) {}

  void add(const fs::path& file) {
    StackFile stacks = read_stack_file(file);
    add_damage(trace_.stats.rows_damaged, stacks.damaged, file.filename().string());
    if (stacks.host.samples.empty() && stacks.host.collections.empty()) return;
    const auto clock = clocks_.find(stacks.pid);
    if (clock == clocks_.end()) return strangers_.push_back(fmt::format("process {}", stacks.pid));
    add(stacks, clock->second);
  }

  void finish() {
    note_strangers();
    if (host_.samples.empty() && host_.collections.empty()) return;
    order_samples(host_);
    host_.sampler = HostSampler::kPython;
    trace_.stats.rows_read["host samples"] += host_.samples.size();
    trace_.host = std::move(host_);
  }

 private:
  void add(const StackFile& stacks, const ClockMarks& clock) {
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

  // Of several processes the one that sampling costs the most.
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

}  // namespace

std::vector<fs::path> stack_files(const fs::path& folder) { return process_files(folder, "stacks-", ".txt"); }

void join_stacks(const std::vector<fs::path>& files, Trace& trace) {
  StackJoin join(trace);
  for (const fs::path& file : files) join.add(file);
  join.finish();
}

extern const Format kStacksFormat = {.name = "stacks",
                                     .help = "sampled Python stacks of a run (stacks-<pid>.txt), beside its capture",
                                     .known_as = "sampled stacks (stacks-<pid>.txt)",
                                     .gives = Gives::kHostStacks,
                                     .most_files = kAnyNumber,
                                     .together = true,
                                     .is_own = [](const FileHead& head) { return head.starts_with(kStacksMagic); }};

}  // namespace nl::parsers
