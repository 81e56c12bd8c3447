#include "analysis/figures/host/sync_lines.h"

#include <algorithm>
#include <limits>

#include "analysis/account/activity.h"
#include "analysis/account/launch_waits.h"
#include "analysis/figures/host/shared_time.h"
#include "analysis/trace/api_kind.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxSyncLines = 50;

// Whether a thread is inside a call that waits, asked in the order of time.
class WaitsAt {
 public:
  WaitsAt(const CallsByThread& calls, ApiKinds& kinds, std::uint32_t thread)
      : calls_(calls), kinds_(kinds), next_(calls.first(thread)), last_(calls.last(thread)) {}
  bool operator()(Ns time_ns) {
    for (; next_ < last_ && calls_[next_].start_ns <= time_ns; ++next_)
      if (kinds_.of(calls_[next_]).waits) until_ns_ = std::max(until_ns_, calls_[next_].end_ns());
    return time_ns < until_ns_;
  }

 private:
  const CallsByThread& calls_;
  ApiKinds& kinds_;
  std::size_t next_, last_;
  Ns until_ns_ = std::numeric_limits<Ns>::min();
};

}  // namespace

SyncSamples::SyncSamples(const Trace& trace, const std::vector<Window>& windows, const HostWorks& works, std::size_t stages)
    : trace_(trace), frames_(stages) {
  if (trace.host.samples.empty()) return;
  std::vector<OpenStages> threads(trace.threads.size());
  for (const Window& window : windows)
    if (window.thread < threads.size()) threads[window.thread].add(window);
  const CallsByThread calls(trace);
  ApiKinds kinds(trace);
  const auto samples = samples_by_thread(trace);
  for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
    if (samples[thread].empty()) continue;
    threads[thread].sort();
    WaitsAt waits(calls, kinds, thread);
    for (const std::uint32_t sample : samples[thread]) {
      const Ns time_ns = trace.host.samples[sample].time_ns;
      if (!waits(time_ns)) continue;
      const std::uint32_t frame = works.calling_frame(trace.host.stacks[trace.host.samples[sample].stack]);
      for (const std::uint32_t stage : threads[thread].at(time_ns)) ++frames_[stage][frame];
    }
  }
}

std::vector<SyncLine> SyncSamples::lines_of(std::size_t stage, Ns sync_call_ns) const {
  std::uint64_t all = 0;
  std::vector<SyncLine> lines;
  for (const auto& [frame, samples] : frames_[stage]) {
    lines.push_back({trace_.host.frames[frame], samples, {}});
    all += samples;
  }
  std::sort(lines.begin(), lines.end(),
            [](const SyncLine& a, const SyncLine& b) { return a.samples != b.samples ? a.samples > b.samples : a.frame < b.frame; });
  SharedTime time(sync_call_ns, all);
  for (SyncLine& line : lines) line.time_ns = time.next(line.samples);
  if (lines.size() > kMaxSyncLines) lines.resize(kMaxSyncLines);
  return lines;
}

}  // namespace nl::analysis
