#include "parsers/stacks/clock_marks.h"

#include <algorithm>

#include "nvtx/names.h"

namespace nl::parsers {
namespace {

constexpr std::size_t kMarksAround = 2;  // on either side

Ns middle_offset(std::vector<Ns> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

}  // namespace

void ClockMarks::finish() {
  std::sort(marks_.begin(), marks_.end());
  std::vector<Ns> smooth;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const std::size_t first = i > kMarksAround ? i - kMarksAround : 0, last = std::min(marks_.size(), i + kMarksAround + 1);
    std::vector<Ns> offsets;
    for (std::size_t near = first; near < last; ++near) offsets.push_back(marks_[near].second);
    smooth.push_back(middle_offset(std::move(offsets)));
  }
  for (std::size_t i = 0; i < marks_.size(); ++i) marks_[i].second = smooth[i];
}

Ns ClockMarks::trace_time(Ns monotonic_ns) const {
  auto after = std::lower_bound(marks_.begin(), marks_.end(), std::pair(monotonic_ns, Ns{0}),
                                [](const auto& a, const auto& b) { return a.first < b.first; });
  if (after == marks_.end()) --after;
  if (after != marks_.begin()) {
    const auto before = after - 1;
    if (monotonic_ns - before->first < after->first - monotonic_ns) after = before;
  }
  return monotonic_ns + after->second;
}

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

}  // namespace nl::parsers
