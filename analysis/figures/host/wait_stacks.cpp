#include "analysis/figures/host/wait_stacks.h"

#include <algorithm>
#include <functional>
#include <map>

namespace nl::analysis {
namespace {

// Of one stage, most samples first.
std::vector<WaitStack> stage_stacks(const Trace& trace, const HostHits& hits, const StageEntry& stage) {
  std::map<std::vector<std::uint32_t>, std::uint64_t> counts;
  for (const std::uint32_t sample : hits.samples) ++counts[trace.host.stacks[trace.host.samples[sample].stack]];
  std::vector<WaitStack> stacks;
  for (const auto& [frames, samples] : counts) stacks.push_back({stage.name, frames, samples});
  std::stable_sort(stacks.begin(), stacks.end(), [](const WaitStack& a, const WaitStack& b) { return a.samples > b.samples; });
  return stacks;
}

// The most frequent ones of all stages stay, in their order.
void keep_frequent_stacks(HostStacks& out) {
  if (out.stacks.size() <= kMaxWaitStacks) return;
  std::vector<std::uint64_t> samples;
  for (const WaitStack& stack : out.stacks) samples.push_back(stack.samples);
  const auto last = samples.begin() + kMaxWaitStacks - 1;
  std::nth_element(samples.begin(), last, samples.end(), std::greater<>());
  const std::uint64_t least = *last;
  auto room = kMaxWaitStacks -
              static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](std::uint64_t each) { return each > least; }));
  std::erase_if(out.stacks, [&](const WaitStack& stack) {
    const bool stays = stack.samples > least || (stack.samples == least && room > 0 && room-- > 0);
    if (!stays) out.unlisted += stack.samples;
    return !stays;
  });
}

// Only frames that stand in a stack, numbered anew.
void list_stack_frames(const Trace& trace, const HostWorks& works, HostStacks& out) {
  std::vector<std::uint32_t> number(trace.host.frames.size(), kNone);
  for (WaitStack& stack : out.stacks)
    for (std::uint32_t& frame : stack.frames) {
      if (number[frame] == kNone) {
        number[frame] = static_cast<std::uint32_t>(out.frames.size());
        out.frames.push_back({trace.host.frames[frame], works.of_frame(frame)});
      }
      frame = number[frame];
    }
}

}  // namespace

HostStacks wait_stacks(const Trace& trace, const HostWorks& works, const std::vector<HostHits>& hits,
                       const std::vector<StageEntry>& stages) {
  HostStacks out;
  out.sampler = trace.host.sampler;
  out.period_ns = trace.host.period_ns;
  out.cost_share = trace.host.cost_share;
  out.samples = trace.host.samples.size();
  out.lost = trace.host.lost;
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (WaitStack& stack : stage_stacks(trace, hits[i], stages[i])) out.stacks.push_back(std::move(stack));
  keep_frequent_stacks(out);
  list_stack_frames(trace, works, out);
  return out;
}

}  // namespace nl::analysis
