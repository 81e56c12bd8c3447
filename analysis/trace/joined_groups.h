#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace nl::analysis {

// Which members belong together: groups that grow as something ties them to each other. The least member stands for its group.
class JoinedGroups {
 public:
  explicit JoinedGroups(std::size_t count) : parents_(count) { std::iota(parents_.begin(), parents_.end(), std::size_t{0}); }
  std::size_t of(std::size_t member) {
    while (parents_[member] != member) member = parents_[member] = parents_[parents_[member]];
    return member;
  }
  void join(std::size_t a, std::size_t b) { parents_[std::max(of(a), of(b))] = std::min(of(a), of(b)); }

 private:
  std::vector<std::size_t> parents_;
};

}  // namespace nl::analysis
