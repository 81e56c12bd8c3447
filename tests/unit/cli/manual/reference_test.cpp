#include "cli/manual/reference.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "cli/command_line.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A command line with one of each: a choice, a repeatable flag, a default, hidden parts, a verb of a verb.
struct SmallProgram {
  CLI::App app{"Look at things.", "nl-stage"};
  std::string format = "csv", out, hidden;
  Words sets, files;
  bool json = false;

  SmallProgram() {
    CLI::App* verb = app.add_subcommand("look", "Look at a thing");
    verb->add_option("files", files, "what is looked at")->type_name("FILE")->required();
    verb->add_option("-f,--format", format, "how: a|b")->check(CLI::IsMember({"csv", "json"}))->capture_default_str();
    verb->add_option("--set", sets, "set a key")->allow_extra_args(false)->type_name("KEY=VALUE");
    verb->add_option("--secret", hidden, "not for users")->group("");
    verb->add_option("--out", out, "folder")->type_name("DIR")->group("Elsewhere");
    verb->add_flag("--json", json, "as JSON");
    verb->footer("It looks,\nand looks.\n  a  b\nExamples:\n  nl-stage look x\n  nl-stage look 'y' -f json\n\n.Status 3: nothing\\there.");
    verb->add_subcommand("again", "Look once more")->footer("Examples:\n  nl-stage look again");
    app.add_subcommand("internal", "Not for users")->group("");
  }
  nl::cli::VerbReference reference() const { return nl::cli::reference_of(app); }
};

std::string joined(const nl::cli::FlagFacts& argument) {
  std::string names;
  for (const std::string& name : argument.names) names += (names.empty() ? "" : ", ") + name;
  return names;
}

Words all_names(const std::vector<nl::cli::FlagFacts>& arguments) {
  Words all;
  for (const auto& argument : arguments) all.push_back(joined(argument));
  return all;
}

}  // namespace

TEST_CASE("manual: verbs and flags are read off the parser, hidden ones are not") {
  const SmallProgram program;
  const auto reference = program.reference();
  REQUIRE(reference.verbs.size() == 1);
  const auto& look = reference.verbs[0];
  CHECK(all_names(look.flags) == Words{"-h, --help", "-f, --format", "--set", "--out", "--json"});
  CHECK(all_names(look.positionals) == Words{"files"});
  CHECK(look.positionals[0].paths == nl::cli::Paths::kFiles);
  CHECK(look.positionals[0].many);
  CHECK(look.flags[1].choices == Words{"csv", "json"});
  CHECK(look.flags[1].words == look.flags[1].choices);
  CHECK(look.flags[1].default_value == "csv");
  CHECK(look.flags[4].value_name == "");
  CHECK(look.flags[3].paths == nl::cli::Paths::kFolders);
  REQUIRE(look.verbs.size() == 1);
  CHECK(look.verbs[0].name == "look again");
  CHECK(nl::cli::usage_line(look) == "nl-stage look [flags] files ...");
  CHECK(nl::cli::usage_line(reference) == "nl-stage VERB [flags] ...");
  CHECK(nl::cli::all_verbs(reference).size() == 2);
}

TEST_CASE("manual: a footer is prose, lines that stay as they are, and examples") {
  const SmallProgram program;
  const auto look = program.reference().verbs[0];
  REQUIRE(look.description.size() == 3);
  CHECK(look.description[0].text == "It looks, and looks.");
  CHECK(look.description[1].verbatim);
  CHECK(look.description[1].text == "  a  b");
  CHECK(look.description[2].text == ".Status 3: nothing\\there.");
  CHECK(look.examples == "nl-stage look x\nnl-stage look 'y' -f json\n");
}

TEST_CASE("manual: names that are known are proposed for their types") {
  const auto has = [](const Words& words, const std::string& word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  CHECK(has(nl::cli::values_of_type("RUNNER").words, "light"));
  CHECK(has(nl::cli::values_of_type("MODEL").words, "llama-3.1-8b"));
  CHECK(has(nl::cli::values_of_type("KEY=VALUE").words, "run.top_n_kernels="));
  CHECK(has(nl::cli::values_of_type("REPORT,...").words, "nvtx_sum"));
  CHECK(nl::cli::values_of_type("RUNNER").paths == nl::cli::Paths::kFiles);
  CHECK(nl::cli::values_of_type("TEXT").words.empty());
}

TEST_CASE("manual: a page for man(1) keeps dots, backslashes and hyphens") {
  const SmallProgram program;
  const auto reference = program.reference();
  const std::string page = nl::cli::man_page(reference, reference.verbs[0], {{"3", "an input is missing"}});
  const auto says = [&page](const std::string& text) { return page.find(text) != std::string::npos; };
  CHECK(says(".TH NL\\-STAGE\\-LOOK 1 "));
  CHECK(says(".SH NAME\nnl\\-stage\\-look \\- Look at a thing\n.SH SYNOPSIS\n.nf\nnl\\-stage look [flags] files ...\n.fi\n"));
  CHECK(says("\n\\&.Status 3: nothing\\ethere.\n"));
  CHECK(says(".TP\n\\fB\\-f\\fR, \\fB\\-\\-format\\fR \\fIcsv|json\\fR\nhow: a|b (default: csv)\n"));
  CHECK(says(".TP\n\\fBfiles\\fR \\fIFILE\\fR ...\nwhat is looked at (required)\n"));
  CHECK(says(".SS Elsewhere\n"));
  CHECK(says(".SH EXAMPLES\n.nf\nnl\\-stage look x\nnl\\-stage look 'y' \\-f json\n.fi\n"));
  CHECK_FALSE(says("secret"));
  CHECK(says(".SH EXIT STATUS\n.TP\n3\nan input is missing\n"));
  CHECK(says("Look at a thing.\n"));
  CHECK(nl::cli::man_page(reference, reference, {}).find(".SH DESCRIPTION\nLook at things.\n") != std::string::npos);  // one full stop
  CHECK(nl::cli::man_page(reference, reference, {}).find(".BR nl\\-stage\\-look (1)\nLook at a thing\n") != std::string::npos);
}

TEST_CASE("manual: a page in Markdown escapes bars in its tables") {
  const SmallProgram program;
  const std::string page = nl::cli::verb_markdown(program.reference().verbs[0]);
  CHECK(page.find("| `-f`, `--format` | `csv\\|json` | `csv` | how: a\\|b |\n") != std::string::npos);
  CHECK(page.find("\n## nl-stage look again\n") != std::string::npos);
  CHECK(page.find("\nExamples:\n\n    nl-stage look x\n") != std::string::npos);
}

TEST_CASE("manual: every argument has a name, and what is proposed for it are words") {
  CLI::App app;
  std::function<int()> action;
  nl::cli::set_up(app, action);
  const auto program = nl::cli::reference_of(app);
  for (const auto* verb : nl::cli::all_verbs(program))
    for (const auto* arguments : {&verb->flags, &verb->positionals})
      for (const auto& argument : *arguments) {
        INFO(verb->name << " " << joined(argument));
        CHECK_FALSE(argument.names.empty());
        // CLI11 prints the values of an enum behind an arrow unless a description says what is allowed.
        for (const std::string& word : argument.words) CHECK(word.find_first_of(" '>") == std::string::npos);
      }
}

TEST_CASE("manual: docs/verbs has the page of every verb as its help is now", "[golden]") {
  const fs::path folder = fs::path(NL_SOURCE_ROOT) / "docs/verbs";
  CLI::App app;
  std::function<int()> action;
  nl::cli::set_up(app, action);
  const auto program = nl::cli::reference_of(app);
  nl::test::check_golden((folder / "README.md").string(), nl::cli::verbs_index_markdown(program));
  std::set<std::string> known = {"README.md"};
  for (const auto& verb : program.verbs) {
    known.insert(verb.name + ".md");
    nl::test::check_golden((folder / (verb.name + ".md")).string(), nl::cli::verb_markdown(verb));
  }
  for (const auto& file : fs::directory_iterator(folder)) {
    INFO(file.path() << " is of a verb that is gone: remove it");
    CHECK(known.count(file.path().filename().string()) == 1);
  }
}
