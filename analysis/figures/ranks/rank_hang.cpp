#include "analysis/figures/ranks/rank_hang.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "analysis/trace/kernel_class.h"
#include "analysis/trace/range_index.h"

namespace nl::analysis {
namespace {

constexpr Ns kLeastHang = 1'000'000'000;  // what takes less may be a long collective that the end of the capture cut
constexpr Ns kTimesLonger = 10;           // than any collective before
constexpr Ns kEndsApart = 10;             // ends of captures are apart by at most this part of the wait

struct RankState {
  Ns launched_ns = std::numeric_limits<Ns>::min();  // the last collective that ran
  std::optional<Ns> waits_from_ns;                  // it called one that never ran
  Collective kind = Collective::kOther;
  std::set<std::size_t> partners;  // that it has collectives with
};

class HangSearch {
 public:
  HangSearch(const Trace& trace, const SharedCollectives& shared) : trace_(trace), shared_(shared), ranks_(trace.ranks.size()) {}

  std::optional<RankHang> find() {
    if (!find_ends()) return std::nullopt;
    find_last_collectives();
    find_waits();
    const auto first = first_waiting();
    if (!first) return std::nullopt;
    const Ns waited_ns = first_end_ns_ - *ranks_[*first].waits_from_ns;
    if (waited_ns < std::max(kLeastHang, kTimesLonger * longest_ns_) || last_end_ns_ - first_end_ns_ > waited_ns / kEndsApart)
      return std::nullopt;
    RankHang hang{{}, {}, ranks_[*first].kind, *ranks_[*first].waits_from_ns, waited_ns};
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].waits_from_ns) hang.waiting.push_back(trace_.ranks[rank].rank);
      else if (is_waited_for(rank)) hang.absent.push_back(last_of(rank));
    }
    return hang.absent.empty() ? std::nullopt : std::optional(std::move(hang));
  }

 private:
  bool find_ends() {
    for (const RankEntry& rank : trace_.ranks) {
      if (!rank.capture_end_ns) return false;
      first_end_ns_ = std::min(first_end_ns_, *rank.capture_end_ns);
      last_end_ns_ = std::max(last_end_ns_, *rank.capture_end_ns);
    }
    return !trace_.ranks.empty();
  }

  void find_last_collectives() {
    for (const auto& members : shared_.calls())
      for (const std::uint32_t kernel : members) {
        const auto rank = shared_.rank_of(kernel);
        if (!rank) continue;
        const Kernel& ran = trace_.kernels[kernel];
        longest_ns_ = std::max(longest_ns_, static_cast<Ns>(ran.duration_ns));
        const Ns launched_ns = ran.api < trace_.api_calls.size() ? trace_.api_calls[ran.api].start_ns : ran.start_ns;
        ranks_[*rank].launched_ns = std::max(ranks_[*rank].launched_ns, launched_ns);
        for (const std::uint32_t other : members)
          if (const auto partner = shared_.rank_of(other); partner && *partner != *rank) ranks_[*rank].partners.insert(*partner);
      }
  }

  std::optional<std::size_t> rank_of_thread(std::uint32_t thread) const {
    return thread < trace_.threads.size() ? shared_.rank_of_process(trace_.threads[thread].process) : std::nullopt;
  }

  void find_waits() {
    for (const Range& range : trace_.ranges) {
      const auto kind = collective_of_call(trace_.strings[range.name]);
      const auto rank = kind ? rank_of_thread(range.thread) : std::nullopt;
      if (!rank || range.start_ns <= ranks_[*rank].launched_ns) continue;
      RankState& state = ranks_[*rank];
      if (state.waits_from_ns && *state.waits_from_ns <= range.start_ns) continue;
      state.waits_from_ns = range.start_ns;
      state.kind = *kind;
    }
  }

  // Of those that waited the longest, because others wait for one that waits itself.
  std::optional<std::size_t> first_waiting() const {
    std::optional<std::size_t> first;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (ranks_[rank].waits_from_ns && (!first || *ranks_[rank].waits_from_ns < *ranks_[*first].waits_from_ns)) first = rank;
    return first;
  }

  bool is_waited_for(std::size_t rank) const {
    return std::any_of(ranks_[rank].partners.begin(), ranks_[rank].partners.end(),
                       [&](std::size_t partner) { return ranks_[partner].waits_from_ns.has_value(); });
  }

  // The open range that began last, else the one that ended last.
  AbsentRank last_of(std::size_t rank) const {
    AbsentRank absent{trace_.ranks[rank].rank, {}, false, 0};
    for (const Range& range : trace_.ranges) {
      if (is_found_stage(trace_, range) || (absent.in_range && !range.open) || rank_of_thread(range.thread) != rank) continue;
      const Ns at_ns = range.open ? range.start_ns : range.end_ns;
      if (!absent.range.empty() && absent.in_range == range.open && at_ns < absent.since_ns) continue;
      absent = {absent.rank, trace_.strings[range.name], range.open, at_ns};
    }
    return absent;
  }

  const Trace& trace_;
  const SharedCollectives& shared_;
  std::vector<RankState> ranks_;  // by index into Trace::ranks
  Ns first_end_ns_ = std::numeric_limits<Ns>::max(), last_end_ns_ = std::numeric_limits<Ns>::min();
  Ns longest_ns_ = 0;
};

}  // namespace

std::optional<RankHang> rank_hang(const Trace& trace, const SharedCollectives& shared) { return HangSearch(trace, shared).find(); }

}  // namespace nl::analysis
