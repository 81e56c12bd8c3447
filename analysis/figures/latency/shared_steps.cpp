#include "analysis/figures/latency/shared_steps.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/staging/found/sources.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kFewestJoins = 3;
constexpr std::uint64_t kMostTokens = 1'000'000;  // a mark may say any number

// One turn of the loop: a prefill, a step, or both at once.
struct Turn {
  Ns start_ns = 0, end_ns = 0;
  std::optional<std::uint64_t> prompts, sequences;  // empty: not known
  bool warmup = false;
};
using TurnsByLoop = std::map<std::uint32_t, std::vector<Turn>>;

TurnsByLoop turns_of_engine(const StagedTrace& staged) {
  TurnsByLoop loops;
  for (const EngineRound& round : engine_rounds(staged.trace))
    loops[round.thread].push_back(
        {round.start_ns, round.end_ns, round.contexts, round.generations, staged.plan.in_warmup(round.thread, round.start_ns)});
  return loops;
}

// By process, because its marks are. Where several threads take steps, the marks do not say whose.
TurnsByLoop turns_of_windows(const StagedTrace& staged, const TokenTimeline& tokens) {
  const std::uint32_t prefill = staged.table.find(StageKind::kPrefill), step = staged.table.find(StageKind::kDecodeStep);
  TurnsByLoop loops;
  std::map<std::uint32_t, std::set<std::uint32_t>> threads;
  for (const Window& window : staged.windows) {
    if (window.stage == kNone || (window.stage != prefill && window.stage != step)) continue;
    const std::optional<std::uint64_t> batch = tokens.at(window).batch;
    const bool reads = window.stage == prefill;
    if (!reads) threads[window.process].insert(window.thread);
    loops[window.process].push_back(
        {window.start_ns, window.end_ns, reads ? batch : std::uint64_t{0}, reads ? std::uint64_t{0} : batch, window.warmup});
  }
  std::erase_if(loops, [&](const auto& loop) { return threads[loop.first].size() != 1; });
  return loops;
}

// Follows the requests of one loop from step to step.
class Loop {
 public:
  explicit Loop(SharedSteps& out) : out_(out) {}

  void take(const Turn& turn) {
    if (!turn.prompts || !turn.sequences) {
      before_ = 0;
      read_.clear();
      return;
    }
    if (*turn.sequences > 0) step(turn);
    if (*turn.prompts > 0) read_.push_back(turn);
  }

  // A batch that keeps its size may be the beams of one request after the other: those are read one prompt at a time. A batch that
  // grows by more than the prompts that were read is not made of requests.
  bool serves() const {
    if (joins_ < kFewestJoins || contradictions_ * 10 > joins_) return false;
    return changes_.size() >= 2 || (several_ >= 2 && distances_.size() >= 2);
  }
  std::size_t joins() const { return joins_; }

 private:
  void step(const Turn& turn) {
    const std::uint64_t now = *turn.sequences;
    std::uint64_t read = 0;
    for (const Turn& prompt : read_) read += *prompt.prompts;
    out_.most = std::max(out_.most, now);
    contradictions_ += before_ > 0 && now > before_ + read;
    const std::uint64_t going_on = now > read ? std::min(before_, now - read) : 0;
    if (read > 0 && going_on > 0) {
      ++joins_;
      several_ += read_.size() > 1;
      if (now != before_) changes_.emplace(before_, now);
      distances_.insert(std::exchange(steps_, 0));
    }
    ++steps_;
    if (!turn.warmup) add_gaps(turn, going_on);
    before_ = now;
    before_end_ns_ = turn.end_ns;
    read_.clear();
  }

  void add_gaps(const Turn& turn, std::uint64_t going_on) {
    add(going_on, turn.end_ns - before_end_ns_);
    std::uint64_t joining = *turn.sequences - going_on;
    for (auto prompt = read_.rbegin(); prompt != read_.rend() && joining > 0; ++prompt) {
      const std::uint64_t of_prompt = std::min(joining, *prompt->prompts);
      add(of_prompt, turn.end_ns - prompt->end_ns);
      joining -= of_prompt;
    }
  }
  void add(std::uint64_t times, Ns gap_ns) {
    if (gap_ns > 0 && times > 0) out_.token_gaps.push_back({gap_ns, std::min(times, kMostTokens)});
  }

  SharedSteps& out_;
  std::uint64_t before_ = 0;  // sequences of the last step
  Ns before_end_ns_ = 0;
  std::vector<Turn> read_;  // prompts since then
  std::size_t joins_ = 0, several_ = 0, contradictions_ = 0, steps_ = 0;
  std::set<std::pair<std::uint64_t, std::uint64_t>> changes_;  // sizes of the batch before and after prompts
  std::set<std::size_t> distances_;                            // steps between prompts
};

// Requests, prefills and steps of one process, each by start.
struct Served {
  std::vector<const Window*> requests, prefills, steps;
};

bool earlier(const Window* a, const Window* b) { return a->start_ns < b->start_ns; }

std::vector<Served> served_processes(const StagedTrace& staged) {
  const std::uint32_t request = staged.table.find(StageKind::kRequest), prefill = staged.table.find(StageKind::kPrefill);
  const std::uint32_t step = staged.table.find(StageKind::kDecodeStep);
  std::map<std::uint32_t, Served> processes;
  for (const Window& window : staged.windows) {
    if (window.stage == kNone) continue;
    Served& served = processes[window.process];
    if (window.stage == request) served.requests.push_back(&window);
    if (window.stage == prefill) served.prefills.push_back(&window);
    if (window.stage == step) served.steps.push_back(&window);
  }
  std::vector<Served> out;
  for (auto& [process, served] : processes) {
    for (auto* windows : {&served.requests, &served.prefills, &served.steps}) std::sort(windows->begin(), windows->end(), earlier);
    out.push_back(std::move(served));
  }
  return out;
}

// One thread takes the steps of all requests, and each prefill lies in the request that came as the same one in order.
bool in_order(const Served& served) {
  const auto elsewhere = [&](const Window* step) { return step->thread != served.steps.front()->thread; };
  if (std::any_of(served.steps.begin(), served.steps.end(), elsewhere)) return false;
  return served.requests.size() == served.prefills.size() &&
         std::equal(served.requests.begin(), served.requests.end(), served.prefills.begin(),
                    [](const Window* request, const Window* prefill) {
                      return request->start_ns <= prefill->start_ns && prefill->start_ns < request->end_ns;
                    });
}

}  // namespace

std::vector<Ns> SharedSteps::all_token_gaps() const {
  std::uint64_t all = 0;
  for (const TokenGap& gap : token_gaps) all += gap.times;
  const std::uint64_t every = std::max<std::uint64_t>(1, all / kMostTokens);
  std::vector<Ns> out;
  for (const TokenGap& gap : token_gaps) out.insert(out.end(), (gap.times + every - 1) / every, gap.gap_ns);
  return out;
}

SharedSteps find_shared_steps(const StagedTrace& staged, const TokenTimeline& tokens) {
  const bool engine = staged.trace.stage_origin.source == StageSource::kEngine;
  SharedSteps out;
  for (auto& [loop, turns] : engine ? turns_of_engine(staged) : turns_of_windows(staged, tokens)) {
    std::vector<Turn> ordered = turns;
    std::stable_sort(ordered.begin(), ordered.end(), [](const Turn& a, const Turn& b) { return a.start_ns < b.start_ns; });
    Loop follow(out);
    for (const Turn& turn : ordered) follow.take(turn);
    out.joins += follow.joins();
    out.serves |= follow.serves();
  }
  return out;
}

std::vector<Ns> token_times_of_requests(const StagedTrace& staged) {
  std::vector<Ns> times;
  for (const Served& served : served_processes(staged)) {
    if (served.requests.empty() && served.steps.empty()) continue;
    if (!in_order(served)) return {};
    for (std::size_t i = 0; i < served.requests.size(); ++i) {
      const Ns from_ns = served.prefills[i]->end_ns, until_ns = served.requests[i]->end_ns;
      const auto first = std::lower_bound(served.steps.begin(), served.steps.end(), from_ns,
                                          [](const Window* step, Ns time) { return step->start_ns < time; });
      const auto last =
          std::lower_bound(first, served.steps.end(), until_ns, [](const Window* step, Ns time) { return step->start_ns < time; });
      if (first == last || served.prefills[i]->warmup) continue;
      times.push_back((std::min((*(last - 1))->end_ns, until_ns) - from_ns) / (last - first));
    }
  }
  return times;
}

std::size_t most_at_once(const StagedTrace& staged, std::uint32_t stage) {
  std::vector<std::pair<Ns, int>> edges;
  for (const Window& window : staged.windows) {
    if (window.stage != stage || window.wall_ns() == 0) continue;
    edges.emplace_back(window.start_ns, 1);
    edges.emplace_back(window.end_ns, -1);
  }
  std::sort(edges.begin(), edges.end());
  int open = 0, most = 0;
  for (const auto& [time, change] : edges) most = std::max(most, open += change);
  return static_cast<std::size_t>(most);
}

}  // namespace nl::analysis
