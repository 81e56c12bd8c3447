#pragma once

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
  std::vector<FlagFacts> flags, positionals;
  std::vector<Block> description;
  std::string examples;  // a command a line
  std::vector<VerbReference> verbs;
};

// Hidden verbs and flags are left out.
VerbReference reference_of(const CLI::App& app);

// "nl-stage import [flags] [files ...]"
std::string usage_line(const VerbReference& verb);

// "nl-stage fingerprint search"
std::string command_name(const VerbReference& verb);

// Every verb, each followed by its own verbs.
std::vector<const VerbReference*> all_verbs(const VerbReference& program);

std::string bash_completion(const VerbReference& program);
std::string zsh_completion(const VerbReference& program);
std::string fish_completion(const VerbReference& program);

// Pages for man(1): of the program and of a verb.
std::string man_page(const VerbReference& program, const VerbReference& verb);

// docs/verbs: the list, and a page with a verb and its own verbs.
std::string verbs_index_markdown(const VerbReference& program);
std::string verb_markdown(const VerbReference& verb);

}  // namespace nl::cli
