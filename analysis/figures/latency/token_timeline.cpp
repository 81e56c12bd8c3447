#include "analysis/figures/latency/token_timeline.h"

#include <fmt/core.h>

#include <algorithm>

#include "nvtx/names.h"

namespace nl::analysis {

TokenTimeline::TokenTimeline(const Trace& trace, const TokenCounts& configured) : configured_(configured), changes_(process_slots(trace)) {
  std::vector<const Mark*> marks;
  for (const Mark& mark : trace.marks) marks.push_back(&mark);
  std::stable_sort(marks.begin(), marks.end(), [](const Mark* a, const Mark* b) { return a->time_ns < b->time_ns; });
  for (const Mark* mark : marks) {
    const auto tokens = nvtx::parse_token_mark(trace.strings[mark->domain], trace.strings[mark->name]);
    if (!tokens) continue;
    auto& changes = changes_[process_slot_of_thread(trace, mark->thread)];
    TokenCounts counts = changes.empty() ? configured : changes.back().second;
    take(tokens->batch, counts.batch, configured.batch, "batch");
    take(tokens->prompt, counts.prompt_tokens, configured.prompt_tokens, "prompt tokens");
    take(tokens->decode, counts.decode_tokens, configured.decode_tokens, "decode tokens");
    changes.emplace_back(mark->time_ns, counts);
  }
}

const TokenCounts& TokenTimeline::at(const Window& window) const {
  const auto& changes = changes_[window.process];
  const auto after =
      std::upper_bound(changes.begin(), changes.end(), window.end_ns, [](Ns time, const auto& change) { return time < change.first; });
  return after == changes.begin() ? configured_ : (after - 1)->second;
}

void TokenTimeline::take(const std::optional<std::uint64_t>& marked, std::optional<std::uint64_t>& now,
                         const std::optional<std::uint64_t>& configured, const char* what) {
  if (!marked) return;
  now = marked;
  if (!configured || *configured == *marked || !contradicted_.insert(what).second) return;
  notes_.push_back(
      fmt::format("the workload marks {} {}, the model configuration says {}; the marks are used", what, *marked, *configured));
}

}  // namespace nl::analysis
