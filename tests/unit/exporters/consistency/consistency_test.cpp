#include "exporters/consistency/consistency.h"

#include <algorithm>

#include "exporters/report/sections/executive_summary.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/run_json/run_json.h"
#include "model/headline.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

using namespace nl;
using nl::exporters::Contradiction;
using nl::exporters::contradictions;
using nl::test::has;

namespace {

Run real_run() { return exporters::run_from_json(test::read_text(test::kGolden + "h200-llama/run.json")); }

bool says(const Run& run, const std::string& where, const std::string& what) {
  const auto found = contradictions(run);
  return std::any_of(found.begin(), found.end(), [&](const Contradiction& each) { return has(each.where, where) && has(each.what, what); });
}

}  // namespace

TEST_CASE("consistency: real captures do not contradict themselves") {
  for (const char* name : {"h200-llama", "h200-llava", "kineto", "onnxruntime"}) {
    CAPTURE(name);
    for (const Contradiction& each : contradictions(exporters::run_from_json(test::read_text(test::kGolden + name + "/run.json"))))
      FAIL_CHECK(each.where << ": " << each.what);
  }
}

TEST_CASE("consistency: times without the profiler follow from two figures, and are not one of run.json") {
  Run run = real_run();
  for (const char* name : {"prefill", "decode", "decode_step"}) {
    const StageEntry* stage = stage_named(run, name);
    REQUIRE(stage != nullptr);
    const double bare_ns = stage->wall.median_ns / 1.37;
    run.perturbation.stages.push_back(
        {PassKind::kNsys, name, {bare_ns}, {stage->wall.median_ns}, 0.37, 0.37, 0.37, SlowdownVerdict::kOverLimit, "", ""});
  }
  for (const Contradiction& each : contradictions(run)) FAIL_CHECK(each.where << ": " << each.what);
}

TEST_CASE("consistency: a median beside another mean than the step's is told by what it is") {
  Run run = real_run();
  REQUIRE(stage_named(run, "decode_step") != nullptr);
  for (StageEntry& stage : run.stages)
    if (stage.name == "decode_step") stage.wall.median_ns = stage.wall.mean_ns / 2;
  run.latency.tpot->mean_ns *= 1.05;  // of whole requests, with what lies between the steps
  const auto sentences = exporters::report::executive_summary(run);
  REQUIRE(
      std::any_of(sentences.begin(), sentences.end(), [](const std::string& each) { return has(each, "half of the steps take at most"); }));
  CHECK_FALSE(says(run, "/stages", "its mean"));
}

TEST_CASE("consistency: energy is told in kWh, and run.json has joules") {
  Run run = real_run();
  StageEnergy energy;
  energy.stage = "decode_step";
  energy.joules_per_token = 2.19868397;
  run.energy.stages = {energy};
  REQUIRE(has(exporters::report::executive_summary(run).back(), "0.611 kWh"));
  for (const Contradiction& each : contradictions(run)) FAIL_CHECK(each.where << ": " << each.what);
}

TEST_CASE("consistency: the median step is one of its stage, and is drawn as its budget says") {
  Run run = test::rich_run();
  CHECK_FALSE(says(run, "/median_step", ""));
  SECTION("stage") {
    run.median_step->stage = "elsewhere";
    CHECK(says(run, "/median_step", "a stage that is not there"));
  }
  SECTION("length") {
    run.median_step->wall_ns *= 2;
    CHECK(says(run, "/median_step", "the longest of its stage"));
    CHECK(says(run, "/median_step/host", "does not end with the step"));
    CHECK(says(run, "/median_step/budget", "differs from the step"));
  }
  SECTION("order") {
    std::swap(run.median_step->gpus[0].end_ns[0], run.median_step->gpus[0].end_ns[1]);
    CHECK(says(run, "/median_step/gpus/0", "do not follow each other"));
  }
  SECTION("picture") {
    run.median_step->gpus[0].bins[0] = BudgetBin::kCompute;
    CHECK(says(run, "/median_step/gpus/0", "launch_starved_ns is drawn as 0 ns"));
  }
}

TEST_CASE("consistency: parts above their whole are found") {
  Run run = real_run();
  SECTION("budget") {
    run.stages[0].budget->gpu_compute_ns += run.stages[0].budget->wall_ns;
    CHECK(says(run, "/stages/0/budget", "the sum of the parts"));
  }
  SECTION("phases") {
    run.phases.span_ns /= 2;
    CHECK(says(run, "/phases", "the sum of the phases"));
  }
  SECTION("mean and total") {
    run.stages[0].wall.mean_ns *= 1.1;
    CHECK(says(run, "/stages/0", "the mean times the count"));
  }
  SECTION("percentiles") {
    run.stages[0].wall.p99_ns = 2 * run.stages[0].wall.max_ns;
    CHECK(says(run, "/stages/0", "the 99th percentile"));
  }
  SECTION("stages of a kernel") {
    (*run.kernels)[0].stages[0].total_ns = 2 * (*run.kernels)[0].time.total_ns;
    CHECK(says(run, "/kernels/0", "the time in all stages"));
  }
}

TEST_CASE("consistency: findings speak of what is there, and save no more than there is") {
  Run run = real_run();
  REQUIRE_FALSE(run.findings.empty());
  Finding finding;
  finding.rule = "made_up";
  finding.scope = RuleScope::kStage;
  finding.subject = run.stages[0].name;
  SECTION("saving") {
    finding.gain_per_window_ns = 2 * run.stages[0].wall.mean_ns;
    run.findings.push_back(finding);
    CHECK(says(run, "/findings/", "the saving of a window"));
  }
  SECTION("predicted saving") {  // is one of the window without the tracer's part, here longer than the traced one
    const double window_ns = 3 * run.stages[0].wall.mean_ns;
    finding.scope = RuleScope::kStage;
    finding.subject = run.stages[0].name;
    finding.prediction.emplace();
    finding.prediction->stage = run.stages[0].name;
    finding.prediction->unperturbed_ns = window_ns;
    finding.gain_per_window_ns = 0.9 * window_ns;
    run.findings.push_back(finding);
    CHECK_FALSE(says(run, "/findings/", "the saving of a window"));
    run.findings.back().gain_per_window_ns = 1.1 * window_ns;
    CHECK(says(run, "/findings/", "the saving of a window"));
  }
  SECTION("stage") {
    finding.subject = "nowhere";
    run.findings.push_back(finding);
    CHECK(says(run, "/findings/", "a stage that is not there"));
  }
  SECTION("reference") {
    finding.evidence.emplace_back().reference = "/stages/99/budget";
    run.findings.push_back(finding);
    CHECK(says(run, "/findings/", "refers to /stages/99/budget"));
  }
  SECTION("cause") {
    finding.same_cause_as = "nothing";
    run.findings.push_back(finding);
    CHECK(says(run, "/findings/", "the cause of a finding"));
  }
}

TEST_CASE("consistency: a log has what is put into words while it lives") {
  exporters::rough_time(1e6);
  const exporters::FigureLog log;
  exporters::rough_time(2e6);
  {
    const exporters::FigureLog inner;
    exporters::share_text(0.25);
    CHECK(inner.told().size() == 1);
  }
  exporters::plural(3, "kernel");
  REQUIRE(log.told().size() == 2);
  CHECK(log.told()[0].text == "2.0 ms");
  CHECK(log.told()[0].value == 2e6);
  CHECK(log.told()[1].text == "3 kernels");
}

TEST_CASE("consistency: predictions lie in their intervals, sequences do not grow, and strips are in order") {
  Run run = real_run();
  REQUIRE(stage_named(run, "decode_step") != nullptr);
  run.what_if = test::sample_what_if("decode_step");
  run.findings.at(0).prediction = test::graph_prediction("decode_step");
  REQUIRE(has(exporters::report::executive_summary(run).at(3), "it saves about 57 % of each decode_step, between 47 and 64 %"));
  for (const Contradiction& each : contradictions(run)) FAIL_CHECK(each.where << ": " << each.what);
  const auto broken = [&](auto change, const std::string& where, const std::string& what) {
    Run wrong = run;
    change(wrong);
    CHECK(says(wrong, where, what));
  };
  broken([](Run& r) { r.findings[0].prediction->low_ns = 2e6; }, "/findings/0/prediction", "the lower end of the interval (2000000 ns)");
  broken([](Run& r) { r.what_if->predictions[1].high_ns = 3e6; }, "/what_if/predictions/1", "the upper end of the interval");
  broken([](Run& r) { std::swap(r.what_if->sequence[0], r.what_if->sequence[1]); }, "/what_if/sequence/1", "the window before it");
  broken([](Run& r) { std::swap(r.what_if->now->host[0], r.what_if->now->host[1]); }, "/what_if/now/host/1", "the end of the part before");
  broken([](Run& r) { r.what_if->then->length_ns = 1e6; }, "/what_if/then/gpu", "the end of the last part");
  broken([](Run& r) { r.what_if->stage = "nowhere"; }, "/what_if/stage", "not there");
}
