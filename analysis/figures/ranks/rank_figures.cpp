#include "analysis/figures/ranks/rank_figures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/account/peer_waits.h"
#include "analysis/figures/ranks/lane_times.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

struct RankExcess {
  std::map<std::uint32_t, double> of_kernel, of_range;  // by name: time above that of the others
};

class LatenessSweep {
 public:
  explicit LatenessSweep(const Trace& trace)
      : trace_(trace), lanes_(trace), work_(lane_times(trace, lanes_)), arrivals_(numbered_arrivals(trace)), ranges_(trace) {
    for (std::size_t i = 0; i < trace.ranks.size(); ++i) index_.emplace(trace.ranks[i].rank, i);
    lateness_.resize(trace.ranks.size());
    excess_.resize(trace.ranks.size());
  }

  std::vector<RankEntry> finish() {
    for (const auto& members : calls_by_number()) add(members);
    std::vector<RankEntry> ranks = trace_.ranks;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i].lateness = lateness_[i];
      ranks[i].lateness.slowest_kernel = longest(excess_[i].of_kernel);
      ranks[i].lateness.slowest_range = longest(excess_[i].of_range);
    }
    return ranks;
  }

 private:
  using Members = std::vector<std::uint32_t>;  // kernels

  std::vector<Members> calls_by_number() const {
    std::vector<Members> calls;
    for (const CollectiveCall& call : trace_.collectives) {
      if (call.number >= calls.size()) calls.resize(call.number + 1);
      calls[call.number].push_back(call.kernel);
    }
    return calls;
  }

  std::optional<std::size_t> rank_of(std::uint32_t kernel) const {
    const std::uint32_t process = trace_.queues[static_cast<std::size_t>(trace_.kernels[kernel].queue)].process;
    if (process >= trace_.processes.size() || !trace_.processes[process].rank) return std::nullopt;
    const auto found = index_.find(*trace_.processes[process].rank);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }

  void add(const Members& members) {
    std::optional<std::uint32_t> last;
    for (const std::uint32_t kernel : members) {
      const auto rank = rank_of(kernel);
      if (!rank) continue;
      ++lateness_[*rank].collectives;
      const Arrival& arrival = arrivals_.at(kernel);
      lateness_[*rank].waited_ns += arrival.late_peer_ns;
      if (arrival.last) last = kernel;
    }
    if (last) blame(*last, members);
  }

  void blame(std::uint32_t last, const Members& members) {
    const std::size_t rank = *rank_of(last);
    RankLateness& lateness = lateness_[rank];
    ++lateness.last;
    const Ns late_ns = arrivals_.at(last).behind_ns;
    lateness.late_ns += late_ns;
    const std::optional<Stretch> own = stretch_before(last);
    if (!own) return;
    std::vector<Stretch> others;
    for (const std::uint32_t kernel : members)
      if (const auto stretch = kernel != last ? stretch_before(kernel) : std::nullopt) others.push_back(*stretch);
    if (others.empty()) return;
    double busy = 0, wall = 0;
    for (const Stretch& other : others) {
      busy += static_cast<double>(busy_in(other));
      wall += static_cast<double>(other.end_ns - other.start_ns);
    }
    const auto count = static_cast<double>(others.size());
    const double more_busy = static_cast<double>(busy_in(*own)) - busy / count;
    const double more_wall = static_cast<double>(own->end_ns - own->start_ns) - wall / count;
    const bool computing = 2 * more_busy >= more_wall;
    (computing ? lateness.computing_ns : lateness.host_ns) += late_ns;
    if (computing) compare_kernels(*own, others, excess_[rank]);
    else name_range(last, *own, more_wall - more_busy, excess_[rank]);
  }

  // Between the end of the rank's collective before and the start of this one.
  struct Stretch {
    std::uint32_t lane = 0;
    Ns start_ns = 0, end_ns = 0;
  };
  std::optional<Stretch> stretch_before(std::uint32_t kernel) const {
    const std::uint32_t lane = lanes_.of_queue(trace_.kernels[kernel].queue);
    const Ns end_ns = trace_.kernels[kernel].start_ns;
    const auto start_ns = work_[lane].left_before(end_ns);
    return start_ns && *start_ns < end_ns ? std::optional(Stretch{lane, *start_ns, end_ns}) : std::nullopt;
  }
  Ns busy_in(const Stretch& stretch) const { return work_[stretch.lane].busy_ns(stretch.start_ns, stretch.end_ns); }

  void compare_kernels(const Stretch& own, const std::vector<Stretch>& others, RankExcess& excess) const {
    work_[own.lane].each_kernel(own.start_ns, own.end_ns,
                                [&](std::uint32_t name, Ns time_ns) { excess.of_kernel[name] += static_cast<double>(time_ns); });
    for (const Stretch& other : others)
      work_[other.lane].each_kernel(other.start_ns, other.end_ns, [&](std::uint32_t name, Ns time_ns) {
        excess.of_kernel[name] -= static_cast<double>(time_ns) / static_cast<double>(others.size());
      });
  }

  // What the program did in the middle of the longest time that its GPU had nothing to do.
  void name_range(std::uint32_t last, const Stretch& own, double late_ns, RankExcess& excess) {
    const std::uint32_t api = trace_.kernels[last].api;
    if (api >= trace_.api_calls.size()) return;
    const Ns middle_ns = work_[own.lane].middle_of_longest_gap(own.start_ns, own.end_ns);
    ranges_.enclosing(trace_.api_calls[api].thread, middle_ns, middle_ns, around_);
    while (!around_.empty() && is_found_stage(trace_, trace_.ranges[around_.back()])) around_.pop_back();
    if (!around_.empty()) excess.of_range[trace_.ranges[around_.back()].name.value] += late_ns;
  }

  std::string longest(const std::map<std::uint32_t, double>& times) const {
    const auto found = std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return found != times.end() && found->second > 0 ? trace_.strings[StringId{found->first}] : std::string();
  }

  const Trace& trace_;
  GpuLanes lanes_;
  std::vector<LaneTimes> work_;
  std::unordered_map<std::uint32_t, Arrival> arrivals_;
  RangeIndex ranges_;
  std::map<std::uint32_t, std::size_t> index_;  // rank → entry
  std::vector<RankLateness> lateness_;
  std::vector<RankExcess> excess_;
  std::vector<std::uint32_t> around_;
};

}  // namespace

std::vector<RankEntry> rank_figures(const Trace& trace) {
  if (trace.collectives.empty()) return trace.ranks;
  return LatenessSweep(trace).finish();
}

}  // namespace nl::analysis
