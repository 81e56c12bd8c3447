#include "analysis/figures/ranks/rank_figures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/figures/ranks/collective_rates.h"
#include "analysis/figures/ranks/expert_loads.h"
#include "analysis/figures/ranks/lane_times.h"
#include "analysis/figures/ranks/lateness_matrix.h"
#include "analysis/figures/ranks/rank_budgets.h"
#include "analysis/figures/ranks/rank_hang.h"
#include "analysis/figures/ranks/rank_steps.h"
#include "analysis/figures/ranks/shared_collectives.h"
#include "analysis/trace/gpu_lanes.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

struct RankExcess {
  std::map<std::uint32_t, double> of_kernel, of_range;  // by name: time above that of the others
};

// How late one rank came to some of the collectives.
struct LatenessSum {
  RankLateness lateness;
  RankExcess excess;
};

class LatenessSweep {
 public:
  LatenessSweep(const Trace& trace, const SharedCollectives& shared, const GpuLanes& lanes, const std::vector<LaneTimes>& work)
      : trace_(trace), shared_(shared), lanes_(lanes), work_(work), ranges_(trace) {}

  // Of the collectives of those numbers, by index into Trace::ranks.
  template <class Counts>
  std::vector<RankLateness> of(Counts counts) {
    sums_.assign(trace_.ranks.size(), {});
    for (std::size_t number = 0; number < shared_.calls().size(); ++number)
      if (counts(number)) add(shared_.calls()[number]);
    std::vector<RankLateness> all;
    for (LatenessSum& sum : sums_) {
      sum.lateness.slowest_kernel = longest(sum.excess.of_kernel);
      sum.lateness.slowest_range = longest(sum.excess.of_range);
      all.push_back(std::move(sum.lateness));
    }
    return all;
  }

 private:
  using Members = SharedCollectives::Members;

  void add(const Members& members) {
    for (const std::uint32_t kernel : members)
      if (const auto rank = shared_.rank_of(kernel)) {
        ++sums_[*rank].lateness.collectives;
        sums_[*rank].lateness.waited_ns += shared_.arrival(kernel)->late_peer_ns;
      }
    if (const auto last = shared_.last_of(members)) blame(*last, members);
  }

  void blame(std::uint32_t last, const Members& members) {
    auto& [lateness, excess] = sums_[*shared_.rank_of(last)];
    ++lateness.last;
    const Ns late_ns = shared_.arrival(last)->behind_ns;
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
    if (computing) compare_kernels(*own, others, excess);
    else name_range(last, *own, more_wall - more_busy, excess);
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
  const SharedCollectives& shared_;
  const GpuLanes& lanes_;
  const std::vector<LaneTimes>& work_;
  RangeIndex ranges_;
  std::vector<LatenessSum> sums_;
  std::vector<std::uint32_t> around_;
};

}  // namespace

RankFigures rank_figures(const StagedTrace& staged, const std::string& stage) {
  const Trace& trace = staged.trace;
  if (trace.collectives.empty()) return {.ranks = trace.ranks, .matrix = {}, .rates = {}, .pairs = {}, .experts = {}, .hang = {}};
  const SharedCollectives shared(trace);
  const RankSteps steps(staged, stage, shared);
  const std::vector<RankBudget> budgets = rank_budgets(trace, shared, steps.windows());
  LatenessOfSteps late = lateness_of_steps(trace, shared, steps, stage);
  const GpuLanes lanes(trace);
  const std::vector<LaneTimes> work = lane_times(trace, lanes);
  LatenessSweep sweep(trace, shared, lanes, work);
  const std::vector<RankLateness> whole = sweep.of([](std::size_t) { return true; });
  std::vector<RankLateness> in_steps;
  if (steps.known()) in_steps = sweep.of([&](std::size_t number) { return steps.of(number).has_value(); });
  RankFigures out{trace.ranks,
                  std::move(late.matrix),
                  collective_rates(trace, shared),
                  rank_pairs(trace, shared),
                  expert_loads(trace, shared, steps, lanes, work),
                  rank_hang(trace, shared)};
  for (std::size_t i = 0; i < out.ranks.size(); ++i) {
    RankEntry& rank = out.ranks[i];
    rank.lateness = whole[i];
    if (steps.known()) rank.step_lateness = in_steps[i];
    for (RankLateness* lateness : {&rank.lateness, rank.step_lateness ? &*rank.step_lateness : nullptr})
      if (lateness != nullptr) lateness->steps_latest = late.latest[i], lateness->worst_step_ns = late.worst_ns[i];
    rank.budget = budgets[i];
  }
  return out;
}

}  // namespace nl::analysis
