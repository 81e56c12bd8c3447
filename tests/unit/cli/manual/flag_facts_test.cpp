#include "cli/manual/flag_facts.h"

#include <CLI/CLI.hpp>

#include "cli/manual/help_json.h"
#include "cli/value_checks.h"
#include "tests/catch.h"

using namespace nl::cli;

namespace {

struct Declared {
  std::string text, kind = "a";
  std::vector<std::string> list, files;
  int count = 20;
  double share = 1;
  bool on = false;
};

}  // namespace

TEST_CASE("flag facts: type, values, limits, default and counts are those of the declaration") {
  CLI::App app;
  Declared into;
  CLI::Option* count = app.add_option("-n,--count", into.count, "how many")->capture_default_str()->check(between(1, 100))->type_name("N");
  const FlagFacts facts = facts_of(*count);
  CHECK(facts.name == "count");
  CHECK(facts.names == std::vector<std::string>{"-n", "--count"});
  CHECK(facts.type == ValueType::kInteger);
  CHECK(facts.least == 1);
  CHECK(facts.most == 100);
  CHECK(facts.default_value == "20");
  CHECK_FALSE(facts.repeatable);
  CHECK(argument_json(facts)["default"] == 20);
  CHECK(facts_of(*app.add_option("--share", into.share, "")->check(above_zero<double>())->type_name("N")).type == ValueType::kNumber);
  CHECK(facts_of(*app.add_option("--above", into.share, "")->check(above_zero<double>())).above_least);
  CHECK(facts_of(*app.add_option("--kind", into.kind, "")->check(CLI::IsMember({"a", "b"}))).choices == std::vector<std::string>{"a", "b"});
}

TEST_CASE("flag facts: a list is repeatable or takes several words, and a type with a colon stays whole") {
  CLI::App app;
  Declared into;
  const FlagFacts one = facts_of(*app.add_option("--set", into.list, "")->allow_extra_args(false)->type_name("KEY=VALUE"));
  CHECK((one.repeatable && one.many && one.most_values == 1));
  const FlagFacts many = facts_of(*app.add_option("--to", into.list, "")->required()->type_name("RUN"));
  CHECK((many.repeatable && many.most_values == kAnyNumber && many.required && many.type == ValueType::kRun));
  const FlagFacts place = facts_of(*app.add_option("files", into.files, "")->type_name("FILE"));
  CHECK((place.positional && place.least_values == 0 && place.most_values == kAnyNumber && !place.repeatable));
  CHECK(facts_of(*app.add_option("--wait", into.list, "")->type_name("CALL|FILE:LINE|all")).value_name == "CALL|FILE:LINE|all");
  const FlagFacts flag = facts_of(*app.add_flag("--on", into.on, ""));
  CHECK((flag.type == ValueType::kBoolean && flag.most_values == 0));
  CHECK(argument_json(flag)["default"] == false);
}

TEST_CASE("flag facts: what a flag excludes and needs is named, in the order of the alphabet") {
  CLI::App app;
  Declared into;
  CLI::Option *b = app.add_flag("--b", into.on, ""), *c = app.add_flag("--c", into.on, ""), *a = app.add_flag("--a", into.on, "");
  a->excludes(c)->excludes(b);
  app.add_option("--d", into.text, "")->needs(a);
  CHECK(facts_of(*a).excludes == std::vector<std::string>{"--b", "--c"});
  CHECK(facts_of(*app.get_option("--d")).needs == std::vector<std::string>{"--a"});
}
