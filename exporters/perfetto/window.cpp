#include <algorithm>

#include "exporters/perfetto/parts.h"

namespace nl::exporters::perfetto {
namespace {

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

}  // namespace

Window choose_window(const Trace& trace, const PerfettoOptions& options) {
  Window all{0, trace.duration_ns, false};
  for (const auto& kernel : trace.kernels) all.end_ns = std::max(all.end_ns, kernel.end_ns());
  const std::uint64_t events = trace.kernels.size() + trace.mem_ops.size() + trace.graph_runs.size() + trace.api_calls.size() +
                               trace.ranges.size() + trace.marks.size();
  if (options.max_events == 0 || events <= options.max_events) return all;
  Histogram histogram(all.start_ns, all.end_ns);
  each_start(trace, [&](Ns start_ns) { histogram.add(start_ns); });
  const std::size_t first = histogram.at(options.focus_start_ns);
  return histogram.grown(first, std::max(first, histogram.at(options.focus_end_ns)), options.max_events);
}

}  // namespace nl::exporters::perfetto
