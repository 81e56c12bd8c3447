#include "analysis/ranks/clocks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/ranks/alignment.h"

namespace nl::analysis::ranks {
namespace {

constexpr std::size_t kMostPartners = 64;  // captures that one is compared with; neighbours in a group are near in number

struct Span {
  std::size_t begin = 0, end = 0;  // of the tracks of a capture
};

std::vector<Span> spans_of(const std::vector<Track>& tracks, std::size_t captures) {
  std::vector<Span> spans(captures);
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    Span& span = spans[tracks[i].capture];
    if (span.end == 0) span.begin = i;
    span.end = i + 1;
  }
  return spans;
}

class Fitter {
 public:
  Fitter(const std::vector<Track>& tracks, std::size_t captures, bool seeded)
      : tracks_(tracks), spans_(spans_of(tracks, captures)), seeded_(seeded), clocks_(captures) {}

  std::vector<CaptureClock> fit() {
    clocks_[0].by = RankClock::kReference;
    fit_groups();
    // Sends and receives only where nothing better is. They may connect captures that then connect others by their groups.
    while (fit_nearest_pair()) fit_groups();
    return std::move(clocks_);
  }

 private:
  // A capture that no fitted one shares a group with may share one with a capture that is fitted after it.
  void fit_groups() {
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t i = 1; i < clocks_.size(); ++i)
        if (clocks_[i].by == RankClock::kNone && fit(i)) more = true;
    }
  }

  // In a pipeline, ranks that send each other nothing are apart by a nearly constant time, too: that of the stages between them. Those that do
  // send are nearest of all.
  bool fit_nearest_pair() {
    std::optional<Alignment> best;
    std::uint32_t best_partner = 0, best_capture = 0;
    for (std::uint32_t capture = 1; capture < clocks_.size(); ++capture) {
      if (clocks_[capture].by != RankClock::kNone) continue;
      for (const std::uint32_t partner : partners(capture)) {
        const auto [known, is_new] = pairs_.try_emplace({partner, capture});
        if (is_new) known->second = best_with(partner, capture, Leaving::kInPairs);
        if (!known->second || (best && best->residual_ns <= known->second->residual_ns)) continue;
        best = known->second;
        best_partner = partner;
        best_capture = capture;
      }
    }
    if (!best || best->residual_ns > kLooseNs) return false;
    place(best_capture, best_partner, *best);
    return true;
  }

  // The first capture, then those next to it.
  std::vector<std::uint32_t> partners(std::uint32_t capture) const {
    std::vector<std::uint32_t> near;
    for (std::uint32_t i = 0; i < clocks_.size(); ++i)
      if (clocks_[i].by != RankClock::kNone) near.push_back(i);
    std::sort(near.begin(), near.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto distance = [&](std::uint32_t i) { return i == 0 ? -1 : std::abs(static_cast<int>(i) - static_cast<int>(capture)); };
      return distance(a) < distance(b);
    });
    if (near.size() > kMostPartners) near.resize(kMostPartners);
    return near;
  }

  std::optional<Alignment> best_with(std::uint32_t partner, std::uint32_t capture, Leaving by) const {
    std::optional<Alignment> best;
    for (std::size_t a = spans_[partner].begin; a < spans_[partner].end; ++a)
      for (std::size_t b = spans_[capture].begin; b < spans_[capture].end; ++b) {
        const auto found = align(tracks_[a], tracks_[b], seeded_, by);
        if (found && (!best || (by == Leaving::kInPairs ? found->residual_ns < best->residual_ns : better(*found, *best)))) best = found;
      }
    return best;
  }

  // Which is surer; where both are sure, which has more to say of the drift.
  static bool better(const Alignment& a, const Alignment& b) {
    const bool a_joint = a.residual_ns <= kLooseNs, b_joint = b.residual_ns <= kLooseNs;
    if (a_joint != b_joint) return a_joint;
    return a_joint ? a.pairs > b.pairs : a.residual_ns < b.residual_ns;
  }

  bool fit(std::uint32_t capture) {
    std::optional<Alignment> best;
    std::uint32_t partner = 0;
    for (const std::uint32_t other : partners(capture)) {
      const auto found = best_with(other, capture, Leaving::kTogether);
      if (!found || (best && !better(*found, *best))) continue;
      best = found;
      partner = other;
      if (best->residual_ns <= kLooseNs) break;
    }
    if (!best || best->residual_ns > kLoosestNs) return false;
    place(capture, partner, *best);
    return true;
  }

  void place(std::uint32_t capture, std::uint32_t partner, const Alignment& best) {
    const CaptureClock& to = clocks_[partner];
    CaptureClock& clock = clocks_[capture];
    clock.by = RankClock::kCollectives;
    clock.line = after(best.clock, to.line);
    clock.fitted_to = partner;
    clock.drift_error = std::hypot(best.drift_error, to.drift_error);
    clock.residual_ns = std::hypot(best.residual_ns, to.residual_ns);
    clock.residual_max_ns = best.residual_max_ns + to.residual_max_ns;
    clock.collectives = best.pairs;
    clock.ambiguous = best.ambiguous;
  }

  const std::vector<Track>& tracks_;
  std::vector<Span> spans_;
  bool seeded_;
  std::vector<CaptureClock> clocks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<Alignment>> pairs_;  // partner, capture: by sends and receives
};

}  // namespace

std::vector<CaptureClock> fit_clocks(const std::vector<Track>& tracks, std::size_t captures, bool seeded) {
  return Fitter(tracks, captures, seeded).fit();
}

}  // namespace nl::analysis::ranks
