#include "cli/manual/reference.h"

#include <CLI/CLI.hpp>

#include <sstream>

namespace nl::cli {
namespace {

constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kVerbType = "VERB";

// CLI11 writes the allowed values behind the type: "WHAT:{host,paths}", "N:a whole number from 1 to 100".
struct TypeText {
  std::string type;
  std::vector<std::string> choices;
  std::string limits;
};

TypeText split_type(const std::string& text) {
  const std::size_t open = text.find('{'), close = text.rfind('}');
  const std::size_t colon = text.find(':');
  const std::string type = text.substr(0, colon);
  if (open == std::string::npos || close == std::string::npos || close < open)
    return {type, {}, colon == std::string::npos ? "" : text.substr(colon + 1)};
  TypeText split{type, {}, {}};
  std::istringstream list(text.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(list, word, ',');) split.choices.push_back(word);
  return split;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true, false)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// "Prose,\nmore of it.\nExamples:\n  nl-stage …\n\nA last sentence."
void read_footer(const std::string& footer, VerbReference& verb) {
  std::istringstream lines(footer);
  bool in_examples = false, fresh = true;
  for (std::string line; std::getline(lines, line); fresh = line.empty()) {
    if (line.empty()) continue;
    const bool verbatim = line.starts_with(kIndent);
    if (line == kExamples) {
      in_examples = true;
    } else if (in_examples && verbatim) {
      verb.examples += line.substr(kIndent.size()) + "\n";
    } else if (fresh || in_examples || verb.description.empty() || verb.description.back().verbatim != verbatim) {
      in_examples = false;
      verb.description.push_back({verbatim, line});
    } else {
      verb.description.back().text += (verbatim ? "\n" : " ") + line;
    }
  }
}

std::vector<std::string> names_of(const std::vector<VerbReference>& verbs) {
  std::vector<std::string> names;
  for (const VerbReference& verb : verbs) names.push_back(verb.name);
  return names;
}

bool is_hidden(const std::string& group) { return group.empty(); }

VerbReference read_verb(const CLI::App& app, const std::string& name) {
  VerbReference verb;
  verb.name = name;
  verb.summary = app.get_description();
  for (const CLI::Option* option : app.get_options())
    if (!is_hidden(option->get_group())) (option->get_positional() ? verb.positionals : verb.flags).push_back(argument_of(*option));
  read_footer(app.get_footer(), verb);
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* each) { return !is_hidden(each->get_group()); }))
    verb.verbs.push_back(read_verb(*below, name.empty() ? below->get_name() : name + " " + below->get_name()));
  return verb;
}

}  // namespace

Argument argument_of(const CLI::Option& option) {
  Argument argument;
  argument.names = names_of(option);
  argument.help = option.get_description();
  argument.group = option.get_group();
  argument.required = option.get_required();
  if (option.get_items_expected_max() == 0) return argument;
  TypeText type = split_type(option.get_type_name());
  Values values = values_of_type(type.type);
  argument.type = type.type;
  argument.default_value = option.get_default_str();
  argument.words = type.choices.empty() ? std::move(values.words) : type.choices;
  argument.choices = std::move(type.choices);
  argument.limits = std::move(type.limits);
  argument.asks = values.asks;
  argument.paths = values.paths;
  argument.many = option.get_items_expected_max() > 1;
  return argument;
}

VerbReference reference_of(const CLI::App& app) {
  VerbReference program = read_verb(app, "");
  for (VerbReference& verb : program.verbs)
    for (Argument& argument : verb.positionals)
      if (argument.type == kVerbType) argument.words = names_of(program.verbs);
  return program;
}

std::string command_name(const VerbReference& verb) { return verb.name.empty() ? "nl-stage" : "nl-stage " + verb.name; }

std::string usage_line(const VerbReference& verb) {
  std::string line = command_name(verb) + (verb.name.empty() ? " VERB [flags] ..." : " [flags]");
  for (const Argument& argument : verb.positionals) {
    const std::string word = argument.names.front() + (argument.many ? " ..." : "");
    line += argument.required ? " " + word : " [" + word + "]";
  }
  return line;
}

std::vector<const VerbReference*> all_verbs(const VerbReference& program) {
  std::vector<const VerbReference*> all;
  for (const VerbReference& verb : program.verbs) {
    all.push_back(&verb);
    for (const VerbReference* below : all_verbs(verb)) all.push_back(below);
  }
  return all;
}

}  // namespace nl::cli
