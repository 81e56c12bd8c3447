#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The verbs and flags as plain data, read off the parser itself: completions, man pages and docs/verbs come from it.
namespace nl::cli {

enum class Paths { kNone, kFiles, kFolders, kCommands };

struct Argument {
  std::vector<std::string> names;  // "-c", "--config"; of a positional one: "files"
  std::string type;                // "FILE"; empty: a flag without a value
  std::string help, group, default_value;
  std::vector<std::string> choices;  // the only values there are
  std::string limits;                // "a whole number from 1 to 100"
  std::vector<std::string> words;    // what a shell proposes: the choices, or the names that are known
  std::string asks;                  // and what nl-stage prints with these flags then: names of runs
  Paths paths = Paths::kNone;        // and these
  bool required = false;
  bool many = false;
};

// Prose in paragraphs, and lines that stay as they are.
struct Block {
  bool verbatim = false;
  std::string text;
};

struct VerbReference {
  std::string name;  // "run", "fingerprint search"; of the program: ""
  std::string summary;
  std::vector<Argument> flags, positionals;
  std::vector<Block> description;
  std::string examples;  // a command a line
  std::vector<VerbReference> verbs;
};

Argument argument_of(const CLI::Option& option);

// Hidden verbs and flags are left out.
VerbReference reference_of(const CLI::App& app);

// "nl-stage import [flags] [files ...]"
std::string usage_line(const VerbReference& verb);

// "nl-stage fingerprint search"
std::string command_name(const VerbReference& verb);

// Every verb, each followed by its own verbs.
std::vector<const VerbReference*> all_verbs(const VerbReference& program);

// The values of a type of argument ("RUNNER") that a shell can propose.
struct Values {
  std::vector<std::string> words;
  std::string asks = {};
  Paths paths = Paths::kNone;
};
Values values_of_type(std::string_view type);
std::vector<std::string> schema_names();  // that the verb `schema` takes

std::string bash_completion(const VerbReference& program);
std::string zsh_completion(const VerbReference& program);
std::string fish_completion(const VerbReference& program);

// Pages for man(1): of the program and of a verb.
std::string man_page(const VerbReference& program, const VerbReference& verb);

// docs/verbs: the list, and a page with a verb and its own verbs.
std::string verbs_index_markdown(const VerbReference& program);
std::string verb_markdown(const VerbReference& verb);

}  // namespace nl::cli
