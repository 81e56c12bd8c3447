#include "analysis/figures/detail/innermost_stages.h"

#include <algorithm>
#include <limits>

#include "analysis/figures/detail/open_set.h"

namespace nl::analysis {
namespace {

// The windows of one process that are open, and the parts that they leave behind.
class PartsOfProcess {
 public:
  PartsOfProcess(const std::vector<Window>& windows, std::vector<InnermostStages::Part>& parts) : windows_(windows), parts_(parts) {}

  void add(std::uint32_t window) {
    advance(windows_[window].start_ns);
    open_.add(window, windows_[window].end_ns);
  }
  // Up to the time: what is open changes only where a window ends.
  void advance(Ns time_ns) {
    while (!open_.empty() && at_ns_ < time_ns) {
      const Ns until_ns = std::min(time_ns, open_.first_end_ns());
      put(open_.innermost(), until_ns);
      at_ns_ = std::max(at_ns_, until_ns);
      while (!open_.empty() && open_.first_end_ns() <= at_ns_) open_.close_first();
    }
    at_ns_ = std::max(at_ns_, time_ns);
  }

 private:
  void put(std::uint32_t window, Ns until_ns) {
    if (until_ns <= at_ns_) return;
    if (!parts_.empty() && parts_.back().window == window && parts_.back().end_ns == at_ns_) parts_.back().end_ns = until_ns;
    else parts_.push_back({at_ns_, until_ns, window});
  }

  const std::vector<Window>& windows_;
  std::vector<InnermostStages::Part>& parts_;
  OpenSet open_;
  Ns at_ns_ = std::numeric_limits<Ns>::min();
};

}  // namespace

InnermostStages::InnermostStages(std::uint32_t processes, const std::vector<Window>& windows) : parts_(processes), own_(windows.size()) {
  std::vector<PartsOfProcess> makers;
  makers.reserve(processes);
  for (auto& parts : parts_) makers.emplace_back(windows, parts);
  for (std::uint32_t i = 0; i < windows.size(); ++i) makers[windows[i].process].add(i);
  for (PartsOfProcess& maker : makers) maker.advance(std::numeric_limits<Ns>::max());
  for (const Parts& parts : parts_)
    for (const Part& part : parts) own_[part.window].push_back(part);
}

std::size_t InnermostStages::first_after(const Parts& parts, Ns time_ns) {
  return static_cast<std::size_t>(
      std::upper_bound(parts.begin(), parts.end(), time_ns, [](Ns time, const Part& part) { return time < part.end_ns; }) - parts.begin());
}

}  // namespace nl::analysis
