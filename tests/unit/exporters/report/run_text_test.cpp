#include "exporters/report/text/run_text.h"

#include <string>
#include <utility>

#include "tests/catch.h"

using namespace nl;
using namespace nl::exporters;
using namespace nl::exporters::report;

TEST_CASE("run text: a split names each part, also one of nothing, and is a dash where there is no whole") {
  CHECK(split_text({{"decode", 920}, {"none", 80}}, 1000) == "decode 92 %, none 8 %");
  CHECK(split_text({{"decode", 1000}, {"prefill", 0}}, 1000) == "decode 100 %, prefill 0 %");
  CHECK(split_text({{"prefill", 0}}, 1) == "prefill 0 %");
  CHECK(split_text({{"decode", 0}}, 0) == kNoValue);
  CHECK(split_text({{"decode", 5}}, 0) == kNoValue);
  CHECK(split_text(std::vector<std::pair<std::string, Ns>>{}, 1000) == kNoValue);
  KernelEntry kernel;
  kernel.time.total_ns = 200;
  kernel.stages = {{"prefill", 50, 1}, {"decode", 150, 2}};
  CHECK(split_text(kernel) == "prefill 25 %, decode 75 %");
  kernel.time.total_ns = 0;
  CHECK(split_text(kernel) == kNoValue);
}

TEST_CASE("run text: who measured") {
  std::vector<KernelEntry> kernels(2);
  CHECK(measured_by(kernels) == "");
  kernels[0].ncu.emplace_back().measured_by = Meter::kNcu;
  CHECK(measured_by(kernels) == "ncu");
  kernels[1].ncu.emplace_back().measured_by = Meter::kCupti;
  CHECK(measured_by(kernels) == "ncu and CUPTI");
  kernels[0].ncu.clear();
  CHECK(measured_by(kernels) == "CUPTI");
}

TEST_CASE("run text: cells carry what they are sorted by, and the exact time") {
  const Cell time = time_cell(1500.4);
  CHECK(time.text.spans.at(0).text == "1.50 µs");
  CHECK(time.value == 1500.4);
  CHECK(time.tip == "1,500 ns");
  CHECK(time_cell(-1500.6).tip == "-1,501 ns");
  CHECK(time_cell(9e18).tip == "");
  CHECK(time_cell(std::optional<Ns>()).text.spans.at(0).text == kNoValue);
  CHECK_FALSE(time_cell(std::optional<Ns>()).value);
  CHECK(count_cell(1200).value == 1200);
  CHECK(percent_cell(12.5).text.spans.at(0).text == "12.5");
  CHECK(figure_cell(2.0, "W").text.spans.at(0).text == "2.00 W");
  CHECK(code_cell("").text.spans.at(0).text == kNoValue);
  CHECK(code_cell("x").text.spans.at(0).style == Inline::kCode);
  CHECK(metric_cell(MetricUnit::kPercent, 5.0).text.spans.at(0).text == "5.0");
  CHECK(metric_cell(MetricUnit::kBytes, 5.0).text.spans.at(0).text == "5.00 B");
  CHECK(metric_cell(MetricUnit::kBytesPerSecond, 5.0).text.spans.at(0).text == "5.00 B/s");
  CHECK(metric_cell(MetricUnit::kHertz, 5.0).text.spans.at(0).text == "5.00");
  CHECK(bound_cell(Bound::kMemory, MemoryLevel::kDram).text.spans.at(0).text == "memory (DRAM)");
  CHECK(bound_cell(Bound::kCompute, MemoryLevel::kDram).text.spans.at(0).text == "compute");
  CHECK(bound_cell({}, {}).text.spans.at(0).text == kNoValue);
}

TEST_CASE("run text: stages by name, and the colour each of the first six has of its own") {
  Run run;
  run.stages.resize(7);
  for (std::size_t i = 0; i < 7; ++i) run.stages[i].name = std::string(1, static_cast<char>('a' + i));
  CHECK(stage_named(run, "c") == &run.stages[2]);
  CHECK(stage_named(run, "z") == nullptr);
  CHECK(stage_colour(run, "f") == "s-5");
  CHECK(stage_colour(run, "g") == "s-0");
  CHECK(stage_colour(run, "z") == "s-1");
  CHECK(stage_title(run, "a") == "a");
  CHECK(source_label(run) == "");
  run.stages[3].source = StageSource::kEngine;
  CHECK(stage_title(run, "d") == "d (engine)");
  CHECK(source_label(run) == " (engine)");
}

TEST_CASE("run text: what a finding is about, and why something is missing") {
  Run run;
  Finding finding;
  finding.rule = "rule";
  finding.subject = "decode";
  CHECK(scope_text(run, finding) == "the run");
  finding.scope = RuleScope::kStage;
  CHECK(scope_text(run, finding) == "stage decode");
  finding.scope = RuleScope::kOperator;
  CHECK(scope_text(run, finding) == "operator decode");
  finding.subject.clear();
  CHECK(scope_text(run, finding) == "operator");
  CHECK(title_of(finding) == "rule");
  run.stages.resize(1);
  run.stages[0].name = finding.subject = "decode";
  run.stages[0].source = StageSource::kInferred;
  CHECK(scope_text(run, finding) == "operator decode");
  finding.scope = RuleScope::kStage;
  CHECK(scope_text(run, finding) == "stage decode (inferred)");
  const auto words = [](const Paragraph& paragraph) { return paragraph.text.spans.at(0).text; };
  CHECK(words(not_captured("", "")) == "Not captured.");
  CHECK(words(not_captured("", "nobody asked")) == "Not captured: nobody asked.");
  CHECK(words(not_captured("no GPU", "nobody asked", "None")) == "None: no GPU.");
  CHECK(not_captured("", "").role == Role::kMissing);
  CHECK(status_sentence(RunStatus::kInterrupted) == "interrupted: the run ended early, what was captured is kept");
}
