#include "orchestrator/config/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <utility>

namespace nl::orchestrator {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

std::string_view last_part(std::string_view path) {
  auto cut = path.find_last_of("./");
  return cut == std::string_view::npos ? path : path.substr(cut + 1);
}

constexpr std::size_t kLongestWord = 256;  // a longer one is no slip of the keyboard, and looking for it takes its length times all names

// Of taking `wanted`, in small letters, for the candidate. The right name in the wrong section, and a name cut short (top_n for
// top_n_kernels), are near too.
std::size_t cost_of(const std::string& wanted, const std::string& candidate) {
  const std::string name = lower(candidate);
  const std::size_t cost = std::min(edit_distance(wanted, name), edit_distance(last_part(wanted), last_part(name)) + 1);
  return wanted.size() >= 3 && name.starts_with(wanted) ? std::min<std::size_t>(cost, 2) : cost;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> cost(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= to.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const bool same = from[i - 1] == to[j - 1];
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[from.size()][to.size()];
}

std::vector<std::string> nearest_names(std::string_view word, const std::vector<std::string>& candidates, std::size_t most) {
  if (word.size() > kLongestWord) return {};
  std::vector<std::pair<std::size_t, std::string>> by_cost;
  for (const std::string& candidate : candidates) {
    const bool part = word.size() >= 3 && lower(candidate).find(lower(word)) != std::string::npos;
    by_cost.emplace_back(part ? std::min<std::size_t>(2, cost_of(lower(word), candidate)) : cost_of(lower(word), candidate), candidate);
  }
  std::stable_sort(by_cost.begin(), by_cost.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (by_cost.size() > most) by_cost.resize(most);
  std::vector<std::string> names;
  for (auto& [cost, name] : by_cost) names.push_back(std::move(name));
  return names;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestWord) return {};
  const std::string wanted = lower(word);
  const std::string_view wanted_last = last_part(wanted);
  std::string best;
  std::size_t best_cost = std::numeric_limits<std::size_t>::max();
  for (const auto& candidate : candidates) {
    const std::size_t cost = cost_of(wanted, candidate);
    if (cost < best_cost) {
      best_cost = cost;
      best = candidate;
    }
  }
  const std::size_t bound = std::max<std::size_t>(2, wanted_last.size() / 2);
  return best_cost <= bound ? best : std::string();
}

std::string nearest_or_all(std::string_view word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return {};
  const std::string near = nearest_name(word, candidates);
  return near.empty() ? fmt::format("one of: {}", fmt::join(candidates, ", ")) : fmt::format("did you mean '{}'?", near);
}

}  // namespace nl::orchestrator
