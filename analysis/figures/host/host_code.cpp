#include "analysis/figures/host/host_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "analysis/account/activity.h"
#include "analysis/figures/host/blame.h"
#include "analysis/figures/host/gaps.h"
#include "analysis/figures/host/host_work.h"
#include "analysis/trace/api_kind.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMaxHostLines = 200, kMaxSyncLines = 50, kMaxWaitStacks = 2000;
constexpr double kWorthNoting = 0.05;  // of a stage's time: for less waiting than this no note says what is missing

// A time that samples share out among what they fall on; nothing of it where they are too few.
class SharedTime {
 public:
  SharedTime(Ns time_ns, std::uint64_t samples) : time_ns_(time_ns), all_(samples) {}
  std::optional<Ns> of(std::uint64_t samples) const {
    if (all_ < kMinHostSamples) return std::nullopt;
    return static_cast<Ns>(std::llround(static_cast<double>(time_ns_) * static_cast<double>(samples) / static_cast<double>(all_)));
  }
  // Of parts that follow each other: once all samples are given away, so is the time, to the nanosecond.
  std::optional<Ns> next(std::uint64_t samples) {
    const auto before = of(given_), after = of(given_ += samples);
    return before && after ? std::optional(*after - *before) : std::nullopt;
  }

 private:
  Ns time_ns_;
  std::uint64_t all_, given_ = 0;
};

// Whether a thread is inside a call that waits, asked in the order of time.
class WaitsAt {
 public:
  WaitsAt(const CallsByThread& calls, ApiKinds& kinds, std::uint32_t thread)
      : calls_(calls), kinds_(kinds), next_(calls.first(thread)), last_(calls.last(thread)) {}
  bool operator()(Ns time_ns) {
    for (; next_ < last_ && calls_[next_].start_ns <= time_ns; ++next_)
      if (kinds_.of(calls_[next_]).waits) until_ns_ = std::max(until_ns_, calls_[next_].end_ns());
    return time_ns < until_ns_;
  }

 private:
  const CallsByThread& calls_;
  ApiKinds& kinds_;
  std::size_t next_, last_;
  Ns until_ns_ = std::numeric_limits<Ns>::min();
};

// Samples inside CUDA calls that wait for the GPU, in the measured windows of their thread, by the line that makes the call.
class SyncSamples {
 public:
  SyncSamples(const Trace& trace, const std::vector<Window>& windows, const HostWorks& works, std::size_t stages)
      : trace_(trace), frames_(stages) {
    if (trace.host.samples.empty()) return;
    std::vector<OpenStages> threads(trace.threads.size());
    for (const Window& window : windows)
      if (window.thread < threads.size()) threads[window.thread].add(window);
    const CallsByThread calls(trace);
    ApiKinds kinds(trace);
    const auto samples = samples_by_thread(trace);
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
      if (samples[thread].empty()) continue;
      threads[thread].sort();
      WaitsAt waits(calls, kinds, thread);
      for (const std::uint32_t sample : samples[thread]) {
        const Ns time_ns = trace.host.samples[sample].time_ns;
        if (!waits(time_ns)) continue;
        const std::uint32_t frame = works.calling_frame(trace.host.stacks[trace.host.samples[sample].stack]);
        for (const std::uint32_t stage : threads[thread].at(time_ns)) ++frames_[stage][frame];
      }
    }
  }

  // Most samples first. `sync_call_ns`: the stage's time inside such calls.
  std::vector<SyncLine> lines_of(std::size_t stage, Ns sync_call_ns) const {
    std::uint64_t all = 0;
    std::vector<SyncLine> lines;
    for (const auto& [frame, samples] : frames_[stage]) {
      lines.push_back({trace_.host.frames[frame], samples, {}});
      all += samples;
    }
    std::sort(lines.begin(), lines.end(),
              [](const SyncLine& a, const SyncLine& b) { return a.samples != b.samples ? a.samples > b.samples : a.frame < b.frame; });
    SharedTime time(sync_call_ns, all);
    for (SyncLine& line : lines) line.time_ns = time.next(line.samples);
    if (lines.size() > kMaxSyncLines) lines.resize(kMaxSyncLines);
    return lines;
  }

 private:
  const Trace& trace_;
  std::vector<std::map<std::uint32_t, std::uint64_t>> frames_;  // by stage: samples of each
};

// The stacks of one stage, most samples first.
std::vector<WaitStack> stage_stacks(const Trace& trace, const HostHits& hits, const StageEntry& stage) {
  std::map<std::vector<std::uint32_t>, std::uint64_t> counts;
  for (const std::uint32_t sample : hits.samples) ++counts[trace.host.stacks[trace.host.samples[sample].stack]];
  std::vector<WaitStack> stacks;
  for (const auto& [frames, samples] : counts) stacks.push_back({stage.name, frames, samples});
  std::stable_sort(stacks.begin(), stacks.end(), [](const WaitStack& a, const WaitStack& b) { return a.samples > b.samples; });
  return stacks;
}

// The most frequent ones of all stages stay, in their order.
void keep_frequent_stacks(HostStacks& out) {
  if (out.stacks.size() <= kMaxWaitStacks) return;
  std::vector<std::uint64_t> samples;
  for (const WaitStack& stack : out.stacks) samples.push_back(stack.samples);
  const auto last = samples.begin() + kMaxWaitStacks - 1;
  std::nth_element(samples.begin(), last, samples.end(), std::greater<>());
  const std::uint64_t least = *last;
  auto room = kMaxWaitStacks -
              static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](std::uint64_t each) { return each > least; }));
  std::erase_if(out.stacks, [&](const WaitStack& stack) {
    const bool stays = stack.samples > least || (stack.samples == least && room > 0 && room-- > 0);
    if (!stays) out.unlisted += stack.samples;
    return !stays;
  });
}

// Only frames that stand in a stack, numbered anew.
void list_stack_frames(const Trace& trace, const HostWorks& works, HostStacks& out) {
  std::vector<std::uint32_t> number(trace.host.frames.size(), kNone);
  for (WaitStack& stack : out.stacks)
    for (std::uint32_t& frame : stack.frames) {
      if (number[frame] == kNone) {
        number[frame] = static_cast<std::uint32_t>(out.frames.size());
        out.frames.push_back({trace.host.frames[frame], works.of_frame(frame)});
      }
      frame = number[frame];
    }
}

// The stacks of all stages' waits for launches, and who looked.
HostStacks wait_stacks(const Trace& trace, const HostWorks& works, const std::vector<HostHits>& hits,
                       const std::vector<StageEntry>& stages) {
  HostStacks out;
  out.sampler = trace.host.sampler;
  out.period_ns = trace.host.period_ns;
  out.cost_share = trace.host.cost_share;
  out.samples = trace.host.samples.size();
  out.lost = trace.host.lost;
  for (std::size_t i = 0; i < stages.size(); ++i)
    for (WaitStack& stack : stage_stacks(trace, hits[i], stages[i])) out.stacks.push_back(std::move(stack));
  keep_frequent_stacks(out);
  list_stack_frames(trace, works, out);
  return out;
}

// One line or one function while samples are counted.
struct SampledPlace {
  std::uint64_t samples = 0, inside = 0;
  std::array<std::uint64_t, kHostWorks> kinds = {};
};

class HostCodeTable {
 public:
  HostCodeTable(const Trace& trace, const BlameTable& blame) : trace_(trace), blame_(blame) {}

  HostCode code_of(const HostHits& hits, Ns waited_ns) const {
    HostCode code;
    code.waited_ns = waited_ns;
    code.samples = hits.samples.size();
    Places lines, functions;
    std::array<std::uint64_t, kHostWorks> kinds = {};
    for (const auto& [each, samples] : stacks_of(hits)) {
      const std::vector<std::uint32_t>& stack = trace_.host.stacks[each.first];
      const HostWork kind = each.second ? HostWork::kGarbage : blame_.works().of_stack(stack);
      kinds[static_cast<std::size_t>(kind)] += samples;
      count(stack, kind, samples, lines, functions);
    }
    list_kinds(kinds, code);
    list_lines(lines, code);
    list_functions(functions, code);
    code.collections = hits.collections.size();
    code.collection_ns = hits.collection_ns;
    code.os_calls = hits.os_calls.longest(trace_);
    if (code.samples >= kMinHostSamples) code.blame = blame_.of(hits.samples);
    return code;
  }

 private:
  using Places = std::map<std::uint32_t, SampledPlace>;

  // How often each stack was seen, inside a garbage collection and outside.
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> stacks_of(const HostHits& hits) const {
    std::map<std::pair<std::uint32_t, bool>, std::uint64_t> counts;
    for (const std::uint32_t sample : hits.samples) ++counts[{trace_.host.samples[sample].stack, blame_.in_collection(sample)}];
    return counts;
  }

  void count(const std::vector<std::uint32_t>& stack, HostWork kind, std::uint64_t samples, Places& lines, Places& functions) const {
    SampledPlace& innermost = lines[stack.back()];
    innermost.samples += samples;
    innermost.kinds[static_cast<std::size_t>(kind)] += samples;
    functions[blame_.function_number(stack.back())].samples += samples;
    std::vector<std::uint32_t> seen = stack;
    count_inside(seen, samples, lines);
    for (std::uint32_t& frame : seen) frame = blame_.function_number(frame);
    count_inside(seen, samples, functions);
  }
  // Recursion does not make a place count twice.
  static void count_inside(std::vector<std::uint32_t>& places, std::uint64_t samples, Places& sums) {
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const std::uint32_t place : places) sums[place].inside += samples;
  }

  static void list_kinds(const std::array<std::uint64_t, kHostWorks>& kinds, HostCode& code) {
    for (std::size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i] > 0) code.kinds.push_back({static_cast<HostWork>(i), kinds[i], {}});
    std::stable_sort(code.kinds.begin(), code.kinds.end(),
                     [](const HostWorkTime& a, const HostWorkTime& b) { return a.samples > b.samples; });
    SharedTime time(code.waited_ns, code.samples);
    for (HostWorkTime& kind : code.kinds) kind.time_ns = time.next(kind.samples);
  }

  void list_lines(const Places& lines, HostCode& code) const {
    for (const auto& [frame, place] : lines) {
      const auto most = std::max_element(place.kinds.begin(), place.kinds.end()) - place.kinds.begin();
      if (place.samples > 0)
        code.lines.push_back({trace_.host.frames[frame], static_cast<HostWork>(most), place.samples, place.inside, {}, {}});
    }
    std::sort(code.lines.begin(), code.lines.end(),
              [](const HostLine& a, const HostLine& b) { return a.samples != b.samples ? a.samples > b.samples : a.frame < b.frame; });
    give_times(code.lines, code);
  }

  void list_functions(const Places& functions, HostCode& code) const {
    for (const auto& [number, place] : functions) {
      const HostFrame& function = blame_.functions()[number];
      code.functions.push_back({function, work_of(function).value_or(HostWork::kOther), place.samples, place.inside, {}, {}});
    }
    std::sort(code.functions.begin(), code.functions.end(), [](const HostLine& a, const HostLine& b) {
      return a.samples_inside != b.samples_inside ? a.samples_inside > b.samples_inside : a.frame < b.frame;
    });
    give_times(code.functions, code);
  }

  static void give_times(std::vector<HostLine>& lines, const HostCode& code) {
    SharedTime time(code.waited_ns, code.samples);
    for (HostLine& line : lines) {
      line.time_ns = time.next(line.samples);
      line.time_inside_ns = time.of(line.samples_inside);
    }
    if (lines.size() > kMaxHostLines) lines.resize(kMaxHostLines);
  }

  const Trace& trace_;
  const BlameTable& blame_;
};

// Stages that wait long for launches, and were looked at too seldom to say why.
std::optional<Remark> few_samples(const std::vector<StageEntry>& stages, const std::vector<std::optional<HostCode>>& codes) {
  std::vector<std::string> few;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const std::optional<Budget>& budget = stages[i].budget;
    if (!codes[i] || !budget || codes[i]->samples >= kMinHostSamples) continue;
    const bool matters = static_cast<double>(budget->launch_starved_ns) > kWorthNoting * static_cast<double>(budget->wall_ns);
    if (matters) few.push_back(fmt::format("{} ({})", stages[i].name, codes[i]->samples));
  }
  if (few.empty()) return std::nullopt;
  return Remark{Code::kFewHostSamples, {fmt::format("{}", fmt::join(few, ", ")), std::to_string(kMinHostSamples)}};
}

}  // namespace

HostFigures host_figures(const Trace& trace, const std::vector<Window>& windows, const BudgetSums& budgets,
                         const std::vector<StageEntry>& stages) {
  HostFigures figures;
  figures.stages.resize(stages.size());
  const std::vector<HostHits>& hits = budgets.host;
  const BlameTable blame(trace);
  figures.gaps = stage_gaps(trace, budgets, stages, trace.host.samples.empty() ? nullptr : &blame);
  if (hits.empty()) return figures;
  const HostCodeTable table(trace, blame);
  SyncSamples syncs(trace, windows, blame.works(), stages.size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageEntry& stage = stages[i];
    if (!stage.launch_waits) continue;
    figures.stages[i] = table.code_of(hits[i], stage.launch_waits->starved_ns);
    figures.stages[i]->syncs = syncs.lines_of(i, stage.activity ? stage.activity->sync_call_ns : 0);
  }
  if (trace.host.sampler == HostSampler::kNone) return figures;
  figures.stacks = wait_stacks(trace, blame.works(), hits, stages);
  figures.note = few_samples(stages, figures.stages);
  return figures;
}

}  // namespace nl::analysis
