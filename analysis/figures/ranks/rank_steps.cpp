#include "analysis/figures/ranks/rank_steps.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace nl::analysis {
namespace {

// By difference of the windows' indexes: how many collectives say so.
using Votes = std::map<std::ptrdiff_t, std::uint64_t>;

std::ptrdiff_t most_voted(const Votes& votes) {
  return std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
}

}  // namespace

RankSteps::RankSteps(const StagedTrace& staged, const std::string& stage, const SharedCollectives& shared)
    : trace_(staged.trace), shared_(shared), steps_(shared.calls().size()) {
  find_step_windows(staged, stage);
  number_by_windows();
  known_ = count_ > 0;
  if (known_) return;
  std::fill(spans_.begin(), spans_.end(), Spans());
  number_by_time();
}

void RankSteps::find_step_windows(const StagedTrace& staged, const std::string& stage) {
  windows_.resize(trace_.ranks.size());
  spans_.resize(trace_.ranks.size());
  const std::uint32_t wanted = staged.table.find(stage);
  for (const Window& window : staged.windows) {
    if (window.stage != wanted || wanted == kNone) continue;
    const auto rank = shared_.rank_of_process(window.process);
    if (!rank) continue;
    windows_[*rank].push_back({window.start_ns, window.end_ns, window.warmup});
    if (!window.warmup) spans_[*rank].emplace_back(window.start_ns, window.end_ns);
  }
  for (auto& windows : windows_)
    std::stable_sort(windows.begin(), windows.end(), [](const StepWindow& a, const StepWindow& b) { return a.start_ns < b.start_ns; });
  for (Spans& spans : spans_) spans = union_of(std::move(spans));
}

// The host decides: the GPU may run a collective after the window that launched it.
std::optional<std::size_t> RankSteps::window_of(std::uint32_t kernel, std::size_t rank) const {
  const std::uint32_t api = trace_.kernels[kernel].api;
  const Ns time_ns = api < trace_.api_calls.size() ? trace_.api_calls[api].start_ns : trace_.kernels[kernel].start_ns;
  const auto& windows = windows_[rank];
  const auto after =
      std::upper_bound(windows.begin(), windows.end(), time_ns, [](Ns time, const StepWindow& w) { return time < w.start_ns; });
  if (after == windows.begin() || std::prev(after)->end_ns <= time_ns) return std::nullopt;
  return static_cast<std::size_t>(std::prev(after) - windows.begin());
}

// By rank: what to add to the index of a window, so that windows of one step have one number. Ranks that share no collective, not even by way of
// others, count from their first window.
std::vector<std::ptrdiff_t> RankSteps::shifts() const {
  std::map<std::pair<std::size_t, std::size_t>, Votes> votes;
  for (const auto& members : shared_.calls()) {
    std::optional<std::pair<std::size_t, std::ptrdiff_t>> before;
    for (const std::uint32_t kernel : members) {
      const auto rank = shared_.rank_of(kernel);
      const auto window = rank ? window_of(kernel, *rank) : std::nullopt;
      if (!window) continue;
      const auto index = static_cast<std::ptrdiff_t>(*window);
      if (before && before->first != *rank) {
        ++votes[{before->first, *rank}][before->second - index];
        ++votes[{*rank, before->first}][index - before->second];
      }
      before = {*rank, index};
    }
  }
  std::vector<std::vector<std::pair<std::size_t, std::ptrdiff_t>>> neighbours(windows_.size());
  for (const auto& [pair, counts] : votes) neighbours[pair.first].emplace_back(pair.second, most_voted(counts));
  std::vector<std::optional<std::ptrdiff_t>> shifts(windows_.size());
  for (std::size_t root = 0; root < shifts.size(); ++root) {
    if (shifts[root]) continue;
    shifts[root] = 0;
    for (std::vector<std::size_t> reached = {root}; !reached.empty();) {
      const std::size_t rank = reached.back();
      reached.pop_back();
      for (const auto& [other, shift] : neighbours[rank])
        if (!shifts[other]) {
          shifts[other] = *shifts[rank] + shift;
          reached.push_back(other);
        }
    }
  }
  std::vector<std::ptrdiff_t> all;
  for (const auto& shift : shifts) all.push_back(shift.value_or(0));
  return all;
}

void RankSteps::number_by_windows() {
  const std::vector<std::ptrdiff_t> shift = shifts();
  std::vector<std::optional<std::ptrdiff_t>> keys(steps_.size());
  std::map<std::ptrdiff_t, std::size_t> numbers;
  for (std::size_t call = 0; call < keys.size(); ++call)
    for (const std::uint32_t kernel : shared_.calls()[call]) {
      const auto rank = shared_.rank_of(kernel);
      const auto window = rank ? window_of(kernel, *rank) : std::nullopt;
      if (!window) continue;
      if (!windows_[*rank][*window].warmup) numbers.emplace(*(keys[call] = static_cast<std::ptrdiff_t>(*window) + shift[*rank]), 0);
      break;
    }
  for (auto& [key, number] : numbers) number = count_++;
  for (std::size_t call = 0; call < keys.size(); ++call)
    if (keys[call]) steps_[call] = numbers.at(*keys[call]);
}

void RankSteps::number_by_time() {
  std::vector<std::size_t> order(steps_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t call) { return shared_.calls()[call].empty(); });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return shared_.first_arrival_ns(shared_.calls()[a]) < shared_.first_arrival_ns(shared_.calls()[b]);
  });
  for (const std::size_t call : order) steps_[call] = count_++;
}

}  // namespace nl::analysis
