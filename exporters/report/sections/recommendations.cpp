#include "exporters/report/sections/recommendations.h"

#include <algorithm>
#include <cmath>

#include "exporters/report/figure_text.h"

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

std::vector<const Finding*> asking_for_a_change(const Run& run) {
  std::vector<const Finding*> out;
  for (const auto& finding : run.findings)
    if (finding.severity != Severity::kInfo && finding.about == RuleAbout::kWorkload) out.push_back(&finding);
  return out;
}

}  // namespace

std::vector<Recommendation> recommendations(const Run& run, std::size_t most) {
  std::vector<Recommendation> out;
  for (const Finding* each : asking_for_a_change(run)) {
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
  const std::vector<const Finding*> all = asking_for_a_change(run);
  return all.empty() ? nullptr : all.front();
}

std::string no_advice(const Run& run) {
  if (run.findings.empty() && run.abstentions.empty()) return "No rule was evaluated, so this report gives no advice.";
  const std::string left_out = plural(run.abstentions.size(), "rule was not evaluated", "rules were not evaluated");
  if (!run.kernels && !run.abstentions.empty()) return "No GPU work was recorded; " + left_out + " for lack of data.";
  return run.abstentions.empty() ? "No rule asks for a change." : "No rule asks for a change; " + left_out + " for lack of data.";
}

std::string plain_text(const Finding& finding) {
  if (!finding.plain.empty()) return finding.plain;
  return finding.message.empty() ? finding.rule : finding.message;
}

}  // namespace nl::exporters::report
