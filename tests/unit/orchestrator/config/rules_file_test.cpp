#include "orchestrator/config/knowledge.h"

#include "analysis/verdicts/rules/judge.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/orchestrator/config/healthy_run.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

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
         "    condition: " +
         condition +
         "\n"
         "    severity: high\n"
         "    message: \"{name}: {h2d_time / total_time:percent}\"\n"
         "    suggestions: [a, b]\n" +
         rest;
}

struct Fault {
  std::string message, where, fix;
};

Fault rules_fault(const std::string& text) {
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
  CHECK(finding.severity == Severity::kMedium);  // the rule says high; without a gain its worth is not known
  CHECK(finding.message == "prefill: 31 %");
  CHECK(finding.confidence == 0.5);  // the condition alone: nothing more was asked for
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].reference == "/stages/0/activity");
  CHECK(finding.evidence[0].window_end_ns == 50000000);
  CHECK_FALSE(finding.gain_ns.has_value());
  CHECK(finding.plain.empty());
}

TEST_CASE("what to do is optional, has values put in, and may depend on the case") {
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 31000000;
  judge(load(rule_text("h2d_time / total_time > 0.3", "    action: \"Send less than {h2d_time / total_time:percent}.\"\n")), run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].action == "Send less than 31 %.");
  judge(load(rule_text("h2d_time / total_time > 0.3", "    action: [{when: h2d_time < 0, text: \"No.\"}, {text: \"Send less.\"}]\n")), run);
  CHECK(run.findings[0].action == "Send less.");
  judge(load(rule_text("h2d_time / total_time > 0.3", "")), run);
  CHECK(run.findings[0].action.empty());
  CHECK(rules_fault(rule_text("h2d_time > 1", "    action: [{when: h2d_time > 2, text: t}]\n")).message ==
        "the last 'action' must have no 'when'");
  CHECK(rules_fault(rule_text("h2d_time > 1", "    action: \"{h2d_tim}\"\n")).message ==
        "rule 'mine', action: unknown field 'h2d_tim' of a stage");
}

TEST_CASE("a rule's plain words are optional, and have values put in") {
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 31000000;
  judge(load(rule_text("h2d_time / total_time > 0.3", "    plain: \"Sending takes {h2d_time / total_time:percent}; send less.\"\n")), run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].plain == "Sending takes 31 %; send less.");
  const auto field = rules_fault(rule_text("h2d_time > 1", "    plain: \"Sending takes {h2d_tim}\"\n"));
  CHECK(field.message == "rule 'mine', plain: unknown field 'h2d_tim' of a stage");
  CHECK(field.where == "8:28");
  CHECK(rules_fault(rule_text("h2d_time > 1", "    plain: \"\"\n")).message == "'plain' wants a text");
}

TEST_CASE("a rule in brief: a condition, a suggestion and the weight of the condition") {
  Run run = healthy_run();
  activity(run, "prefill").h2d_ns = 61000000;
  judge(load("bottleneck_rules:\n"
             "  - name: \"high_memory_overhead\"\n"
             "    condition: \"h2d_time / total_time > 0.3\"\n"
             "    suggestion: \"Use pinned memory or reduce batch size\"\n"
             "    confidence_weight: 1.2\n"),
        run);
  REQUIRE(run.findings.size() == 1);
  const Finding& finding = run.findings[0];
  CHECK(finding.scope == nl::RuleScope::kRun);
  CHECK(finding.rule == "high_memory_overhead");
  CHECK(finding.message == "high memory overhead: h2d_time / total_time > 0.3");
  CHECK(finding.suggestions == std::vector<std::string>{"Use pinned memory or reduce batch size"});
  CHECK(finding.confidence == Approx(1.2 / 2.2));
  CHECK(finding.severity == Severity::kMedium);
  CHECK(rules_fault("bottleneck_rules:\n  - {name: a, condition: h2d_time > 1}\n").message == "the rule 'a' has no 'suggestion'");
  CHECK(rules_fault("bottleneck_rules:\n  - {name: a, condition: h2d_tim > 1, suggestion: b}\n").message ==
        "rule 'a', condition: unknown field 'h2d_tim' of a run");
  CHECK(rules_fault("bottleneck_rules: 3\n").message == "'bottleneck_rules' wants a list");
  CHECK(rules_fault("bottleneck_rules:\n  - {name: a, condition: h2d_time > 1, suggestion: b, confidence_weight: 0}\n").message ==
        "'confidence_weight' wants a number");
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
  const auto unknown = rules_fault("disable: [h2d_dominate]\n");
  CHECK(unknown.message == "there is no rule 'h2d_dominate' to disable");
  CHECK(unknown.where == "1:11");
}

TEST_CASE("a mistake in an expression is shown where it stands, with the nearest name") {
  const auto field = rules_fault(rule_text("h2d_tme / total_time > 0.3"));
  CHECK(field.message == "rule 'mine', condition: unknown field 'h2d_tme' of a stage");
  CHECK(field.where == "4:16");
  CHECK(field.fix == "did you mean 'h2d_time'?");
  const auto later = rules_fault(rule_text("h2d_time > 1ms and total_tim > 0.3"));
  CHECK(later.where == "4:35");
  CHECK(later.fix == "did you mean 'total_time'?");
  CHECK(rules_fault(rule_text("\"h2d_time > 1ms and total_tim > 0\"")).where == "4:36");
  CHECK(rules_fault(rule_text(">-\n      h2d_time > 1ms and\n      total_tim > 0")).where == "4:16");
  CHECK(rules_fault(rule_text("h2d_time >")).message == "rule 'mine', condition: the expression ends too early");
  CHECK(rules_fault(rule_text("h2d_time > 3 > 2")).message.find("cannot be chained") != std::string::npos);
  CHECK(rules_fault(rule_text("name > 3")).message == "rule 'mine', condition: '>' compares a text with a number");
  CHECK(rules_fault(rule_text("name and true")).message == "rule 'mine', condition: 'and' needs true or false, and this is a text");
  CHECK(rules_fault(rule_text("h2d_time + 1")).message == "rule 'mine', condition: this is never true or false; compare it with something");
  CHECK(rules_fault(rule_text("h2d_time > 5 furlongs")).where == "4:29");
  CHECK(rules_fault(rule_text("h2d_time > 5furlongs")).message.find("'furlongs' is not a unit") != std::string::npos);
  CHECK(rules_fault(rule_text("matchs(name, 'a')")).fix == "did you mean 'matches'?");
  CHECK(rules_fault(rule_text("matches(name, '(')")).message.find("is not a regular expression") != std::string::npos);
  CHECK(rules_fault(rule_text("metric('x') > 1")).message.find("metric() is for rules of scope kernel") != std::string::npos);
  CHECK(rules_fault(rule_text("h2d_time > 1", "    gain: has_steps\n")).message == "rule 'mine', gain: this is not a number");
  const auto message = rules_fault(rule_text("h2d_time > 1", "    gain_note: \"if {h2d_tim}\"\n"));
  CHECK(message.message == "rule 'mine', gain_note: unknown field 'h2d_tim' of a stage");
  CHECK(message.where == "8:21");
  CHECK(rules_fault(rule_text("h2d_time > 1", "    gain_note: \"if {h2d_time\"\n")).message ==
        "rule 'mine', gain_note: this '{' has no '}'");
}

TEST_CASE("advice is given only where its condition holds") {
  const std::string plain =
      "    plain:\n      - {when: graph_launches == 0, text: \"Waits; use CUDA graphs.\"}\n      - {text: \"Waits; prepare the next "
      "step.\"}\n";
  std::string text = rule_text("h2d_time / total_time > 0.3", plain);
  text.replace(text.find("[a, b]"), 6,
               "[{when: graph_launches == 0, text: use graphs}, {when: mfu > 2, text: unknown}, {text: always}, always too]");
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
  CHECK(rules_fault(rule_text("h2d_time > 1", "    plain: [{when: h2d_time > 2, text: t}]\n")).message ==
        "the last 'plain' must have no 'when'");
  CHECK(rules_fault(rule_text("h2d_time > 1", "    plain: [{when: h2d_tim > 2, text: t}, u]\n")).message ==
        "rule 'mine', plain: unknown field 'h2d_tim' of a stage");
  CHECK(rules_fault(rule_text("h2d_time > 1", "    plain: {wenn: h2d_time > 2, text: t}\n")).fix == "did you mean 'when'?");
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
  const auto key = rules_fault(rule_text("h2d_time > 1", "    sugestions: [a, b]\n"));
  CHECK(key.message == "unknown key 'sugestions' of a rule");
  CHECK(key.where == "8:5");
  CHECK(key.fix == "did you mean 'suggestions'?");
  CHECK(rules_fault("rule:\n  - name: a\n").fix == "did you mean 'rules'?");
  CHECK(rules_fault("rules: 3\n").message == "'rules' wants a list");
  CHECK(rules_fault("rules: [3]\n").message == "a rule wants keys and values");
  CHECK(rules_fault("rules:\n  - scope: run\n").message == "this rule has no 'name'");
  CHECK(rules_fault("rules:\n  - name: a b\n    scope: run\n").message == "'a b' cannot be a rule's name");
  CHECK(rules_fault("rules:\n  - name: a\n    scope: kernels\n").fix == "did you mean 'kernel'?");
  CHECK(rules_fault("rules:\n  - name: a\n    scope: run\n").message == "the rule 'a' has no 'condition'");
  CHECK(rules_fault("rules: [a\n").message.starts_with("this is no valid YAML"));
  CHECK(rules_fault("").message == "the rules file is empty");
  CHECK(rules_fault("").fix == "write rules: and a list below it");
  CHECK(rules_fault("3\n").message == "the rules file holds no keys");
  const std::string one = "rules:\n  - name: a\n    scope: run\n    condition: gpus > 1\n";
  CHECK(rules_fault(one + "    severity: grave\n").message == "'severity' cannot be 'grave'");
  CHECK(rules_fault(one + "    severity: [{when: gpus > 2, severity: high}]\n").message == "the last severity must have no 'when'");
  CHECK(rules_fault(one + "    severity: [{severity: low}, {severity: high}]\n").message == "a severity without 'when' must be the last");
  CHECK(rules_fault(one + "    severity: low\n    message: m\n    suggestions: [only one]\n").message == "the rule 'a' has 1 suggestion");
  CHECK(rules_fault(one + "    severity: low\n    message: m\n    suggestions: [a, b]\n    limit: 0\n").message ==
        "'limit' wants a number");
  CHECK(rules_fault(one + "    severity: low\n    message: m\n    evidence: [{when: gpus > 1}]\n    suggestions: [a, b]\n").message ==
        "this evidence has no 'text'");
  CHECK(rules_fault(one +
                    "    severity: low\n    message: m\n    evidence: [{when: gpus > 1, text: t, weight: -1}]\n    suggestions: [a, b]\n")
            .message == "'weight' wants a number");
  CHECK(rules_fault(rule_text() + rule_text().substr(7)).message == "the rule 'mine' is given twice");
  CHECK_THROWS_AS(load_rules({}, {"no/such/file.yaml"}), Error);
}

namespace {

struct RuleRefusal {
  std::string given, words;  // "what | line:column | fix"
};

std::string rule_refusal(const std::string& text) {
  const Fault fault = rules_fault(text);
  return fault.message + " | " + fault.where + " | " + fault.fix;
}

// A rule up to its severity; each line below it is the sixth and so on.
const std::string kBegun = "rules:\n  - name: a\n    scope: run\n    condition: gpus > 1\n";
const std::string kWhole = kBegun + "    severity: low\n    message: m\n    suggestions: [a, b]\n";

}  // namespace

TEST_CASE("files of rules that are refused: the whole message") {
  const std::string first = "the first whose 'when' holds is taken, the last one otherwise", levels = "one of: info, low, medium, high";
  const std::string no_text = "'text' wants a text", quotes = "put quotes around it where it holds a ':' or a '#'";
  const std::vector<RuleRefusal> refusals = {
      {"a: b\n", "unknown key 'a' of a file of rules | 1:1 | one of: rules, bottleneck_rules, disable"},
      {"zzzzzzzzz: b\n", "unknown key 'zzzzzzzzz' of a file of rules | 1:1 | one of: rules, bottleneck_rules, disable"},
      {"rules: {a: b}\n", "'rules' wants a list | 1:8 | begin each rule with '- name:'"},
      {"rules:\n  - 3\n", "a rule wants keys and values | 2:5 | such as name:"},
      {"rules:\n  - scope: run\n", "this rule has no 'name' | 2:5 | every rule has a name of its own"},
      {"rules:\n  - name: A\n", "'A' cannot be a rule's name | 2:11 | small letters, digits and '_'"},
      {"rules:\n  - name: ' '\n", "'name' wants a text | 2:11 | " + quotes},
      {"rules:\n  - name: [a]\n", "'name' wants a text | 2:11 | " + quotes},
      {"rules:\n  - name: a\n", "the rule 'a' has no 'scope' | 2:5 | one of: run, stage, kernel, operator"},
      {"rules:\n  - name: a\n    scope: zzzzzzz\n", "'scope' cannot be 'zzzzzzz' | 3:12 | one of: run, stage, kernel, operator"},
      {"rules:\n  - name: a\n    scope: run\n",
       "the rule 'a' has no 'condition' | 2:5 | an expression, such as h2d_time / total_time > 0.3"},
      {kBegun, "the rule 'a' has no 'severity' | 2:5 | " + levels},
      {kBegun + "    severity: grave\n", "'severity' cannot be 'grave' | 5:15 | " + levels},
      {kBegun + "    severity: []\n", "'severity' is empty | 5:15 | " + levels},
      {kBegun + "    severity: [low]\n", "'severity' wants keys and values | 5:16 | such as when:"},
      {kBegun + "    severity: [{whn: a}]\n", "unknown key 'whn' of 'severity' | 5:17 | did you mean 'when'?"},
      {kBegun + "    severity: [{when: gpus > 2}]\n", "this entry has no 'severity' | 5:16 | " + levels},
      {kBegun + "    severity: [{when: gpus > 2, severity: high}]\n", "the last severity must have no 'when' | 5:16 | " + first},
      {kBegun + "    severity: [{severity: low}, {severity: high}]\n", "a severity without 'when' must be the last | 5:16 | " + first},
      {kBegun + "    severity: low\n", "the rule 'a' has no 'message' | 2:5 | one sentence; {field} puts a value into it"},
      {kBegun + "    severity: low\n    message: m\n", "the rule 'a' has no 'suggestions' | 2:5 | at least two things to try"},
      {kBegun + "    severity: low\n    message: m\n    suggestions: x\n",
       "'suggestions' wants a list | 7:18 | at least two things to try"},
      {kBegun + "    severity: low\n    message: m\n    suggestions: []\n",
       "the rule 'a' has 0 suggestions | 7:18 | give at least two things to try"},
      {kBegun + "    severity: low\n    message: m\n    suggestions: [x]\n",
       "the rule 'a' has 1 suggestion | 7:18 | give at least two things to try"},
      {kBegun + "    severity: low\n    message: m\n    suggestions: [{when: gpus > 1}]\n",
       "this entry has no 'text' | 7:19 | a sentence for the reports"},
      {kBegun + "    severity: low\n    message: m\n    suggestions: [{text: }]\n", no_text + " | 7:26 | " + quotes},
      {kBegun + "    severity: low\n    message: m\n    suggestions: ['']\n", "'suggestions' wants a text | 7:19 | " + quotes},
      {kBegun + "    severity: low\n    message: m\n    suggestions: [{txt: x}]\n",
       "unknown key 'txt' of 'suggestions' | 7:20 | did you mean 'text'?"},
      {kWhole + "    where: ''\n", "'where' wants a text | 8:12 | " + quotes},
      {kWhole + "    plain: []\n", "the last 'plain' must have no 'when' | 8:12 | " + first},
      {kWhole + "    plain: [{when: gpus > 2, text: t}]\n", "the last 'plain' must have no 'when' | 8:12 | " + first},
      {kWhole + "    evidence: {}\n",
       "'evidence' wants a list | 8:15 | of {when: EXPRESSION, text: SENTENCE, weight: NUMBER, optional: true}"},
      {kWhole + "    evidence: [{text: t}]\n", "this evidence has no 'when' | 8:16 | an expression"},
      {kWhole + "    evidence: [{when: gpus > 1}]\n", "this evidence has no 'text' | 8:16 | a sentence for the reports"},
      {kWhole + "    evidence: [{wen: a}]\n", "unknown key 'wen' of 'evidence' | 8:17 | did you mean 'when'?"},
      {kWhole + "    evidence: [{when: '', text: t}]\n", "'when' wants a text | 8:23 | " + quotes},
      {kWhole + "    evidence: [{when: gpus > 1, text: t, weight: 0}]\n", "'weight' wants a number | 8:50 | from 0.001 to 1000"},
      {kWhole + "    evidence: [{when: gpus > 1, text: t, optional: 1}]\n", "'optional' wants true or false | 8:52 | write true or false"},
      {kWhole + "    evidence: [{when: gpus > 1, text: t, weight: 1000.5}]\n", "'weight' wants a number | 8:50 | from 0.001 to 1000"},
      {kWhole + "    evidence: [{when: gpus > 1, text: t, weight: nan}]\n", "'weight' wants a number | 8:50 | from 0.001 to 1000"},
      {kWhole + "    limit: 0\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "    limit: 1001\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "    limit: 3x\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "    limit: '3'\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "    limit: 2.5\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "    limit: [3]\n", "'limit' wants a number | 8:12 | from 1 to 1000"},
      {kWhole + "  - name: a\n" + kWhole.substr(kWhole.find("    scope")),
       "the rule 'a' is given twice | 8:5 | give one of them another name"},
      {"disable: x\n", "'disable' wants a list of rule names | 1:10 | such as disable: [small_kernel_storm]"},
      {"disable: ['']\n", "'disable' wants a text | 1:11 | " + quotes},
      {"disable: [none_of_them]\n", "there is no rule 'none_of_them' to disable | 1:11 | "},
      {rule_text("h2d_time >"),
       "rule 'mine', condition: the expression ends too early | 4:26 | at its end; docs/rules.md describes expressions"},
      {rule_text("h2d_time > 3 > 2"),
       "rule 'mine', condition: comparisons cannot be chained; join them with 'and' | 4:29 | near '> 2'; docs/rules.md describes "
       "expressions"},
      {rule_text("zzzzzzzzzzzzzzzzzzzzzzz > 2"),
       "rule 'mine', condition: unknown field 'zzzzzzzzzzzzzzzzzzzzzzz' of a stage | 4:16 | docs/rules.md lists them all"},
  };
  for (const RuleRefusal& refusal : refusals) {
    INFO(refusal.given);
    CHECK(rule_refusal(refusal.given) == refusal.words);
  }
}

TEST_CASE("every part of a rule is read into its own place") {
  const FakeTree tree;
  const auto file = tree.write(
      "r.yaml",
      "disable: []\nrules:\n  - name: all_9\n    scope: stage\n    where: name == 'prefill'\n    condition: h2d_time > 1ms\n"
      "    severity: [{when: h2d_time > 2ms, severity: high}, {severity: medium}]\n    message: \"m {name}\"\n"
      "    plain: [{when: mfu > 1, text: p1}, p2]\n"
      "    evidence: [{when: mfu > 2, text: e1, weight: 0.001}, {when: mfu > 3, text: e2}, {when: mfu > 4, text: e3, weight: 1000}]\n"
      "    suggestions: [s1, {when: mfu > 5, text: s2}]\n    gain: h2d_time\n    gain_note: g\n    limit: 1000\n"
      "  - {name: other, scope: run, condition: gpus > 1, severity: info, message: m, suggestions: [a, b], limit: 1}\n");
  const Rules rules = load_rules({}, {file.string()});
  REQUIRE(rules.list.size() == 2);
  const RuleSpec& rule = rules.list[0];
  CHECK(rule.name == "all_9");
  CHECK(rule.file == file.string());
  CHECK(rule.line == 3);
  CHECK(rule.scope == RuleScope::kStage);
  REQUIRE(rule.where);
  CHECK(rule.where->text == "name == 'prefill'");
  CHECK(rule.where->line == 5);
  CHECK(rule.where->column == 12);
  CHECK(rule.condition.text == "h2d_time > 1ms");
  REQUIRE(rule.severity.size() == 2);
  CHECK(rule.severity[0].when->text == "h2d_time > 2ms");
  CHECK(rule.severity[0].severity == Severity::kHigh);
  CHECK_FALSE(rule.severity[1].when);
  CHECK(rule.severity[1].severity == Severity::kMedium);
  CHECK(rule.message.text == "m {name}");
  REQUIRE(rule.plain.size() == 2);
  CHECK(rule.plain[0].when->text == "mfu > 1");
  CHECK(rule.plain[0].text.text == "p1");
  CHECK(rule.plain[1].text.text == "p2");
  REQUIRE(rule.evidence.size() == 3);
  CHECK(rule.evidence[0].when.text == "mfu > 2");
  CHECK(rule.evidence[0].text.text == "e1");
  CHECK(rule.evidence[0].weight == 0.001);
  CHECK(rule.evidence[1].weight == 1);
  CHECK(rule.evidence[2].weight == 1000);
  REQUIRE(rule.suggestions.size() == 2);
  CHECK(rule.suggestions[1].when->text == "mfu > 5");
  CHECK(rule.suggestions[1].text.text == "s2");
  CHECK(rule.gain->text == "h2d_time");
  CHECK(rule.gain_note->text == "g");
  CHECK(rule.limit == 1000);
  const RuleSpec& other = rules.list[1];
  CHECK(other.scope == RuleScope::kRun);
  CHECK(other.line == 15);
  CHECK_FALSE(other.where);
  CHECK_FALSE(other.gain);
  CHECK(other.limit == 1);
  CHECK(load(kWhole).list.front().limit == 3);
  CHECK(load("rules:\n").list.empty());
  // Where several files are given the later ones win, in their order.
  std::string again = kWhole;
  again.replace(again.find("gpus > 1"), 8, "gpus > 7");
  const Rules both = load_rules({}, {tree.write("1.yaml", kWhole).string(), tree.write("2.yaml", again).string()});
  REQUIRE(both.list.size() == 1);
  CHECK(both.list[0].condition.text == "gpus > 7");
}

TEST_CASE("a rule that cannot be disabled: the nearest of those before it") {
  const FakeTree tree;
  try {
    load_rules(shipped_rules(), {tree.write("r.yaml", "disable: [h2d_dominate]\n").string()});
    FAIL("no error was thrown");
  } catch (const Error& error) {
    CHECK(error.fix == "did you mean 'h2d_dominates'?");
  }
}
