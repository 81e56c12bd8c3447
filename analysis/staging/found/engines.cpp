#include "analysis/staging/found/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>

#include "analysis/staging/found/work.h"
#include "analysis/staging/stage_table.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

// Reads a name from left to right; the first thing that is not there ends it.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : rest_(name) {}
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  std::optional<std::int64_t> number_after(std::string_view text) { return skip(text) ? number() : std::nullopt; }
  std::optional<std::int64_t> value_of(std::string_view key) const {  // "bs=4" anywhere behind
    const std::size_t at = rest_.find(key);
    return at == std::string_view::npos ? std::nullopt : NameReader(rest_.substr(at + key.size())).number();
  }

 private:
  std::string_view rest_;
};

EngineStep step_of(std::string_view engine, std::int64_t contexts, std::int64_t generations) {
  EngineStep step;
  step.engine = engine;
  step.prefills = contexts > 0;
  step.decodes = generations > 0;
  if (contexts >= 0) step.contexts = static_cast<std::uint64_t>(contexts);
  if (generations >= 0) step.generations = static_cast<std::uint64_t>(generations);
  return step;
}

// execute_context_2(512)_generation_6(6)
std::optional<EngineStep> vllm_step(NameReader name) {
  const auto contexts = name.number_after("execute_context_");
  const auto context_tokens = name.number_after("(");
  const auto generations = name.number_after(")_generation_");
  const auto generation_tokens = name.number_after("(");
  if (!contexts || !context_tokens || !generations || !generation_tokens) return std::nullopt;
  EngineStep step = step_of("vLLM", *contexts, *generations);
  step.context_tokens = context_tokens;
  step.generation_tokens = generation_tokens;
  return step;
}

// [Executor] _forward_step 7: 1 ctx reqs, 512 ctx tokens, 31 gen reqs
std::optional<EngineStep> tensorrt_llm_step(NameReader name) {
  if (!name.skip("[Executor] _forward_step")) return std::nullopt;
  name.number_after(" ");
  const auto contexts = name.number_after(": ");
  if (!contexts || !name.skip(" ctx reqs, ")) return std::nullopt;
  auto number = name.number();
  std::optional<std::int64_t> context_tokens;
  if (name.skip(" ctx tokens, ")) {
    context_tokens = number;
    number = name.number();
  }
  if (!number || !name.skip(" gen reqs")) return std::nullopt;
  EngineStep step = step_of("TensorRT-LLM", *contexts, *number);
  step.context_tokens = *contexts > 0 ? context_tokens : 0;
  step.generation_tokens = number;
  return step;
}

// step[EXTEND bs=1 toks=512], step[DECODE bs=8], step[MIXED …]; scheduler.run_batch says nothing of what it runs
std::optional<EngineStep> sglang_step(NameReader name) {
  EngineStep step;
  step.engine = "SGLang";
  if (name.skip("scheduler.run_batch")) return step;
  if (!name.skip("step[")) return std::nullopt;
  const bool extends = name.skip("EXTEND"), decodes = !extends && name.skip("DECODE"), mixed = !extends && !decodes && name.skip("MIXED");
  if (!extends && !decodes && !mixed) return std::nullopt;
  step.prefills = extends || mixed;
  step.decodes = decodes || mixed;
  if (extends) step.context_tokens = name.value_of("toks=");
  const auto requests = name.value_of("bs=");
  if (decodes) step.generation_tokens = requests;
  if (mixed || !requests || *requests < 0) return step;
  step.contexts = extends ? static_cast<std::uint64_t>(*requests) : 0;
  step.generations = decodes ? static_cast<std::uint64_t>(*requests) : 0;
  return step;
}

constexpr double kToldByWork = 0.8;  // confidence where names do not tell prefill from decoding

std::string step_name(bool prefills, bool decodes) {
  if (prefills && decodes) return "mixed_step";
  return std::string(key_of(prefills ? StageKind::kPrefill : StageKind::kDecodeStep));
}

std::optional<std::int64_t> tokens_of_step(const EngineStep& step) {
  if (!step.told()) return std::nullopt;
  if (*step.prefills && *step.decodes && step.context_tokens && step.generation_tokens)
    return *step.context_tokens + *step.generation_tokens;
  if (*step.prefills && *step.decodes) return std::nullopt;
  return *step.prefills ? step.context_tokens : step.generation_tokens;
}

FoundStage stage_at(const Range& range, std::string name) { return {range.start_ns, range.end_ns, range.thread, std::move(name), {}}; }

// "decode_step: 64, prefill: 4"
std::string counts_text(const std::vector<FoundStage>& stages) {
  std::map<std::string, std::size_t> counts;
  for (const FoundStage& stage : stages) ++counts[stage.name];
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, count);
  return text;
}

struct EngineRange {
  const Range* range;
  const EngineStep* step;
};

// The names of ranges that are steps of engines, each looked at once.
using EngineNames = std::unordered_map<std::uint32_t, std::optional<EngineStep>>;

// Of SGLang's two kinds of ranges, those that tell what they run.
std::vector<EngineRange> ranges_of_engine(const Trace& trace, EngineNames& names) {
  std::map<std::pair<std::string_view, bool>, std::vector<EngineRange>> engines;
  for (const Range& range : trace.ranges) {
    const auto [found, added] = names.try_emplace(range.name.value);
    auto& step = found->second;
    if (added) step = engine_step(trace.strings[range.name]);
    if (step && !never_closed(trace, range)) engines[{step->engine, step->told()}].push_back({&range, &*step});
  }
  const auto rank = [](const auto& engine) { return std::pair(engine.first.second, engine.second.size()); };
  const auto most = std::max_element(engines.begin(), engines.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return most == engines.end() ? std::vector<EngineRange>{} : most->second;
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

std::optional<EngineStep> engine_step(std::string_view name) {
  for (const auto read : {vllm_step, tensorrt_llm_step, sglang_step})
    if (auto step = read(NameReader(name))) return step;
  return std::nullopt;
}

FoundStages stages_of_engine(const Trace& trace) {
  FoundStages out;
  EngineNames names;
  const std::vector<EngineRange> ranges = ranges_of_engine(trace, names);
  if (ranges.empty()) return out;
  const bool told = ranges[0].step->told();
  const std::vector<bool> prefills = told ? std::vector<bool>() : WorkOfRanges(trace).prefills(ranges);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const EngineStep& step = *ranges[i].step;
    if (told && !*step.prefills && !*step.decodes) continue;  // an idle round
    out.stages.push_back(
        stage_at(*ranges[i].range, told ? step_name(*step.prefills, *step.decodes) : step_name(prefills[i], !prefills[i])));
    out.stages.back().tokens = tokens_of_step(step);
  }
  out.origin = {StageSource::kEngine, told ? 1 : kToldByWork};
  if (!out.stages.empty()) out.notes.push_back({Code::kStagesOfEngine, {std::string(ranges[0].step->engine), counts_text(out.stages)}});
  return out;
}

std::vector<EngineRound> engine_rounds(const Trace& trace) {
  EngineNames names;
  std::vector<EngineRound> rounds;
  for (const EngineRange& each : ranges_of_engine(trace, names))
    rounds.push_back({each.range->start_ns, each.range->end_ns, each.range->thread, each.step->contexts, each.step->generations});
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
