#include "exporters/report/executive_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/budget_bins.h"
#include "exporters/report/figure_text.h"
#include "exporters/report/recommendations.h"

namespace nl::exporters {
namespace {

constexpr std::size_t kMaxSentences = 5;
constexpr std::size_t kLongSentence = 320;  // the longest of a shipped rule has 240 before its figures are put in

std::string subject(const Run& run) {
  if (!run.model.name.empty()) return phrase(run.model.name);
  return run.name.empty() ? "the workload" : phrase(run.name);
}

// "On one NVIDIA H200, "; nothing where no GPU was seen.
std::string where(const Run& run) {
  const auto& gpus = run.hardware.gpus;
  if (gpus.empty()) return {};
  const std::string name = gpus[0].name.empty() ? "GPU" : phrase(gpus[0].name);
  return gpus.size() == 1 ? "On one " + name + ", " : fmt::format("On {} GPUs ({}), ", gpus.size(), name);
}

std::string capital(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string status(const Run& run) {
  switch (run.status) {
    case RunStatus::kFailed: return "The run failed, so the figures below cover only what was captured before that.";
    case RunStatus::kInterrupted: return "The run was ended early, so the figures below cover only its beginning.";
    case RunStatus::kPartial:
    case RunStatus::kComplete: return {};
  }
  return {};
}

std::string stage_speeds(const Run& run) {
  std::vector<std::string> parts;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && parts.size() < 3)
      parts.push_back(fmt::format("{} takes {}", plain_stage(stage.name), rough_time(stage.wall.mean_ns)));
  if (parts.empty())
    return fmt::format("How long {} takes is not known, because no stages are marked in it.", subject(run));
  return capital(fmt::format("{}in {}, {} on average.", where(run), subject(run), join(parts)));
}

std::string speed(const Run& run) {
  const Latency& latency = run.latency;
  // The name of a model stays as it is written, also where it begins the sentence.
  const std::string who =
      where(run).empty() && run.model.name.empty() && run.name.empty() ? "The workload" : where(run) + subject(run);
  const std::string rate =
      latency.output_tokens_per_s
          ? fmt::format("produces {} tokens (pieces of words) per second", rough_count(*latency.output_tokens_per_s))
      : latency.tpot ? fmt::format("writes one token (a piece of a word) every {}", rough_time(latency.tpot->mean_ns))
                     : std::string();
  const std::string first =
      latency.ttft ? fmt::format("begins to answer after {}", rough_time(latency.ttft->mean_ns)) : std::string();
  if (rate.empty() && first.empty()) return stage_speeds(run);
  return fmt::format("{} {}{}{}.", who, first, first.empty() || rate.empty() ? "" : " and ", rate);
}

std::string verdict(double ratio) {
  if (ratio < 0.98)
    return "which is faster than the description of the model allows: that description is probably wrong";
  if (ratio < 1.5) return "which is close to the best possible";
  if (ratio < 4)
    return fmt::format("which is {:.1f} times the least this GPU needs for it: there is room for improvement", ratio);
  return fmt::format("which is about {} times the least this GPU needs for it: far from what the hardware can do",
                     rough_count(ratio));
}

std::string quality(const Run& run, const std::optional<MainStage>& stage) {
  if (!stage) return {};
  const std::string share =
      stage->share ? fmt::format(" and makes up {} of the time", rough_share(*stage->share)) : std::string();
  const StageEfficiency* efficiency = efficiency_of(run, stage->name);
  if (efficiency == nullptr || !efficiency->ideal_ns || *efficiency->ideal_ns <= 0 || stage->mean_ns <= 0)
    return fmt::format("{} takes the longest{}; how close that comes to the hardware's limits was not measured.",
                       capital(plain_stage(stage->name)), share);
  return fmt::format("{} takes {}{}, {}{}.", capital(plain_stage(stage->name)), rough_time(stage->mean_ns), share,
                     verdict(stage->mean_ns / *efficiency->ideal_ns),
                     run.peaks && run.peaks->derived ? " (by an estimate of those limits)" : "");
}

std::string limit(const std::optional<MainStage>& stage) {
  if (!stage) return {};
  if (!stage->budget || stage->budget->wall_ns <= 0)
    return "What the GPU did meanwhile was not captured, so what limits the speed cannot be told.";
  const Budget& budget = *stage->budget;
  const auto largest =
      std::max_element(kBudgetBins.begin(), kBudgetBins.end(),
                       [&](const BudgetBin& a, const BudgetBin& b) { return budget.*a.time < budget.*b.time; });
  const double share = static_cast<double>(budget.*(largest->time)) / static_cast<double>(budget.wall_ns);
  if (share < 0.4)
    return fmt::format("No single cause dominates there: the largest, with {}, is that {}.", rough_share(share),
                       largest->plain);
  if (largest->time == &Budget::gpu_compute_ns)
    return fmt::format("For {} of that time {}, so the computing itself is the limit.", rough_share(share),
                       largest->plain);
  return fmt::format("For {} of that time {}.", rough_share(share), largest->plain);
}

// " concerns writing the answer (decode) and is worth up to 79 % of the time", as far as that is known.
std::string worth(const Finding& finding) {
  std::string text;
  // A step is no word of everyday life, and decode stands in the sentences before.
  if (finding.scope == "stage")
    text = " concerns " + plain_stage(finding.subject == "decode_step" ? "decode" : finding.subject);
  if (finding.gain_share && *finding.gain_share > 0)
    text +=
        fmt::format("{} is worth up to {} of the time", text.empty() ? "" : " and", rough_share(*finding.gain_share));
  return text;
}

std::string first_step(const Run& run) {
  if (const Finding* finding = first_to_work_on(run))
    return fmt::format("The first thing to work on{}: {}.", worth(*finding),
                       phrase(plain_text(*finding), kLongSentence));
  if (!run.kernels) return "Without data of the GPU hardly any check could be made, so there is no advice.";
  if (!run.abstentions.empty())
    return fmt::format("No check asks for a change; {} of them could not be made for lack of data.",
                       run.abstentions.size());
  return "No check asks for a change.";
}

std::optional<double> joules_per_token(const Run& run) {
  for (const char* name : {"decode", "decode_step"})
    for (const auto& stage : run.energy.stages)
      if (stage.stage == name && stage.joules_per_token) return stage.joules_per_token;
  return std::nullopt;
}

constexpr const char* kNotMeasured = "how much the measuring slowed the run was not measured";

std::string measuring_cost(const Run& run) {
  const StageSlowdown* worst = nullptr;
  for (const auto& slowdown : run.perturbation.stages)  // the times that are shown are not ncu's
    if (slowdown.profiler != "ncu" && slowdown.slowdown && (worst == nullptr || *slowdown.slowdown > *worst->slowdown)) worst = &slowdown;
  if (worst == nullptr) return kNotMeasured;
  if (worst->verdict == SlowdownVerdict::kOverTenPercent)
    return fmt::format("the measuring slowed the run by up to {}, so that in normal use it is faster than shown",
                       rough_share(*worst->slowdown));
  if (worst->verdict == SlowdownVerdict::kUnderTenPercent) return "the measuring slowed the run by less than 10 %";
  return "how much the measuring slowed the run cannot be told from so few passes";
}

std::string cost(const Run& run) {
  const auto joules = joules_per_token(run);
  if (!joules && measuring_cost(run) == kNotMeasured)
    return "Neither the energy nor the slowdown by the measuring itself was measured.";
  if (!joules) return fmt::format("Energy was not measured, and {}.", measuring_cost(run));
  return fmt::format("A million tokens of answer take about {} kWh of GPU energy; {}.", figure_text(*joules / 3.6),
                     measuring_cost(run));
}

}  // namespace

std::optional<MainStage> main_stage(const Run& run) {
  const Phase* longest = nullptr;
  for (const auto& phase : run.phases.phases)
    if (phase.name != "idle" && phase.name != "mixed" && (longest == nullptr || phase.wall_ns > longest->wall_ns))
      longest = &phase;
  if (longest != nullptr && longest->wall_ns > 0 && run.phases.span_ns > 0) {
    const StageEntry* stage = stage_named(run, longest->name);
    return MainStage{longest->name, static_cast<double>(longest->wall_ns) / static_cast<double>(run.phases.span_ns),
                     stage != nullptr && stage->budget ? stage->budget : longest->budget,
                     stage != nullptr ? stage->wall.mean_ns : 0};
  }
  const StageEntry* largest = nullptr;
  for (const auto& stage : run.stages)
    if (stage.wall.count > 0 && (largest == nullptr || stage.wall.total_ns > largest->wall.total_ns)) largest = &stage;
  if (largest == nullptr) return std::nullopt;
  return MainStage{largest->name, std::nullopt, largest->budget, largest->wall.mean_ns};
}

std::string plain_stage(const std::string& stage) {
  if (stage == "prefill") return "reading the prompt (prefill)";
  if (stage == "decode") return "writing the answer (decode)";
  if (stage == "decode_step") return "one step of the answer (decode_step)";
  return "the stage " + phrase(stage);
}

std::string rough_time(double ns) {
  const auto two_digits = [](double value) { return fmt::format("{:.{}f}", value, std::abs(value) < 9.95 ? 1 : 0); };
  if (std::abs(ns) >= 9.995e8) return two_digits(ns / 1e9) + " s";
  if (std::abs(ns) >= 9.995e5) return two_digits(ns / 1e6) + " ms";
  if (std::abs(ns) >= 9.995e2) return two_digits(ns / 1e3) + " µs";
  return fmt::format("{:.0f} ns", ns);
}

std::string rough_count(double count) {
  const double size = count < 1000 ? 1 : std::pow(10.0, std::floor(std::log10(count)) - 2);
  return count < 9.95 ? fmt::format("{:.1f}", count)
                      : count_text(static_cast<std::uint64_t>(std::min(std::round(count / size) * size, 1e18)));
}

std::string rough_share(double share) {
  if (share > 0 && share < 0.01) return "less than 1 %";
  return fmt::format("{:.0f} %", share * 100);
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
                                  limit(stage), first_step(run), cost(run)};
  if (!all[0].empty()) all[2].clear();  // what failed need not be called good or bad
  std::erase_if(all, [](const std::string& sentence) { return sentence.empty(); });
  if (all.size() > kMaxSentences) all.resize(kMaxSentences);
  return all;
}

}  // namespace nl::exporters
