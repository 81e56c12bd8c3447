#include "analysis/verdicts/rules/worth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

constexpr double kHighShare = 0.05, kLowShare = 0.01;  // of the measured time
constexpr double kLeastPrediction = 0.02;              // of the stage: a change that brings less is not worth making
constexpr double kHighConfidence = 0.8;
constexpr std::ptrdiff_t kHighEvidence = 2;

bool of_gpu_work(const Subject& subject) { return subject.scope == RuleScope::kKernel || subject.scope == RuleScope::kOperator; }

// Nothing makes a kernel faster than the hardware allows at its arithmetic intensity.
double above_roof(const Subject& subject) {
  const RooflinePoint* roof = subject.scope == RuleScope::kKernel ? subject.roof() : nullptr;
  return roof && roof->roof_share ? std::clamp(1 - *roof->roof_share, 0.0, 1.0) : 1;
}

// The spans of all processes add up to the run's, and a kernel's time is that of its GPU: it is a part of the spans of those
// processes that use this GPU.
double own_part(const Subject& subject) {
  if (subject.scope != RuleScope::kKernel || !subject.totals->span_ns) return 1;
  Ns own_ns = 0;
  for (const StageDevice& gpu : subject.run->phases.devices) own_ns += gpu.device == subject.kernel().device ? gpu.budget.wall_ns : 0;
  return own_ns > 0 ? std::min(1.0, static_cast<double>(own_ns) / static_cast<double>(*subject.totals->span_ns)) : 1;
}

// An operator's GPU time is that of all GPUs.
double gpus_of(const Subject& subject) {
  if (subject.scope != RuleScope::kOperator || !subject.op().cuda_total_ns || !subject.totals->span_ns) return 1;
  Ns all_ns = 0;
  for (const StageDevice& gpu : subject.run->phases.devices) all_ns += gpu.budget.wall_ns;
  return std::max(1.0, static_cast<double>(all_ns) / static_cast<double>(*subject.totals->span_ns));
}

// The part of a kernel's or operator's time that lies in measured windows. It is known of kernels; of an operator the part of all GPU
// work is taken.
double measured_part(const Subject& subject) {
  const bool known = subject.scope == RuleScope::kKernel && subject.totals->working.measured && subject.kernel().time.total_ns > 0;
  return known ? static_cast<double>(subject.working().time_ns) / static_cast<double>(subject.kernel().time.total_ns)
               : subject.totals->measured_part;
}

double limited(const Subject& subject, double gain_ns, Ns time_ns) {
  double ns = std::clamp(gain_ns, 0.0, static_cast<double>(time_ns) * above_roof(subject));
  if (of_gpu_work(subject)) ns *= measured_part(subject) * subject.totals->gpu_paced_part / gpus_of(subject);
  return subject.totals->span_ns ? std::min(ns, static_cast<double>(*subject.totals->span_ns) * own_part(subject)) : ns;
}

// Profiling adds host time to a window. An unprofiled run does not have that time, so a fix cannot save it. The part of a gain above
// the GPU's work is host time.
double added_by_profiling_ns(const CompiledRule& rule, const Subject& subject, double gain_ns, Finding& finding) {
  const StageSlowdown* slower = subject.slower();
  if (!slower || !slower->slowdown || *slower->slowdown <= 0) return 0;
  finding.gain_unprofiled = true;
  if (rule.gain->place() == Place::kRecurringGaps) return 0;  // profilers slow CUDA calls down, and such a gap has none
  const TimeSummary& wall = subject.stage().wall;
  const Budget* budget = subject.budget();
  const double work_ns = budget ? static_cast<double>(budget->busy_ns()) / static_cast<double>(wall.count) : 0;
  const double added_ns = wall.mean_ns * *slower->slowdown / (1 + *slower->slowdown);
  if (rule.gain->place() == Place::kLaunchWaits) return std::min(added_ns, gain_ns);  // it falls on the launches
  return std::min(added_ns, std::max(0.0, gain_ns - work_ns));
}

// The same without what profiling adds: of the time that the windows of the stage would take unprofiled.
double unprofiled_share(const Subject& subject, const Finding& finding) {
  const double wall_ns = subject.stage().wall.mean_ns / (1 + *subject.slower()->slowdown);
  const double of_stage = wall_ns > 0 ? *finding.gain_per_window_ns / wall_ns : 0;
  return std::clamp(of_stage * static_cast<double>(subject.stage().wall.total_ns) / static_cast<double>(*subject.totals->span_ns), 0.0,
                    1.0);
}

void divide_gain(const CompiledRule& rule, const Subject& subject, Finding& finding) {
  if (subject.scope == RuleScope::kStage && subject.stage().wall.count > 0) {
    const TimeSummary& wall = subject.stage().wall;
    const double each_ns = *finding.gain_ns / static_cast<double>(wall.count);
    finding.gain_per_window_ns = each_ns - added_by_profiling_ns(rule, subject, each_ns, finding);
    if (finding.gain_unprofiled && finding.gain_share) finding.gain_share = unprofiled_share(subject, finding);
    if (is_decode(subject.stage().name) && subject.totals->steps_per(subject.stage()) > 0 && subject.totals->generates)
      finding.gain_per_token_ns = *finding.gain_per_window_ns / subject.totals->steps_per(subject.stage());
  } else if (subject.totals->steps > 0 && subject.totals->generates) {
    finding.gain_per_token_ns = *finding.gain_ns / (subject.totals->steps * own_part(subject));
  }
}

auto rank(const Finding& finding) {
  const bool idle = finding.severity == Severity::kInfo;
  const double worth = finding.gain_share.value_or(0) * finding.confidence;
  // Without a measured span there are no shares, and nanoseconds are compared.
  const double gain_ns = finding.gain_share ? 0 : finding.gain_ns.value_or(0) * finding.confidence;
  return std::tuple(finding.about, idle, -worth, -gain_ns, -static_cast<int>(finding.severity), -finding.confidence);
}

// Findings about one kernel may share a cause; findings about different kernels do not.
std::string cause_key(const Finding& finding) {
  return finding.scope == RuleScope::kKernel || finding.scope == RuleScope::kOperator ? finding.cause + "\n" + finding.subject
                                                                                      : finding.cause;
}

}  // namespace

std::string missing_names(const MissingSet& missing) {
  std::string text;
  for (const auto& each : missing) text += (text.empty() ? "" : ", ") + each.name;
  return text;
}

void expect_gain(const CompiledRule& rule, const Subject& subject, Finding& finding) {
  if (rule.gain_note) finding.gain_note = rule.gain_note->text(subject);
  if (!rule.gain) return;
  MissingSet missing;
  const Value gain = rule.gain->evaluate(subject, missing);
  const auto time = subject.time_ns();
  if (!gain.known || !time) {
    if (missing.empty()) finding.gain_note = "no estimate: a value is missing";
    else if (subject.totals->incomplete) finding.gain_note = "no estimate: a part of the trace is missing";
    else finding.gain_note = fmt::format("no estimate: {} not captured", missing_names(missing));
    return;
  }
  finding.gain_ns = limited(subject, gain.number, *time);
  if (subject.totals->span_ns) finding.gain_share = *finding.gain_ns / (static_cast<double>(*subject.totals->span_ns) * own_part(subject));
  divide_gain(rule, subject, finding);
}

std::string predicted_stage(const Subject& subject) {
  return subject.scope == RuleScope::kStage ? subject.stage().name : stage_to_predict(*subject.run);
}

void use_prediction(const Prediction& prediction, const Subject& subject, Finding& finding) {
  const StageEntry* stage = stage_named(*subject.run, prediction.stage);
  if (prediction.refused || prediction.unperturbed_ns <= 0 || stage == nullptr || stage->wall.count == 0) return;
  finding.prediction = prediction;
  const double share = prediction.saving();
  finding.gain_ns = share * static_cast<double>(stage->wall.total_ns);
  finding.gain_share.reset();
  if (subject.totals->span_ns) finding.gain_share = std::min(1.0, *finding.gain_ns / static_cast<double>(*subject.totals->span_ns));
  finding.gain_per_window_ns = share * unprofiled_ns(*subject.run, *stage).value_or(prediction.unperturbed_ns);
  finding.gain_unprofiled = true;
  finding.gain_per_token_ns.reset();
  if (is_decode(stage->name) && subject.totals->steps_per(*stage) > 0 && subject.totals->generates)
    finding.gain_per_token_ns = *finding.gain_per_window_ns / subject.totals->steps_per(*stage);
  finding.gain_note.clear();
}

Severity fitting_severity(Severity asked, const Finding& finding) {
  if (finding.about == RuleAbout::kFailure) return asked;  // nothing is saved before it is fixed
  if (finding.prediction && finding.prediction->saving() < kLeastPrediction) return Severity::kInfo;
  if (finding.gain_share && *finding.gain_share < kLowShare) return std::min(asked, Severity::kLow);
  const auto held = std::count_if(finding.evidence.begin(), finding.evidence.end(), [](const FindingEvidence& each) { return each.held; });
  const bool high = finding.gain_share.value_or(0) >= kHighShare && finding.confidence > kHighConfidence && held >= kHighEvidence;
  return high ? asked : std::min(asked, Severity::kMedium);
}

void sort_by_worth(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  std::map<std::string, std::size_t> leaders;  // by cause: the first with it
  std::vector<std::size_t> leader(findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    Finding& finding = findings[i];
    leader[i] = i;
    if (finding.cause.empty() || finding.about == RuleAbout::kMeasurement || finding.severity == Severity::kInfo) continue;
    leader[i] = leaders.try_emplace(cause_key(finding), i).first->second;
    if (leader[i] != i) finding.same_cause_as = findings[leader[i]].rule;
  }
  std::vector<std::size_t> order(findings.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return leader[a] < leader[b]; });
  std::vector<Finding> sorted;
  std::size_t first = 0;  // of those with this cause
  for (const std::size_t i : order) {
    if (leader[i] == i) first = sorted.size();
    else findings[i].part_of = fmt::format("/findings/{}", first);
    sorted.push_back(std::move(findings[i]));
  }
  findings = std::move(sorted);
}

}  // namespace nl::analysis::rules
