#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_table.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kMaxFindings = 200, kOpenFindings = 5;

std::string evidence_item(const Evidence& evidence) {
  const char* css = evidence.held ? "held" : evidence.known ? "against" : "unknown";
  const char* word = evidence.held ? "holds" : evidence.known ? "speaks against it" : "not captured";
  std::string out = fmt::format("<li class=\"{}\"><span class=\"sr\">{}: </span>{}", css, word, text(evidence.text));
  std::string where;
  if (!evidence.reference.empty()) where += fmt::format("<code>{}</code>", text(evidence.reference));
  if (evidence.window_start_ns && evidence.window_end_ns)
    where += fmt::format("{}{:.6f}–{:.6f} s", where.empty() ? "" : ", ",
                         static_cast<double>(*evidence.window_start_ns) / 1e9,
                         static_cast<double>(*evidence.window_end_ns) / 1e9);
  return out + (where.empty() ? "</li>" : fmt::format(" <span class=\"where\">{}</span></li>", where));
}

std::string gain_line(const Finding& finding) {
  std::string gain = gain_text(finding);
  if (gain.empty() && finding.gain_note.empty()) return {};
  if (!gain.empty()) gain = "<b>" + text(gain) + "</b>" + (finding.gain_note.empty() ? "" : ": ");
  return fmt::format("<p class=\"gain\">{}{}</p>", gain, text(finding.gain_note));
}

std::string card(const Finding& finding, bool open) {
  const char* severity = severity_word(finding.severity);
  std::string out = fmt::format(
      "<details class=\"card {0}\"{1}><summary><span class=\"sev\">{0}</span> <span "
      "class=\"msg\">{2}</span></summary><div class=\"body\">",
      severity, open ? " open" : "", text(finding.message.empty() ? finding.rule : finding.message));
  out += fmt::format("<p class=\"meta\">{} · rule <code>{}</code> · confidence {:.0f} %</p>",
                     text(scope_text(finding.scope, finding.subject)), text(finding.rule), finding.confidence * 100);
  out += gain_line(finding);
  out += "<div class=\"two\">";
  if (!finding.evidence.empty()) {
    out += "<div><h3>Evidence</h3><ul class=\"evidence\">";
    for (const auto& evidence : finding.evidence) out += evidence_item(evidence);
    out += "</ul></div>";
  }
  if (!finding.suggestions.empty()) {
    out += "<div><h3>Try</h3><ol>";
    for (const auto& suggestion : finding.suggestions) out += fmt::format("<li>{}</li>", text(suggestion));
    out += "</ol></div>";
  }
  return out + "</div></div></details>\n";
}

}  // namespace

std::string findings(const Run& run) {
  if (run.findings.empty())
    return section("findings", "What limits it",
                   missing(run.abstentions.empty()
                               ? "No rule was judged."
                               : fmt::format("No rule spoke up; {} could not be judged.", run.abstentions.size())));
  std::string body =
      paragraph("Several findings may have one cause: what they save overlaps and is not to be added up.");
  const std::size_t shown = std::min(kMaxFindings, run.findings.size());
  for (std::size_t i = 0; i < shown; ++i)
    body += card(run.findings[i], i < kOpenFindings && run.findings[i].severity != Severity::kInfo);
  if (shown < run.findings.size())
    body += paragraph(fmt::format("{} more in run.json, less severe or less certain.", run.findings.size() - shown));
  return section("findings", "What limits it", body);
}

std::string abstentions(const Run& run) {
  if (run.abstentions.empty()) return {};
  Table table("Rules that could not be judged", {{"Rule", false}, {"Why", false}, {"What would capture it", false}});
  for (const auto& abstention : run.abstentions)
    table.add({{fmt::format("<code>{}</code>", text(abstention.rule))},
               text_cell(abstention.why.empty() ? join(abstention.missing) : abstention.why),
               {abstention.command.empty() ? kNoValue
                                           : fmt::format("<code class=\"cmd\">{}</code>", text(abstention.command))}});
  return section("abstentions", "What could not be judged",
                 paragraph("The capture lacks what these rules ask for.") + table.markup());
}

}  // namespace nl::exporters::html
