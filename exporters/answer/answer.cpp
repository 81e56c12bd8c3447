#include "exporters/answer/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/budget_bins.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "model/headline.h"
#include "model/identity.h"
#include "model/run_metrics.h"
#include "model/shell.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using namespace report;

// Whole nanoseconds, and shares to a hundredth of a percent: more digits say nothing and take room.
double answer_ms(double ns) { return std::round(ns) / 1e6; }
double answer_share(double share) { return std::round(share * 1e4) / 1e4; }

std::string stage_pointer(const Run& run, const StageEntry& stage) { return fmt::format("/stages/{}", &stage - run.stages.data()); }

AnswerUnit unit_of_iterations(const SessionEntry& session) {
  AnswerUnit unit{"", "iteration", session.unprofiled.count, {}, {}, answer_ms(session.unprofiled.median_ns), {}, {}, {}, "/session"};
  if (session.profiled.count > 0) {
    unit.traced_median_ms = answer_ms(session.profiled.median_ns);
    unit.traced_mean_ms = answer_ms(session.profiled.mean_ns);
  }
  return unit;
}

const StageEntry* stage_of_unit(const Run& run) {
  const StageEntry* unit = unit_stage(run);
  return unit != nullptr ? unit : step_stage(run);
}

std::optional<AnswerUnit> answer_unit_of(const Run& run) {
  if (has_iterations(run)) return unit_of_iterations(*run.session);
  const StageEntry* stage = stage_of_unit(run);
  if (stage == nullptr) return std::nullopt;
  AnswerUnit unit{stage->name,
                  stage_noun(stage->name),
                  stage->wall.count,
                  answer_ms(stage->wall.median_ns),
                  answer_ms(stage->wall.mean_ns),
                  {},
                  {},
                  {},
                  {},
                  stage_pointer(run, *stage)};
  const auto bare = bare_window(run, *stage);
  if (bare && !bare->predicted) unit.unprofiled_ms = answer_ms(bare->ns);
  if (bare && bare->predicted) {
    unit.predicted_ms = answer_ms(bare->ns);
    unit.predicted_low_ms = answer_ms(bare->low_ns);
    unit.predicted_high_ms = answer_ms(bare->high_ns);
  }
  return unit;
}

// "launch_starved" of "launch_starved_ns", the field of run.json.
std::string bin_key(Ns Budget::* time) {
  for (const BudgetBinKey& each : kBudgetBinKeys)
    if (each.time_ns == time) return std::string(each.key).substr(0, std::string_view(each.key).size() - 3);
  return {};
}

AnswerBudget budget_in(const Budget& budget, std::uint64_t windows, std::string stage, std::string pointer) {
  const double whole_ns = static_cast<double>(budget.wall_ns), count = static_cast<double>(std::max<std::uint64_t>(windows, 1));
  AnswerBudget out{std::move(stage), answer_ms(whole_ns / count), {}, std::move(pointer)};
  for (const report::BudgetBin& bin : kBudgetBins)
    if (const auto ns = static_cast<double>(budget.*bin.time); ns > 0)
      out.bins.push_back({bin_key(bin.time), bin.label, answer_ms(ns / count), answer_share(ns / whole_ns)});
  return out;
}

// Of the unit, else of what takes most of the time. Where a part of the trace is missing, it would look like waiting.
std::optional<AnswerBudget> budget_of(const Run& run) {
  if (is_incomplete(run)) return std::nullopt;
  const StageEntry* stage = has_iterations(run) ? nullptr : stage_of_unit(run);
  const auto main = main_stage(run);
  if (stage == nullptr || !stage->budget) stage = main ? stage_named(run, main->name) : nullptr;
  if (stage != nullptr && stage->budget && stage->budget->wall_ns > 0)
    return budget_in(*stage->budget, stage->wall.count, stage->name, stage_pointer(run, *stage) + "/budget");
  for (std::size_t i = 0; main && i < run.phases.phases.size(); ++i)
    if (const Phase& phase = run.phases.phases[i]; phase.name == main->name && phase.budget && phase.budget->wall_ns > 0)
      return budget_in(*phase.budget, 1, phase.name, fmt::format("/phases/phases/{}/budget", i));
  return std::nullopt;
}

std::string finding_pointer(const Run& run, const Finding& finding) { return fmt::format("/findings/{}", &finding - run.findings.data()); }

AnswerFinding finding_in(const Run& run, const Finding& finding) {
  AnswerFinding out{finding.rule,
                    finding.scope,
                    finding.subject,
                    finding.severity,
                    answer_share(finding.confidence),
                    finding.message,
                    gain_text(finding),
                    finding.gain_share ? std::optional(answer_share(*finding.gain_share)) : std::nullopt,
                    {},
                    finding_pointer(run, finding)};
  for (const FindingEvidence& each : finding.evidence)
    if (each.known) out.evidence.push_back({each.text, each.held, each.reference});
  return out;
}

std::vector<AnswerAction> actions_of(const Run& run) {
  std::vector<AnswerAction> actions;
  for (const Recommendation& each : recommendations(run, kMostActions)) {
    const Finding& finding = *each.finding;
    const std::string action = action_text(run, finding);
    const Prediction* prediction = prediction_of(finding);
    actions.push_back({action.empty() ? "Fix " + finding.rule : action, worth_text(run, finding), plain_text(finding),
                       prediction != nullptr ? whatif_command(*prediction) : "", finding.rule, finding_pointer(run, finding)});
  }
  return actions;
}

void add_predictions(const Run& run, Answer& answer) {
  if (!run.what_if) {
    answer.no_prediction = "The run has no replay of its capture; nl-stage whatif RUN makes one where there is a capture.";
    return;
  }
  const std::vector<Prediction>& all = run.what_if->predictions;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const Prediction& each = all[i]; !each.refused)
      answer.predictions.push_back({each.changes, each.stage, answer_ms(each.unperturbed_ns), answer_ms(each.predicted_ns),
                                    answer_ms(each.low_ns), answer_ms(each.high_ns), answer_share(each.saving()), each.ceiling,
                                    fmt::format("/what_if/predictions/{}", i)});
  if (answer.predictions.empty()) answer.no_prediction = all.empty() ? kNoChangeSaves : refusals_text(all);
}

void add_facts(const Run& run, Answer& answer) {
  const WorkloadIdentity identity = identity_of(run);
  answer.model = identity[IdentityPart::kModel];
  answer.precision = run.model.precision;
  answer.backend = run.session ? run.session->backend : run.software.backend.name();
  answer.gpu = run.hardware.gpus.empty() ? "" : run.hardware.gpus.front().name;
  answer.gpu_count = run.hardware.gpus.size();
  answer.hardware = hardware_key(run);
  answer.workload = identity_key(identity);
  answer.workload_text = identity_text(identity);
  if (run.workload.repository) {
    answer.revision = run.workload.repository->revision;
    answer.modified = run.workload.repository->modified;
  }
  answer.command = shell_quoted(run.workload.command);
}

// After the sentence about tracing, where there is one: it is no answer to how fast the program is.
std::size_t lead_of(const Run& run, const std::vector<std::string>& summary) {
  const std::string tracing = tracing_sentence(run);
  return !tracing.empty() && summary.size() > 1 && summary.front() == tracing ? 1 : 0;
}

}  // namespace

Answer answer_of(const Run& run) {
  Answer answer{run.run_id, run.name, run.created_at, run.mode, run.status};
  answer.summary = executive_summary(run);
  answer.lead = lead_of(run, answer.summary);
  answer.unit = answer_unit_of(run);
  answer.budget = budget_of(run);
  answer.actions = actions_of(run);
  if (answer.actions.empty()) answer.no_action = no_advice(run);
  for (const Finding& finding : run.findings) answer.findings.push_back(finding_in(run, finding));
  add_predictions(run, answer);
  for (std::size_t i = 0; i < run.abstentions.size(); ++i)
    answer.abstentions.push_back(
        {run.abstentions[i].rule, run.abstentions[i].why, run.abstentions[i].command, fmt::format("/abstentions/{}", i)});
  for (const Problem& problem : run.problems) answer.problems.push_back({problem.code, problem.what, problem.where, problem.fix});
  add_facts(run, answer);
  return answer;
}

}  // namespace nl::exporters
