#include "cli/usage_error.h"

#include <nlohmann/json.hpp>

#include "cli/verbs.h"
#include "model/error_code.h"
#include "tests/catch.h"
#include "tests/unit/cli/answer.h"
#include "tests/unit/files.h"

using nl::test::nl_stage;
using nl::test::refused;
using nl::test::Words;
using nlohmann::json;

TEST_CASE("cli --json: every verb has it") {
  CLI::App app;
  std::function<int()> action;
  nl::cli::set_up(app, action);
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    INFO(verb->get_name());
    CHECK(verb->get_option_no_throw("--json") != nullptr);
  }
}

TEST_CASE("cli --json: asked for by us, also where the words are wrong, and not by the workload") {
  const auto asks = [](Words words) {
    words.insert(words.begin(), "nl-stage");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CLI::App app;
    std::function<int()> action;
    nl::cli::set_up(app, action);
    return nl::cli::asks_for_json(app, static_cast<int>(argv.size()), argv.data());
  };
  CHECK(asks({"run", "--json", "./workload"}));
  CHECK(asks({"improt", "--json"}));
  CHECK(asks({"doctor", "--jsno", "--json"}));
  for (const char* verb : {"run", "plan", "try", "bisect"}) {
    INFO(verb);
    CHECK(asks({verb, "--zzzzzz", "x", "--json", "./workload"}));  // an unknown flag may take a value
    CHECK(asks({verb, "--zzzzzz=x", "--json", "./workload"}));
    CHECK(asks({verb, "--zzzzzz", "--json", "./workload"}));
    CHECK(asks({verb, "--modle", "x", "--json", "./workload"}));  // --model takes one
    CHECK_FALSE(asks({verb, "--zzzzzz", "x", "--", "./workload", "--json"}));
    CHECK_FALSE(asks({verb, "--modle", "x", "./workload", "--json"}));
    CHECK_FALSE(asks({verb, "--zzzzzz=x", "./workload", "--json"}));
  }
  CHECK_FALSE(asks({"run", "--quite", "./workload", "--json"}));  // --quiet takes none
  CHECK_FALSE(asks({"--zzzzzz", "run", "./workload", "--json"}));
  CHECK_FALSE(asks({"validate", "--", "--json"}));  // the name of a file
  CHECK(asks({"try", "--rounds", "x", "--json", "./workload"}));
  CHECK_FALSE(asks({"run", "./workload", "--json"}));
  CHECK_FALSE(asks({"run", "--", "--json"}));
  CHECK_FALSE(asks({"run", "--name", "x"}));
  CHECK_FALSE(asks({}));
}

TEST_CASE("cli help: as JSON, the flags of a verb and the verbs below it") {
  const json all = json::parse(nl_stage({"help", "--json"}).out),
             search = json::parse(nl_stage({"help", "fingerprint", "search", "--json"}).out);
  CHECK(all["name"] == "nl-stage");
  CHECK(std::any_of(all["verbs"].begin(), all["verbs"].end(), [](const json& verb) { return verb["name"] == "import"; }));
  CHECK(std::none_of(all["verbs"].begin(), all["verbs"].end(), [](const json& verb) { return verb["name"] == "session"; }));
  CHECK(std::any_of(search["flags"].begin(), search["flags"].end(),
                    [](const json& flag) { return flag["names"] == Words{"-n", "--count"}; }));
  CHECK(search["schema"] == "fingerprint-search");
}

TEST_CASE("cli usage: the nearest verb or flag, or where the list is") {
  CHECK(refused({"improt"}).fix == "did you mean 'import'?");
  CHECK(refused({"improt"}).message == "unknown verb 'improt'");
  CHECK(refused({"run", "--nmae=x"}).message == "unknown flag '--nmae'");
  CHECK(refused({"run", "--nmae=x"}).fix == "did you mean '--name'?");
  CHECK(refused({"validate"}).fix == "add RUN, such as: nl-stage validate run.json; `nl-stage validate --help` explains it");
  CHECK(refused({"nodes"}).fix.starts_with("add RUN, such as: nl-stage nodes "));  // its first example makes the run
  CHECK(refused({"doctor", "word"}).message == "unexpected word 'word'");
  CHECK(refused({"doctor", "--set", "run.top_n_kernels=3", "word"}).message == "unexpected word 'word'");
  CHECK(refused({"run", "-x"}).message == "unknown flag '-x'");
  CHECK(refused({"zzzzzzzz"}).fix == "`nl-stage --help` lists them");
  CHECK(refused({"diff"}).fix == "did you mean 'compare'?");  // what other programs call it
  CHECK(refused({"version"}).fix == "did you mean '--version'?");
  CHECK(refused({"improt"}).kind == nl::ErrorKind::kUsage);
  CHECK(refused({"improt"}).where == "command line");
}

TEST_CASE("cli usage: the whole message of every kind of mistake") {
  const auto words = [](const Words& given) {
    const nl::Error error = refused(given);
    CHECK(error.kind == nl::ErrorKind::kUsage);
    CHECK(error.where == "command line");
    return error.message + " | " + error.fix;
  };
  CHECK(words({"zzzzzzzz"}) == "unknown verb 'zzzzzzzz' | `nl-stage --help` lists them");
  CHECK(words({"improt"}) == "unknown verb 'improt' | did you mean 'import'?");
  CHECK(words({"--jsno"}) == "unknown flag '--jsno' | one of: --help, --version; `nl-stage --help` explains them");
  CHECK(words({"doctor", "--zzzzzzzz=3"}) ==
        "unknown flag '--zzzzzzzz' | one of: --help, --config, --set, --json; `nl-stage doctor --help` explains them");
  CHECK(words({"doctor", "--jsno"}) == "unknown flag '--jsno' | did you mean '--json'?");
  CHECK(words({"doctor", "word"}) == "unexpected word 'word' | `nl-stage doctor --help` has the flags and examples");
  CHECK(words({"doctor", "-"}) == "unexpected word '-' | `nl-stage doctor --help` has the flags and examples");
  CHECK(words({"fingerprint", "search", "last", "--jsno"}) == "unknown flag '--jsno' | did you mean '--json'?");
  CHECK(words({"help", "help", "help"}) == "nl-stage help has no verb 'help' | `nl-stage help --help` has its flags and examples");
  CHECK(words({"--json", "doctor"}) == "--json stands before the verb | write nl-stage doctor --json …");
  CHECK(words({"--zzzzzzzz", "doctor"}) == "unknown flag '--zzzzzzzz' | one of: --help, --version; `nl-stage --help` explains them");
}

TEST_CASE("cli usage: a flag or an argument that is missing, lacks its value or has a wrong one, in our own words") {
  struct Case {
    Words given;
    std::string what, where, fix;
  };
  const std::vector<Case> cases = {
      {{"fingerprint", "search"},
       "RUN is missing",
       "nl-stage fingerprint search",
       "add RUN, such as: nl-stage fingerprint search bundle; `nl-stage fingerprint search --help` explains it"},
      {{"export", "last"},
       "--out FILE is missing",
       "nl-stage export",
       "add --out FILE, such as: nl-stage export last -o nightly.nlz; `nl-stage export --help` explains it"},
      {{"--"}, "no verb is given", "nl-stage", "`nl-stage --help` lists the verbs"},
      {{"doctor", "--set"}, "--set has no value", "--set", "write --set KEY=VALUE"},
      {{"doctor", "--json", "-c"}, "--config has no value", "--config", "write --config RUNNER"},
      {{"doctor", "--config="}, "--config has no value", "--config", "write --config RUNNER"},
      {{"try", "--rounds"}, "--rounds has no value", "--rounds", "write --rounds N"},
      {{"try", "--rounds", "--json", "./w"}, "--rounds has no value", "--rounds", "write --rounds N"},
      {{"try", "--rounds", "many", "./w"}, "'many' is no value of --rounds", "--rounds", "write a whole number from 1 to 1000"},
      {{"try", "--rounds", "1.5", "./w"}, "'1.5' is no value of --rounds", "--rounds", "write a whole number from 1 to 1000"},
      {{"try", "--warmup", "1", "--rounds", "5000", "./w"},
       "'5000' is no value of --rounds",
       "--rounds",
       "write a whole number from 1 to 1000"},
      {{"try", "--tolerance=-1", "./w"}, "'-1' is no value of --tolerance", "--tolerance", "write a number from 0"},
      {{"compare", "a", "--to", "b", "--minimum-effect", "much"},
       "'much' is no value of --minimum-effect",
       "--minimum-effect",
       "write a number from 0 to 100"},
      {{"rm", "--keep-last", "0"}, "'0' is no value of --keep-last", "--keep-last", "write a whole number above 0"},
      {{"ls", "--limit", "all"}, "'all' is no value of --limit", "--limit", "write a number"},
      {{"ls", "--limit", "1.5"}, "'1.5' is no value of --limit", "--limit", "write a whole number"},
      {{"import-bundle", "x.nlz", "--max-files", "few"}, "'few' is no value of --max-files", "--max-files", "write a number"},
      {{"completion", "bsh"}, "'bsh' is no value of SHELL", "SHELL", "one of: bash, zsh, fish"},
      {{"completion", "tcsh"}, "'tcsh' is no value of SHELL", "SHELL", "one of: bash, zsh, fish"},
      {{"completion", "powershell"}, "'powershell' is no value of SHELL", "SHELL", "one of: bash, zsh, fish"},
      {{"stats", "-f", "xml", nl::test::kProbe + "probe_node.sqlite"},
       "'xml' is no value of --format",
       "--format",
       "one of: table, csv, json"},
      {{"export", "last", "-o", "x.nlz", "--redact", "host,all"}, "'all' is no value of --redact", "--redact", "one of: host, paths"},
      {{"facts", "last", "-f", "orc"}, "'orc' is no value of --format", "--format", "one of: parquet, arrow, csv, sqlite"},
      {{"trends", "tpot_ms", "--by", "comit"}, "'comit' is no value of --by", "--by", "one of: date, commit"},
      {{"doctor", "--json=maybe"}, "--json takes no value", "--json", "write --json alone"},
      {{"doctor", "-c", "light", "--config", "deep"}, "--config is given 2 times", "--config", "give it once"},
      {{"plan", "--markdown"}, "--markdown needs --keys", "--markdown", "add --keys"},
      {{"compare", "a", "--to", "b", "--json", "--html"}, "--json and --html cannot be combined", "--json", "leave one of them out"},
  };
  for (const Case& each : cases) {
    INFO(each.given.front() << " " << each.given.back());
    const nl::Error error = refused(each.given);
    CHECK(error.kind == nl::ErrorKind::kUsage);
    CHECK(error.message == each.what);
    CHECK(error.where == each.where);
    CHECK(error.fix == each.fix);
  }
}

TEST_CASE("cli errors: each mistake of the command line has its code") {
  const auto code = [](const Words& given) {
    try {
      nl_stage(given);
    } catch (const nl::Error& error) {
      return nl::info_of(nl::code_of(error)).key;
    }
    return std::string_view("none");
  };
  CHECK(code({"improt"}) == "unknown_verb");
  CHECK(code({"diff"}) == "unknown_verb");
  CHECK(code({"run", "--nmae=x"}) == "unknown_flag");
  CHECK(code({"--json", "doctor"}) == "unknown_flag");
  CHECK(code({"export", "last"}) == "missing_argument");
  CHECK(code({"doctor", "--set"}) == "missing_argument");
  CHECK(code({"try", "--rounds", "many", "./w"}) == "wrong_value");
  CHECK(code({"plan", "--markdown"}) == "conflicting_flags");
  CHECK(code({"explain", "zzzzzzzz"}) == "unknown_term");
  CHECK(code({"help", "zzzzzzzz"}) == "unknown_topic");
  CHECK(code({"schema", "zzzzzzzz"}) == "unknown_schema");
  CHECK(code({"plan", "--set", "run.top_n_kernls=3", "/bin/true"}) == "unknown_setting");
  CHECK(code({"import", "/nonexistent"}) == "no_such_file");
}

TEST_CASE("cli help: a page by its name, a verb before a page, and both are named") {
  CHECK(nl_stage({"help", "exit-status"}).out.starts_with("# Exit statuses of nl-stage\n"));
  CHECK(nl_stage({"help", "docs/exit-status.md"}).out == nl_stage({"help", "exit-status"}).out);
  const std::string verb = nl_stage({"help", "compare"}).out;
  CHECK(verb.find("Usage: nl-stage compare") != std::string::npos);
  CHECK(verb.find("`nl-stage help compare.md` prints the page of this name: Comparing runs.") != std::string::npos);
  CHECK(nl_stage({"help", "compare.md"}).out.starts_with("# Comparing runs\n"));
  const json topics = json::parse(nl_stage({"help", "topics", "--json"}).out)["topics"];
  CHECK(std::any_of(topics.begin(), topics.end(), [](const json& each) { return each["file"] == "docs/gate.md"; }));
  CHECK(refused({"help", "glosary"}).fix.find("did you mean 'glossary'?") == 0);
  CHECK(refused({"help", "improt"}).fix.find("did you mean 'import'?") == 0);
}

TEST_CASE("cli explain: a rule, a metric, a term, a field and a setting; all that go by one name") {
  const auto explained = [](const Words& name) {
    Words words = {"explain", "--json"};
    words.insert(words.end(), name.begin(), name.end());
    return json::parse(nl_stage(words).out);
  };
  const json rule = explained({"launch_bound_decode"})["rules"][0];
  CHECK(rule["condition"] == "launching_share > 10%");
  CHECK(rule["severity"][0]["severity"] == "high");
  CHECK(rule["predict"][0]["text"] == "--graph {name}");
  CHECK(rule["file"].get<std::string>().find("rules/host.yaml") != std::string::npos);
  CHECK(std::any_of(rule["fields"].begin(), rule["fields"].end(), [](const json& each) { return each["name"] == "launching_share"; }));
  const json tpot = explained({"tpot_ms"});
  CHECK(tpot["metrics"][0]["unit"] == "ms");
  CHECK(tpot["metrics"][0]["better"] == "lower");
  CHECK(tpot["terms"][0]["term"] == "TPOT");  // the key stands among the names of the term
  CHECK(explained({"Launch", "Starved"})["terms"] == explained({"launch-starved"})["terms"]);
  CHECK(explained({"stage.decode_step.median_ms"})["metrics"][0]["key"] == "stage.NAME.median_ms");
  CHECK(explained({"run.top_n_kernels"})["settings"][0]["key"] == "run.top_n_kernels");
  CHECK(explained({"no_such_run"})["codes"][0]["exit_status"] == 3);
  CHECK(explained({"launching_share"})["fields"][0]["scope"] == "stage");
  const std::string text = nl_stage({"explain", "launch_bound_decode"}).out;
  CHECK(text.find("  condition    launching_share > 10%\n") != std::string::npos);
  CHECK(refused({"explain", "launch_bound_decod"}).fix.find("launch_bound_decode") != std::string::npos);
}
