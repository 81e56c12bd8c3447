#include "analysis/figures/latency/latency.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "analysis/account/budget.h"
#include "analysis/figures/latency/shared_steps.h"
#include "analysis/ranks/shards.h"
#include "analysis/staging/traced_steps.h"
#include "analysis/statistics/time_summary.h"

namespace nl::analysis {
namespace {

// How many decode steps begin inside a window, on its thread.
class Steps {
 public:
  Steps(const StageTable& table, const std::vector<Window>& windows) {
    const std::uint32_t step = table.find(StageKind::kDecodeStep);
    for (const Window& window : windows)
      if (step != kNone && window.stage == step) starts_.emplace_back(window.thread, window.start_ns), windows_.push_back(&window);
  }
  std::span<const Window* const> windows_in(const Window& window) const {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), std::pair(window.thread, window.start_ns));
    return {windows_.data() + (first - starts_.begin()), in(window)};
  }
  std::uint64_t in(const Window& window) const {
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), std::pair(window.thread, window.start_ns));
    const auto last = std::lower_bound(first, starts_.end(), std::pair(window.thread, window.end_ns));
    return static_cast<std::uint64_t>(last - first);
  }

 private:
  std::vector<std::pair<std::uint32_t, Ns>> starts_;  // by thread and time, as windows come
  std::vector<const Window*> windows_;
};

struct IterationTimes {
  std::optional<Ns> prefill_end_ns;
  Ns request_end_ns = std::numeric_limits<Ns>::min();  // of a window around the whole request, which begins with its arrival
  Ns decode_start_ns = std::numeric_limits<Ns>::max();
};

class LatencyFigures {
 public:
  LatencyFigures(const StagedTrace& staged, const TokenCounts& configured)
      : staged_(staged), plan_(staged.plan), windows_(staged.windows), steps_(staged.table, staged.windows),
        tokens_(staged.trace, configured), prefill_(staged.table.find(StageKind::kPrefill)), decode_(staged.table.find(StageKind::kDecode)),
        step_(staged.table.find(StageKind::kDecodeStep)), request_(staged.table.find(StageKind::kRequest)) {
    latency_.notes = tokens_.notes();
  }

  Latency derive(std::vector<StageEntry>& stages) {
    if (std::all_of(windows_.begin(), windows_.end(), [](const Window& window) { return window.warmup; })) {
      latency_.notes.emplace_back("no latency: the capture has no closed stage ranges");
      return std::move(latency_);
    }
    prefill_runs_on_ = prefill_ != kNone && stages[prefill_].runs_on();
    decode_runs_on_ = decode_ != kNone && stages[decode_].runs_on();
    fill_tokens(stages);
    if (has_traced_steps(staged_.trace)) {
      step_runs_on_ = step_ != kNone && stages[step_].runs_on();
      fill_by_single_steps();
    } else {
      fill_prefill();
      fill_tpot();
      fill_rate();
    }
    if (!batch_unknown_ && batches_.size() == 1) latency_.batch = static_cast<double>(*batches_.begin());
    if (batch_unknown_)
      latency_.notes.emplace_back(
          "the batch size is not known, so there are no tokens per second; set model.batch_size, or mark \"tokens batch=N\" in the "
          "domain LLM");
    return std::move(latency_);
  }

 private:
  std::uint64_t steps_of(const Window& window) {
    const std::uint64_t found = steps_.in(window);
    const auto configured = tokens_.at(window).decode_tokens;
    if (found == 0) return configured.value_or(0);
    if (configured && *configured != found && !std::exchange(steps_noted_, true))
      latency_.notes.push_back(
          fmt::format("the model configuration says {} decode tokens, the capture has {} decode steps per "
                      "window; the capture's number is used",
                      *configured, found));
    return found;
  }

  // Tokens that a window works on, where known.
  std::optional<double> tokens_of(const Window& window) {
    if (window.tokens) return static_cast<double>(*window.tokens);
    const TokenCounts& counts = tokens_.at(window);
    std::optional<std::uint64_t> per_sequence;
    if (window.stage == prefill_) per_sequence = counts.prompt_tokens, prompt_unknown_ |= !counts.prompt_tokens;
    if (window.stage == step_) per_sequence = 1;
    if (window.stage == decode_) {
      if (steps_.in(window) > 0) return tokens_of_steps(window);
      if (const auto steps = steps_of(window); steps > 0) per_sequence = steps;
    }
    if (!per_sequence) return std::nullopt;
    batch_unknown_ |= !counts.batch;
    if (!counts.batch) return std::nullopt;  // one sequence would be a guess
    batches_.insert(*counts.batch);
    return static_cast<double>(*per_sequence) * static_cast<double>(*counts.batch);
  }

  // The batch may differ from step to step.
  std::optional<double> tokens_of_steps(const Window& window) {
    steps_of(window);  // where the configuration contradicts, that is noted
    double tokens = 0;
    for (const Window* step : steps_.windows_in(window)) {
      const auto batch = tokens_.at(*step).batch;
      batch_unknown_ |= !batch;
      if (!batch) return std::nullopt;
      batches_.insert(*batch);
      tokens += static_cast<double>(*batch);
    }
    return tokens;
  }

  void fill_tokens(std::vector<StageEntry>& stages) {
    struct Sum {
      double tokens = 0;
      Ns wall_ns = 0;
      std::uint64_t windows = 0;
      bool unknown = false;
    };
    std::vector<Sum> sums(stages.size());
    for (const Window& window : windows_) {
      if (window.warmup) continue;
      Sum& sum = sums[window.stage];
      const auto tokens = tokens_of(window);
      sum.unknown |= !tokens;
      sum.tokens += tokens.value_or(0);
      sum.wall_ns += window.wall_ns();
      ++sum.windows;
    }
    for (std::size_t i = 0; i < stages.size(); ++i) {
      const Sum& sum = sums[i];
      if (sum.unknown || sum.windows == 0) continue;
      stages[i].tokens_per_window = sum.tokens / static_cast<double>(sum.windows);
      // Where its ranges do not wait, it took at least as long as its GPU work.
      const Ns time_ns = stages[i].runs_on() ? *stages[i].gpu_busy_ns : sum.wall_ns;
      if (time_ns > 0) stages[i].tokens_per_s = sum.tokens * 1e9 / static_cast<double>(time_ns);
    }
    for (const std::uint32_t stage : {prefill_, decode_, step_})
      if (stage != kNone && stages[stage].runs_on())
        latency_.notes.push_back(
            fmt::format("the ranges of {} end before their GPU work, so they tell no latency, and its tokens/s are of the GPU's time; wait "
                        "for the GPU at their end while measuring",
                        stages[stage].name));
    if (prefill_ != kNone && sums[prefill_].windows > 0 && prompt_unknown_)
      latency_.notes.emplace_back(
          "the prompt length is not known, so prefill has no tokens/s; set model.prompt_tokens, "
          "or mark \"tokens prompt=N\" in the domain LLM");
  }

  void find_phases(std::vector<IterationTimes>& iterations) const {
    for (const Window& window : windows_) {
      if (window.iteration == kNone) continue;
      IterationTimes& iteration = iterations[window.iteration];
      if (window.stage == decode_ || window.stage == step_)
        iteration.decode_start_ns = std::min(iteration.decode_start_ns, window.start_ns);
      else if (window.stage != prefill_ && window.start_ns == plan_.spans[window.iteration].start_ns)
        iteration.request_end_ns = std::max(iteration.request_end_ns, window.end_ns);
    }
  }

  // Steps that were drawn one by one (capture.duty): the iterations around them are not known.
  void fill_by_single_steps() {
    std::vector<Ns> prompts, steps;
    for (const Window& window : windows_) {
      if (window.stage == prefill_) prompts.push_back(window.wall_ns());
      if (window.stage == step_) steps.push_back(window.wall_ns());
    }
    if (!prefill_runs_on_ && !prompts.empty()) latency_.prefill = summarise_times(prompts);
    if (!step_runs_on_ && !steps.empty() && !find_shared_steps(staged_, tokens_).serves) {
      latency_.tpot = summarise_times(steps);
      latency_.notes.emplace_back("time per output token is that of a traced step, without what lies between two steps");
    }
  }

  // The first token is there when the prompt has been worked on: at the end of the last prefill before decoding.
  void fill_prefill() {
    std::vector<IterationTimes> iterations(plan_.spans.size());
    find_phases(iterations);
    for (const Window& window : windows_) {
      if (window.iteration == kNone || window.warmup || window.stage != prefill_) continue;
      IterationTimes& iteration = iterations[window.iteration];
      if (!iteration.prefill_end_ns || window.start_ns < iteration.decode_start_ns) iteration.prefill_end_ns = window.end_ns;
    }
    std::vector<Ns> times;
    bool arrivals = true;
    for (std::size_t i = 0; i < iterations.size(); ++i) {
      if (!iterations[i].prefill_end_ns) continue;
      times.push_back(*iterations[i].prefill_end_ns - plan_.spans[i].start_ns);
      arrivals = arrivals && iterations[i].request_end_ns >= *iterations[i].prefill_end_ns;
    }
    if (times.empty()) {
      latency_.notes.emplace_back("no TTFT: no prefill was measured");
    } else if (!prefill_runs_on_) {
      latency_.prefill = summarise_times(times);
      if (arrivals) latency_.ttft = latency_.prefill;
      if (!arrivals)
        latency_.notes.emplace_back(
            "no TTFT: the arrival of a request is not known; put a range of the domain LLM around the whole request");
    }
  }

  // A server: requests overlap, and a thread decodes that has none of them, or several. A step of it works for several requests, or for one
  // of them at a time: how long a request waits for its next token is not the time of a step.
  bool serves_several() const {
    std::map<std::uint32_t, Ns> busy_until, thread_busy_until;  // by process, by thread
    std::set<std::uint32_t> overlapping, sharing, request_threads;
    std::vector<const Window*> requests;
    for (const Window& window : windows_)
      if (!window.warmup && request_ != kNone && window.stage == request_) requests.push_back(&window);
    std::sort(requests.begin(), requests.end(), [](const Window* a, const Window* b) { return a->start_ns < b->start_ns; });
    const auto overlaps = [](std::map<std::uint32_t, Ns>& until, std::uint32_t whose, const Window& request) {
      Ns& latest_ns = until.try_emplace(whose, request.start_ns).first->second;
      const bool open = request.start_ns < latest_ns;
      latest_ns = std::max(latest_ns, request.end_ns);
      return open;
    };
    for (const Window* request : requests) {
      if (overlaps(busy_until, request->process, *request)) overlapping.insert(request->process);
      if (overlaps(thread_busy_until, request->thread, *request)) sharing.insert(request->thread);
      request_threads.insert(request->thread);
    }
    return std::any_of(windows_.begin(), windows_.end(), [&](const Window& window) {
      if (window.warmup || window.stage != decode_) return false;
      return sharing.contains(window.thread) || (overlapping.contains(window.process) && !request_threads.contains(window.thread));
    });
  }

  // Of a server: per request by its own range, else by the sequences that each step has; else it is not told.
  void fill_tpot_of_server(const SharedSteps& shared, bool requests) {
    std::vector<Ns> times = requests ? token_times_of_requests(staged_) : std::vector<Ns>();
    if (!times.empty()) {
      latency_.tpot = summarise_times(times);
      latency_.notes.emplace_back("time per output token is of each request: from the end of its prompt to its last token, by its steps");
    } else if (times = shared.all_token_gaps(); !times.empty()) {
      latency_.tpot = summarise_times(times);
      latency_.notes.emplace_back(
          "time per output token is from one token of a request to its next, with the prompts of others in between: each sequence of a "
          "step gets one token");
    } else {
      latency_.notes.emplace_back(
          "no TPOT: several requests are in flight, and the steps do not say whose they are; the time of a step is known. Mark \"tokens "
          "batch=N\" in each prefill and step, or open the range of a request on the thread that decodes it");
    }
  }

  void fill_tpot() {
    if (decode_runs_on_) return;
    const SharedSteps shared = find_shared_steps(staged_, tokens_);
    const bool requests = serves_several();
    if (decode_ != kNone && (requests || shared.serves || staged_.trace.stage_origin.source == StageSource::kEngine)) {
      fill_tpot_of_server(shared, requests);
      return;
    }
    std::vector<Ns> times;
    bool decoded = false;
    for (const Window& window : windows_) {
      if (window.warmup || window.stage != decode_) continue;
      decoded = true;
      const std::uint64_t steps = steps_of(window);
      if (steps > 0) times.push_back(std::llround(static_cast<double>(window.wall_ns()) / static_cast<double>(steps)));
    }
    if (!times.empty()) latency_.tpot = summarise_times(times);
    else
      latency_.notes.emplace_back(decoded ? "no TPOT: decode has no steps; mark each step with a range decode_step, or set "
                                            "model.decode_tokens"
                                          : "no TPOT: no decode was measured");
  }

  // As many all-reduces as a process has steps make it a part of another's model.
  std::vector<bool> shards() const {
    const Trace& trace = staged_.trace;
    std::vector<std::uint64_t> steps(trace.processes.size());
    for (const Window& window : windows_)
      if (window.stage == (step_ != kNone ? step_ : decode_) && window.process < steps.size()) ++steps[window.process];
    const auto most = std::max_element(steps.begin(), steps.end());
    return ranks::shards_of_others(trace, most != steps.end() ? std::max<std::uint64_t>(1, *most) : 1);
  }

  // Over the time in which any measured iteration runs, so that requests of several threads add up.
  void fill_rate() {
    double tokens = 0;
    const std::vector<bool> shard = shards();
    for (const Window& window : windows_) {
      if (window.warmup || window.stage != decode_ || (window.process < shard.size() && shard[window.process])) continue;
      const auto more = tokens_of(window);
      if (!more) return;
      tokens += *more;
    }
    std::vector<std::pair<Ns, Ns>> spans;
    for (const auto& span : plan_.spans)
      if (!span.warmup) spans.emplace_back(span.start_ns, span.end_ns);
    std::sort(spans.begin(), spans.end());
    CoveredTime covered;
    for (const auto& [start, end] : spans) covered.add(start, end);
    if (tokens <= 0 || covered.total_ns() <= 0 || decode_runs_on_) return;
    latency_.output_tokens_per_s = tokens * 1e9 / static_cast<double>(covered.total_ns());
    latency_.notes.emplace_back("output tokens are counted in decode; the token that prefill yields is not counted");
    if (const auto parts = std::count(shard.begin(), shard.end(), true); parts > 0)
      latency_.notes.push_back(
          fmt::format("{} of the ranks share all-reduces in each step with another and its tokens, which count once", parts));
  }

  const StagedTrace& staged_;
  const IterationPlan& plan_;
  const std::vector<Window>& windows_;
  Latency latency_;
  Steps steps_;
  TokenTimeline tokens_;
  std::uint32_t prefill_, decode_, step_, request_;
  std::set<std::uint64_t> batches_;  // of the measured windows
  bool batch_unknown_ = false, prompt_unknown_ = false, steps_noted_ = false;
  bool prefill_runs_on_ = false, decode_runs_on_ = false, step_runs_on_ = false;
};

}  // namespace

Latency derive_latency(const StagedTrace& staged, const TokenCounts& configured, std::vector<StageEntry>& stages) {
  return LatencyFigures(staged, configured).derive(stages);
}

}  // namespace nl::analysis
