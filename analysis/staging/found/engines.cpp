#include "analysis/staging/found/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>

#include "analysis/staging/found/work.h"
#include "analysis/staging/stage_table.h"
#include "model/words.h"
#include "nvtx/engine_processes.h"

namespace nl::analysis {
namespace {

using nvtx::EngineStep;

constexpr double kToldByWork = 0.8;  // confidence where names do not tell prefill from decoding

std::string step_name(nvtx::StepKind kind) {
  if (kind == nvtx::StepKind::kMixed) return "mixed_step";
  return std::string(key_of(kind == nvtx::StepKind::kPrefill ? StageKind::kPrefill : StageKind::kDecodeStep));
}

FoundStage stage_at(const Range& range, std::string name) { return {range.start_ns, range.end_ns, range.thread, std::move(name), {}}; }

// "decode_step: 64, prefill: 4"; behind the name of a stage, what more is said of it
std::string counts_text(const std::vector<FoundStage>& stages, const std::map<std::string, std::string>& more = {}) {
  std::map<std::string, std::size_t> counts;
  for (const FoundStage& stage : stages) ++counts[stage.name];
  std::string text;
  for (const auto& [name, count] : counts) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, count);
    if (const auto found = more.find(name); found != more.end()) text += " (" + found->second + ")";
  }
  return text;
}

struct EngineRange {
  const Range* range;
  const EngineStep* step;
};

// "9 prompts with 8155 tokens, 37 output tokens": of all mixed steps together; empty where a name does not say
std::string mixed_text(const std::vector<EngineRange>& ranges) {
  std::uint64_t prompts = 0;
  std::int64_t read = 0, written = 0;
  for (const EngineRange& each : ranges) {
    if (each.step->kind != nvtx::StepKind::kMixed) continue;
    if (!each.step->prompts || !each.step->tokens()) return {};
    prompts += *each.step->prompts;
    read += *each.step->prompt_tokens;
    written += *each.step->output_tokens;
  }
  if (prompts == 0) return {};
  return fmt::format("{} {} with {} {}, {} output {}", prompts, prompts == 1 ? "prompt" : "prompts", read, read == 1 ? "token" : "tokens",
                     written, written == 1 ? "token" : "tokens");
}

// Where drafts are checked, the steps of the draft model have the names of steps of decoding.
void drop_draft_steps(std::vector<EngineRange>& ranges) {
  std::set<std::uint32_t> verifying;  // threads
  for (const EngineRange& each : ranges)
    if (each.step->verifies_drafts) verifying.insert(each.range->thread);
  std::erase_if(ranges, [&](const EngineRange& each) {
    return each.step->kind == nvtx::StepKind::kDecode && !each.step->verifies_drafts && verifying.contains(each.range->thread);
  });
}

// The names of ranges that are steps of engines, each looked at once.
using EngineNames = std::unordered_map<std::uint32_t, std::optional<EngineStep>>;

// Of SGLang's two kinds of ranges, those that tell what they run.
std::vector<EngineRange> ranges_of_engine(const Trace& trace, EngineNames& names) {
  std::map<std::pair<std::string_view, bool>, std::vector<EngineRange>> engines;
  for (const Range& range : trace.ranges) {
    const auto [found, added] = names.try_emplace(range.name.value);
    auto& step = found->second;
    if (added) step = nvtx::engine_step(trace.strings[range.name]);
    if (step && !never_closed(trace, range)) engines[{step->engine, step->told()}].push_back({&range, &*step});
  }
  const auto rank = [](const auto& engine) { return std::pair(engine.first.second, engine.second.size()); };
  const auto most = std::max_element(engines.begin(), engines.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (most == engines.end()) return {};
  drop_draft_steps(most->second);
  return std::move(most->second);
}

// Prefill has more rows than the step in the middle.
class WorkOfRanges {
 public:
  explicit WorkOfRanges(const Trace& trace) : trace_(trace), sequences_(work_sequences(trace)) {
    for (const WorkSequence& sequence : sequences_) amounts_.emplace_back(trace, sequence);
  }
  std::vector<bool> prefills(const std::vector<EngineRange>& ranges) const {
    std::vector<WorkAmount> work;
    for (const EngineRange& each : ranges) work.push_back(launched_in(*each.range));
    std::vector<WorkAmount> sorted = work;
    std::erase_if(sorted, [](const WorkAmount& amount) { return amount.gpu_ns == 0; });
    if (sorted.empty()) return std::vector<bool>(ranges.size(), false);
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end(), [](const WorkAmount& a, const WorkAmount& b) { return a.gpu_ns < b.gpu_ns; });
    std::vector<bool> out;
    for (const WorkAmount& amount : work) out.push_back(has_more_rows(amount, *middle));
    return out;
  }

 private:
  WorkAmount launched_in(const Range& range) const {
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (sequences_[i].thread != range.thread) continue;
      const auto& calls = sequences_[i].calls;
      const auto place = [&](Ns time) {
        return static_cast<std::uint32_t>(
            std::lower_bound(calls.begin(), calls.end(), time,
                             [&](std::uint32_t call, Ns at) { return trace_.api_calls[call].start_ns < at; }) -
            calls.begin());
      };
      return amounts_[i].between(place(range.start_ns), place(range.end_ns));
    }
    return {};
  }
  const Trace& trace_;
  std::vector<WorkSequence> sequences_;
  std::vector<WorkAmounts> amounts_;
};

}  // namespace

FoundStages stages_of_engine(const Trace& trace) {
  FoundStages out;
  EngineNames names;
  const std::vector<EngineRange> ranges = ranges_of_engine(trace, names);
  if (ranges.empty()) return out;
  const bool told = ranges[0].step->told();
  const std::vector<bool> prefills = told ? std::vector<bool>() : WorkOfRanges(trace).prefills(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const EngineStep& step = *ranges[i].step;
    if (step.kind == nvtx::StepKind::kIdle) continue;
    const nvtx::StepKind by_work = !told && prefills[i] ? nvtx::StepKind::kPrefill : nvtx::StepKind::kDecode;
    out.stages.push_back(stage_at(*ranges[i].range, step_name(step.kind.value_or(by_work))));
    out.stages.back().tokens = step.tokens();
  }
  out.origin = {StageSource::kEngine, told ? 1 : kToldByWork};
  std::map<std::string, std::string> more;
  if (const std::string mixed = mixed_text(ranges); !mixed.empty()) more["mixed_step"] = mixed;
  if (!out.stages.empty())
    out.notes.push_back({Code::kStagesOfEngine, {std::string(ranges[0].step->engine), counts_text(out.stages, more)}});
  return out;
}

std::vector<Remark> notes_on_processes(const Trace& trace) {
  std::map<std::string_view, std::map<std::uint32_t, std::string>> engines;  // by process
  const auto look = [&](std::uint32_t process, const std::string& name) {
    const auto known = nvtx::engine_process(name);
    if (!known || process >= trace.processes.size()) return;
    engines[known->engine].try_emplace(process,
                                       fmt::format("{} ({}, process {})", key_of(known->role), name, trace.processes[process].pid));
  };
  for (std::uint32_t i = 0; i < trace.processes.size(); ++i) look(i, trace.processes[i].name);
  for (const Thread& thread : trace.threads) look(thread.process, thread.name);  // a program that renames its main thread
  std::vector<Remark> notes;
  for (const auto& [engine, texts] : engines) {
    std::string text;
    for (const auto& [process, each] : texts) text += (text.empty() ? "" : ", ") + each;
    notes.push_back({Code::kEngineProcesses, {std::string(engine), text}});
  }
  return notes;
}

std::vector<EngineRound> engine_rounds(const Trace& trace) {
  EngineNames names;
  std::vector<EngineRound> rounds;
  for (const EngineRange& each : ranges_of_engine(trace, names))
    rounds.push_back({each.range->start_ns, each.range->end_ns, each.range->thread, each.step->prompts, each.step->sequences});
  return rounds;
}

FoundStages stages_of_map(const Trace& trace, const StageMap& map) {
  FoundStages out;
  std::vector<std::regex> patterns;
  for (const auto& [stage, pattern] : map) patterns.emplace_back(pattern);
  std::vector<std::size_t> matches(map.size(), 0);
  std::unordered_map<std::uint32_t, std::size_t> entry_of_name;  // map.size(): none
  for (const Range& range : trace.ranges) {
    const auto [found, added] = entry_of_name.try_emplace(range.name.value, 0);
    if (added)
      found->second = static_cast<std::size_t>(
          std::find_if(patterns.begin(), patterns.end(),
                       [&](const std::regex& pattern) { return std::regex_search(trace.strings[range.name], pattern); }) -
          patterns.begin());
    if (found->second == map.size() || never_closed(trace, range)) continue;
    ++matches[found->second];
    out.stages.push_back(stage_at(range, map[found->second].first));
  }
  for (std::size_t i = 0; i < map.size(); ++i)
    if (matches[i] == 0) out.notes.push_back({Code::kMapNoMatch, {map[i].first}});
  if (!out.stages.empty()) out.notes.push_back({Code::kStagesMapped, {counts_text(out.stages)}});
  return out;
}

}  // namespace nl::analysis
