#include "exporters/report/sections/executive_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "exporters/report/sections/budget_bins.h"
#include "exporters/report/sections/headline.h"
#include "exporters/report/sections/host_text.h"
#include "exporters/report/sections/recommendations.h"
#include "exporters/report/sections/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMaxSentences = 5;
constexpr std::size_t kLongSentence = 320;  // the longest of a shipped rule has 240 before its figures are put in
constexpr double kWorthSaying = 0.05;       // of the time: less is not what limits a stage
constexpr double kSecondWorthSaying = 0.2;  // a second wait
constexpr double kWidestRange = 0.5;        // of an uncertain slowdown; a wider one is left out

std::string subject(const Run& run) {
  if (!run.model.name.empty()) return phrase(run.model.name);
  return run.name.empty() ? "the workload" : phrase(run.name);
}

// As it stands inside a sentence. A word of capitals stays: "GPU".
std::string uncapitalised(std::string text) {
  const auto upper = [&](std::size_t i) { return i < text.size() && text[i] >= 'A' && text[i] <= 'Z'; };
  if (upper(0) && !upper(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

// "On one NVIDIA H200, "; nothing where no GPU was seen.
std::string where(const Run& run) {
  const auto& gpus = run.hardware.gpus;
  if (gpus.empty()) return {};
  const std::string name = gpus[0].name.empty() ? "GPU" : phrase(gpus[0].name);
  if (gpus.size() == 1) return "On one " + name + ", ";
  return gpus[0].name.empty() ? fmt::format("On {} GPUs, ", gpus.size()) : fmt::format("On {} GPUs ({}), ", gpus.size(), name);
}

// The name of a model stays as it is written, also where it begins the sentence.
std::string who(const Run& run) {
  return where(run).empty() && run.model.name.empty() && run.name.empty() ? "The workload" : where(run) + subject(run);
}

std::string status(const Run& run) {
  switch (run.status) {
    case RunStatus::kFailed: return "The run failed; the figures cover only what was captured before that.";
    case RunStatus::kInterrupted: return "The run ended early; the figures cover only its beginning.";
    case RunStatus::kPartial:
    case RunStatus::kComplete: return {};
  }
  return {};
}

std::string stage_speeds(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && parts.size() < 3)
      parts.push_back(fmt::format("{} takes {}", plain_stage(run, stage.name), rough_time(stage.wall.mean_ns)));
  if (!parts.empty()) return sentence(fmt::format("{}in {}, {} on average", where(run), subject(run), join(parts)));
  if (!run.coverage.gpu_busy_ns) return fmt::format("{} marks no stages.", who(run));
  const std::string busy = rough_time(static_cast<double>(*run.coverage.gpu_busy_ns));
  if (run.coverage.devices.size() > 1) return fmt::format("{} marks no stages; each GPU worked for {} on average.", who(run), busy);
  return fmt::format("{} marks no stages; the GPU worked for {} in all.", who(run), busy);
}

// "llama reads the prompt in 8.0 ms and writes 1,050 tokens (word pieces) per second; traced, 10 ms and 800."
std::string speed(const Run& run) {
  if (has_iterations(run)) return iteration_speed(run, where(run));
  const Headline first = first_token(run), rate = output_rate(run), token = per_token(run);
  const std::string whose = whose_tokens(run);
  std::vector<std::string> parts, traced;
  const auto add = [&](std::string part, const Headline& figure, std::string (*text)(double)) {
    parts.push_back(std::move(part));
    if (figure.unprofiled && figure.traced) traced.push_back(text(*figure.traced));
  };
  if (first.best()) add((run.latency.ttft ? "starts to answer after " : "reads the prompt in ") + rough_time(*first.best()), first, rough_time);
  if (rate.best())
    add(fmt::format("writes {} tokens (word pieces) per second{}", rough_count(*rate.best()), whose.empty() ? "" : " for " + whose), rate, rough_count);
  else if (token.best())
    add("writes one token (a word piece) every " + rough_time(*token.best()), token, rough_time);
  if (parts.empty()) return stage_speeds(run);
  return fmt::format("{} {}{}{}.", who(run), join(parts, " and "), source_label(run), traced.empty() ? "" : "; traced, " + join(traced, " and "));
}

std::string verdict(double times) {
  if (times < 0.98) return "faster than the model's description allows, so that description is probably wrong";
  if (times < 1.5) return "close to the limit of this GPU";
  return fmt::format("{} times what this GPU needs at its limit", times < 4 ? fmt::format("{:.1f}", times) : "about " + rough_count(times));
}

std::string quality(const Run& run, const std::optional<MainStage>& stage) {
  if (has_iterations(run)) return operator_shares(run);
  if (!stage) return {};
  const std::string name = sentence(plain_stage(run, stage->name)), what = name.substr(0, name.size() - 1);
  const std::string share = stage->share ? rough_share(*stage->share) + " of the time" : "the longest";
  const StageEfficiency* efficiency = efficiency_of(run, stage->name);
  const double ideal_ns = efficiency != nullptr ? efficiency->ideal_ns.value_or(0) : 0;
  if (!(ideal_ns > 0) || !(stage->mean_ns > 0)) return fmt::format("{} takes {}.", what, share);
  return fmt::format("{} takes {}: {}, {}{}.", what, share, rough_time(stage->mean_ns), verdict(stage->mean_ns / ideal_ns),
                     run.peaks && run.peaks->derived ? " (limit estimated)" : "");
}

// "; about half of the wait is …", where the wait for the program is among what was said.
std::string host_part(const Run& run, const MainStage& main, const std::vector<BudgetBin>& said) {
  const StageEntry* stage = stage_named(run, main.name);
  const bool waits = std::any_of(said.begin(), said.end(), [](const BudgetBin& bin) { return bin.time == &Budget::launch_starved_ns; });
  const std::string clause = stage != nullptr && waits ? host_clause(*stage) : "";
  return clause.empty() ? "" : "; " + clause;
}

// Computing and the largest of the other bins, a second one where it is large too: what matters is said.
std::string limit(const Run& run, const std::optional<MainStage>& stage) {
  if (!stage) return {};
  if (!stage->budget || stage->budget->wall_ns <= 0) return has_iterations(run) ? "" : "What the GPU did in that time was not captured.";
  const Budget& budget = *stage->budget;
  const auto share = [&](Ns Budget::*time) { return static_cast<double>(budget.*time) / static_cast<double>(budget.wall_ns); };
  std::vector<BudgetBin> others(kBudgetBins.begin() + 1, kBudgetBins.end());
  std::stable_sort(others.begin(), others.end(), [&](const BudgetBin& a, const BudgetBin& b) { return share(a.time) > share(b.time); });
  const std::string computes = "The GPU computes for " + rough_share(share(&Budget::gpu_compute_ns)) + (has_iterations(run) ? " of a profiled iteration" : " of that time");
  const auto wait = [&](const BudgetBin& bin) { return fmt::format("{} for {}", bin.plain, rough_share(share(bin.time))); };
  if (share(others[0].time) < kWorthSaying) return computes + ".";
  if (share(others[1].time) < kSecondWorthSaying) return fmt::format("{} and {}{}.", computes, wait(others[0]), host_part(run, *stage, {others[0]}));
  return fmt::format("{}, {} and {}{}.", computes, wait(others[0]), wait(others[1]), host_part(run, *stage, {others[0], others[1]}));
}

std::string first_step(const Run& run) {
  if (const Finding* finding = first_to_work_on(run)) {
    const std::string worth = worth_text(run, *finding);
    const std::string why = uncapitalised(phrase(plain_text(*finding), kLongSentence));
    if (finding->action.empty()) return fmt::format("First to fix: {}{}.", why, worth.empty() ? "" : "; that " + worth);
    return fmt::format("First action: {}; {}.", uncapitalised(phrase(finding->action, kLongSentence)), worth.empty() ? why : "it " + worth);
  }
  return no_advice(run);
}

// What is decided goes before what is not, however large. The times that are shown are not ncu's, which replays kernels.
const StageSlowdown* worst_slowdown(const Run& run) {
  const auto rank = [](const StageSlowdown& each) {
    return std::pair(each.verdict && *each.verdict != SlowdownVerdict::kUndecidable, *each.slowdown);
  };
  const StageSlowdown* worst = nullptr;
  for (const auto& slowdown : run.perturbation.stages)
    if (slowdown.profiler != PassKind::kNcu && slowdown.slowdown && (worst == nullptr || rank(slowdown) > rank(*worst))) worst = &slowdown;
  return worst;
}

std::string slowed_by(const StageSlowdown& slowdown) {
  const auto verdict = slowdown.verdict;
  if (verdict == SlowdownVerdict::kUnderTenPercent) return "by less than 10 %";
  if (verdict == SlowdownVerdict::kOverTenPercent) return "by about " + rough_share(*slowdown.slowdown);
  if (!slowdown.low || !slowdown.high || !(*slowdown.high - *slowdown.low <= kWidestRange) || *slowdown.high <= 0) return {};
  if (*slowdown.low <= 0) return "by at most " + rough_share(*slowdown.high);
  return fmt::format("by {} to {}", rough_share(*slowdown.low), rough_share(*slowdown.high));
}

// "profiling slowed decode_step by about 18 %; unprofiled, it takes 3.6 ms", as far as that is known.
std::string profiling_cost(const Run& run, const StageSlowdown& slowdown) {
  const double median_ns = unprofiled_ns(slowdown).value_or(0);
  const std::string by = slowed_by(slowdown), stage = phrase(stage_title(run, slowdown.stage));
  if (by.empty()) return median_ns > 0 ? fmt::format("unprofiled, {} takes {}", stage, rough_time(median_ns)) : "the profiling overhead is not certain";
  return fmt::format("profiling slowed {} {}{}", stage, by, median_ns > 0 ? "; unprofiled, it takes " + rough_time(median_ns) : "");
}

std::string cost(const Run& run) {
  if (has_iterations(run)) return recording_cost(run);
  const auto joules = joules_per_token(run);
  const StageSlowdown* slowdown = worst_slowdown(run);
  if (!joules && slowdown == nullptr) return "Energy and profiling overhead were not measured.";
  const std::string energy = joules ? fmt::format("A million output tokens take about {} kWh of GPU energy", figure_text(*joules / 3.6)) : "";
  if (slowdown == nullptr) return energy + "; profiling overhead was not measured.";
  return sentence(energy + (energy.empty() ? "" : "; ") + profiling_cost(run, *slowdown));
}

bool is_stage(const Phase& phase) {
  const StageKind kind = stage_kind(phase.name);
  return kind != StageKind::kIdle && kind != StageKind::kMixed;
}

// Where its ranges end before their GPU work, that work.
double window_ns(const StageEntry& stage) {
  return stage.runs_on() ? static_cast<double>(*stage.gpu_busy_ns) / static_cast<double>(stage.wall.count) : stage.wall.mean_ns;
}

}  // namespace

std::optional<MainStage> main_stage(const Run& run) {
  const Phase* longest = nullptr;
  for (const auto& phase : run.phases.phases)
    if (is_stage(phase) && (longest == nullptr || phase.wall_ns > longest->wall_ns)) longest = &phase;
  if (longest != nullptr && longest->wall_ns > 0 && run.phases.span_ns > 0) {
    const StageEntry* stage = stage_named(run, longest->name);
    return MainStage{longest->name, static_cast<double>(longest->wall_ns) / static_cast<double>(run.phases.span_ns),
                     stage != nullptr && stage->budget ? stage->budget : longest->budget,
                     stage != nullptr ? window_ns(*stage) : 0};
  }
  const StageEntry* largest = nullptr;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && (largest == nullptr || stage.wall.total_ns > largest->wall.total_ns)) largest = &stage;
  if (largest == nullptr) return std::nullopt;
  return MainStage{largest->name, std::nullopt, largest->budget, window_ns(*largest)};
}

std::string plain_stage(const Run& run, const std::string& stage) {
  const StageEntry* entry = stage_named(run, stage);
  const std::string source = entry == nullptr || entry->source == StageSource::kMarked ? "" : ", " + std::string(key_of(entry->source));
  switch (stage_kind(stage)) {
    case StageKind::kPrefill: return fmt::format("reading the prompt (prefill{})", source);
    case StageKind::kDecode: return fmt::format("writing the answer (decode{})", source);
    case StageKind::kDecodeStep: return fmt::format("one step of the answer (decode_step{})", source);
    case StageKind::kRequest: return "a whole request";
    case StageKind::kCapture: return "the steady part of the capture";
    default: return "the stage " + phrase(stage_title(run, stage));
  }
}

std::string phrase(const std::string& text, std::size_t longest) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = static_cast<unsigned char>(text[i]) < 0x20 ? ' ' : text[i];
    const bool ends = c == '.' || c == '!' || c == '?';
    if (ends && (i + 1 == text.size() || static_cast<unsigned char>(text[i + 1]) <= 0x20)) break;
    out += c;
    if (out.size() >= longest && c == ' ') {
      out += "…";
      break;
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::vector<std::string> executive_summary(const Run& run) {
  const auto stage = main_stage(run);
  std::vector<std::string> all = {status(run),  speed(run),      quality(run, stage),
                                  limit(run, stage), first_step(run), cost(run)};
  if (!all[0].empty()) all[2].clear();  // what failed need not be called good or bad
  std::erase_if(all, [](const std::string& sentence) { return sentence.empty(); });
  if (all.size() > kMaxSentences) all.resize(kMaxSentences);
  return all;
}

}  // namespace nl::exporters::report
