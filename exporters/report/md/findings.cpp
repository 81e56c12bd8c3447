#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/figure_text.h"
#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"

namespace nl::exporters::report_md {
namespace {

constexpr std::size_t kTopRows = 10;
constexpr std::size_t kTopFindings = 20;

std::string window_text(const Evidence& evidence) {
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

std::string evidence_line(const Evidence& evidence, bool with_window) {
  std::string text = fmt::format("- {}{}", evidence_prefix(evidence), markdown_text(evidence.text));
  const std::string window = with_window ? window_text(evidence) : std::string();
  if (evidence.reference.empty() && window.empty()) return text + "\n";
  const std::string where =
      evidence.reference.empty() ? std::string() : "run.json " + markdown_code(evidence.reference);
  return text + fmt::format(" ({}{}{})\n", where, where.empty() || window.empty() ? "" : "; ", window);
}

std::string one(std::size_t number, const Finding& finding) {
  std::string text =
      fmt::format("\n### {}. {}\n\n", number, markdown_text(finding.message.empty() ? finding.rule : finding.message));
  text += fmt::format("Severity {}, confidence {:.0f} %; {}; rule {}.\n", severity_word(finding.severity),
                      finding.confidence * 100, markdown_text(scope_text(finding.scope, finding.subject)),
                      markdown_code(finding.rule));
  const std::string window = shared_window(finding);
  if (!finding.evidence.empty())
    text += window.empty() ? "\nEvidence:\n\n" : fmt::format("\nEvidence, to be looked at in {}:\n\n", window);
  for (const auto& evidence : finding.evidence) text += evidence_line(evidence, window.empty());
  if (!finding.suggestions.empty()) text += "\nTry:\n\n";
  std::size_t at = 0;
  for (const auto& suggestion : finding.suggestions) text += fmt::format("{}. {}\n", ++at, markdown_text(suggestion));
  const std::string gain = gain_text(finding);
  if (gain.empty() && finding.gain_note.empty()) return text;
  return text + fmt::format("\nGain: {}{}.\n", gain.empty() ? "" : gain + (finding.gain_note.empty() ? "" : "; "),
                            markdown_text(finding.gain_note));
}

}  // namespace

std::string findings(const Run& run) {
  std::string text = "\n## What limits it\n\n";
  if (run.findings.empty())
    return text + (run.abstentions.empty()
                       ? "No rule was judged.\n"
                       : fmt::format("No rule spoke up. {} could not be judged; what is missing stands below.\n",
                                     run.abstentions.size()));
  MarkdownTable table({{"", true}, {"severity", false}, {"finding", false}, {"saves at most", true}});
  const std::size_t shown = std::min(kTopRows, run.findings.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Finding& finding = run.findings[i];
    table.add({std::to_string(i + 1), severity_word(finding.severity),
               markdown_text(finding.message.empty() ? finding.rule : finding.message),
               finding.gain_share ? share_text(*finding.gain_share) : kNoValue});
  }
  return text + table.text() +
         "\nThe last column is of the measured time. Several findings may have one cause: what they save is not to be "
         "added up. Evidence and what to try stand below, under Findings.\n";
}

std::string finding_details(const Run& run) {
  if (run.findings.empty()) return {};
  std::string text = "\n## Findings\n";
  const std::size_t shown = std::min(kTopFindings, run.findings.size());
  for (std::size_t i = 0; i < shown; ++i) text += one(i + 1, run.findings[i]);
  if (shown < run.findings.size())
    text += fmt::format("\n{} more in run.json, less severe or less certain.\n", run.findings.size() - shown);
  return text;
}

std::string abstentions(const Run& run) {
  if (run.abstentions.empty()) return {};
  MarkdownTable table({{"rule", false}, {"why", false}, {"what would capture it", false}});
  for (const auto& abstention : run.abstentions)
    table.add({markdown_text(abstention.rule),
               markdown_text(abstention.why.empty() ? join(abstention.missing) : abstention.why),
               abstention.command.empty() ? kNoValue : markdown_code_cell(abstention.command)});
  return "\n## What could not be judged\n\nThe capture lacks what these rules ask for.\n\n" + table.text();
}

}  // namespace nl::exporters::report_md
