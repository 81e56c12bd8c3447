#include "analysis/verdicts/rules/compile.h"
#include "analysis/verdicts/rules/judge.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/analysis/verdicts/rules/made_rule.h"

using namespace nl;
using namespace nl::analysis;

namespace {

using nl::test::made_rule;
using nl::test::rule_text;

// Two stages: prefill of 1000 ns in one window, decode of 3000 ns in three.
Run two_stage_run() {
  Run run;
  for (const std::uint64_t windows : {1, 3}) {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = windows == 1 ? "prefill" : "decode";
    const Ns wall_ns = static_cast<Ns>(1000 * windows);
    stage.wall = {windows, wall_ns, 1000, 1000, 1000, 1000, 1000, 0};
    stage.budget = Budget{wall_ns, wall_ns / 2, 0, 0, 0, wall_ns / 2, 0, 0};
  }
  run.phases.span_ns = 4000;
  return run;
}

std::vector<Finding> findings_of(const RuleSpec& spec, Run run = two_stage_run()) {
  nl::analysis::judge({{spec}}, run);
  return run.findings;
}

std::string sentence_of(const Run& run, const char* text) {
  const rules::RunTotals totals = rules::total(run);
  return rules::Sentence::parse(text, RuleScope::kStage).sentence->text(rules::subjects_of(run, totals, RuleScope::kStage).front());
}

}  // namespace

TEST_CASE("evidence that a rule can do without is left out where it was not captured, and counts where it was") {
  RuleSpec spec = made_rule(RuleScope::kStage, "total_time > 0");
  spec.where = rule_text("name == 'prefill'");
  spec.evidence = {{rule_text("windows == 1"), rule_text("one window")}, {rule_text("mfu > 0"), rule_text("some work"), 2, true}};
  const auto without = findings_of(spec);
  REQUIRE(without.size() == 1);
  CHECK(without[0].evidence.size() == 1);
  CHECK(without[0].confidence == 2.0 / 3);
  spec.evidence[1].when = rule_text("windows == 2");
  const auto against = findings_of(spec);
  CHECK(against[0].evidence.size() == 2);
  CHECK(against[0].confidence == 2.0 / 5);
}

TEST_CASE("a finding has its rule's words: all suggestions that hold, and the first plain sentence that does") {
  RuleSpec spec = made_rule(RuleScope::kStage, "total_time > 0", "launch_starved_time");
  spec.where = rule_text("name == 'prefill'");
  spec.cause = {"launches"};
  spec.about = RuleAbout::kMeasurement;
  spec.message = rule_text("{name} took {total_time}");
  spec.gain_note = rule_text("in {windows:window|windows}");
  spec.suggestions = {{rule_text("shorten {name}")},
                      {rule_text("never"), rule_text("total_time < 0")},
                      {rule_text("unseen"), rule_text("mfu > 0")},
                      {rule_text("and again"), rule_text("total_time == 1us")}};
  spec.plain = {{rule_text("unseen"), rule_text("mfu > 0")},
                {rule_text("It took {total_time}."), rule_text("windows == 1")},
                {rule_text("too late")}};
  const auto findings = findings_of(spec);
  REQUIRE(findings.size() == 1);
  const Finding& finding = findings[0];
  CHECK(finding.subject == "prefill");
  CHECK(finding.scope == RuleScope::kStage);
  CHECK(finding.cause == "launches");
  CHECK(finding.about == RuleAbout::kMeasurement);
  CHECK(finding.message == "prefill took 1.00 µs");
  CHECK(finding.gain_note == "in 1 window");
  CHECK(finding.suggestions == std::vector<std::string>{"shorten prefill", "and again"});
  CHECK(finding.plain == "It took 1.00 µs.");
  REQUIRE(finding.evidence.size() == 1);
  CHECK(finding.evidence[0].text == "condition: total_time > 0");
  CHECK(finding.evidence[0].reference == "/stages/0");
}

TEST_CASE("severity is the first that holds, and information where none does") {
  RuleSpec spec = made_rule(RuleScope::kStage, "windows == 3", "total_time");
  const auto severity = [&](std::vector<RuleSeverity> list) {
    spec.severity = std::move(list);
    const auto findings = findings_of(spec);
    REQUIRE(findings.size() == 1);
    return findings[0].severity;
  };
  CHECK(severity({{rule_text("mfu > 0"), Severity::kHigh},
                  {rule_text("total_time > 2us"), Severity::kLow},
                  {std::nullopt, Severity::kMedium}}) == Severity::kLow);
  CHECK(severity({{rule_text("total_time > 5us"), Severity::kLow}, {std::nullopt, Severity::kMedium}}) == Severity::kMedium);
  CHECK(severity({{rule_text("total_time > 5us"), Severity::kLow}}) == Severity::kInfo);
}

TEST_CASE("a condition weighs in the confidence, and evidence without a value is said to have none") {
  RuleSpec spec = made_rule(RuleScope::kStage, "windows == 3");
  spec.condition_weight = 3;
  CHECK(findings_of(spec).at(0).confidence == 0.75);  // 3 of 3 + 1
  spec.evidence = {{rule_text("device_imbalance > 0"), rule_text("uneven"), 4}};
  const auto finding = findings_of(spec).at(0);
  CHECK(finding.confidence == 3.0 / 8);
  CHECK(finding.evidence.at(0).text == "no value: uneven");
  CHECK_FALSE(finding.evidence.at(0).known);
}

TEST_CASE("of one rule's findings those with the most to gain are kept, then those of the longest subjects") {
  RuleSpec spec = made_rule(RuleScope::kStage, "total_time > 0", "launch_starved_time");
  spec.limit = 1;
  REQUIRE(findings_of(spec).size() == 1);
  CHECK(findings_of(spec)[0].subject == "decode");
  spec.gain.reset();
  CHECK(findings_of(spec)[0].subject == "decode");
  spec.gain = rule_text("total_time - windows * 999ns");  // 1 of prefill, 3 of decode
  CHECK(findings_of(spec)[0].subject == "decode");
  spec.gain = rule_text("4us - total_time");  // limited to its 1000 ns: as much for either, and decode is longer
  CHECK(findings_of(spec)[0].subject == "decode");
  spec.gain = rule_text("2us / windows");
  CHECK(findings_of(spec)[0].subject == "prefill");
}

TEST_CASE("no estimate: a value that is not there, or not captured") {
  RuleSpec spec = made_rule(RuleScope::kStage, "windows == 3", "total_time * device_imbalance");
  CHECK(findings_of(spec).at(0).gain_note == "no estimate: a value is missing");
  CHECK_FALSE(findings_of(spec).at(0).gain_ns);
  spec.gain = rule_text("total_time * mfu * mbu");
  CHECK(findings_of(spec).at(0).gain_note == "no estimate: mfu, mbu not captured");
}

TEST_CASE("a rule that cannot be read names its part") {
  const auto fault = [](RuleSpec spec) -> std::string {
    spec.name = "bad";
    spec.file = "mine.yaml";
    Run run = two_stage_run();
    try {
      judge({{spec}}, run);
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::kConfig);
      CHECK(error.where == "mine.yaml");
      return error.what();
    }
    return "";
  };
  RuleSpec spec = made_rule(RuleScope::kStage, "total_time");
  CHECK(fault(spec) == "rule bad, condition: this is never true or false; compare it with something");
  spec = made_rule(RuleScope::kStage, "total_time > 0", "name");
  CHECK(fault(spec) == "rule bad, gain: this is not a number");
  spec = made_rule(RuleScope::kStage, "total_time > 0");
  spec.plain = {{rule_text("{")}};
  CHECK(fault(spec) == "rule bad, plain: this '{' has no '}'");
  spec.plain.clear();
  spec.suggestions = {{rule_text("fine"), rule_text("total_time")}};
  CHECK(fault(spec) == "rule bad, suggestions: this is never true or false; compare it with something");
}

TEST_CASE("numbers at the edges of how they are written") {
  const auto text = [](double value, rules::Unit unit) { return rules::value_text(rules::Value::of(value), rules::Type::kNumber, unit); };
  using rules::Unit;
  CHECK(text(999'999'999'999'999, Unit::kCount) == "999,999,999,999,999");
  CHECK(text(1e15, Unit::kCount) == "1e+15");
  CHECK(text(99.5, Unit::kCount) == "99.5");
  CHECK(text(100.5, Unit::kCount) == "101");
  CHECK(text(1234.4, Unit::kCount) == "1,234");
  CHECK(text(-0.0, Unit::kCount) == "0");
  CHECK(text(-12.5, Unit::kCount) == "-12.5");
  CHECK(text(0.0994, Unit::kShare) == "9.9 %");
  CHECK(text(0.0995, Unit::kShare) == "10 %");
  CHECK(text(-0.05, Unit::kShare) == "-5.0 %");
  CHECK(text(1980.4, Unit::kMegahertz) == "1980 MHz");
  CHECK(text(699.6, Unit::kWatts) == "700 W");
  CHECK(text(64, Unit::kCelsius) == "64 °C");
  CHECK(text(0.1234, Unit::kJoules) == "0.123 J");
  CHECK(text(12.345, Unit::kNumber) == "12.3");
  CHECK(text(1.5e12, Unit::kFlops) == "1.50 TFLOP");
  CHECK(rules::value_text(rules::Value::of_truth(true), rules::Type::kTruth, Unit::kWords) == "yes");
  CHECK(rules::value_text(rules::Value::of_truth(false), rules::Type::kTruth, Unit::kWords) == "no");
}

TEST_CASE("a sentence may name the unit of a value, or its word in the singular and plural") {
  Run run = two_stage_run();
  CHECK(sentence_of(run, "{total_time:number}, {windows * 2000:time}, {windows * 1500:bytes}, {windows / 4:percent}, {total_time:count}") ==
        "1000, 2.00 µs, 1.50 kB, 25 %, 1,000");
  CHECK(sentence_of(run, "{windows:copy|copies}, {windows * 2:copy|copies}, {mfu:copy|copies}") == "1 copy, 2 copies, not captured");
  CHECK(sentence_of(run, "{matches(name, 'a:|b')}") == "no");  // part of the expression
  CHECK(sentence_of(run, "no field") == "no field");
  CHECK(sentence_of(run, "{total_time / 0 > 1 and device_imbalance > 0}, {total_time / 0 > 1 or mfu > 0}") == "no value, not captured");
}

TEST_CASE("fields that need what is not there: not captured, or without a value") {
  const auto read = [](const Run& run, RuleScope scope, const char* field) {
    const rules::RunTotals totals = rules::total(run);
    return rules::find_field(scope, field)->read(rules::subjects_of(run, totals, scope).front());
  };
  Run run = two_stage_run();
  run.efficiency.emplace_back().stage = "prefill";
  CHECK_FALSE(read(run, RuleScope::kStage, "ideal_share").captured);
  CHECK_FALSE(read(run, RuleScope::kStage, "limit").captured);
  run.efficiency[0].ideal_ns = 250;
  CHECK(read(run, RuleScope::kStage, "ideal_share").number == 0.25);
  run.stages[0].wall.mean_ns = 0;
  CHECK(read(run, RuleScope::kStage, "ideal_share").captured);
  CHECK_FALSE(read(run, RuleScope::kStage, "ideal_share").known);
  run.stages[0].foreign_gpu_ns = 100;
  CHECK(read(run, RuleScope::kStage, "foreign_share").number == 0.2);  // of the 500 ns in which the GPU works
  run.stages[0].budget.reset();
  CHECK_FALSE(read(run, RuleScope::kStage, "foreign_share").captured);
  OperatorEntry& op = run.operators.emplace_back().entries.emplace_back();
  op.kernels = {{"a", 2, 5}, {"b", 3, 5}};
  CHECK_FALSE(read(run, RuleScope::kOperator, "kernel_calls").captured);
  CHECK_FALSE(read(run, RuleScope::kOperator, "cuda_share").captured);
  op.cuda_total_ns = op.cuda_self_ns = 10;
  run.operators[0].cuda_ns = 40;
  CHECK(read(run, RuleScope::kOperator, "kernel_calls").number == 5);
  CHECK(read(run, RuleScope::kOperator, "cuda_share").number == 0.25);
}

TEST_CASE("a stage on two GPUs has the work of one of them") {
  Run run = two_stage_run();
  run.stages[0].activity.emplace().kernels = 10;
  run.stages[0].activity->launches = 10;
  run.stages[0].devices.resize(2);
  for (StageDevice& gpu : run.stages[0].devices) gpu.budget.wall_ns = 1000;
  const rules::RunTotals totals = rules::total(run);
  const rules::Subject subject = rules::subjects_of(run, totals, RuleScope::kStage).front();
  CHECK(rules::find_field(RuleScope::kStage, "kernels")->read(subject).number == 5);
  CHECK(rules::find_field(RuleScope::kStage, "launches")->read(subject).number == 10);  // the host's
  run.stages[0].devices[0].overlapped_communication_ns = 10;
  run.stages[0].devices[1].overlapped_communication_ns = 30;
  CHECK(rules::total(run).stages.at(0).communication.overlapped_ns == 20);
}

TEST_CASE("where the capture does not say what was measured, all of a kernel's time may be saved") {
  Run run;
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "k";
  kernel.time = {1, 100, 100, 100, 100, 100, 100, 0};
  judge({{made_rule(RuleScope::kKernel, "calls == 1", "total_time")}}, run);
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].gain_ns == 100.0);
  CHECK_FALSE(run.findings[0].gain_share);
}

TEST_CASE("only findings on the workload that ask for something share a cause") {
  Run run = two_stage_run();
  std::vector<RuleSpec> specs(3, made_rule(RuleScope::kStage, "windows == 3", "total_time"));
  const char* names[] = {"first", "info", "measured"};
  for (std::size_t i = 0; i < 3; ++i) {
    specs[i].name = names[i];
    specs[i].cause = {"launches"};
  }
  specs[1].severity = {{std::nullopt, Severity::kInfo}};
  specs[2].about = RuleAbout::kMeasurement;
  judge({specs}, run);
  REQUIRE(run.findings.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(run.findings[i].rule == names[i]);
    CHECK(run.findings[i].same_cause_as.empty());
  }
}

TEST_CASE("an operator's fields are those of its own table") {
  Run run;
  run.operators.resize(2);
  run.operators[0].source = "kineto";
  run.operators[1].source = "onnxruntime";
  run.operators[1].cuda_ns = 100;
  for (const char* name : {"a", "b"}) run.operators[1].entries.emplace_back().name = name;
  run.operators[1].entries[1].cuda_self_ns = 25;
  const rules::RunTotals totals = rules::total(run);
  const auto subjects = rules::subjects_of(run, totals, RuleScope::kOperator);
  REQUIRE(subjects.size() == 2);
  CHECK(rules::find_field(RuleScope::kOperator, "source")->read(subjects[0]).text == "onnxruntime");
  CHECK(rules::find_field(RuleScope::kOperator, "name")->read(subjects[1]).text == "b");
  CHECK(rules::find_field(RuleScope::kOperator, "cuda_share")->read(subjects[1]).number == 0.25);
  CHECK(rules::pointer_to(subjects[0], rules::Place::kSelf) == "/operators/1/entries/0");
}

TEST_CASE("the run has the work of its stages together, and the longest of their gaps") {
  Run run = two_stage_run();
  for (StageEntry& stage : run.stages) {
    const bool prefill = stage.name == "prefill";
    StageActivity& activity = stage.activity.emplace();
    activity.kernels = prefill ? 2 : 30;
    activity.gemm_ns = prefill ? 10 : 200;
    activity.launches = prefill ? 3 : 40;
    activity.launch_call_ns = prefill ? 5 : 60;
    activity.streams_used = prefill ? 4 : 1;
    activity.longest_gap_ns = prefill ? 90 : 80;
    activity.longest_elementwise_chain = prefill ? 6 : 7;
  }
  const rules::RunTotals totals = rules::total(run);
  const rules::Subject whole = rules::subjects_of(run, totals, RuleScope::kRun).front();
  const std::pair<const char*, double> fields[] = {{"kernels", 32}, {"gemm_time", 210},  {"launches", 43},        {"launch_call_time", 65},
                                                   {"streams", 4},  {"longest_gap", 90}, {"elementwise_chain", 7}};
  for (const auto& [field, value] : fields) {
    INFO(field);
    CHECK(rules::find_field(RuleScope::kRun, field)->read(whole).number == value);
  }
}

TEST_CASE("a rule says nothing of subjects that it cannot tell to be its own, and only the longest gap leads to a gap") {
  RuleSpec spec = made_rule(RuleScope::kStage, "total_time > 0");
  spec.where = rule_text("device_imbalance > 0");
  CHECK(findings_of(spec).empty());
  for (const rules::Field& field : rules::fields_of(RuleScope::kStage)) {
    INFO(field.name);
    CHECK((field.place == rules::Place::kGap) == (field.name == "longest_gap"));
  }
}
