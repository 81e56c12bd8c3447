#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/reference.h"

namespace nl::cli {
namespace {

// True where the words so far, without flags, begin with the given ones. Without given words: true where there are no such words.
constexpr std::string_view kCondition = R"fish(
function __nl_stage_at
    set -l words (commandline -opc)
    set -e words[1]
    set -l plain (string match -v -- '-*' $words)
    if test (count $argv) = 0
        test (count $plain) = 0
        return
    end
    test (count $plain) -ge (count $argv); and test "$plain[1..$(count $argv)]" = "$argv"
end

complete -c nl-stage -f
)fish";

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + "'";
}

std::string fish_condition(const VerbReference& verb) { return fish_quoted("__nl_stage_at" + (verb.name.empty() ? "" : " " + verb.name)); }

std::string fish_values(const FlagFacts& argument) {
  std::string words = argument.words.empty() ? "" : fmt::format(" -a {}", fish_quoted(fmt::format("{}", fmt::join(argument.words, " "))));
  if (!argument.asks.empty()) words += fmt::format(" -a '(timeout 1 nl-stage {} 2>/dev/null)'", argument.asks);
  switch (argument.paths) {
    case Paths::kNone: return words;
    case Paths::kFiles: return " -F" + words;
    case Paths::kFolders: return " -a '(__fish_complete_directories)'" + words;
    case Paths::kCommands: return " -a '(__fish_complete_subcommand --fcs-skip=2)'";
  }
  return words;
}

// complete -c nl-stage -n '__nl_stage_at run' -s c -l config -r -F -a 'deep light' -d 'runner file …'
std::string flag_lines(const VerbReference& verb) {
  std::string lines;
  for (const FlagFacts& flag : verb.flags) {
    std::string names;
    for (const std::string& name : flag.names) names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const std::string_view value = flag.value_name.empty() ? "" : flag.paths == Paths::kFiles ? " -r" : " -x";
    lines += fmt::format("complete -c nl-stage -n {}{}{}{} -d {}\n", fish_condition(verb), names, value,
                         flag.value_name.empty() ? "" : fish_values(flag), fish_quoted(flag.help));
  }
  return lines;
}

std::string place_lines(const VerbReference& verb) {
  std::string lines;
  for (const FlagFacts& argument : verb.positionals)
    if (const std::string values = fish_values(argument); !values.empty())
      lines += fmt::format("complete -c nl-stage -n {}{}\n", fish_condition(verb), values);
  return lines;
}

std::string verb_lines(const VerbReference& verb) {
  std::string lines;
  for (const VerbReference& below : verb.verbs)
    lines += fmt::format("complete -c nl-stage -n {} -a {} -d {}\n", fish_condition(verb), short_name(below), fish_quoted(below.summary));
  return lines;
}

}  // namespace

std::string fish_completion(const VerbReference& program) {
  std::string text = "# fish completion for nl-stage, made by `nl-stage completion fish`\n" + std::string(kCondition);
  text += verb_lines(program) + flag_lines(program);
  for (const VerbReference* verb : all_verbs(program)) text += "\n" + verb_lines(*verb) + flag_lines(*verb) + place_lines(*verb);
  return text;
}

}  // namespace nl::cli
