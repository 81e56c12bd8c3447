#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "cli/manual/reference.h"
#include "orchestrator/bundle/provenance.h"

namespace nl::cli {
namespace {

// A line of text for troff: a backslash and a hyphen would be read as something else, and so would a dot or a quote in front.
std::string troff(std::string_view text) {
  std::string out = !text.empty() && (text.front() == '.' || text.front() == '\'') ? "\\&" : "";
  for (const char letter : text) {
    if (letter == '\\') out += "\\e";
    else if (letter == '-') out += "\\-";
    else out += letter;
  }
  return out;
}

std::string verbatim(const std::string& text) {
  std::string out = ".nf\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += troff(line) + "\n";
  return out + ".fi\n";
}

std::string page_name(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return text;
}

// .TP
// \fB\-c\fR, \fB\-\-config\fR \fIRUNNER\fR
// runner file …
std::string entry(const FlagFacts& argument) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names) names.push_back("\\fB" + troff(name) + "\\fR");
  const std::string value =
      argument.value_name.empty()
          ? ""
          : " \\fI" + troff(argument.choices.empty() ? argument.value_name : fmt::format("{}", fmt::join(argument.choices, "|"))) + "\\fR";
  const auto remarks = remarks_on(argument);
  const std::string remark = remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, "; "));
  return fmt::format(".TP\n{}{}{}\n{}\n", fmt::join(names, ", "), value, argument.many ? " ..." : "", troff(argument.help + remark));
}

std::string entries(std::string_view title, const std::vector<FlagFacts>& arguments) {
  std::string text, group = arguments.empty() ? "" : arguments.front().group;
  if (!arguments.empty()) text = fmt::format(".SH {}\n", title);
  for (const FlagFacts& argument : arguments) {
    if (argument.group != group) text += fmt::format(".SS {}\n", troff(argument.group));
    group = argument.group;
    text += entry(argument);
  }
  return text;
}

constexpr std::string_view kOfStatus = "The exit status";  // begins a paragraph that has a section of its own

std::string sentence(std::string text) { return text.ends_with('.') ? text : text + "."; }

std::string description(const VerbReference& verb) {
  std::string text = ".SH DESCRIPTION\n" + troff(sentence(verb.summary)) + "\n";
  for (const Block& block : verb.description)
    if (!block.text.starts_with(kOfStatus)) text += ".PP\n" + (block.verbatim ? verbatim(block.text) : troff(block.text) + "\n");
  return text;
}

std::string exit_status(const VerbReference& verb, const std::vector<StatusMeaning>& statuses) {
  std::string text = ".SH EXIT STATUS\n";
  for (const Block& block : verb.description)
    if (block.text.starts_with(kOfStatus)) text += troff(block.text) + "\n.PP\n";
  for (const auto& [status, meaning] : statuses) text += fmt::format(".TP\n{}\n{}\n", status, troff(meaning));
  return text + ".PP\n\\fBnl\\-stage help exit\\-status\\fR has more about each of them, and the codes of errors.\n";
}

std::string verb_list(const VerbReference& verb) {
  std::string text = verb.verbs.empty() ? "" : ".SH VERBS\n";
  for (const VerbReference& below : verb.verbs)
    text += fmt::format(".TP\n.BR {} (1)\n{}\n", troff(page_name(command_name(below))), troff(below.summary));
  return text;
}

}  // namespace

std::string man_page(const VerbReference& program, const VerbReference& verb, const std::vector<StatusMeaning>& statuses) {
  const std::string page = page_name(command_name(verb));
  std::string summary = verb.summary.substr(0, verb.summary.find('\n'));
  if (!summary.empty() && summary.back() == '.') summary.pop_back();
  std::string text = fmt::format(".\\\" Made from the help by `nl-stage manual`.\n.TH {} 1 \"\" \"nl\\-stage {}\" \"nl\\-stage\"\n",
                                 troff(upper(page)), orchestrator::version());
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n{}\n.fi\n", troff(page), troff(summary), troff(usage_line(verb)));
  text += description(verb) + verb_list(verb) + entries("ARGUMENTS", verb.positionals) + entries("FLAGS", verb.flags);
  if (!verb.examples.empty()) text += ".SH EXAMPLES\n" + verbatim(verb.examples);
  text += exit_status(verb, statuses) + ".SH SEE ALSO\n";
  text += &program == &verb ? "Each verb has a page: \\fBman nl\\-stage\\-run\\fR.\n" : ".BR nl\\-stage (1)\n";
  return text + ".PP\n\\fBnl\\-stage help NAME\\fR prints the page docs/NAME.md, and \\fBnl\\-stage help topics\\fR lists these pages.\n";
}

}  // namespace nl::cli
