#include "exporters/report/sections/recommendations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/figure_text.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

bool has_gain(const Finding& finding) { return finding.gain_share && std::isfinite(*finding.gain_share); }

bool belongs_to(const Finding& finding, const Finding& first) {
  const bool of_stages = finding.scope == RuleScope::kRun || finding.scope == RuleScope::kStage;
  if (!finding.same_cause_as.empty() && finding.same_cause_as == first.rule && (of_stages || finding.subject == first.subject)) return true;
  if (!finding.suggestions.empty() && !first.suggestions.empty() &&
      finding.suggestions.front() == first.suggestions.front())
    return true;
  return has_gain(finding) && has_gain(first) && finding.scope == first.scope && finding.subject == first.subject;
}

// The whole that a saving is of: unprofiled where the saving is.
std::optional<double> token_time(const Run& run, const Finding& finding) {
  const HeadlineFigure token = per_token_figure(run);
  return finding.gain_unprofiled ? token.best() : token.traced;
}

std::optional<double> window_time(const Run& run, const Finding& finding, const StageEntry& stage) {
  const auto bare = finding.gain_unprofiled ? unprofiled_ns(run, stage) : std::nullopt;
  return bare ? bare : stage.wall.count > 0 ? std::optional(stage.wall.mean_ns) : std::nullopt;
}

// A saving that is no part of its whole stands alone: the two come from different windows then.
std::string of_each(double saved_ns, const std::optional<double>& whole_ns, const std::string& each) {
  const bool part = whole_ns && *whole_ns >= saved_ns;
  return fmt::format("saves at most {}{} per {}", rough_time(saved_ns), part ? " of " + rough_time(*whole_ns) : "", each);
}

}  // namespace

std::vector<Recommendation> recommendations(const Run& run, std::size_t most) {
  std::vector<Recommendation> out;
  for (const Finding* each : findings_to_work_on(run)) {
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const auto& r) { return belongs_to(*each, *r.finding); });
    if (same != out.end())
      same->also.push_back(each);
    else if (out.size() < most)
      out.push_back({each, {}});
  }
  return out;
}

const Finding* first_to_work_on(const Run& run) {
  const std::vector<const Finding*> all = findings_to_work_on(run);
  return all.empty() ? nullptr : all.front();
}

std::string no_advice(const Run& run) {
  if (run.findings.empty() && run.abstentions.empty()) return "No rule was evaluated, so this report gives no advice.";
  const std::string left_out = plural(run.abstentions.size(), "rule was not evaluated", "rules were not evaluated");
  if (!run.kernels && !run.abstentions.empty()) return "No GPU work was recorded; " + left_out + " for lack of data.";
  return run.abstentions.empty() ? "No rule asks for a change." : "No rule asks for a change; " + left_out + " for lack of data.";
}

std::string worth_text(const Run& run, const Finding& finding) {
  if (finding.gain_per_token_ns) return of_each(*finding.gain_per_token_ns, token_time(run, finding), "token");
  const StageEntry* stage = finding.scope == RuleScope::kStage ? stage_named(run, finding.subject) : nullptr;
  if (finding.gain_per_window_ns && stage != nullptr && stage_kind(stage->name) != StageKind::kCapture)
    return of_each(*finding.gain_per_window_ns, window_time(run, finding, *stage), stage->name);
  if (has_gain(finding)) return "saves at most " + rough_share(*finding.gain_share) + " of the measured time";
  return finding.gain_ns ? "saves at most " + rough_time(*finding.gain_ns) + " in all" : "";
}

std::string plain_text(const Finding& finding) {
  if (!finding.plain.empty()) return finding.plain;
  return finding.message.empty() ? finding.rule : finding.message;
}

}  // namespace nl::exporters::report
