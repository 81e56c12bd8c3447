#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>
#include <string_view>

#include "cli/manual/reference.h"

namespace nl::cli {
namespace {

constexpr std::string_view kMade = "<!-- Made from the help by tools/golden. -->\n\n";

// Inside a table a bar ends the cell, and < would begin a tag.
std::string cell(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '|' || letter == '<' || letter == '*') out += '\\';
    out += letter;
  }
  return out;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

// Bars are escaped inside code, too, when it stands in a table.
std::string code_cell(const std::string& text) {
  std::string out;
  for (const char letter : text) out += letter == '|' ? "\\|" : std::string(1, letter);
  return code(out);
}

std::string indented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  return out;
}

std::string value_text(const FlagFacts& argument) {
  const std::string type = argument.choices.empty() ? argument.value_name : fmt::format("{}", fmt::join(argument.choices, "|"));
  return code_cell(type) + (argument.many ? " …" : "");
}

std::string row(const FlagFacts& argument) {
  std::vector<std::string> names;
  for (const std::string& name : argument.names) names.push_back(code(name));
  return fmt::format("| {} | {} | {} | {}{} |\n", fmt::join(names, ", "), value_text(argument), code_cell(argument.default_value),
                     cell(argument.help), argument.required ? " (required)" : "");
}

std::string table(std::string_view title, const std::vector<FlagFacts>& arguments) {
  if (arguments.empty()) return "";
  std::string text = fmt::format("\n| {} | value | default | what |\n| --- | --- | --- | --- |\n", title);
  for (const FlagFacts& argument : arguments) text += row(argument);
  return text;
}

std::string section(const VerbReference& verb, std::string_view heading) {
  std::string text = fmt::format("{} {}\n\n{}{}.\n\n{}", heading, command_name(verb), heading.size() == 1 ? kMade : "", verb.summary,
                                 indented(usage_line(verb)));
  text += table("argument", verb.positionals) + table("flag", verb.flags);
  for (const Block& block : verb.description) text += "\n" + (block.verbatim ? indented(block.text) : block.text + "\n");
  if (!verb.examples.empty()) text += "\nExamples:\n\n" + indented(verb.examples);
  for (const VerbReference& below : verb.verbs) text += "\n" + section(below, std::string(heading) + "#");
  return text;
}

}  // namespace

std::string verb_markdown(const VerbReference& verb) { return section(verb, "#"); }

std::string verbs_index_markdown(const VerbReference& program) {
  std::string text =
      "# The verbs\n\n" + std::string(kMade) + "`nl-stage VERB --help` prints the same.\n\n| for | verb | what |\n| --- | --- | --- |\n";
  for (const VerbReference& verb : program.verbs)
    text += fmt::format("| {0} | [{1}]({1}.md) | {2} |\n", verb.group, verb.name, cell(verb.summary));
  return text;
}

}  // namespace nl::cli
