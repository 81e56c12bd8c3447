#include <CLI/CLI.hpp>

#include <algorithm>
#include <sstream>

#include "cli/command_line.h"
#include "cli/manual/reference.h"
#include "cli/manual/topics.h"
#include "model/visible_text.h"
#include "tests/catch.h"

using namespace nl::cli;

namespace {

VerbReference whole_program() {
  CLI::App app;
  std::function<int()> action;
  set_up(app, action);
  return reference_of(app);
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The words in their order. A line of an example that goes on ends with a backslash.
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;)
    if (word != "\\") words.push_back(word);
  return words;
}

// Longer may be a line of one word: it may be a path to copy.
void check_fits(const std::string& text, std::size_t width) {
  for (const std::string& line : lines_in(text)) {
    INFO(line);
    CHECK((nl::columns_of(line) <= width || words_in(line).size() == 1));
  }
}

}  // namespace

TEST_CASE("help: fits a terminal of 60 and 80 places, and no word is broken or lost") {
  const VerbReference program = whole_program();
  std::vector<const VerbReference*> verbs = all_verbs(program);
  verbs.push_back(&program);
  const auto as_it_is = [](const Block& block) { return block.verbatim; };
  for (const VerbReference* verb : verbs)
    for (const std::size_t width : {60, 80, 120}) {
      INFO(verb->name << " at " << width);
      const std::string text = help_text(*verb, width);
      if (std::none_of(verb->description.begin(), verb->description.end(), as_it_is)) check_fits(text, width);
      CHECK(words_in(text) == words_in(help_text(*verb, 0)));
    }
}

TEST_CASE("help: the verbs stand in groups, and the four that most need are the first") {
  const VerbReference program = whole_program();
  const auto groups = verb_groups(program);
  REQUIRE(groups.size() > 4);
  CHECK(groups.front() == "Start here");
  std::vector<std::string> first;
  for (const VerbReference& verb : program.verbs) {
    INFO(verb.name);
    CHECK_FALSE(verb.group.empty());
    if (verb.group == groups.front()) first.push_back(verb.name);
  }
  CHECK(first == std::vector<std::string>{"run", "import", "show", "compare"});
  const std::string text = help_text(program, 0);
  for (const std::string& group : groups) CHECK(text.find("\n" + group + ":\n") != std::string::npos);
}

TEST_CASE("help: a command that is broken can be copied") {
  VerbReference verb;
  verb.name = "x";
  verb.examples = "nl-stage import --nsys run.sqlite --ncu prefill.csv decode.csv --out bundle --json\n";
  CHECK(help_text(verb, 60).ends_with("  nl-stage import --nsys run.sqlite --ncu prefill.csv \\\n      decode.csv --out bundle --json\n"));
}

TEST_CASE("topics: every page is there, and what messages name is one of them") {
  const auto topics = all_topics();
  CHECK(topics.size() > 20);
  for (const Topic& topic : topics) {
    INFO(topic.name);
    CHECK_FALSE(topic.title.empty());
    CHECK(topic.text.size() > 500);
  }
  REQUIRE(find_topic("docs/exit-status.md") != nullptr);
  CHECK(read_topic(*find_topic("exit-status")).title == "Exit statuses of nl-stage");
  CHECK(find_topic("verbs/run") == nullptr);
  CHECK(find_topic("") == nullptr);
}

TEST_CASE("pages: prose, lists and tables fit, code stays as it is") {
  const std::string page =
      "# Title\n\nSome **bold** prose that\ngoes on, see [rules](rules.md) and `a | b`.\n\n    nl-stage run --out "
      "a/long/path/that/is/not/broken\n\n"
      "| key | what |\n| --- | --- |\n| `a\\|b` | a long explanation of the key that does not fit in one line |\n\n- one item that is also "
      "too long\n";
  CHECK(page_text(page, 40) ==
        "# Title\n\nSome bold prose that goes on, see rules\n(docs/rules.md) and `a | b`.\n\n    nl-stage run --out "
        "a/long/path/that/is/not/broken\n\n"
        "key    what\n-----  ---------------------------------\n`a|b`  a long explanation of the key\n       that does not fit in one "
        "line\n\n"
        "- one item that is also too long\n");
  CHECK(page_text(page, 0) == page);  // a pipe gets the Markdown
}

TEST_CASE("pages: all of them fit a terminal of 60 and 80 places, but for code") {
  for (const Topic& topic : all_topics())
    for (const std::size_t width : {60, 80})
      for (const std::string& line : lines_in(page_text(topic.text, width))) {
        INFO(topic.name << ": " << line);
        CHECK((nl::columns_of(line) <= width || line.starts_with("    ") || words_in(line).size() <= 2));
      }
}
