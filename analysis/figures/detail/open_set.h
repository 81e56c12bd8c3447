#pragma once

#include <cstdint>
#include <queue>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/time.h"
#include "model/trace.h"

namespace nl::analysis {

// What is open while time passes, and which of it began last. Ranges may end in any order, and thousands may be open at once (requests
// of a server): each costs a logarithm, not a look at all others.
class OpenSet {
 public:
  void add(std::uint32_t item, Ns end_ns) {
    by_start_.push_back(item);
    by_end_.emplace(end_ns, item);
  }
  // The one that began last; kNone: nothing is open.
  std::uint32_t innermost() const { return by_start_.empty() ? kNone : by_start_.back(); }
  bool empty() const { return by_end_.empty(); }
  Ns first_end_ns() const { return by_end_.top().first; }
  void close_first() {
    ended_.insert(by_end_.top().second);
    by_end_.pop();
    while (!by_start_.empty() && ended_.erase(by_start_.back()) > 0) by_start_.pop_back();
  }

 private:
  using End = std::pair<Ns, std::uint32_t>;
  std::vector<std::uint32_t> by_start_;  // with some that have ended: they go once they are last
  std::unordered_set<std::uint32_t> ended_;
  std::priority_queue<End, std::vector<End>, std::greater<>> by_end_;
};

}  // namespace nl::analysis
