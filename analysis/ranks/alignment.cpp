#include "analysis/ranks/alignment.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "analysis/statistics/bootstrap.h"
#include "analysis/statistics/robust_line.h"

namespace nl::analysis::ranks {
namespace {

constexpr std::size_t kFewestPairs = 8;
constexpr std::size_t kTriedPairs = 64;   // that one of many shifts is judged by
constexpr Ns kSeedError = 5'000'000'000;  // clocks of the day are nearer than this
constexpr std::size_t kMostShifts = 50'000;
constexpr double kJointNs = 50'000;  // members of a collective leave it within this: 1 sigma
constexpr double kAsGood = 1.5;
constexpr double kMostDrift = 1e-3;  // oscillators of computers differ by 0.2 thousandths at the most

struct Overlap {
  std::size_t first = 0, count = 0;  // of the first track
};

Overlap overlap_of(const Track& first, const Track& second, std::ptrdiff_t shift) {
  const auto from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, -shift));
  const auto to =
      std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(first.events.size()), static_cast<std::ptrdiff_t>(second.events.size()) - shift);
  return {from, to > static_cast<std::ptrdiff_t>(from) ? static_cast<std::size_t>(to) - from : 0};
}

const CollectiveEvent& partner(const Track& second, std::size_t event, std::ptrdiff_t shift) {
  return second.events[static_cast<std::size_t>(static_cast<std::ptrdiff_t>(event) + shift)];
}

bool same_collectives(const Track& first, const Track& second, std::ptrdiff_t shift, Overlap overlap) {
  for (std::size_t i = overlap.first; i < overlap.first + overlap.count; ++i)
    if (first.events[i].what != partner(second, i, shift).what) return false;
  return true;
}

// The ends of one collective by two clocks.
struct EndPair {
  double second_ns = 0;   // by the second clock
  double apart_ns = 0;    // how much later the second clock is
  double arrived_ns = 0;  // how much later the second one's start is by its clock
};

std::vector<EndPair> ends_of(const Track& first, const Track& second, std::ptrdiff_t shift, Leaving by, std::size_t most) {
  const Overlap overlap = overlap_of(first, second, shift);
  const std::size_t stride = most == 0 ? 1 : std::max<std::size_t>(1, overlap.count / most);
  std::vector<EndPair> ends;
  if (overlap.count == 0) return ends;
  const Ns from_ns = partner(second, overlap.first, shift).end_ns;
  for (std::size_t i = overlap.first; i < overlap.first + overlap.count; i += stride) {
    const CollectiveEvent &a = first.events[i], &b = partner(second, i, shift);
    if (a.leaving > by) continue;
    ends.push_back(
        {static_cast<double>(b.end_ns - from_ns), static_cast<double>(b.end_ns - a.end_ns), static_cast<double>(b.start_ns - a.start_ns)});
  }
  return ends;
}

struct Middle {
  double median = 0, error = 0;  // 1 sigma, as values scatter that are normal
};

Middle middle_of(std::vector<double> values) {
  constexpr double kMedianToMean = 1.2533;  // a median is so much less certain than a mean
  const double median = median_of(values);
  for (double& value : values) value -= median;
  const auto count = static_cast<double>(values.size());
  return {median, kMedianToMean * robust_sigma(std::move(values)) / std::sqrt(count)};
}

// The member that arrives last leaves a little earlier or later than the one that waited, so that the ends are apart by one distance where the one
// is last and by another where the other is: half of the difference. 0: one of them is hardly ever last.
double effect_of_arrival(const std::vector<EndPair>& ends, const RobustLine& line) {
  constexpr double kAtOnce = 2'000;  // arrivals that are nearer to each other say nothing
  constexpr std::size_t kFewest = 4;
  constexpr double kErrors = 4;
  std::vector<double> first_last, second_last;
  for (const EndPair& end : ends) {
    const double clock_ns = line(end.second_ns), later_ns = end.arrived_ns - clock_ns;
    if (std::abs(later_ns) > kAtOnce) (later_ns > 0 ? second_last : first_last).push_back(end.apart_ns - clock_ns);
  }
  if (first_last.size() < kFewest || second_last.size() < kFewest) return 0;
  const Middle first_middle = middle_of(std::move(first_last)), second_middle = middle_of(std::move(second_last));
  const double apart = second_middle.median - first_middle.median;
  const bool chance = std::abs(apart) < kErrors * std::hypot(first_middle.error, second_middle.error);
  return chance ? 0 : apart / 2;
}

RobustLine line_through(const std::vector<EndPair>& ends, const RobustLine* before, double effect_ns) {
  std::vector<std::pair<double, double>> points;
  for (const EndPair& end : ends) {
    const double later_ns = before != nullptr ? end.arrived_ns - (*before)(end.second_ns) : 0;
    points.emplace_back(end.second_ns, end.apart_ns - (later_ns > 0 ? effect_ns : later_ns < 0 ? -effect_ns : 0));
  }
  return robust_line(points);
}

RobustLine clock_line(const std::vector<EndPair>& ends) {
  RobustLine line = line_through(ends, nullptr, 0);
  for (int round = 0; round < 3; ++round) {
    const double effect_ns = effect_of_arrival(ends, line);
    if (effect_ns == 0) break;
    line = line_through(ends, &line, effect_ns);
  }
  return line;
}

// False: what looks like a drift is another pace of other collectives.
bool is_clock(const RobustLine& line) { return std::abs(line.slope) - 4 * line.slope_error <= kMostDrift; }

struct Candidate {
  std::ptrdiff_t shift = 0;
  double residual = 0, offset = 0;
};

std::optional<Candidate> try_shift(const Track& first, const Track& second, std::ptrdiff_t shift, Leaving by) {
  const Overlap overlap = overlap_of(first, second, shift);
  if (overlap.count < kFewestPairs || overlap.count * 2 < std::min(first.events.size(), second.events.size())) return std::nullopt;
  if (!same_collectives(first, second, shift, overlap)) return std::nullopt;
  const auto ends = ends_of(first, second, shift, by, kTriedPairs);
  if (ends.size() < kFewestPairs) return std::nullopt;
  const RobustLine line = line_through(ends, nullptr, 0);
  if (!is_clock(line)) return std::nullopt;
  return Candidate{shift, line.residual, line.at_first};
}

// The shifts that the clocks allow, least offset first; all of them where the clocks say nothing.
std::vector<std::ptrdiff_t> shifts_to_try(const Track& first, const Track& second, bool seeded) {
  std::vector<std::ptrdiff_t> shifts;
  const auto fewest = static_cast<std::ptrdiff_t>(kFewestPairs);
  const auto firsts = static_cast<std::ptrdiff_t>(first.events.size()), seconds = static_cast<std::ptrdiff_t>(second.events.size());
  for (std::ptrdiff_t shift = fewest - firsts; shift <= seconds - fewest; ++shift) {
    const Overlap overlap = overlap_of(first, second, shift);
    const Ns apart = partner(second, overlap.first, shift).end_ns - first.events[overlap.first].end_ns;
    if (!seeded || std::llabs(apart) <= kSeedError) shifts.push_back(shift);
  }
  if (shifts.size() > kMostShifts) shifts.clear();
  return shifts;
}

// `others`: at least one. Of those that fit as well as the best, the one with the least offset where that is known to be small.
std::pair<Candidate, bool> choose(const std::vector<Candidate>& candidates, bool seeded) {
  const auto better = [](const Candidate& a, const Candidate& b) { return a.residual < b.residual; };
  const Candidate best = *std::min_element(candidates.begin(), candidates.end(), better);
  Candidate chosen = best;
  bool ambiguous = false;
  for (const Candidate& candidate : candidates) {
    if (candidate.shift == best.shift || candidate.residual > kAsGood * best.residual + 1000) continue;
    ambiguous = true;
    if (seeded && std::abs(candidate.offset) < std::abs(chosen.offset)) chosen = candidate;
  }
  return {chosen, ambiguous};
}

std::optional<Alignment> fitted(const Track& first, const Track& second, std::ptrdiff_t shift, Leaving by, bool ambiguous) {
  const auto ends = ends_of(first, second, shift, by, 0);
  const RobustLine line = clock_line(ends);
  if (!is_clock(line)) return std::nullopt;
  const Ns from_ns = partner(second, overlap_of(first, second, shift).first, shift).end_ns;
  Alignment alignment{shift, ends.size(), {}, line.slope_error, line.residual, line.residual_max, ambiguous};
  alignment.clock = {from_ns + static_cast<Ns>(line.first_x), static_cast<Ns>(std::llround(line.at_first)), line.slope};
  return alignment;
}

}  // namespace

std::optional<Alignment> align(const Track& first, const Track& second, bool seeded, Leaving by) {
  // Captures of whole programs have all of them.
  if (first.events.size() == second.events.size())
    if (const auto whole = try_shift(first, second, 0, by); whole && whole->residual <= kJointNs)
      return fitted(first, second, 0, by, false);
  std::vector<Candidate> candidates;
  for (const std::ptrdiff_t shift : shifts_to_try(first, second, seeded))
    if (const auto candidate = try_shift(first, second, shift, by)) candidates.push_back(*candidate);
  if (candidates.empty()) return std::nullopt;
  const auto [chosen, ambiguous] = choose(candidates, seeded);
  return fitted(first, second, chosen.shift, by, ambiguous);
}

std::optional<Match> match(const Track& first, const Track& second, Ns tolerance_ns) {
  const auto& events = first.events;
  const CollectiveEvent& begin = second.events.front();
  const auto near = std::lower_bound(events.begin(), events.end(), begin.end_ns,
                                     [](const CollectiveEvent& event, Ns time_ns) { return event.end_ns < time_ns; });
  const std::ptrdiff_t index = near - events.begin();
  std::optional<Match> best;
  for (std::ptrdiff_t shift = -index - 1; shift <= 1 - index; ++shift) {
    const Overlap overlap = overlap_of(first, second, shift);
    if (overlap.count == 0 || overlap.count * 2 < std::min(events.size(), second.events.size())) continue;
    if (!same_collectives(first, second, shift, overlap)) continue;
    std::vector<Ns> apart;
    std::size_t together = 0;
    for (std::size_t i = overlap.first; i < overlap.first + overlap.count; ++i) {
      const CollectiveEvent &a = events[i], &b = partner(second, i, shift);
      apart.push_back(std::llabs(a.end_ns - b.end_ns));
      together += std::max(a.start_ns, b.start_ns) <= std::min(a.end_ns, b.end_ns) + tolerance_ns ? 1 : 0;
    }
    std::nth_element(apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2), apart.end());
    const Ns median = apart[apart.size() / 2];
    const bool joint = together * 50 >= overlap.count * 49;  // a member that was late to leave does not count
    const bool near_enough = median <= tolerance_ns || first.events[overlap.first].leaving == Leaving::kApart;
    if (joint && near_enough && (!best || median < best->apart_ns)) best = Match{shift, median};
  }
  return best;
}

}  // namespace nl::analysis::ranks
