#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/manual/reference.h"

namespace nl::cli {
namespace {

// For text between single quotes inside an argument of _arguments: brackets and colons have a meaning there.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
      continue;
    }
    if (std::string_view("\\[]:").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string function_name(const VerbReference& verb) {
  std::string name = "_nl-stage" + (verb.name.empty() ? "" : " " + verb.name);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string escaped_words(const FlagFacts& argument) { return escaped(fmt::format("{}", fmt::join(argument.words, " "))); }

// "last $(timeout 1 nl-stage ls --names 2>/dev/null)": nl-stage checks the words, because they are evaluated once more.
std::string asked_words(const FlagFacts& argument) {
  return escaped_words(argument) +
         (argument.asks.empty() ? ""
                                : fmt::format("{}$(timeout 1 nl-stage {} 2>/dev/null)", argument.words.empty() ? "" : " ", argument.asks));
}

// What follows "message:" in an argument of _arguments. Names that end in = wait for their value, so no blank follows.
std::string zsh_action(const FlagFacts& argument) {
  const std::string words = escaped_words(argument);
  const bool settings = !argument.words.empty() && argument.words.front().back() == '=';
  switch (argument.paths) {
    case Paths::kNone:
      if (!argument.asks.empty()) return fmt::format("{{compadd -- {}}}", asked_words(argument));
      return argument.words.empty() ? " " : settings ? fmt::format("{{compadd -S \"\" -- {}}}", words) : fmt::format("({})", words);
    case Paths::kFiles:
      return argument.words.empty()
                 ? "_files"
                 : fmt::format("{{_alternative \"names\\:name\\:({})\" \"files\\:file\\:_files\"}}", asked_words(argument));
    case Paths::kFolders: return "_files -/";
    case Paths::kCommands: return "_normal";
  }
  return " ";
}

// '(-c --config)'{-c,--config}'[help]:RUNNER:_files' ; repeatable: '*--set[…]:…'
std::string flag_row(const FlagFacts& flag) {
  const std::string value = flag.value_name.empty() ? "" : fmt::format(":{}:{}", escaped(flag.value_name), zsh_action(flag));
  const std::string rest = fmt::format("[{}]{}'", escaped(flag.help), value);
  if (flag.names.size() == 1) return fmt::format("    '{}{}{}", flag.many ? "*" : "", flag.names.front(), rest);
  return fmt::format("    '{}'{{{}}}'{}", flag.many ? "*" : fmt::format("({})", fmt::join(flag.names, " ")), fmt::join(flag.names, ","),
                     rest);
}

std::string positional_row(const FlagFacts& argument, std::size_t place) {
  const std::string message = escaped(argument.names.front());
  if (argument.paths == Paths::kCommands) return fmt::format("    '*::{}:_normal'", message);
  return fmt::format("    '{}:{}:{}'", argument.many ? "*" : std::to_string(place + 1), message, zsh_action(argument));
}

// A verb of a verb is its first word; from there on the other function goes on.
std::string verbs_below(const VerbReference& verb) {
  std::string text;
  for (const VerbReference& below : verb.verbs)
    text += fmt::format(
        "  if (( CURRENT > 2 )) && [[ $words[2] == {} ]]; then\n    shift words\n    (( CURRENT-- ))\n    {}\n    return\n  fi\n",
        below.name.substr(verb.name.size() + 1), function_name(below));
  return text;
}

std::string verb_function(const VerbReference& verb) {
  std::vector<std::string> rows;
  for (const FlagFacts& flag : verb.flags) rows.push_back(flag_row(flag));
  for (std::size_t i = 0; i < verb.positionals.size(); ++i) rows.push_back(positional_row(verb.positionals[i], i));
  return fmt::format("\n{}() {{\n{}  _arguments -s -S \\\n{}\n}}\n", function_name(verb), verbs_below(verb), fmt::join(rows, " \\\n"));
}

std::string program_function(const VerbReference& program) {
  std::string verbs, flags;
  for (const VerbReference& verb : program.verbs) verbs += fmt::format("    '{}:{}'\n", verb.name, escaped(verb.summary));
  for (const FlagFacts& flag : program.flags) flags += flag_row(flag) + " \\\n";
  return fmt::format(
      "\n_nl-stage() {{\n  local curcontext=$curcontext state\n  local -a verbs=(\n{}  )\n"
      "  _arguments -C \\\n{}    '1:verb:{{_describe -t verbs verb verbs}}' \\\n    '*::argument:->argument'\n"
      "  [[ $state == argument ]] || return\n"
      "  curcontext=${{curcontext%:*:*}}:nl-stage-$words[1]:\n"
      "  (( $+functions[_nl-stage_$words[1]] )) && _nl-stage_$words[1]\n}}\n",
      verbs, flags);
}

}  // namespace

std::string zsh_completion(const VerbReference& program) {
  std::string text = "#compdef nl-stage\n# zsh completion for nl-stage, made by `nl-stage completion zsh`\n";
  for (const VerbReference* verb : all_verbs(program)) text += verb_function(*verb);
  // autoload runs the file when the function is called first; `source` only defines it.
  return text + program_function(program) +
         "\nif [[ $funcstack[1] == _nl-stage ]]; then _nl-stage \"$@\"; else compdef _nl-stage nl-stage; fi\n";
}

}  // namespace nl::cli
