#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/manual/flag_facts.h"

namespace CLI {
class App;
}

// The verbs and flags as plain data, read off the parser itself: completions, man pages and docs/verbs come from it.
namespace nl::cli {

// Prose in paragraphs, and lines that stay as they are.
struct Block {
  bool verbatim = false;
  std::string text;
};

struct VerbReference {
  std::string name;  // "run", "fingerprint search"; of the program: ""
  std::string summary;
  std::string group;  // where the list of verbs has it: "Capture"
  std::vector<FlagFacts> flags, positionals;
  std::vector<Block> description;
  std::string examples;  // a command a line
  std::vector<VerbReference> verbs;
};

// Hidden verbs and flags are left out.
VerbReference reference_of(const CLI::App& app);

// Of the program, or of one of its verbs, which may be hidden.
VerbReference reference_of_verb(const CLI::App& verb);

// "required", "default: 20", "not with --html"
std::vector<std::string> remarks_on(const FlagFacts& argument);

// The groups of the verbs, each once, in their order.
std::vector<std::string> verb_groups(const VerbReference& program);

// "nl-stage import [flags] [files ...]"
std::string usage_line(const VerbReference& verb);

// "nl-stage fingerprint search"
std::string command_name(const VerbReference& verb);

std::string short_name(const VerbReference& verb);  // "search"

// Every verb, each followed by its own verbs.
std::vector<const VerbReference*> all_verbs(const VerbReference& program);

// What --help prints: prose and lists broken to fit so many places, whole words only; 0: lines have any length.
std::string help_text(const VerbReference& verb, std::size_t width);

std::string bash_completion(const VerbReference& program);
std::string zsh_completion(const VerbReference& program);
std::string fish_completion(const VerbReference& program);

struct StatusMeaning {
  std::string status;  // "2"
  std::string_view meaning;
};

// Pages for man(1): of the program and of a verb.
std::string man_page(const VerbReference& program, const VerbReference& verb, const std::vector<StatusMeaning>& statuses);

// docs/verbs: the list, and a page with a verb and its own verbs.
std::string verbs_index_markdown(const VerbReference& program);
std::string verb_markdown(const VerbReference& verb);

}  // namespace nl::cli
