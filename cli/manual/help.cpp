#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/manual/reference.h"
#include "model/visible_text.h"

namespace nl::cli {
namespace {

constexpr std::size_t kWidestName = 28;  // a longer one has its text below it
constexpr std::size_t kNarrow = 64;      // a narrower terminal has all texts below the names
constexpr std::size_t kBelowName = 6;    // where they begin there

std::string help_paragraph(const std::string& text, std::size_t width) { return wrapped(text, width, 0, 0) + "\n"; }

// A name in two columns with what it is.
struct HelpEntry {
  std::string name, text;
};
using HelpEntries = std::vector<HelpEntry>;

// Where the texts of these entries begin.
std::size_t help_column(const HelpEntries& entries, std::size_t width) {
  if (width != 0 && width < kNarrow) return kBelowName;
  std::size_t widest = 0;
  for (const HelpEntry& entry : entries)
    if (columns_of(entry.name) <= kWidestName) widest = std::max(widest, columns_of(entry.name));
  return widest + 4;
}

std::string two_columns(const HelpEntries& entries, std::size_t column, std::size_t width) {
  std::string text;
  for (const HelpEntry& entry : entries) {
    const std::size_t end = 2 + columns_of(entry.name);
    text += "  " + (width > 0 && end > width ? wrapped(entry.name, width, 2, 6) : entry.name);
    text += end + 2 <= column ? std::string(column - end, ' ') : "\n" + std::string(column, ' ');
    text += wrapped(entry.text, width, column, column) + "\n";
  }
  return text;
}

// "-c, --config RUNNER", "--redact {host|paths}"
std::string help_name(const FlagFacts& argument) {
  const std::string value = argument.choices.empty() ? argument.value_name : fmt::format("{{{}}}", fmt::join(argument.choices, "|"));
  std::string text = fmt::format("{}", fmt::join(argument.names, ", "));
  if (!value.empty()) text += " " + value;
  return argument.most_values == kAnyNumber ? text + " ..." : text;
}

std::string help_words(const FlagFacts& argument) {
  const auto remarks = remarks_on(argument);
  return remarks.empty() ? argument.help : fmt::format("{} ({})", argument.help, fmt::join(remarks, "; "));
}

HelpEntries help_entries(const std::vector<FlagFacts>& arguments, const std::string& group) {
  HelpEntries entries;
  for (const FlagFacts& argument : arguments)
    if (group.empty() || argument.group == group) entries.push_back({help_name(argument), help_words(argument)});
  return entries;
}

std::string help_section(const std::string& title, const HelpEntries& entries, std::size_t column, std::size_t width) {
  return entries.empty() ? "" : "\n" + title + ":\n" + two_columns(entries, column, width);
}

// The first group needs no name of its own: its flags are those of the verb.
std::string flag_sections(const VerbReference& verb, std::size_t width) {
  const std::size_t column = help_column(help_entries(verb.flags, ""), width);
  std::vector<std::string> groups;
  for (const FlagFacts& flag : verb.flags)
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end()) groups.push_back(flag.group);
  std::string text;
  for (const std::string& group : groups)
    text += help_section(group == groups.front() ? "Flags" : group, help_entries(verb.flags, group), column, width);
  return text;
}

// The verbs of the program stand in groups; a verb's own verbs are few.
std::string verb_sections(const VerbReference& verb, std::size_t width) {
  HelpEntries all;
  for (const VerbReference& below : verb.verbs) all.push_back({short_name(below), below.summary});
  const std::size_t column = help_column(all, width);
  if (!verb.name.empty()) return help_section("Verbs", all, column, width);
  std::string text;
  for (const std::string& group : verb_groups(verb)) {
    HelpEntries entries;
    for (const VerbReference& below : verb.verbs)
      if (below.group == group) entries.push_back({below.name, below.summary});
    text += help_section(group, entries, column, width);
  }
  return text;
}

// A command can be copied out of a narrow terminal, too: a line that goes on ends with a backslash.
std::string help_command(const std::string& line, std::size_t width) {
  constexpr std::size_t kIndent = 2, kContinued = 6;
  const std::string text = wrapped(line, width < 4 ? width : width - 2, kIndent, kContinued);
  std::string out(kIndent, ' ');
  for (const char letter : text) out += letter == '\n' ? std::string(" \\\n") : std::string(1, letter);
  return out + "\n";
}

std::string help_examples(const VerbReference& verb, std::size_t width) {
  if (verb.examples.empty()) return "";
  std::string text = "\nExamples:\n";
  std::istringstream lines(verb.examples);
  for (std::string line; std::getline(lines, line);) text += help_command(line, width);
  return text;
}

}  // namespace

std::string help_text(const VerbReference& verb, std::size_t width) {
  std::string text = help_paragraph(verb.summary, width) + "\n" + wrapped("Usage: " + usage_line(verb), width, 0, 7) + "\n";
  const HelpEntries positionals = help_entries(verb.positionals, "");
  text += help_section("Arguments", positionals, help_column(positionals, width), width);
  if (verb.name.empty()) text += verb_sections(verb, width) + flag_sections(verb, width);
  else text += flag_sections(verb, width) + verb_sections(verb, width);
  for (const Block& block : verb.description) text += "\n" + (block.verbatim ? block.text + "\n" : help_paragraph(block.text, width));
  return text + help_examples(verb, width);
}

}  // namespace nl::cli
