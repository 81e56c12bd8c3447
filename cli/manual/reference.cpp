#include "cli/manual/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

#include "cli/manual/topics.h"

namespace nl::cli {
namespace {

constexpr std::string_view kExamples = "Examples:";
constexpr std::string_view kIndent = "  ";
constexpr std::string_view kVerbType = "VERB|TOPIC";

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

// What `nl-stage help` takes.
std::vector<std::string> names_to_explain(const VerbReference& program) {
  std::vector<std::string> names = names_of(program.verbs);
  names.emplace_back("topics");
  for (std::string& topic : topic_names())
    if (std::find(names.begin(), names.end(), topic) == names.end()) names.push_back(std::move(topic));
  return names;
}

bool is_hidden(const std::string& group) { return group.empty(); }

VerbReference read_verb(const CLI::App& app, const std::string& name) {
  VerbReference verb;
  verb.name = name;
  verb.summary = app.get_description();
  verb.group = app.get_group();
  for (const CLI::Option* option : app.get_options())
    if (!is_hidden(option->get_group())) (option->get_positional() ? verb.positionals : verb.flags).push_back(facts_of(*option));
  read_footer(app.get_footer(), verb);
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* each) { return !is_hidden(each->get_group()); }))
    verb.verbs.push_back(read_verb(*below, name.empty() ? below->get_name() : name + " " + below->get_name()));
  return verb;
}

}  // namespace

VerbReference reference_of(const CLI::App& app) {
  VerbReference program = read_verb(app, "");
  for (VerbReference& verb : program.verbs)
    for (FlagFacts& argument : verb.positionals)
      if (argument.value_name == kVerbType) argument.words = names_to_explain(program);
  return program;
}

VerbReference reference_of_verb(const CLI::App& verb) {
  std::string name;
  for (const CLI::App* each = &verb; each->get_parent() != nullptr; each = each->get_parent())
    name = each->get_name() + (name.empty() ? "" : " ") + name;
  return read_verb(verb, name);
}

std::vector<std::string> remarks_on(const FlagFacts& argument) {
  std::vector<std::string> remarks;
  const auto flags = [&remarks](const char* word, const std::vector<std::string>& names) {
    if (!names.empty()) remarks.push_back(fmt::format("{} {}", word, fmt::join(names, ", ")));
  };
  if (argument.required) remarks.emplace_back("required");
  if (!argument.limits.empty()) remarks.push_back(argument.limits);
  if (!argument.required && !argument.default_value.empty()) remarks.push_back("default: " + argument.default_value);
  flags("needs", argument.needs);
  flags("not with", argument.excludes);
  return remarks;
}

std::vector<std::string> verb_groups(const VerbReference& program) {
  std::vector<std::string> groups;
  for (const VerbReference& verb : program.verbs)
    if (std::find(groups.begin(), groups.end(), verb.group) == groups.end()) groups.push_back(verb.group);
  return groups;
}

std::string command_name(const VerbReference& verb) { return verb.name.empty() ? "nl-stage" : "nl-stage " + verb.name; }

std::string short_name(const VerbReference& verb) { return verb.name.substr(verb.name.rfind(' ') + 1); }

std::string usage_line(const VerbReference& verb) {
  std::string line = command_name(verb) + (verb.name.empty() ? " VERB [flags] ..." : " [flags]");
  for (const FlagFacts& argument : verb.positionals) {
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
