#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/manual/reference.h"

namespace nl::cli {
namespace {

// The tables above it are made from the flags. Words of the command line are walked once: verbs, flags with their values,
// positional words. bash splits --flag=value at the "=", so that the value is a word as behind a blank.
constexpr std::string_view kDriver = R"sh(
_nl_stage_propose() {  # WORDS PATHS ASKS
  local known=$1
  # A ledger may keep one waiting; its words are checked by nl-stage, because compgen would execute them.
  if [[ -n $3 ]]; then known+=" $(timeout 1 "${COMP_WORDS[0]}" $3 2>/dev/null)"; fi
  mapfile -t COMPREPLY < <(compgen -W "$known" -- "$cur")
  case $2 in
    files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
    folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$cur") ;;
  esac
  if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}

_nl_stage_workload() {  # INDEX of the command's first word
  if declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif [[ $1 == "$COMP_CWORD" ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  else
    _nl_stage_propose '' files ''
  fi
}

_nl_stage() {
  local cur=${COMP_WORDS[COMP_CWORD]} verb='' flag='' word words paths asks
  local -i i place=0
  COMPREPLY=()
  if [[ $cur == '=' ]]; then cur=''; fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -- ]] && _nl_stage_place "$verb" 0 && [[ $paths == commands ]]; then
      _nl_stage_workload $((i + 1))
      return
    elif [[ $word == -?* ]]; then
      if _nl_stage_value "$verb" "$word"; then flag=$word; fi
    elif ((place == 0)) && [[ " $(_nl_stage_verbs "$verb") " == *" $word "* ]]; then
      verb+=${verb:+ }$word
    elif _nl_stage_place "$verb" $place && [[ $paths == commands ]]; then
      _nl_stage_workload $i
      return
    else
      place+=1
    fi
  done
  if [[ -n $flag ]]; then
    _nl_stage_value "$verb" "$flag"
    _nl_stage_propose "$words" "$paths" "$asks"
  elif [[ $cur == -* ]]; then
    _nl_stage_propose "$(_nl_stage_flags "$verb")" '' ''
  else
    _nl_stage_place "$verb" $place
    if ((place == 0)); then words+=" $(_nl_stage_verbs "$verb")"; fi
    if [[ $paths == commands ]]; then _nl_stage_workload "$COMP_CWORD"; else _nl_stage_propose "$words" "$paths" "$asks"; fi
  fi
}

complete -F _nl_stage nl-stage
)sh";

constexpr std::string_view bash_paths(Paths paths) {
  switch (paths) {
    case Paths::kNone: return "";
    case Paths::kFiles: return "files";
    case Paths::kFolders: return "folders";
    case Paths::kCommands: return "commands";
  }
  return "";
}

std::string values_text(const FlagFacts& argument) {
  const std::string asks = argument.asks.empty() ? "" : fmt::format(" asks='{}'", argument.asks);
  return fmt::format("words='{}' paths='{}'{}", fmt::join(argument.words, " "), bash_paths(argument.paths), asks);
}

// case "$1" in 'run') echo '-c --config …' ;;
std::string flags_row(const VerbReference& verb) {
  std::string names;
  for (const FlagFacts& flag : verb.flags)
    for (const std::string& name : flag.names) names += (names.empty() ? "" : " ") + name;
  return fmt::format("    '{}') echo '{}' ;;\n", verb.name, names);
}

std::string verbs_row(const VerbReference& verb) {
  std::vector<std::string> names;
  for (const VerbReference& below : verb.verbs) names.push_back(short_name(below));
  return names.empty() ? "" : fmt::format("    '{}') echo '{}' ;;\n", verb.name, fmt::join(names, " "));
}

std::string value_rows(const VerbReference& verb) {
  std::string rows;
  for (const FlagFacts& flag : verb.flags) {
    if (flag.value_name.empty()) continue;
    std::string patterns;
    for (const std::string& name : flag.names) patterns += fmt::format("{}'{} {}'", patterns.empty() ? "" : " | ", verb.name, name);
    rows += fmt::format("    {}) {} ;;\n", patterns, values_text(flag));
  }
  return rows;
}

// The last one, where it may be repeated, stands for all that follow.
std::string place_rows(const VerbReference& verb) {
  std::string rows;
  for (std::size_t i = 0; i < verb.positionals.size(); ++i)
    rows += fmt::format("    '{} '{}) {} ;;\n", verb.name, verb.positionals[i].many ? "*" : std::to_string(i),
                        values_text(verb.positionals[i]));
  return rows;
}

std::string function(std::string_view head, const std::string& rows, std::string_view otherwise) {
  return fmt::format("\n{}\n{}{}  esac\n}}\n", head, rows, otherwise);
}

}  // namespace

std::string bash_completion(const VerbReference& program) {
  std::string flags = flags_row(program), verbs = verbs_row(program), values = value_rows(program), places;
  for (const VerbReference* verb : all_verbs(program)) {
    flags += flags_row(*verb);
    verbs += verbs_row(*verb);
    values += value_rows(*verb);
    places += place_rows(*verb);
  }
  return "# bash completion for nl-stage, made by `nl-stage completion bash`\n" +
         function("_nl_stage_verbs() {  # VERB\n  case $1 in", verbs, "") +
         function("_nl_stage_flags() {  # VERB\n  case $1 in", flags, "") +
         function(
             "_nl_stage_value() {  # VERB FLAG: sets words, paths and asks; false where the flag takes no value\n  words='' paths='' "
             "asks=''\n  case "
             "\"$1 $2\" in",
             values, "    *) return 1 ;;\n") +
         function(
             "_nl_stage_place() {  # VERB NUMBER: the same for positional words, counted from 0\n  words='' paths='' asks=''\n  case \"$1 "
             "$2\" in",
             places, "    *) return 1 ;;\n") +
         std::string(kDriver);
}

}  // namespace nl::cli
