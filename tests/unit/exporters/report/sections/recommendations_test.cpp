#include "exporters/report/sections/executive_summary.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/sections/made_stages.h"

// What a report tells its readers to do, and in which order.
using namespace nl;
using namespace nl::exporters::report;
using test::run_of, test::window_of;

namespace {
std::string plain_of(const Text& text) {
  std::string out;
  for (const auto& span : text.spans) out += span.text;
  return out;
}
}  // namespace

TEST_CASE("recommendations: kernels share a cause only with themselves") {
  Run run;
  run.findings.resize(2);
  for (Finding& each : run.findings) {
    each.severity = Severity::kLow;
    each.scope = RuleScope::kKernel;
    each.subject = "gemm";
  }
  run.findings[0].rule = "first";
  run.findings[1].rule = "second";
  CHECK(recommendations(run, 3).size() == 2);  // neither gain, nor cause, nor suggestion in common
  run.findings[1].same_cause_as = "first";
  CHECK(recommendations(run, 3).size() == 1);
  run.findings[1].subject = "softmax";
  CHECK(recommendations(run, 3).size() == 2);
  run.findings[1].scope = RuleScope::kRun;
  CHECK(recommendations(run, 3).size() == 1);
  run.findings[1].same_cause_as.clear();
  run.findings[0].gain_share = run.findings[1].gain_share = 0.5;
  run.findings[1].subject = "gemm";
  CHECK(recommendations(run, 3).size() == 2);  // one name, and another thing
  run.findings[1].scope = RuleScope::kKernel;
  CHECK(recommendations(run, 3).size() == 1);
  CHECK(first_to_work_on(run) == &run.findings[0]);
  CHECK(first_to_work_on(Run()) == nullptr);
}

TEST_CASE("recommendations: a part goes with its whole, and is said below it") {
  Run run;
  run.findings.resize(4);
  const char* rules[] = {"gaps", "launches", "storm", "other"};
  for (std::size_t i = 0; i < run.findings.size(); ++i) {
    Finding& each = run.findings[i];
    each.rule = rules[i];
    each.severity = Severity::kMedium;
    each.scope = RuleScope::kStage;
    each.subject = i == 3 ? "load" : "train_step";
    each.plain = std::string("The fact of ") + rules[i] + ".";
    each.action = std::string("Fix ") + rules[i] + ".";
    each.gain_note = "no estimate";
  }
  run.findings[0].gain_share = run.findings[1].gain_share = 0.4;
  run.findings[2].part_of = "/findings/1";
  // Two causes in one stage are two actions, each with its parts.
  REQUIRE(recommendations(run, 3).size() == 3);
  CHECK(recommendations(run, 3)[0].also.empty());
  CHECK(recommendations(run, 3)[1].also == std::vector<const Finding*>{&run.findings[2]});
  run.findings[1].part_of = run.findings[2].part_of = "/findings/0";
  const List list = action_list(run, false);
  REQUIRE(list.items.size() == 2);
  const std::string first = plain_of(list.items[0].text);
  CHECK(first.find("The fact of gaps. Parts of it: the fact of launches; the fact of storm.") != std::string::npos);
  CHECK(plain_of(list.items[1].text).find("of it") == std::string::npos);
}

TEST_CASE("recommendations: a kernel is left out where even all of it would save less than 1 %") {
  Run run = run_of({window_of("decode", 1000)});
  run.phases.span_ns = 1000;
  run.phases.phases = {{"decode", 1000, Budget{1000, 100, 0, 0, 0, 900, 0, 0}}};  // the GPU works 10 % of the time
  KernelEntry& kernel = run.kernels.emplace().emplace_back();
  kernel.name = "gemm";
  kernel.gpu_share = 0.09;
  Finding& finding = run.findings.emplace_back();
  finding.severity = Severity::kMedium;
  finding.scope = RuleScope::kKernel;
  finding.subject = "gemm";
  CHECK(recommendations(run, 3).empty());
  kernel.gpu_share = 0.11;
  CHECK(recommendations(run, 3).size() == 1);
  run.phases = {};  // how busy the GPU was is not known
  kernel.gpu_share = 0.01;
  CHECK(recommendations(run, 3).size() == 1);
}

TEST_CASE("recommendations: why there is none, and the words of a finding that has few") {
  Run run;
  CHECK(no_advice(run) == "No rule was evaluated, so this report gives no advice.");
  run.abstentions.resize(1);
  CHECK(no_advice(run) == "No kernels were captured; 1 rule was not evaluated for lack of data.");
  run.kernels.emplace();
  CHECK(no_advice(run) == "No rule asks for a change; 1 rule was not evaluated for lack of data.");
  run.abstentions.clear();
  run.findings.resize(1);
  CHECK(no_advice(run) == "No rule asks for a change.");
  run.findings[0].severity = Severity::kLow;
  run.findings[0].gain_share = 0.009;
  CHECK(first_to_work_on(run) == nullptr);
  CHECK(no_advice(run) == "No change that the rules know saves 1 % of the time.");
  run.findings[0].gain_share = 0.01;
  CHECK(first_to_work_on(run) == &run.findings[0]);
  Finding& finding = run.findings[0];
  finding.rule = "the_rule";
  CHECK(plain_text(finding) == "the_rule");
  finding.message = "a message";
  CHECK(plain_text(finding) == "a message");
  finding.plain = "plain words";
  CHECK(plain_text(finding) == "plain words");
}
