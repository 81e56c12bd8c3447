#include "analysis/figures/ranks/expert_loads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/trace/kernel_class.h"

namespace nl::analysis {
namespace {

struct NameTimes {
  std::uint64_t calls = 0;
  double time_ns = 0;
};
using ExpertTimes = std::map<std::uint32_t, NameTimes>;  // by name

// A member of a group: a GPU of a rank.
struct ExpertMember {
  std::uint32_t lane = 0;
  std::uint32_t rank = 0;                 // its number
  std::vector<double> rounds = {};        // what its experts compute in each
  ExpertTimes experts = {}, others = {};  // by name, in the rounds and between them
  double speed = 1;                       // how much longer it takes for the same work
  double total_ns() const { return std::accumulate(rounds.begin(), rounds.end(), 0.0); }
};

double mean_over(const std::vector<ExpertMember>& members, auto value) {
  double sum = 0;
  for (const ExpertMember& member : members) sum += value(member);
  return sum / static_cast<double>(members.size());
}

// The ratio that half of the time has at most.
double weighted_median(std::vector<std::pair<double, double>> ratios) {
  std::sort(ratios.begin(), ratios.end());
  double all = 0, below = 0;
  for (const auto& [ratio, weight] : ratios) all += weight;
  for (const auto& [ratio, weight] : ratios)
    if ((below += weight) >= all / 2) return ratio;
  return 1;
}

// By the kernels that all members run equally often: they have the same work. False: there are none.
bool tell_speeds(std::vector<ExpertMember>& members) {
  std::vector<std::vector<std::pair<double, double>>> ratios(members.size());
  for (const auto& [name, first] : members.front().others) {
    const auto as_often = [&, name = name, calls = first.calls](const ExpertMember& member) {
      const auto found = member.others.find(name);
      return found != member.others.end() && found->second.calls == calls;
    };
    if (!std::all_of(members.begin(), members.end(), as_often)) continue;
    const double mean_ns = mean_over(members, [&, name = name](const ExpertMember& member) { return member.others.at(name).time_ns; });
    for (std::size_t i = 0; i < members.size(); ++i) ratios[i].emplace_back(members[i].others.at(name).time_ns / mean_ns, mean_ns);
  }
  if (ratios.front().empty()) return false;
  for (std::size_t i = 0; i < members.size(); ++i) members[i].speed = weighted_median(std::move(ratios[i]));
  return true;
}

// Of each round what the member with the most has, less what the others have at the mean; `as_fast`: were all GPUs equally fast.
double imbalance_of(const std::vector<ExpertMember>& members, bool as_fast) {
  double excess_ns = 0;
  for (std::size_t round = 0; round < members.front().rounds.size(); ++round) {
    double most = 0;
    const auto time_of = [&](const ExpertMember& member) { return member.rounds[round] / (as_fast ? member.speed : 1); };
    for (const ExpertMember& member : members) most = std::max(most, time_of(member));
    excess_ns += most - mean_over(members, time_of);
  }
  return excess_ns;
}

class ExpertGroups {
 public:
  ExpertGroups(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps, const GpuLanes& lanes,
               const std::vector<LaneTimes>& work)
      : trace_(trace), shared_(shared), steps_(steps), lanes_(lanes), work_(work) {
    for (const KernelShape& shape : trace.shapes)
      if (is_expert_product(trace.strings[shape.name])) experts_.insert(shape.name.value);
  }

  std::vector<ExpertLoad> all() const {
    std::vector<ExpertLoad> loads;
    if (experts_.empty()) return loads;
    for (const auto& [queues, calls] : groups())
      if (auto load = load_of(calls)) loads.push_back(std::move(*load));
    std::stable_sort(loads.begin(), loads.end(), [](const ExpertLoad& a, const ExpertLoad& b) {
      return static_cast<double>(a.excess_ns()) * static_cast<double>(a.ranks.size()) >
             static_cast<double>(b.excess_ns()) * static_cast<double>(b.ranks.size());
    });
    return loads;
  }

 private:
  using Calls = std::vector<std::size_t>;  // numbers of collectives, in order

  // The all-to-alls by the queues that they run in: one communicator each.
  std::map<std::vector<std::uint64_t>, Calls> groups() const {
    std::map<std::vector<std::uint64_t>, Calls> found;
    for (std::size_t number = 0; number < shared_.calls().size(); ++number) {
      const auto& members = shared_.calls()[number];
      if (!shared_.is_all_to_all(members)) continue;
      std::vector<std::uint64_t> queues;
      for (const std::uint32_t kernel : members) queues.push_back(trace_.kernels[kernel].queue);
      std::sort(queues.begin(), queues.end());
      found[std::move(queues)].push_back(number);
    }
    return found;
  }

  std::optional<std::vector<ExpertMember>> members_of(std::size_t number) const {
    std::vector<ExpertMember> members;
    std::set<std::uint32_t> once;
    for (const std::uint32_t kernel : shared_.calls()[number]) {
      const auto rank = shared_.rank_of(kernel);
      if (!rank || !once.insert(trace_.ranks[*rank].rank).second) return std::nullopt;
      members.push_back({lanes_.of_queue(trace_.kernels[kernel].queue), trace_.ranks[*rank].rank});
    }
    std::sort(members.begin(), members.end(), [](const ExpertMember& a, const ExpertMember& b) { return a.rank < b.rank; });
    return members;
  }

  Ns start_of(std::size_t number, const ExpertMember& member) const {
    for (const std::uint32_t kernel : shared_.calls()[number])
      if (lanes_.of_queue(trace_.kernels[kernel].queue) == member.lane) return trace_.kernels[kernel].start_ns;
    return 0;
  }

  // What each member computes from one all-to-all to the next is of its experts where they compute on any of them, else it is other work.
  void add_round(std::size_t from, std::size_t to, std::vector<ExpertMember>& members) const {
    std::vector<ExpertTimes> times(members.size());
    bool expert_round = false;
    for (std::size_t i = 0; i < members.size(); ++i)
      work_[members[i].lane].each_kernel(start_of(from, members[i]), start_of(to, members[i]), [&](std::uint32_t name, Ns time_ns) {
        NameTimes& sum = times[i][name];
        ++sum.calls;
        sum.time_ns += static_cast<double>(time_ns);
        expert_round = expert_round || experts_.contains(name);
      });
    for (std::size_t i = 0; i < members.size(); ++i) {
      double time_ns = 0;
      for (const auto& [name, sum] : times[i]) {
        if (expert_round && !experts_.contains(name)) continue;  // their other kernels have as much to do as tokens came
        NameTimes& all = (expert_round ? members[i].experts : members[i].others)[name];
        all.calls += sum.calls;
        all.time_ns += sum.time_ns;
        time_ns += sum.time_ns;
      }
      if (expert_round) members[i].rounds.push_back(time_ns);
    }
  }

  std::optional<ExpertLoad> load_of(const Calls& calls) const {
    auto members = members_of(calls.front());
    if (!members) return std::nullopt;
    for (std::size_t i = 0; i + 1 < calls.size(); ++i)
      if (steps_.of(calls[i])) add_round(calls[i], calls[i + 1], *members);
    if (members->front().rounds.empty() || !tell_speeds(*members)) return std::nullopt;
    return summed(*members);
  }

  ExpertLoad summed(const std::vector<ExpertMember>& members) const {
    const auto busiest = std::max_element(members.begin(), members.end(),
                                          [](const ExpertMember& a, const ExpertMember& b) { return a.total_ns() < b.total_ns(); });
    const double mean_ns = mean_over(members, [](const ExpertMember& member) { return member.total_ns(); });
    // Tokens that are uneven elsewhere look like a fast and a slow GPU; a slow GPU looks like uneven experts: the less of both is sure.
    const double excess_ns = std::min(imbalance_of(members, false), imbalance_of(members, true));
    ExpertLoad load;
    for (const ExpertMember& member : members) load.ranks.push_back(member.rank);
    load.rounds = busiest->rounds.size();
    load.mean_ns = static_cast<Ns>(mean_ns);
    load.most_ns = load.mean_ns + static_cast<Ns>(std::max(0.0, excess_ns));
    load.busiest = busiest->rank;
    load.busiest_ns = static_cast<Ns>(busiest->total_ns());
    for (std::size_t round = 0; round < busiest->rounds.size(); ++round)
      load.busiest_rounds += std::all_of(members.begin(), members.end(),
                                         [&](const ExpertMember& member) { return member.rounds[round] <= busiest->rounds[round]; });
    load.kernel = kernel_of(*busiest, members);
    return load;
  }

  std::string kernel_of(const ExpertMember& busiest, const std::vector<ExpertMember>& members) const {
    double most_ns = 0;
    std::string kernel;
    for (const auto& [name, times] : busiest.experts) {
      const double mean_ns = mean_over(members, [&, name = name](const ExpertMember& member) {
        const auto found = member.experts.find(name);
        return found != member.experts.end() ? found->second.time_ns : 0;
      });
      if (times.time_ns - mean_ns <= most_ns) continue;
      most_ns = times.time_ns - mean_ns;
      kernel = trace_.strings[StringId{name}];
    }
    return kernel;
  }

  const Trace& trace_;
  const SharedCollectives& shared_;
  const RankSteps& steps_;
  const GpuLanes& lanes_;
  const std::vector<LaneTimes>& work_;
  std::unordered_set<std::uint32_t> experts_;  // names of kernels
};

}  // namespace

std::vector<ExpertLoad> expert_loads(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps, const GpuLanes& lanes,
                                     const std::vector<LaneTimes>& work) {
  return ExpertGroups(trace, shared, steps, lanes, work).all();
}

}  // namespace nl::analysis
