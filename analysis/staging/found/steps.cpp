#include "analysis/staging/found/steps.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nl::analysis {
namespace {

using SymbolList = std::vector<std::uint32_t>;
constexpr std::uint32_t kExchanged = 3, kResume = 4;  // at most so many different ones, then so many equal ones: kernels were exchanged

bool equal_at(const SymbolList& s, std::size_t a, std::size_t b) { return a < s.size() && b < s.size() && s[a] == s[b]; }

// How far two stretches are the same; exchanged kernels do not end it.
struct Match {
  std::uint32_t length = 0;
  std::uint32_t equal = 0;  // without the exchanged ones
};
template <class EqualAt>
Match match_while(std::uint32_t most, EqualAt equal) {
  Match match;
  while (match.length < most) {
    if (equal(match.length)) {
      ++match.length;
      ++match.equal;
      continue;
    }
    std::uint32_t different = 1, again = 0;
    while (different < kExchanged && !equal(match.length + different)) ++different;
    while (again < kResume && equal(match.length + different + again)) ++again;
    if (again < kResume) break;
    match.length += different;
  }
  match.length = std::min(match.length, most);
  return match;
}
Match matched_forwards(const SymbolList& s, std::size_t a, std::size_t b, std::uint32_t most) {
  return match_while(most, [&](std::size_t i) { return equal_at(s, a + i, b + i); });
}
Match matched_backwards(const SymbolList& s, std::size_t a, std::size_t b, std::uint32_t most) {
  return match_while(most, [&](std::size_t i) { return equal_at(s, a - 1 - i, b - 1 - i); });  // wraps before the first: not equal
}

struct Stretch {
  std::uint32_t first = 0, last = 0;  // places, last excluded
  std::uint32_t length() const { return last - first; }
};

// Whether a stretch is a step like the model: four fifths are equal, place by place from both ends, so that one kernel more or less
// in the middle is allowed.
bool like_step(const SymbolList& s, const Stretch& stretch, const Stretch& model) {
  if (stretch.first >= stretch.last || stretch.last > s.size()) return false;
  const std::uint32_t length = std::max(stretch.length(), model.length());
  std::uint64_t equal = 0;
  if (stretch.length() == model.length())
    for (std::uint32_t i = 0; i < length; ++i) equal += equal_at(s, stretch.first + i, model.first + i);
  else
    equal = std::uint64_t{matched_forwards(s, stretch.first, model.first, std::min(stretch.length(), model.length())).equal} +
            matched_backwards(s, stretch.last, model.last, std::min(stretch.length(), model.length())).equal;
  return equal * 10 >= std::uint64_t{length} * 8;
}

class Cutter {
 public:
  Cutter(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const Neighbourhoods& neighbourhoods,
         const Level& level)
      : trace_(trace), sequence_(sequence), s_(sequence.symbols), amounts_(amounts), near_(neighbourhoods), level_(level),
        in_level_(neighbourhoods.kinds().size(), 0) {
    for (const std::uint32_t kind : level.kinds) in_level_[kind] = steady(kind);
  }

  StepCut cut() {
    StepCut out;
    const std::uint32_t after_wait = kind_after_wait();
    std::uint32_t kind = after_wait, back = 0;
    if (kind == kNone) std::tie(kind, back) = kind_by_ends();
    out.runs = runs_of(kind, back);
    for (StepRun& run : out.runs) extend(run);
    join(out.runs);
    std::erase_if(out.runs, [](const StepRun& run) { return run.starts.empty(); });
    rate(out);
    return out;
  }

 private:
  bool steady(std::uint32_t kind) const { return near_.kinds()[kind].regular * 10 >= level_.repeats * 8; }
  const ApiCall& call(std::size_t place) const { return trace_.api_calls[sequence_.calls[place]]; }
  Ns pause_before(std::size_t place) const { return place == 0 ? 0 : std::max<Ns>(0, call(place).start_ns - call(place - 1).end_ns()); }

  bool multiplies_at(std::uint32_t place) const { return amounts_.between(place, place + 1).products > 0; }

  // What is known of the places of one neighbourhood that follow a wait.
  struct AfterWait {
    std::uint64_t places = 0, lookups = 0;
    std::vector<Ns> pauses;
    Ns pause() {
      const auto middle = pauses.begin() + static_cast<std::ptrdiff_t>(pauses.size() / 2);
      std::nth_element(pauses.begin(), middle, pauses.end());
      return *middle;
    }
  };

  // The neighbourhood that follows a wait in nearly every step. Of several, the one with the lookup of the token's embedding before
  // the next wait, else the one after the longest pauses. A lookup after a matrix product is not an embedding: layers
  // of experts gather the rows of their tokens in the same way.
  std::uint32_t kind_after_wait() const {
    std::map<std::uint32_t, AfterWait> all;
    AfterWait* current = nullptr;
    for (std::uint32_t i = 1; i < s_.size(); ++i) {
      if (sequence_.waits_at(i)) current = nullptr;
      else if (sequence_.waits_at(i - 1) && in_level_[near_.kind_at(i)]) {
        current = &all[near_.kind_at(i)];
        ++current->places;
        if (current->pauses.size() < kPauses) current->pauses.push_back(pause_before(i));
      }
      if (current == nullptr) continue;
      const bool lookup = sequence_.looks_up_at(i);
      current->lookups += lookup;
      if (lookup || multiplies_at(i)) current = nullptr;
    }
    std::uint32_t best = kNone;
    std::pair<bool, Ns> most(false, -1);
    for (auto& [kind, after] : all) {
      if (after.places * 10 < std::uint64_t{near_.kinds()[kind].count} * 9) continue;
      const std::pair<bool, Ns> value(after.lookups * 10 >= after.places * 8, after.pause());
      if (value > most) std::tie(best, most) = std::pair(kind, value);
    }
    return best;
  }

  // Runs of places of one neighbourhood at about the level's period, each moved back by so many places.
  std::vector<StepRun> runs_of(std::uint32_t kind, std::uint32_t back) const {
    std::vector<StepRun> runs;
    std::uint32_t last = kNone;
    for (std::uint32_t i = back; i < s_.size(); ++i) {
      if (near_.kind_at(i) != kind) continue;
      const std::uint32_t start = i - back;
      if (last == kNone || !about(start - last, level_.period)) runs.emplace_back();
      runs.back().starts.push_back(start);
      last = start;
    }
    std::erase_if(runs, [](const StepRun& run) { return run.starts.size() < 2; });
    return runs;
  }

  // Without waits: where what repeats begins and ends, seen from a neighbourhood that is there once a step. A wait there makes
  // it surer; where both disagree, the end of a run of steps is the better witness: nothing like a step follows it.
  std::pair<std::uint32_t, std::uint32_t> kind_by_ends() const {
    const std::uint32_t kind = level_.kinds[0];
    std::map<std::uint32_t, double> votes;
    std::vector<StepRun> runs = runs_of(kind, 0);
    for (const StepRun& run : runs) vote(run, votes);
    const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == votes.end()) return {kind, 0};
    return nearest(runs, most->first, kind);
  }

  void vote(const StepRun& run, std::map<std::uint32_t, double>& votes) const {
    const auto first = run.starts[0], second = run.starts[1];
    const auto last = run.starts.back(), before = run.starts[run.starts.size() - 2];
    const std::uint32_t length = last - before;
    const std::uint32_t head = matched_backwards(s_, first, second, 2 * length).length;
    const std::uint32_t tail = matched_forwards(s_, last, before, 2 * length).length;
    const bool head_waits = first > head && sequence_.waits_at(first - head - 1);
    const bool tail_waits = last + tail < s_.size() && sequence_.waits_at(last + tail);
    votes[head % length] += head_waits ? 3 : 1;
    votes[(length - tail % length) % length] += tail_waits ? 3.5 : 1.5;
  }

  // A neighbourhood close behind the cut: what changes in the middle of a step cannot move it.
  std::pair<std::uint32_t, std::uint32_t> nearest(const std::vector<StepRun>& runs, std::uint32_t back, std::uint32_t kind) const {
    if (runs.empty()) return {kind, back};
    const auto& starts = std::max_element(runs.begin(), runs.end(), [](const StepRun& a, const StepRun& b) {
                           return a.starts.size() < b.starts.size();
                         })->starts;
    const std::uint32_t place = starts[starts.size() / 2];
    for (std::uint32_t i = std::min(back, place); i > 0; --i)
      if (in_level_[near_.kind_at(place - i)]) return {near_.kind_at(place - i), back - i};
    return {kind, back};
  }

  // Steps at the ends of a run that differ in what lies around them, but not in themselves.
  void extend(StepRun& run) const {
    auto& starts = run.starts;
    for (;;) {
      const Stretch model{starts[0], starts[1]};
      const std::uint32_t start = start_before(model);
      if (start == kNone) break;
      starts.insert(starts.begin(), start);
    }
    for (;;) {
      const Stretch model{starts[starts.size() - 2], starts.back()};
      const std::uint32_t end = end_after(model);
      run.end = end == kNone ? starts.back() : end;
      if (end == kNone) break;
      starts.push_back(end);
    }
    starts.pop_back();
  }
  // A step may be a little shorter or longer than its neighbour.
  template <class Visit>
  static std::uint32_t near_length(std::uint32_t length, Visit visit) {
    const std::uint32_t spread = std::max(2U, length / 16);
    for (std::uint32_t off = 0; off <= spread && off < length; ++off)
      for (const std::uint32_t each : {length - off, length + off})
        if (const std::uint32_t place = visit(each); place != kNone) return place;
    return kNone;
  }
  std::uint32_t end_after(const Stretch& model) const {
    return near_length(model.length(), [&](std::uint32_t length) {
      return like_step(s_, {model.last, model.last + length}, model) ? model.last + length : kNone;
    });
  }
  std::uint32_t start_before(const Stretch& model) const {
    return near_length(model.length(), [&](std::uint32_t length) {
      return length <= model.first && like_step(s_, {model.first - length, model.first}, model) ? model.first - length : kNone;
    });
  }

  // Runs that meet, and runs that overlap after they were extended.
  static void join(std::vector<StepRun>& runs) {
    std::vector<StepRun> joined;
    for (StepRun& run : runs) {
      if (joined.empty() || run.starts.empty() || joined.back().end < run.starts[0]) {
        joined.push_back(std::move(run));
        continue;
      }
      StepRun& before = joined.back();
      for (const std::uint32_t start : run.starts)
        if (start > before.starts.back()) before.starts.push_back(start);
      before.end = std::max(before.end, run.end);
    }
    runs = std::move(joined);
  }

  void rate(StepCut& out) const {
    std::size_t regular = 0, waits = 0, pauses = 0;
    for (const StepRun& run : out.runs)
      for (std::size_t i = 0; i < run.starts.size(); ++i) {
        const std::uint32_t start = run.starts[i], end = run.end_of(i);
        ++out.steps;
        regular += about(end - start, level_.period);
        waits += start > 0 && sequence_.waits_at(start - 1);
        pauses += pauses_before(start, end);
      }
    if (out.steps == 0) return;
    const auto share = [&](std::size_t part) { return static_cast<double>(part) / static_cast<double>(out.steps); };
    out.regular = share(regular);
    out.after_wait = share(waits);
    out.after_pause = share(pauses);
  }

  // Longer than nine in ten pauses inside the step.
  bool pauses_before(std::uint32_t start, std::uint32_t end) const {
    const Ns pause = pause_before(start);
    std::size_t longer = 0;
    for (std::uint32_t i = start + 1; i < end; ++i) longer += pause_before(i) >= pause;
    return pause > 0 && longer * 10 <= end - start;
  }

  static constexpr std::size_t kPauses = 101;
  const Trace& trace_;
  const WorkSequence& sequence_;
  const SymbolList& s_;
  const WorkAmounts& amounts_;
  const Neighbourhoods& near_;
  const Level& level_;
  std::vector<char> in_level_;
};

}  // namespace

StepCut cut_steps(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const Neighbourhoods& neighbourhoods,
                  const Level& level) {
  return Cutter(trace, sequence, amounts, neighbourhoods, level).cut();
}

}  // namespace nl::analysis
