#include "analysis/figures/nodes/node_map.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/trace/joined_groups.h"
#include "model/operator.h"

namespace nl::analysis {
namespace {

using Names = std::vector<std::string_view>;

// The nodes of the model file that a record stands for; its own name is one where nothing says what it holds.
Names names_of(const OperatorCall& call) {
  Names names(call.holds.begin(), call.holds.end());
  if (names.empty() && !call.node.empty()) names.push_back(call.node);
  return names;
}

// What the two sides have in common when neither names nor fusions say it.
std::string type_of(const OperatorCall& call) { return std::to_string(static_cast<int>(call.type)); }
std::string kind_of(const OperatorCall& call) { return type_of(call) + " " + call.shapes; }
std::string kind_by_input(const OperatorCall& call) { return type_of(call) + " " + call.shapes.substr(0, call.shapes.find(']')); }

// One side. What an operator calls is part of it (aten::addmm inside aten::linear); the bodies of control flow are nodes like others.
struct Side {
  explicit Side(const OperatorStep& of) : step(of), times_ns(own_times(of)), free(of.calls.size(), true) {
    std::size_t outer = 0;
    for (std::size_t i = 0; i < step.calls.size(); ++i) {
      const bool inside = step.calls[i].depth > step.calls[outer].depth && i > 0;
      if (!inside || step.calls[outer].type == OperatorType::kControlFlow) {
        outer = i;
        continue;
      }
      times_ns[outer] += std::exchange(times_ns[i], 0);
      free[i] = false;
    }
  }
  const OperatorStep& step;
  std::vector<Ns> times_ns;
  std::vector<bool> free;  // to be paired yet
};

class Mapper {
 public:
  Mapper(const OperatorStep& left, const OperatorStep& right) : left_(left), right_(right) {}

  NodeMap map() {
    pair_by_name();
    pair_by_held_names();
    const auto has_shapes = [](const OperatorCall& call) { return !call.shapes.empty(); };
    const Place end{left_.step.calls.size(), right_.step.calls.size()};
    pair_by_kind({}, end, kind_of, NodeMatch::kShapes, has_shapes);
    pair_by_kind({}, end, kind_by_input, NodeMatch::kInput, has_shapes);
    pair_between_neighbours();
    return finished();
  }

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // a call on the left and one on the right

  void add(std::vector<std::size_t> left, std::vector<std::size_t> right, NodeMatch match) {
    NodePair pair{std::move(left), std::move(right), match, 0, 0};
    for (const std::size_t i : pair.left) left_.free[i] = false, pair.left_ns += left_.times_ns[i];
    for (const std::size_t i : pair.right) right_.free[i] = false, pair.right_ns += right_.times_ns[i];
    map_.pairs.push_back(std::move(pair));
  }

  // One name, once on each side, and neither side says that more was fused into it.
  void pair_by_name() {
    std::unordered_map<std::string_view, std::vector<std::size_t>> rights;
    std::unordered_map<std::string_view, std::size_t> lefts;
    for (std::size_t i = 0; i < right_.step.calls.size(); ++i)
      if (right_.free[i] && !right_.step.calls[i].node.empty()) rights[right_.step.calls[i].node].push_back(i);
    for (std::size_t i = 0; i < left_.step.calls.size(); ++i) lefts[left_.step.calls[i].node] += left_.free[i];
    for (std::size_t i = 0; i < left_.step.calls.size(); ++i) {
      const OperatorCall& call = left_.step.calls[i];
      const auto found = rights.find(call.node);
      if (!left_.free[i] || found == rights.end() || found->second.size() != 1 || lefts[call.node] != 1) continue;
      if (names_of(call) == names_of(right_.step.calls[found->second[0]])) add({i}, {found->second[0]}, NodeMatch::kName);
    }
  }

  // "/a" and "/b" here, a layer that holds both there: all that share names belong together.
  void pair_by_held_names() {
    const std::size_t lefts = left_.step.calls.size();
    JoinedGroups groups(lefts + right_.step.calls.size());
    std::unordered_map<std::string_view, std::size_t> first;
    const auto tie = [&](const Side& side, std::size_t offset) {
      for (std::size_t i = 0; i < side.step.calls.size(); ++i) {
        if (!side.free[i]) continue;
        for (const std::string_view name : names_of(side.step.calls[i]))
          if (const auto [known, added] = first.try_emplace(name, i + offset); !added) groups.join(known->second, i + offset);
      }
    };
    tie(left_, 0);
    tie(right_, lefts);
    std::map<std::size_t, NodePair> tied;
    for (std::size_t i = 0; i < lefts; ++i)
      if (left_.free[i]) tied[groups.of(i)].left.push_back(i);
    for (std::size_t i = 0; i < right_.step.calls.size(); ++i)
      if (right_.free[i]) tied[groups.of(i + lefts)].right.push_back(i);
    for (auto& [group, pair] : tied)
      if (!pair.left.empty() && !pair.right.empty()) add(std::move(pair.left), std::move(pair.right), NodeMatch::kHolds);
  }

  // Of the calls from one place up to another. A kind that is there equally often on both sides: the first with the first, and so on.
  // Otherwise nothing says which is which.
  template <class Kind, class Counts>
  void pair_by_kind(Place from, Place end, Kind kind, NodeMatch match, Counts counts) {
    std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> kinds;
    for (std::size_t i = from.first; i < end.first; ++i)
      if (left_.free[i] && counts(left_.step.calls[i])) kinds[kind(left_.step.calls[i])].first.push_back(i);
    for (std::size_t i = from.second; i < end.second; ++i)
      if (right_.free[i] && counts(right_.step.calls[i])) kinds[kind(right_.step.calls[i])].second.push_back(i);
    for (const auto& [name, both] : kinds) {
      if (both.first.size() != both.second.size()) continue;
      for (std::size_t i = 0; i < both.first.size(); ++i) add({both.first[i]}, {both.second[i]}, match);
    }
  }

  // Between two pairs that follow each other on both sides: what is left there, by type, in order.
  void pair_between_neighbours() {
    std::vector<Place> fixed = {{0, 0}};  // behind them the next stretch begins
    std::vector<Place> known;
    for (const NodePair& pair : map_.pairs) known.emplace_back(pair.left.back() + 1, pair.right.back() + 1);
    std::sort(known.begin(), known.end());
    for (const auto& each : known)
      if (each.second > fixed.back().second) fixed.push_back(each);
    fixed.emplace_back(left_.step.calls.size() + 1, right_.step.calls.size() + 1);
    const auto counts = [](const OperatorCall& call) { return call.type != OperatorType::kOther && call.type != OperatorType::kFused; };
    for (std::size_t i = 0; i + 1 < fixed.size(); ++i)
      pair_by_kind(fixed[i], {fixed[i + 1].first - 1, fixed[i + 1].second - 1}, type_of, NodeMatch::kOrder, counts);
  }

  NodeMap finished() {
    std::sort(map_.pairs.begin(), map_.pairs.end(), [](const NodePair& a, const NodePair& b) { return a.left < b.left; });
    Ns left_ns = 0, right_ns = 0;
    for (const NodePair& pair : map_.pairs) left_ns += pair.left_ns, right_ns += pair.right_ns;
    for (std::size_t i = 0; i < left_.free.size(); ++i)
      if (left_.free[i]) map_.only_left.push_back(i);
    for (std::size_t i = 0; i < right_.free.size(); ++i)
      if (right_.free[i]) map_.only_right.push_back(i);
    const auto share = [](Ns part, Ns whole) { return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0; };
    map_.left_share = share(left_ns, nl::sum_of(left_.times_ns));
    map_.right_share = share(right_ns, nl::sum_of(right_.times_ns));
    map_.left_times = std::move(left_.times_ns);
    map_.right_times = std::move(right_.times_ns);
    return std::move(map_);
  }

  Side left_, right_;
  NodeMap map_;
};

}  // namespace

NodeMap map_nodes(const OperatorStep& left, const OperatorStep& right) { return Mapper(left, right).map(); }

}  // namespace nl::analysis
