#include "exporters/run_json/run_json.h"

#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_serving.h"
#include "tests/unit/exporters/sample_run.h"

using nlohmann::json;

namespace {

nl::Error error_of(const std::string& text) {
  try {
    nl::exporters::run_from_json(text);
  } catch (const nl::Error& error) {
    return error;
  }
  return {nl::ErrorKind::kInternal, "it was read"};
}

std::string error_at(const json& document, const std::string& pointer, const json& value) {
  json damaged = document;
  damaged[json::json_pointer(pointer)] = value;
  const nl::Error error = error_of(damaged.dump());
  CHECK(error.kind == nl::ErrorKind::kInput);
  return error.where;
}

// full_run() with words also where it has a number, and the reverse.
nl::Run filled_run() {
  nl::Run run = nl::test::full_run();
  for (std::string* note :
       {&run.efficiency.at(0).note, &run.energy.stages.at(0).note, &run.layers_note, &run.operators_note, &run.operators.at(0).file,
        &run.operators.at(0).entries.at(0).type, &run.perturbation.stages.at(0).note, &run.perturbation.note, &run.energy.note,
        &run.stages.at(0).counters->note, &run.provenance.passes.at(0).detail})
    *note = "a note";
  const nl::Remark placed{nl::Code::kNote, {"a note"}, "a place"};
  run.kernels->at(0).ncu_note = run.kernels_note = placed;
  run.import_stats.notes = run.provenance.adaptations = {placed};
  run.import_stats.rows_damaged = run.ncu_rows_damaged = {{placed, 3}};
  run.stages.at(0).slow_windows = nl::SlowWindows{2, *run.stages.at(0).budget, 3, 40};
  run.workload.verdict.unit_stage = "decode_step";
  run.median_step = nl::MedianStep{
      "decode_step",           10, 1000, 41, run.stages.at(0).budget, {{0, 41, {1000}, {nl::BudgetBin::kCompute}}}, 1, {1000},
      {nl::Binding::kHostCode}};
  run.workload.verdict.witnesses = {placed};
  run.coverage.graph_only_share = 0.25;
  run.coverage.graph_unjoined_share = run.operators.at(0).graph_unjoined_share = 0.125;
  run.coverage.devices = {{1, 41, 900, 800, 100, 50}};
  run.stages.at(0).gpu_spread = nl::GpuSpread{0.7, 0.6, 0.8, 0.1, 1, 41, nl::SlowestBy::kArrival, 0.9, 0.95};
  run.communication = run.stages.at(0).communication = {{nl::Collective::kPeerCopy, 1, 41, 3, 60, 50, 40, 4000, 2e9, 20, 40, 2, 15}};
  run.rank_hang = nl::RankHang{{0, 3}, {{2, "save", true, 5}}, nl::Collective::kAllReduce, 7, 9};
  run.phases.devices = run.stages.at(0).devices;
  run.kernels->at(0).ncu.at(0).values[nl::Metric::kL2] = 41.5;
  run.kernels->at(0).ncu.at(0).values[nl::Metric::kTensor] = 72;
  run.kernels->at(0).ncu.at(0).bound_memory = run.roofline.points.at(0).bound_memory = nl::MemoryLevel::kDram;
  run.provenance.passes.at(0).exit_status = -7;
  run.provenance.captured_at = "2025-01-01T12:00:01Z";
  run.provenance.workload_starts = 8;
  run.provenance.expected_s = 96;
  run.provenance.budget_s = 180;
  run.model = {"m",     run.model.attributes, "int4 weights (gptq), bf16 compute", nl::DataType::kInt4, nl::DataType::kBf16, "sha256:00",
               {"int8"}};
  run.software.backend = "my engine";
  for (nl::TimeSummary* times :
       {&run.stages.at(0).wall, &run.kernels->at(0).time, &run.api.at(0).time, &run.ranges.at(0).wall, &*run.latency.ttft,
        &*run.latency.prefill, &*run.latency.tpot, &run.session->unprofiled, &run.session->profiled})
    times->p90_ns = 450, times->p95_ns = 480;
  run.perturbation.tracing = {{nl::PassKind::kNsys, nl::CostBasis::kEstimated, "decode", 0.2, 0.3, 100}};
  run.perturbation.calibration = {
      {{nl::PassKind::kNsys, "2025.3.1", "--trace=cuda", nl::CalibratedCall::kLaunch, 1700, 1600, 1800, 2300, 120}}, "a loop failed"};
  run.perturbation.decision = {nl::RepeatsEnd::kBudget, {"decode"}, {"decode"}, 4, 6, "not decided"};
  run.what_if->sequence.back().refused = nl::NoPrediction::kPartial;
  run.workload.repository = nl::Repository{"/work", "4b825dc642cb6eb9a060e54bf8d69288fbee4904", true};
  run.serving = nl::test::every_serving();
  run.rank_matrix = {"decode_step", 3, 1, 2, 1, 4, {0, 2}, {{10, {0, 5}}, {20, {7, 0}}, {30, {0, 0}}}};
  run.collective_rates = {{nl::Collective::kAllReduce, {0, 2}, 3, 3000, 50, 6e10, 6e10}};
  run.rank_pairs = {{0, 2, 5, 100, 200, 50}};
  return run;
}

// Fields that are null wherever they stand, "/stages/*/budget".
void note_fields(const json& value, const std::string& where, std::map<std::string, bool>& null) {
  if (!value.is_structured()) {
    auto& always = null.emplace(where, true).first->second;
    always = always && value.is_null();
    return;
  }
  null[where] = false;
  if (value.is_array())
    for (const json& item : value) note_fields(item, where + "/*", null);
  else
    for (const auto& [key, item] : value.items()) note_fields(item, where + "/" + key, null);
}

}  // namespace

TEST_CASE("a run survives the way to JSON and back") {
  const auto run = nl::test::full_run();
  const std::string text = nl::exporters::run_to_json(run);
  const auto again = nl::exporters::run_from_json(text);
  CHECK(nl::exporters::run_to_json(again) == text);
  REQUIRE(again.kernels);
  REQUIRE(again.kernels->size() == 1);
  const auto& kernel = (*again.kernels)[0];
  CHECK(kernel.time.mean_ns == run.kernels->at(0).time.mean_ns);
  CHECK(kernel.ncu.at(0).metrics == run.kernels->at(0).ncu.at(0).metrics);
  CHECK(kernel.ncu.at(0).grid == nl::Dim3{8, 12, 1});
  CHECK(kernel.ncu.at(0).values[nl::Metric::kTensor] == std::nullopt);
  CHECK(again.status == nl::RunStatus::kPartial);
  CHECK(again.ranges.at(0).style == nl::RangeStyle::kStartEnd);
  CHECK(again.workload.exit_status == 3);
  CHECK(again.provenance.passes.at(0).exit_status == std::nullopt);
  CHECK(again.hardware.gpus.at(0).memory_bytes == 150120103936);
  CHECK(again.stages.at(0).gpu_busy_ns == 900);
  CHECK(again.coverage.graph_only_share == std::nullopt);
}

TEST_CASE("every sample run comes back as the same text") {
  for (const auto& run : {nl::test::rich_run(), nl::test::sparse_run(), nl::Run(), nl::test::large_run(50, 20, 30, 5)}) {
    const std::string text = nl::exporters::run_to_json(run);
    CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(text)) == text);
  }
}

TEST_CASE("a run in which no field is empty survives too") {
  const std::string text = nl::exporters::run_to_json(filled_run());
  CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(text)) == text);
  std::map<std::string, bool> null;
  note_fields(json::parse(text), "", null);
  for (const auto& [field, always] : null) {
    INFO(field << " is set nowhere, so that nothing is known of its way to JSON and back");
    CHECK_FALSE(always);
  }
}

TEST_CASE("what explains the time survives the way to JSON and back") {
  const auto run = nl::test::full_run();
  const auto again = nl::exporters::run_from_json(nl::exporters::run_to_json(run));
  REQUIRE(again.stages.at(0).budget);
  CHECK(again.stages.at(0).budget->sum_ns() == run.stages.at(0).budget->sum_ns());
  CHECK(again.stages.at(0).budget->queue_wait_ns == run.stages.at(0).budget->queue_wait_ns);
  CHECK(again.stages.at(0).activity->longest_gap_at_ns == run.stages.at(0).activity->longest_gap_at_ns);
  CHECK(again.phases.phases.size() == run.phases.phases.size());
  CHECK(again.iterations.list.at(0).stages == run.iterations.list.at(0).stages);
  CHECK(again.latency.ttft->median_ns == run.latency.ttft->median_ns);
  CHECK(again.operators.at(0).entries.at(0).stages == run.operators.at(0).entries.at(0).stages);
  CHECK(again.layers.at(0).type == run.layers.at(0).type);
  CHECK(again.peaks->flops_per_s == run.peaks->flops_per_s);
  CHECK(again.efficiency.at(0).terms.at(0).formula == run.efficiency.at(0).terms.at(0).formula);
  CHECK(again.roofline.points.at(0).margin == run.roofline.points.at(0).margin);
  CHECK(again.findings.at(0).severity == run.findings.at(0).severity);
  CHECK(again.findings.at(0).evidence.at(0).window_end_ns == run.findings.at(0).evidence.at(0).window_end_ns);
  CHECK(again.abstentions.at(0).missing == run.abstentions.at(0).missing);
  CHECK(again.perturbation.stages.at(0).bare_ns == run.perturbation.stages.at(0).bare_ns);
  CHECK(again.energy.devices.at(0).throttle_reasons == run.energy.devices.at(0).throttle_reasons);
  CHECK(again.timeline->lanes.at(0).slices.at(0).duration_ns == run.timeline->lanes.at(0).slices.at(0).duration_ns);
}

TEST_CASE("each slice of the timeline is one line") {
  nl::Run run;
  run.timeline.emplace();
  run.timeline->names = {"sgemm"};
  run.timeline->lanes = {{nl::LaneKind::kGpu, "GPU 0 stream 7", {{1000, 250, 0, 1}, {1300, 50, 0, 12}}}};
  const std::string text = nl::exporters::run_to_json(run);
  CHECK(text.find("\n          [1000, 250, 0, 1],\n          [1300, 50, 0, 12]\n") != std::string::npos);
}

TEST_CASE("the keys stand in the documented order") {
  const auto document = nlohmann::ordered_json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"schema_version",
                                         "run_id",
                                         "created_at",
                                         "status",
                                         "summary",
                                         "problems",
                                         "name",
                                         "mode",
                                         "hardware",
                                         "software",
                                         "model",
                                         "workload",
                                         "stages",
                                         "phases",
                                         "iterations",
                                         "median_step",
                                         "latency",
                                         "communication",
                                         "serving",
                                         "kernels",
                                         "kernels_note",
                                         "api",
                                         "ranges",
                                         "session",
                                         "operators",
                                         "operators_note",
                                         "operator_steps",
                                         "layers",
                                         "layers_note",
                                         "peaks",
                                         "efficiency",
                                         "roofline",
                                         "findings",
                                         "abstentions",
                                         "what_if",
                                         "perturbation",
                                         "energy",
                                         "host",
                                         "timeline",
                                         "activity",
                                         "coverage",
                                         "ranks",
                                         "rank_matrix",
                                         "collective_rates",
                                         "expert_loads",
                                         "rank_hang",
                                         "rank_pairs",
                                         "sampled",
                                         "clock",
                                         "import_stats",
                                         "ncu_rows_damaged",
                                         "provenance"});
  keys.clear();
  for (const auto& [key, value] : document.at("kernels").at(0).items()) keys.push_back(key);
  CHECK(keys ==
        std::vector<std::string>{
            "name",        "mangled_name", "short_name",       "kind",     "device",      "total_ns",       "calls",     "mean_ns",
            "median_ns",   "p90_ns",       "p95_ns",           "p99_ns",   "min_ns",      "max_ns",         "stddev_ns", "gpu_share",
            "graph_calls", "stages",       "innermost_stages", "measured", "measured_ns", "measured_calls", "selected",  "ncu",
            "ncu_note",    "stalls"});
}

TEST_CASE("not captured is null") {
  nl::Run run;
  run.stages.emplace_back().name = "prefill";
  run.efficiency.emplace_back().stage = "prefill";
  const auto document = json::parse(nl::exporters::run_to_json(run));
  CHECK(document.at("kernels").is_null());
  CHECK(document.at("coverage").at("gpu_busy_ns").is_null());
  CHECK(document.at("stages").at(0).at("gpu_busy_ns").is_null());
  CHECK(document.at("stages").at(0).at("mean_ns").is_null());
  CHECK(document.at("stages").at(0).at("budget").is_null());
  CHECK(document.at("efficiency").at(0).at("mfu").is_null());
  CHECK(document.at("timeline").is_null());
  CHECK(document.at("peaks").is_null());
  CHECK(document.at("latency").at("ttft").is_null());
  CHECK(document.at("hardware").at("cpu_count").is_null());
  CHECK(document.at("workload").at("exit_status").is_null());
  CHECK(document.at("software").at("ncu_version").is_null());
  run.kernels.emplace();
  CHECK(json::parse(nl::exporters::run_to_json(run)).at("kernels").is_array());
  CHECK(nl::exporters::run_from_json(nl::exporters::run_to_json(run)).kernels->empty());
}

TEST_CASE("text that is not UTF-8 and numbers that are none do no harm") {
  auto run = nl::test::full_run();
  run.kernels->at(0).name = "kernel\xff\xfe<\xc3>";
  run.workload.command = {"a\x80\nb", "\"quoted\"", std::string("nul\0l", 5)};
  run.kernels->at(0).ncu[0].values[nl::Metric::kSm] = std::numeric_limits<double>::quiet_NaN();
  run.coverage.in_stage_share = std::numeric_limits<double>::infinity();
  run.kernels->at(0).ncu[0].metrics["broken"] = std::numeric_limits<double>::quiet_NaN();
  run.efficiency.at(0).mfu = std::numeric_limits<double>::quiet_NaN();
  run.roofline.points.at(0).intensity = std::numeric_limits<double>::infinity();
  run.perturbation.stages.at(0).bare_ns = {1.5, std::numeric_limits<double>::quiet_NaN()};
  const std::string text = nl::exporters::run_to_json(run);
  CHECK(text.find(": nan") == std::string::npos);
  const auto again = nl::exporters::run_from_json(text);
  CHECK(nl::exporters::run_to_json(again) == text);
  CHECK(again.kernels->at(0).ncu[0].metrics.count("broken") == 0);
  CHECK(again.efficiency.at(0).mfu == std::nullopt);
  CHECK(std::isnan(again.roofline.points.at(0).intensity));
  CHECK(again.kernels->at(0).name == "kernel\xef\xbf\xbd\xef\xbf\xbd<\xef\xbf\xbd>");
  CHECK(again.workload.command[2] == std::string("nul\0l", 5));
  CHECK(again.kernels->at(0).ncu[0].values[nl::Metric::kSm] == std::nullopt);
  CHECK(again.coverage.in_stage_share == std::nullopt);
}

TEST_CASE("numbers come back to the last bit") {
  nl::Run run;
  for (const double value : {0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, 123456789012345680.0, -0.0, 1e22, 7.0})
    run.perturbation.stages.emplace_back().bare_ns = {value};
  const auto again = nl::exporters::run_from_json(nl::exporters::run_to_json(run));
  for (std::size_t i = 0; i < run.perturbation.stages.size(); ++i) {
    CHECK(again.perturbation.stages[i].bare_ns == run.perturbation.stages[i].bare_ns);
    CHECK(std::signbit(again.perturbation.stages[i].bare_ns[0]) == std::signbit(run.perturbation.stages[i].bare_ns[0]));
  }
}

TEST_CASE("a run.json of the first format is read, what it lacks is empty") {
  auto document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  for (const char* key : {"phases", "iterations", "latency", "operators", "operators_note", "operator_steps", "layers", "layers_note",
                          "peaks", "efficiency", "roofline", "findings", "abstentions", "perturbation", "energy", "host", "timeline"})
    document.erase(key);
  for (const char* key : {"derived", "warmup_windows", "warmup_wall_ns", "budget", "foreign_gpu_ns", "activity", "devices",
                          "tokens_per_window", "tokens_per_s", "longest_window_start_ns", "longest_window_end_ns"})
    document["stages"][0].erase(key);
  CHECK(error_of(document.dump()).where == "run.json: /stages/0");  // not so in a file of today's format
  document["schema_version"] = "1.0.0";
  const auto run = nl::exporters::run_from_json(document.dump());
  CHECK(run.schema_version == "1.0.0");
  CHECK(run.stages.at(0).gpu_busy_ns == 900);
  CHECK(run.stages.at(0).budget == std::nullopt);
  CHECK(run.findings.empty());
  CHECK(run.timeline == std::nullopt);
  CHECK(run.kernels->at(0).ncu.at(0).grid == nl::Dim3{8, 12, 1});
}

TEST_CASE("a run.json of 2.0 is read: it has no counters, and ncu measured its kernels") {
  auto document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  for (const char* key : {"activity", "clock"}) document.erase(key);
  for (const char* key : {"counters", "sampling"}) document["stages"][0].erase(key);
  document["kernels"][0].erase("stalls");
  document["kernels"][0]["ncu"][0].erase("measured_by");
  CHECK(error_of(document.dump()).kind == nl::ErrorKind::kInput);  // in today's format that is not whole
  document["schema_version"] = "2.0.0";
  const auto run = nl::exporters::run_from_json(document.dump());
  CHECK(run.kernels->at(0).ncu.at(0).measured_by == nl::Meter::kNcu);
  CHECK(run.kernels->at(0).stalls.empty());
  CHECK(run.stages.at(0).counters == std::nullopt);
  CHECK(run.stages.at(0).sampling == std::nullopt);
  CHECK(run.activity.empty());
  CHECK(run.clock.error_ns == std::nullopt);
  CHECK(run.timeline->names.size() == 2);
}

TEST_CASE("counters, samples, stalls, curves and the clock's error survive the way to JSON and back") {
  auto run = nl::test::full_run();
  run.kernels->at(0).ncu.at(0).measured_by = nl::Meter::kCupti;
  run.clock.launch_slack_ns = -40;
  const std::string text = nl::exporters::run_to_json(run);
  CHECK(text.find("\"values\": [80.5, null, 62.25, 0.0]") != std::string::npos);  // a line a curve
  const auto again = nl::exporters::run_from_json(text);
  const auto& counters = *again.stages.at(0).counters;
  CHECK(counters.measured_by == nl::Meter::kCupti);
  CHECK(counters.windows == 3);
  CHECK(counters.values[nl::Metric::kDramRead] == 2048);
  CHECK(counters.values[nl::Metric::kSmActive] == 81.25);
  CHECK(counters.metrics == run.stages.at(0).counters->metrics);
  CHECK(again.stages.at(0).sampling->samples == 64);
  CHECK(again.stages.at(0).sampling->values[nl::Metric::kDramWritten] == 5e11);
  CHECK(again.kernels->at(0).ncu.at(0).measured_by == nl::Meter::kCupti);
  CHECK(again.kernels->at(0).stalls.at(2).reason == "wait");
  CHECK(again.kernels->at(0).stalls.at(2).share == 0.15);
  CHECK(again.activity.at(0).values == run.activity.at(0).values);
  CHECK(again.activity.at(0).step_ns == 125);
  CHECK(again.clock.launch_slack_ns == -40);
  CHECK(again.clock.shortest_stage == "prefill");
  CHECK(nl::exporters::run_to_json(again) == text);
  nl::Run none;
  none.stages.emplace_back();
  const auto document = json::parse(nl::exporters::run_to_json(none));
  CHECK(document.at("stages").at(0).at("counters").is_null());
  CHECK(document.at("clock").at("error_ns").is_null());
  CHECK(document.at("clock").at("contradictions").is_null());
  CHECK(document.at("activity") == json::array());
  none.clock.launch_slack_ns = 5;  // known from one side
  CHECK(json::parse(nl::exporters::run_to_json(none)).at("clock").at("contradictions") == 0);
}

TEST_CASE("what is no run.json is refused, with its place") {
  CHECK(error_of("").kind == nl::ErrorKind::kInput);
  CHECK(error_of("[1, 2]").kind == nl::ErrorKind::kInput);
  CHECK(error_of("{}").where == "run.json: /schema_version");
  const std::string text = nl::exporters::run_to_json(nl::test::full_run());
  CHECK(error_of(text.substr(0, text.size() / 2)).kind == nl::ErrorKind::kInput);
  const auto document = json::parse(text);
  CHECK(error_at(document, "/status", "splendid") == "run.json: /status");
  CHECK(error_at(document, "/status", 3) == "run.json: /status");
  CHECK(error_at(document, "/findings/0/severity", "fatal") == "run.json: /findings/0/severity");
  CHECK(error_at(document, "/stages/0/budget/wall_ns", 1.5) == "run.json: /stages/0/budget/wall_ns");
  CHECK(error_at(document, "/stages/0/count", -1) == "run.json: /stages/0/count");
  CHECK(error_at(document, "/kernels/0/device", 1ull << 40) == "run.json: /kernels/0/device");
  CHECK(error_at(document, "/kernels/0/ncu/0/grid", json::array({1, 2})) == "run.json: /kernels/0/ncu/0/grid");
  CHECK(error_at(document, "/kernels/0/ncu/0/metrics", json{{"a/b", "x"}}) == "run.json: /kernels/0/ncu/0/metrics/a~1b");
  CHECK(error_at(document, "/stages/0/counters/windows", -1) == "run.json: /stages/0/counters/windows");
  CHECK(error_at(document, "/activity/0/values/1", "much") == "run.json: /activity/0/values/1");
  CHECK(error_at(document, "/provenance/captured_by", "nobody") == "run.json: /provenance");
  CHECK(error_at(document, "/kernels/0/selected", 1) == "run.json: /kernels/0/selected");
  CHECK(error_at(document, "/timeline/lanes/0/slices", {{1, 2, 2, 1}}) == "run.json: /");  // there are two names
  CHECK(error_at(document, "/operators", json::object()) == "run.json: /operators");
  CHECK(error_at(document, "/phases", 7) == "run.json: /phases");
  CHECK(error_at(document, "/iterations/list/0/stages", json::array({1})) == "run.json: /iterations/list/0/stages/0");
  // a slice whose name is not in the list
  CHECK(error_at(document, "/timeline/lanes/0/slices", {{1, 2, 4000000, 1}}) == "run.json: /");
}

TEST_CASE("a newer format is called that, whatever else it holds") {
  const auto newer = error_of(R"({"schema_version": "4.0.0", "stages": "entirely other"})");
  CHECK(newer.message.find("4.0.0") != std::string::npos);
  CHECK(newer.message.find(nl::kRunSchemaVersion) != std::string::npos);
  CHECK_FALSE(newer.fix.empty());
  for (const char* version : {"", "2", "two", "2.x.0", "-1.0.0", "99999999999999999999.0.0"})
    CHECK(error_of(json{{"schema_version", version}}.dump()).where == "run.json: /schema_version");
  auto document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  document["schema_version"] = "3.10.0";  // only adds fields
  document["added_in_3_10"] = 1;
  CHECK(nl::exporters::run_from_json(document.dump()).run_id == nl::test::full_run().run_id);
}

// 4,000 kernel rows is far more than a real capture has: the largest in the fixtures has 300.
TEST_CASE("a large run is written and read in no time", "[speed]") {
  const auto run = nl::test::large_run(4000, 2000, 4000, 30);
  const std::clock_t start = std::clock();  // processor time: other programs of a busy machine do not count
  const std::string text = nl::exporters::run_to_json(run);
  const std::clock_t written = std::clock();
  const auto again = nl::exporters::run_from_json(text);
  const std::clock_t read = std::clock();
  CHECK(again.kernels->size() == 4000);
  const double to_s = static_cast<double>(written - start) / CLOCKS_PER_SEC, from_s = static_cast<double>(read - written) / CLOCKS_PER_SEC;
  INFO(text.size() << " bytes, written in " << to_s << " s, read in " << from_s << " s");
  CHECK(to_s < 2);  // 0.02 s here; a sanitizer costs much of the rest
  CHECK(from_s < 10);
}
