#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/prediction_text.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMaxFindings = 200, kOpenFindings = 5;
constexpr std::size_t kTextFindings = 20;

std::string window_text(const FindingEvidence& evidence) {
  if (!evidence.window_start_ns || !evidence.window_end_ns) return {};
  return fmt::format("{:.9f}–{:.9f} s of the capture", static_cast<double>(*evidence.window_start_ns) / 1e9,
                     static_cast<double>(*evidence.window_end_ns) / 1e9);
}

// The window that all of the evidence shares, so that it is said once; empty where there is none.
std::string shared_window(const Finding& finding) {
  std::string shared;
  for (const auto& evidence : finding.evidence) {
    const std::string window = window_text(evidence);
    if (window.empty() || (!shared.empty() && window != shared)) return {};
    shared = window;
  }
  return shared;
}

Item evidence_item(const Run& run, const FindingEvidence& evidence, bool with_window) {
  Item item{evidence.text, evidence.held ? Mark::kHolds : evidence.known ? Mark::kAgainst : Mark::kUnknown};
  const std::string window = with_window ? window_text(evidence) : std::string();
  if (evidence.reference.empty() && window.empty()) return item;
  item.text += muted(" (");
  if (!evidence.reference.empty())
    item.text += muted("run.json ") + Text(evidence.reference, Inline::kCode, link_to(run, evidence.reference));
  item.text += muted(evidence.reference.empty() || window.empty() ? "" : "; ") +
               Text(window, Inline::kMuted, link_to_moment(run, evidence)) + muted(")");
  return item;
}

Text gain_line(const Finding& finding) {
  const std::string gain = gain_text(finding);
  if (gain.empty()) return finding.gain_note.empty() ? Text() : Text(finding.gain_note + ".");
  Text line = strong(gain) + Text(finding.gain_note.empty() ? "." : "; " + finding.gain_note + ".");
  if (const Prediction* prediction = prediction_of(finding); prediction != nullptr)
    line += muted(fmt::format(" To predict it again: {}", whatif_command(*prediction)));
  return line;
}

// A prediction is no bound: where there are some, each saving says which it is.
Cell saving_cell(const Finding& finding, bool say_which) {
  if (!finding.gain_share || !say_which) return share_cell(finding.gain_share);
  const Prediction* prediction = prediction_of(finding);
  const bool about = prediction != nullptr && !prediction->ceiling;
  return {Text(fmt::format("{} {}", about ? "about" : "at most", share_text(finding.gain_share))), finding.gain_share,
          prediction == nullptr ? "" : saving_text(*prediction)};
}

// " (part of 1)"
std::string part_text(const Run& run, const Finding& whole) { return fmt::format(" (part of {})", &whole - run.findings.data() + 1); }

// Those of the whole are said there: what several findings advise would stand on a page several times.
List fixes(const Run& run, const Finding& finding, const Finding* whole) {
  std::vector<std::string> own = finding.suggestions;
  if (whole != nullptr)
    std::erase_if(own, [&](const std::string& each) {
      return std::find(whole->suggestions.begin(), whole->suggestions.end(), each) != whole->suggestions.end();
    });
  List list = notes(own);
  list.ordered = true;
  if (own.size() == finding.suggestions.size()) return list;
  const std::string number = std::to_string(whole - run.findings.data() + 1);
  list.items.push_back({Text(own.empty() ? "As of " : "Also those of ") +
                        Text("finding " + number, Inline::kPlain, "#" + finding_id(whole - run.findings.data())) + Text(".")});
  return list;
}

Card card(const Run& run, std::size_t number, const Finding& finding) {
  Card out;
  out.id = finding_id(number - 1);
  out.number = number;
  out.severity = finding.severity;
  out.title = title_of(finding);
  out.in_text = number <= kTextFindings;
  const Finding* whole = whole_of(run, finding);
  out.open = number <= kOpenFindings && finding.severity != Severity::kInfo && whole == nullptr;
  out.about = Text(fmt::format("confidence {:.0f} %; {}; rule ", finding.confidence * 100, scope_text(run, finding))) + code(finding.rule);
  if (whole != nullptr) out.about += Text(part_text(run, *whole));
  out.gain = gain_line(finding);
  const std::string window = shared_window(finding);
  out.evidence_title = window.empty() ? Text("Evidence")
                                      : Text("Evidence, in ") + Text(window, Inline::kPlain, link_to_moment(run, finding.evidence.front()));
  for (const auto& evidence : finding.evidence) out.evidence.items.push_back(evidence_item(run, evidence, window.empty()));
  out.fixes = fixes(run, finding, whole);
  return out;
}

// " Same cause: 2, 3." Empty: no other finding is a part of this one.
Text same_cause_text(const Run& run, const Finding& whole) {
  Text out;
  for (std::size_t i = 0; i < std::min(kMaxFindings, run.findings.size()); ++i)
    if (whole_of(run, run.findings[i]) == &whole)
      out += (out.empty() ? muted(" Same cause: ") : muted(", ")) + Text(std::to_string(i + 1), Inline::kPlain, "#" + finding_id(i));
  return out.empty() ? out : out + muted(".");
}

// A page has one line for all that share a cause: the numbers of the others lead to their details.
Table finding_table(const Run& run, RuleAbout about) {
  const bool measurement = about == RuleAbout::kMeasurement;
  const bool predicted = std::any_of(run.findings.begin(), run.findings.end(), prediction_of);
  Table table{measurement ? "Findings about the measurement" : "Findings",
              {{"", kRight}, {"Severity"}, {"Finding"}, {predicted ? "Saves" : "Saves at most", kRight}}};
  for (std::size_t i = 0; i < std::min(kMaxFindings, run.findings.size()); ++i) {
    const Finding& finding = run.findings[i];
    if ((finding.about == RuleAbout::kMeasurement) != measurement) continue;
    const Finding* whole = whole_of(run, finding);
    table.rows.push_back({Text(std::to_string(i + 1), Inline::kPlain, "#" + finding_id(i)), key_cell(finding.severity),
                          whole == nullptr ? Text(title_of(finding)) + same_cause_text(run, finding)
                                           : Text(title_of(finding)) + muted(part_text(run, *whole)),
                          saving_cell(finding, predicted)});
    table.rows.back().in_page = whole == nullptr || whole->about != finding.about;
  }
  table.text_rows = kTextFindings;
  return table;
}

}  // namespace

Section findings(const Run& run) {
  Section out{"findings", "Findings", "Findings"};
  if (run.findings.empty()) {
    out.blocks = {missing(run.abstentions.empty()
                              ? std::string("No rule was evaluated.")
                              : fmt::format("No findings. {} the capture lacks; see “Not judged”.",
                                            plural(run.abstentions.size(), "rule needs data that", "rules need data that")))};
    return out;
  }
  Table table = finding_table(run, RuleAbout::kWorkload);
  if (table.rows.empty()) {
    out.blocks = {missing("No rule asks for a change of the workload.")};
    return out;
  }
  const std::size_t all = run.findings.size(), shown = std::min(kMaxFindings, all);
  const auto rest = [&](std::size_t listed) { return plural(all - listed, "more finding") + " in run.json, worth less."; };
  if (all > kTextFindings) table.text_note = rest(kTextFindings);
  if (all > shown) table.foot.push_back({"", "", rest(shown)});
  out.blocks = {
      Paragraph{"What is worth the most comes first, and with it what has the same cause. Savings are shares of the measured time. They "
                "overlap; do not add them."},
      table};
  return out;
}

Section measurement(const Run& run) {
  Section out{"measurement", "Measurement", "About the measurement"};
  Table table = finding_table(run, RuleAbout::kMeasurement);
  if (table.rows.empty()) return out;
  table.columns.pop_back();  // nothing is saved
  for (auto& row : table.rows) row.pop_back();
  out.blocks = {Paragraph{"These findings change how far the figures can be trusted, not the workload."}, table};
  return out;
}

Section evidence(const Run& run) {
  Section out{"evidence", "Evidence", "Findings in detail"};
  for (std::size_t i = 0; i < std::min(kMaxFindings, run.findings.size()); ++i) out.blocks.emplace_back(card(run, i + 1, run.findings[i]));
  return out;
}

// One line for all rules that lack the same.
Section abstentions(const Run& run) {
  Section out{"abstentions", "Not judged", "Not judged"};
  if (run.abstentions.empty()) return out;
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> rules;
  std::vector<std::pair<std::string, std::string>> order;
  for (const auto& abstention : run.abstentions) {
    const std::pair key(abstention.why.empty() ? join(abstention.missing) : abstention.why, abstention.command);
    auto& group = rules[key];
    if (group.empty()) order.push_back(key);
    if (std::find(group.begin(), group.end(), abstention.rule) == group.end()) group.push_back(abstention.rule);
  }
  Table table{"Rules without data", {{"Why"}, {"Captured by"}, {"Rules"}}};
  for (const auto& key : order) table.rows.push_back({text_cell(key.first), code_cell(key.second), text_cell(join(rules[key]))});
  out.blocks = {Paragraph{"The capture lacks the data that these rules need."}, table};
  return out;
}

}  // namespace nl::exporters::report
