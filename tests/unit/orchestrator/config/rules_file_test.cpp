#include "orchestrator/config/rules_file.h"

#include "analysis/rules/judge.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/orchestrator/config/healthy_run.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::orchestrator;
using namespace nl::test;

namespace {

// A rule that is in order but for the lines that a test puts in the place of others.
std::string rule_text(const std::string& condition = "h2d_time / total_time > 0.3", const std::string& rest = "") {
  return "rules:\n"
         "  - name: mine\n"
         "    scope: stage\n"
         "    condition: " + condition + "\n"
         "    severity: high\n"
         "    message: \"{name}: {h2d_time / total_time:percent}\"\n"
         "    suggestions: [a, b]\n" + rest;
}

struct Fault {
  std::string message, where, fix;
};

Fault fault_of(const std::string& text) {
  const FakeTree tree;
  const auto file = tree.write("r.yaml", text);
  try {
    load_rules({}, {file.string()});
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kConfig);
    CHECK(error.where.starts_with(file.string() + ":"));
    return {error.message, error.where.substr(file.string().size() + 1), error.fix};
  }
  FAIL("no error was thrown for\n" << text);
  throw 0;
}

Rules load(const std::string& text, const std::vector<ConfFile>& before = {}) {
  const FakeTree tree;
  return load_rules(before, {tree.write("r.yaml", text).string()});
}

}  // namespace

TEST_CASE("a user's rule over copies and total time") {
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 31000000;
  judge(load(rule_text()), run);
  REQUIRE(run.findings.size() == 1);
  const Finding& finding = run.findings.front();
  CHECK(finding.rule == "mine");
  CHECK(finding.subject == "prefill");
  CHECK(finding.severity == Severity::kHigh);
  CHECK(finding.message == "prefill: 31 %");
  CHECK(finding.confidence == 0.5);  // the condition alone: nothing more was asked for
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].reference == "/stages/0/activity");
  CHECK(finding.evidence[0].window_end_ns == 50000000);
  CHECK_FALSE(finding.gain_ns.has_value());
  CHECK(finding.plain.empty());
}

TEST_CASE("a rule's plain words are optional, and have values put in") {
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 31000000;
  judge(load(rule_text("h2d_time / total_time > 0.3", "    plain: \"Sending takes {h2d_time / total_time:percent}; send less.\"\n")), run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].plain == "Sending takes 31 %; send less.");
  const auto field = fault_of(rule_text("h2d_time > 1", "    plain: \"Sending takes {h2d_tim}\"\n"));
  CHECK(field.message == "rule 'mine', plain: unknown field 'h2d_tim' of a stage");
  CHECK(field.where == "8:28");
  CHECK(fault_of(rule_text("h2d_time > 1", "    plain: \"\"\n")).message == "'plain' wants a text");
}

TEST_CASE("the same at the scope of the run") {
  std::string text = rule_text();
  text.replace(text.find("scope: stage"), 12, "scope: run");
  text.replace(text.find("{name}"), 6, "run");
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 61000000;
  judge(load(text), run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].message == "run: 30 %");  // 61 ms of 200 ms, above three tenths
  CHECK(run.findings[0].subject.empty());
}

TEST_CASE("a user's file replaces and disables shipped rules") {
  const Rules shipped = load_rules(shipped_rules(), {});
  const Rules fewer = load("disable: [h2d_dominates, host_gap]\n", shipped_rules());
  CHECK(fewer.list.size() == shipped.list.size() - 2);
  std::string text = rule_text();
  text.replace(text.find("mine"), 4, "host_gap");
  const Rules other = load(text, shipped_rules());
  CHECK(other.list.size() == shipped.list.size());
  std::size_t replaced = 0;
  for (const RuleSpec& rule : other.list) replaced += rule.name == "host_gap" && rule.condition.text == "h2d_time / total_time > 0.3";
  CHECK(replaced == 1);
  const auto unknown = fault_of("disable: [h2d_dominate]\n");
  CHECK(unknown.message == "there is no rule 'h2d_dominate' to disable");
  CHECK(unknown.where == "1:11");
}

TEST_CASE("a mistake in an expression is shown where it stands, with the nearest name") {
  const auto field = fault_of(rule_text("h2d_tme / total_time > 0.3"));
  CHECK(field.message == "rule 'mine', condition: unknown field 'h2d_tme' of a stage");
  CHECK(field.where == "4:16");
  CHECK(field.fix == "did you mean 'h2d_time'?");
  const auto later = fault_of(rule_text("h2d_time > 1ms and total_tim > 0.3"));
  CHECK(later.where == "4:35");
  CHECK(later.fix == "did you mean 'total_time'?");
  CHECK(fault_of(rule_text("\"h2d_time > 1ms and total_tim > 0\"")).where == "4:36");
  CHECK(fault_of(rule_text(">-\n      h2d_time > 1ms and\n      total_tim > 0")).where == "4:16");
  CHECK(fault_of(rule_text("h2d_time >")).message == "rule 'mine', condition: the expression ends too early");
  CHECK(fault_of(rule_text("h2d_time > 3 > 2")).message.find("cannot be chained") != std::string::npos);
  CHECK(fault_of(rule_text("name > 3")).message == "rule 'mine', condition: '>' compares a text with a number");
  CHECK(fault_of(rule_text("name and true")).message == "rule 'mine', condition: 'and' needs true or false, and this is a text");
  CHECK(fault_of(rule_text("h2d_time + 1")).message == "rule 'mine', condition: this is never true or false; compare it with something");
  CHECK(fault_of(rule_text("h2d_time > 5 furlongs")).where == "4:29");
  CHECK(fault_of(rule_text("h2d_time > 5furlongs")).message.find("'furlongs' is not a unit") != std::string::npos);
  CHECK(fault_of(rule_text("matchs(name, 'a')")).fix == "did you mean 'matches'?");
  CHECK(fault_of(rule_text("matches(name, '(')")).message.find("is not a regular expression") != std::string::npos);
  CHECK(fault_of(rule_text("metric('x') > 1")).message.find("metric() is for rules of scope kernel") != std::string::npos);
  CHECK(fault_of(rule_text("h2d_time > 1", "    gain: has_steps\n")).message == "rule 'mine', gain: this is not a number");
  const auto message = fault_of(rule_text("h2d_time > 1", "    gain_note: \"if {h2d_tim}\"\n"));
  CHECK(message.message == "rule 'mine', gain_note: unknown field 'h2d_tim' of a stage");
  CHECK(message.where == "8:21");
  CHECK(fault_of(rule_text("h2d_time > 1", "    gain_note: \"if {h2d_time\"\n")).message == "rule 'mine', gain_note: this '{' has no '}'");
}

TEST_CASE("advice is given only where its condition holds") {
  const std::string plain =
      "    plain:\n      - {when: graph_launches == 0, text: \"Waits; use CUDA graphs.\"}\n      - {text: \"Waits; prepare the next step.\"}\n";
  std::string text = rule_text("h2d_time / total_time > 0.3", plain);
  text.replace(text.find("[a, b]"), 6, "[{when: graph_launches == 0, text: use graphs}, {when: mfu > 2, text: unknown}, {text: always}, always too]");
  for (const std::uint64_t launches : {0u, 7u}) {
    CAPTURE(launches);
    Run run = healthy_run();
    activity(run, "prefill").h2d_ns = 31000000;
    activity(run, "prefill").graph_launches = launches;
    judge(load(text), run);
    REQUIRE(run.findings.size() == 1);
    CHECK(run.findings[0].plain == (launches == 0 ? "Waits; use CUDA graphs." : "Waits; prepare the next step."));
    std::vector<std::string> expected = {"always", "always too"};
    if (launches == 0) expected.insert(expected.begin(), "use graphs");
    CHECK(run.findings[0].suggestions == expected);
  }
  CHECK(fault_of(rule_text("h2d_time > 1", "    plain: [{when: h2d_time > 2, text: t}]\n")).message == "the last 'plain' must have no 'when'");
  CHECK(fault_of(rule_text("h2d_time > 1", "    plain: [{when: h2d_tim > 2, text: t}, u]\n")).message ==
        "rule 'mine', plain: unknown field 'h2d_tim' of a stage");
  CHECK(fault_of(rule_text("h2d_time > 1", "    plain: {wenn: h2d_time > 2, text: t}\n")).fix == "did you mean 'when'?");
}

TEST_CASE("a counted thing is singular or plural") {
  for (const std::uint64_t copies : {1u, 3u}) {
    Run run = healthy_run();
    activity(run, "prefill").h2d_ns = 31000000;
    activity(run, "prefill").h2d_copies = copies;
    judge(load(rule_text("h2d_time / total_time > 0.3", "    plain: \"{h2d_copies:copy waits|copies wait}.\"\n")), run);
    REQUIRE(run.findings.size() == 1);
    CHECK(run.findings[0].plain == (copies == 1 ? "1 copy waits." : "3 copies wait."));
  }
}

TEST_CASE("a file that is no file of rules") {
  const auto key = fault_of(rule_text("h2d_time > 1", "    sugestions: [a, b]\n"));
  CHECK(key.message == "unknown key 'sugestions' of a rule");
  CHECK(key.where == "8:5");
  CHECK(key.fix == "did you mean 'suggestions'?");
  CHECK(fault_of("rule:\n  - name: a\n").fix == "did you mean 'rules'?");
  CHECK(fault_of("rules: 3\n").message == "'rules' wants a list");
  CHECK(fault_of("rules: [3]\n").message == "a rule wants keys and values");
  CHECK(fault_of("rules:\n  - scope: run\n").message == "this rule has no 'name'");
  CHECK(fault_of("rules:\n  - name: a b\n    scope: run\n").message == "'a b' cannot be a rule's name");
  CHECK(fault_of("rules:\n  - name: a\n    scope: kernels\n").fix == "did you mean 'kernel'?");
  CHECK(fault_of("rules:\n  - name: a\n    scope: run\n").message == "the rule 'a' has no 'condition'");
  CHECK(fault_of("rules: [a\n").message.starts_with("this is no valid YAML"));
  CHECK(fault_of("").message == "the configuration file is empty");
  const std::string one = "rules:\n  - name: a\n    scope: run\n    condition: gpus > 1\n";
  CHECK(fault_of(one + "    severity: grave\n").message == "'severity' cannot be 'grave'");
  CHECK(fault_of(one + "    severity: [{when: gpus > 2, severity: high}]\n").message == "the last severity must have no 'when'");
  CHECK(fault_of(one + "    severity: [{severity: low}, {severity: high}]\n").message == "a severity without 'when' must be the last");
  CHECK(fault_of(one + "    severity: low\n    message: m\n    suggestions: [only one]\n").message == "the rule 'a' has 1 suggestion");
  CHECK(fault_of(one + "    severity: low\n    message: m\n    suggestions: [a, b]\n    limit: 0\n").message == "'limit' wants a number");
  CHECK(fault_of(one + "    severity: low\n    message: m\n    evidence: [{when: gpus > 1}]\n    suggestions: [a, b]\n").message == "this evidence has no 'text'");
  CHECK(fault_of(one + "    severity: low\n    message: m\n    evidence: [{when: gpus > 1, text: t, weight: -1}]\n    suggestions: [a, b]\n").message == "'weight' wants a number");
  CHECK(fault_of(rule_text() + rule_text().substr(7)).message == "the rule 'mine' is given twice");
  CHECK_THROWS_AS(load_rules({}, {"no/such/file.yaml"}), Error);
}
