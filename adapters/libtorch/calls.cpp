#include "adapters/libtorch/calls.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace nl::adapters {
namespace {

class NodeFinder {
 public:
  NodeFinder(const std::vector<RecordedCall>& calls, const std::vector<SessionNode>& looks)
      : calls_(calls), looks_(looks), nodes_(calls.size()) {}

  // Calls of one iteration, in order.
  void read(std::size_t begin, std::size_t end) {
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> seen;  // how many of a type below a node
    for (std::size_t at = begin; at < end; ++at) {
      const RecordedCall& call = calls_[at];
      const std::uint32_t parent = call.parent == RecordedCall::kNone ? RecordedCall::kNone : nodes_[call.parent];
      const std::string& type = looks_[call.look].type;
      nodes_[at] = node_of({parent, type, seen[{parent, type}]++}, call);
    }
  }

  Executions executions() && {
    for (std::size_t at = 0; at < calls_.size(); ++at)
      out_.runs.push_back({calls_[at].iteration, nodes_[at], calls_[at].start_ns, calls_[at].end_ns - calls_[at].start_ns, std::nullopt});
    return std::move(out_);
  }

 private:
  using Place = std::tuple<std::uint32_t, std::string, std::uint32_t>;  // node that called it, type, which of them

  std::uint32_t node_of(const Place& place, const RecordedCall& call) {
    const auto [found, is_new] = by_place_.try_emplace(place, static_cast<std::uint32_t>(out_.nodes.size()));
    if (!is_new) return found->second;
    SessionNode node = looks_[call.look];
    const std::string name = node.name.empty() ? node.type : node.name + "/" + node.type;
    node.name = fmt::format("{} {}", name, ++of_name_[name]);
    node.depth = std::get<0>(place) == RecordedCall::kNone ? 0 : out_.nodes[std::get<0>(place)].depth + 1;
    out_.nodes.push_back(std::move(node));
    return found->second;
  }

  const std::vector<RecordedCall>& calls_;
  const std::vector<SessionNode>& looks_;
  std::vector<std::uint32_t> nodes_;  // of each call
  std::map<Place, std::uint32_t> by_place_;
  std::map<std::string, std::uint32_t> of_name_;
  Executions out_;
};

}  // namespace

Executions executions_of(const std::vector<RecordedCall>& calls, const std::vector<SessionNode>& looks) {
  NodeFinder finder(calls, looks);
  for (std::size_t end = calls.size(); end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && calls[begin - 1].iteration == calls[end - 1].iteration) --begin;
    finder.read(begin, end);
    end = begin;
  }
  return std::move(finder).executions();
}

}  // namespace nl::adapters
