#include "exporters/report/sections/recommendations.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "exporters/report/figure_text.h"

namespace nl::exporters::report {
namespace {

bool has_gain(const Finding& finding) { return finding.gain_share && std::isfinite(*finding.gain_share); }

// What it is likely to be worth. Less than one per cent is nobody's first step.
constexpr double kWorthMentioning = 0.01;
double worth(const Finding& finding) {
  return has_gain(finding) && *finding.gain_share >= kWorthMentioning ? *finding.gain_share * finding.confidence : -1;
}

bool belongs_to(const Finding& finding, const Finding& first) {
  if (!finding.suggestions.empty() && !first.suggestions.empty() &&
      finding.suggestions.front() == first.suggestions.front())
    return true;
  return has_gain(finding) && has_gain(first) && finding.scope == first.scope && finding.subject == first.subject;
}

std::vector<const Finding*> asking_for_a_change(const Run& run) {
  std::vector<const Finding*> out;
  for (const auto& finding : run.findings)
    if (finding.severity != Severity::kInfo) out.push_back(&finding);
  return out;
}

}  // namespace

std::vector<Recommendation> recommendations(const Run& run, std::size_t most) {
  std::vector<const Finding*> all = asking_for_a_change(run);
  const auto rank = [](const Finding* each) {
    return std::tuple(-worth(*each), -static_cast<int>(each->severity), -each->confidence);
  };
  std::stable_sort(all.begin(), all.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  std::vector<Recommendation> out;
  for (const Finding* each : all) {
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
  const auto rank = [](const Finding* each) {
    return std::tuple(-static_cast<int>(each->severity), -worth(*each), -each->confidence);
  };
  const auto first =
      std::min_element(all.begin(), all.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  return first == all.end() ? nullptr : *first;
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
