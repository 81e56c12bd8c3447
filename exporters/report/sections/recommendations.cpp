#include "exporters/report/sections/executive_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMostParts = 3, kLongPart = 200;

bool has_gain(const Finding& finding) { return finding.gain_share && std::isfinite(*finding.gain_share); }

// Two gains of one kernel or operator are of the same time. Two of a stage need not be: launches, and the user's own code between steps.
bool belongs_to(const Finding& finding, const Finding& first) {
  if (!finding.suggestions.empty() && !first.suggestions.empty() && finding.suggestions.front() == first.suggestions.front()) return true;
  return has_gain(finding) && has_gain(first) && finding.scope != RuleScope::kStage && finding.scope == first.scope &&
         finding.subject == first.subject;
}

// A part goes with its whole, also where that belongs to another.
bool belongs_to(const Run& run, const Finding& finding, const Recommendation& to) {
  const Finding* whole = whole_of(run, finding);
  if (whole != nullptr && (whole == to.finding || std::find(to.also.begin(), to.also.end(), whole) != to.also.end())) return true;
  return belongs_to(finding, *to.finding);
}

// Where a saving is scaled to unprofiled runs, so is the whole that it is of. Where it is not, and the report quotes the unprofiled
// time elsewhere, the two must not be taken for one.
struct WholeTime {
  std::optional<double> ns;
  bool traced_only = false;
};

WholeTime whole_time_of(const Finding& finding, const std::optional<double>& traced, const std::optional<double>& unprofiled) {
  if (finding.gain_unprofiled) return {unprofiled, false};
  return {traced, unprofiled.has_value()};
}

WholeTime token_time(const Run& run, const Finding& finding) {
  const HeadlineFigure token = per_token_figure(run);
  return whole_time_of(finding, token.traced, token.unprofiled);
}

WholeTime window_time(const Run& run, const Finding& finding, const StageEntry& stage) {
  return whole_time_of(finding, stage.wall.count > 0 ? std::optional(stage.wall.mean_ns) : std::nullopt, unprofiled_ns(run, stage));
}

// "3.8 ms of 4.3 ms per token", "99 % of 64 ms per token"; empty where the two come from different windows: neither is part of the other.
std::string part_of_each(const std::optional<double>& saved_ns, const WholeTime& of, const std::string& each) {
  if (!saved_ns || !of.ns || !(*saved_ns <= *of.ns)) return {};
  const std::string saved = rough_time(*saved_ns), whole = rough_time(*of.ns);
  return fmt::format("{} of {} per {}{}", saved == whole ? rough_share(*saved_ns / *of.ns) : saved, whole, each,
                     of.traced_only ? " in the traced run" : "");
}

// Per token, else per window of its stage.
std::string saved_each(const Run& run, const Finding& finding) {
  const std::string token = part_of_each(finding.gain_per_token_ns, token_time(run, finding), "token");
  const StageEntry* stage = finding.scope == RuleScope::kStage ? stage_named(run, finding.subject) : nullptr;
  if (!token.empty() || stage == nullptr || stage_kind(stage->name) == StageKind::kCapture) return token;
  return part_of_each(finding.gain_per_window_ns, window_time(run, finding, *stage),
                      generates(run) ? stage->name : stage_noun(stage->name));
}

std::string saved_share(const Finding& finding) {
  return has_gain(finding) ? rough_share(*finding.gain_share) + " of the measured time" : "";
}

// "saves about 39 % of each decode_step, between 31 and 45 %"; empty: not predicted.
std::string predicted_worth(const Run& run, const Finding& finding) {
  const Prediction* prediction = prediction_of(finding);
  if (prediction == nullptr) return {};
  return plain_saving_text(*prediction, generates(run) ? prediction->stage : stage_noun(prediction->stage));
}

// "Parts of it: …; …." What has the same cause in the same stage, in everyday words.
std::string parts_sentence(const Run& run, const Recommendation& recommendation) {
  std::vector<std::string> parts;
  for (const Finding* each : recommendation.also) {
    if (whole_of(run, *each) != recommendation.finding || each->subject != recommendation.finding->subject) continue;
    const std::string part = phrase(plain_text(*each), kLongPart);
    if (!part.empty() && parts.size() < kMostParts && plain_text(*each) != plain_text(*recommendation.finding))
      parts.push_back(uncapitalised(part));
  }
  return parts.empty() ? "" : sentence(fmt::format("{} of it: {}", parts.size() == 1 ? "Part" : "Parts", join(parts, "; ")));
}

}  // namespace

// The share is of the traced time: it does not stand beside an unprofiled one.
std::string worth_sentence(const Run& run, const Finding& finding) {
  if (const std::string worth = predicted_worth(run, finding); !worth.empty()) return "It " + worth + ".";
  const std::string each = saved_each(run, finding);
  const std::string share = !each.empty() && finding.gain_unprofiled ? "" : saved_share(finding);
  if (!each.empty() || !share.empty()) return "It saves at most " + each + (each.empty() || share.empty() ? "" : ", ") + share + ".";
  if (finding.gain_ns && std::isfinite(*finding.gain_ns))
    return "It saves at most " + rough_time(*finding.gain_ns) + " over the whole profile.";
  return finding.gain_note.empty() ? "What it saves is not known." : sentence(finding.gain_note);
}

List action_list(const Run& run, bool for_engineers) {
  List list{{}, true};
  for (const Recommendation& each : recommendations(run, kMostActions)) {
    const Finding& finding = *each.finding;
    const std::string action = action_text(run, finding), what = action.empty() ? "Fix " + finding.rule : action;
    Text item = strong(sentence(what)) + Text(fmt::format(" {} {}", worth_sentence(run, finding), sentence(plain_text(finding))));
    if (const std::string parts = parts_sentence(run, each); !parts.empty()) item += Text(" " + parts);
    if (for_engineers && !finding.suggestions.empty()) item += Text(" For engineers: " + sentence(finding.suggestions.front()));
    list.items.push_back({std::move(item)});
  }
  return list;
}

std::vector<Recommendation> recommendations(const Run& run, std::size_t most) {
  std::vector<Recommendation> out;
  for (const Finding* each : findings_to_work_on(run)) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const auto& r) { return belongs_to(run, *each, r); });
    if (same != out.end()) same->also.push_back(each);
    else if (out.size() < most) out.push_back({each, {}});
  }
  return out;
}

const Finding* first_to_work_on(const Run& run) {
  const std::vector<const Finding*> all = findings_to_work_on(run);
  return all.empty() ? nullptr : all.front();
}

std::string no_advice(const Run& run) {
  if (run.findings.empty() && run.abstentions.empty()) return "No rule was evaluated, so this report gives no advice.";
  const std::string left_out =
      run.abstentions.empty()
          ? ""
          : "; " + plural(run.abstentions.size(), "rule was not evaluated", "rules were not evaluated") + " for lack of data";
  if (!run.kernels && !left_out.empty()) return "No kernels were captured" + left_out + ".";
  const bool small = std::any_of(run.findings.begin(), run.findings.end(), [](const Finding& each) {
    return each.severity != Severity::kInfo && each.about != RuleAbout::kMeasurement;
  });
  return (small ? "No change that the rules know saves 1 % of the time" : "No rule asks for a change") + left_out + ".";
}

std::string worth_text(const Run& run, const Finding& finding) {
  if (const std::string worth = predicted_worth(run, finding); !worth.empty()) return worth;
  const std::string each = saved_each(run, finding), share = saved_share(finding);
  return each.empty() && share.empty() ? "" : "saves at most " + (each.empty() ? share : each);
}

std::string action_text(const Run& run, const Finding& finding) {
  if (finding.action.empty()) return {};
  std::string text = finding.action.ends_with('.') ? finding.action.substr(0, finding.action.size() - 1) : finding.action;
  // Where the sentence says what the unit is, its stage need not be named.
  const bool said = !generates(run) && finding.subject == run.workload.verdict.unit_stage && text.find(unit_noun(run)) != std::string::npos;
  const bool named = finding.scope == RuleScope::kStage && stage_kind(finding.subject) != StageKind::kCapture && !said;
  return named ? fmt::format("{} ({})", text, stage_title(run, finding.subject)) : text;
}

std::string plain_text(const Finding& finding) {
  if (!finding.plain.empty()) return finding.plain;
  return finding.message.empty() ? finding.rule : finding.message;
}

}  // namespace nl::exporters::report
