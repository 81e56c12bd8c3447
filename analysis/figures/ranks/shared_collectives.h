#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/account/peer_waits.h"
#include "model/trace.h"

namespace nl::analysis {

// The collectives that ranks have together, each with the kernels of its members, and when these came to it.
class SharedCollectives {
 public:
  using Members = std::vector<std::uint32_t>;  // kernels

  explicit SharedCollectives(const Trace& trace);

  const std::vector<Members>& calls() const { return calls_; }  // by CollectiveCall::number
  // nullptr: it is none of them
  const Arrival* arrival(std::uint32_t kernel) const {
    const auto found = arrivals_.find(kernel);
    return found == arrivals_.end() ? nullptr : &found->second;
  }
  // Index into Trace::ranks; nothing: it is of none.
  std::optional<std::size_t> rank_of_process(std::uint32_t process) const;
  std::optional<std::size_t> rank_of(std::uint32_t kernel) const;
  // The member that all others waited for, by more than the clocks may be off; nothing: there is none, or it is of no rank.
  std::optional<std::uint32_t> last_of(const Members& members) const;
  Ns first_arrival_ns(const Members& members) const;
  // How long the kernel was there before the last member came; 0 where it is no shared collective.
  Ns waited_ns(std::uint32_t kernel) const;
  // A send and its receive, as the stages of a pipeline have it.
  bool is_pair(const Members& members) const { return !members.empty() && is_of_pair(members.front()); }
  // Each member gives something to each other one. More than two that send and receive at once do; of two the capture has to say so.
  bool is_all_to_all(const Members& members) const { return !members.empty() && all_to_all_.contains(members.front()); }
  bool is_of_pair(std::uint32_t kernel) const { return of_pairs_.contains(kernel); }

 private:
  const Trace& trace_;
  std::vector<Members> calls_;
  std::unordered_map<std::uint32_t, Arrival> arrivals_;
  std::map<std::uint32_t, std::size_t> index_;    // rank → entry
  std::unordered_set<std::uint32_t> of_pairs_;    // kernels
  std::unordered_set<std::uint32_t> all_to_all_;  // the first kernel of each
};

}  // namespace nl::analysis
