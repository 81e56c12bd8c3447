#include "runs/trial/predicted.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/run_json/run_json.h"
#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "runs/trial/trial.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::runs;
using nlohmann::json;

namespace {

Prediction graph_of_steps() {
  Prediction prediction;
  prediction.changes = {"--graph decode_step"};
  prediction.stage = "decode_step";
  prediction.measured_ns = 5e6;
  prediction.unperturbed_ns = 4e6;
  prediction.predicted_ns = 2e6;
  prediction.low_ns = 1.6e6;
  prediction.high_ns = 2.5e6;
  return prediction;
}

WhatIf predicted_graph() {
  WhatIf result;
  Prediction refused;
  refused.stage = "decode_step";
  refused.changes = {"--host audit=0"};
  refused.refused = NoPrediction::kNoStacks;
  result.predictions = {refused, graph_of_steps()};
  return result;
}

CompareLine stage_line(const std::string& stage, CompareFigure figure, double ratio) {
  CompareLine line;
  line.key = line.stage = stage;
  line.figure = figure;
  line.change = CompareChange{std::log(ratio), std::log(ratio * 0.98), std::log(ratio * 1.02), 0.95};
  line.p_value = 0.01;
  return line;
}

std::string complaint_about(const std::string& from) {
  try {
    asked_prediction(from);
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(test::has(error.where, from));
    CHECK_FALSE(error.fix.empty());
    return error.message;
  }
  return "taken";
}

}  // namespace

TEST_CASE("try --predicted: the first prediction that is not refused, and how many there were") {
  const test::Folder folder;
  const auto file = folder.file("whatif.json", exporters::whatif_json(predicted_graph(), {"NVIDIA H200", "nsys", 1.5, 12}));
  const AskedPrediction asked = asked_prediction(file.string());
  CHECK(asked.from == file.string());
  CHECK(asked.prediction.changes == std::vector<std::string>{"--graph decode_step"});
  CHECK(asked.among == 2);
  CHECK(asked.origin.hardware == "NVIDIA H200");
  CHECK(asked.origin.interval_scale == 1.5);
}

TEST_CASE("try --predicted: what has no prediction to try says what to do next") {
  const test::Folder folder;
  CHECK(complaint_about(folder.file("capture.sqlite", "SQLite format 3").string()) == "it is neither the JSON of whatif nor a run.json");
  CHECK(complaint_about(folder.file("half.json", "{\"predictions\": [").string()) == "it is not JSON");
  CHECK(complaint_about(folder.file("none.json", "{\"predictions\": []}").string()) == "it has no predictions");
  WhatIf refused = predicted_graph();
  refused.predictions.pop_back();
  CHECK(complaint_about(folder.file("refused.json", exporters::whatif_json(refused)).string()) ==
        "it has no prediction that could be tried: all were refused");
  const auto run = folder.file("run.json", exporters::run_to_json(test::sparse_run()));
  CHECK(complaint_about(run.string()) == "the run has no predictions");
  CHECK(complaint_about(folder.path.string()) == "the run has no predictions");  // as a bundle
  const std::string nowhere = complaint_about((folder / "nowhere").string());    // with and without a ledger
  CHECK((nowhere.starts_with("neither a file nor a run of the ledger") || nowhere == "there is no such bundle, and the ledger is off"));
}

TEST_CASE("try --predicted: the ratio of the same stage, unprofiled where both sides have that") {
  const AskedPrediction asked{"whatif.json", graph_of_steps(), {"NVIDIA H200", "nsys", 1.5, 12}, 1};
  Comparison comparison;
  comparison.stages.lines = {stage_line("prefill", CompareFigure::kWall, 0.9), stage_line("decode_step", CompareFigure::kWall, 0.7),
                             stage_line("decode_step", CompareFigure::kGpuBusy, 0.2)};
  auto pair = pair_of(asked, comparison, {});
  REQUIRE(pair);
  CHECK(pair->predicted_ratio == 0.5);  // of the time without the tracer
  CHECK(pair->low_ratio == 0.4);
  CHECK(pair->high_ratio == 0.625);
  CHECK(pair->measured_ratio == Approx(0.7));
  CHECK(*pair->measured_low_ratio == Approx(0.686));
  CHECK(*pair->measured_high_ratio == Approx(0.714));
  CHECK_FALSE(pair->within());
  CHECK(pair->error() == Approx(0.4));
  CHECK(pair->kind == "graph");
  CHECK(pair->changes == "--graph decode_step");
  CHECK(pair->hardware == "NVIDIA H200");
  CHECK(pair->tracer == "nsys");
  CHECK(pair->interval_scale == 1.5);
  comparison.stages.lines.push_back(stage_line("decode_step", CompareFigure::kUnprofiledWall, 0.6));
  CHECK(pair_of(asked, comparison, {})->measured_ratio == Approx(0.6));
  comparison.stages.lines.erase(comparison.stages.lines.begin() + 1, comparison.stages.lines.end());
  CHECK_FALSE(pair_of(asked, comparison, {}));
}

TEST_CASE("try --predicted: trial.json and the sentences have the outcome, or say that there is none") {
  TrialResult result;
  CHECK(json::parse(trial_json(result))["predicted"].is_null());
  CHECK(predicted_sentences(result).empty());
  result.predicted = TrialPrediction{{"whatif.json", graph_of_steps(), {}, 3}};
  CHECK(predicted_sentences(result) ==
        std::vector<std::string>{
            "The prediction is not checked, and nothing is recorded: the rounds have no times of the stage decode_step on both sides.",
            "The prediction is of decode_step with --graph decode_step, the first of 3 predictions in whatif.json that can be tried."});
  json predicted = json::parse(trial_json(result))["predicted"];
  CHECK(predicted["predicted_ratio"] == 0.5);
  for (const char* key : {"measured_ratio", "measured_low_ratio", "measured_high_ratio", "error", "within"})
    CHECK(predicted[key].is_null());
  Comparison comparison;
  comparison.stages.lines = {stage_line("decode_step", CompareFigure::kWall, 0.55)};
  result.predicted->pair = pair_of(result.predicted->asked, comparison, {});
  CHECK(predicted_sentences(result)[0] == "Predicted −50 % (−60 to −38 %), measured −45 % (−46 to −44 %): within the interval.");
  predicted = json::parse(trial_json(result))["predicted"];
  CHECK(predicted["from"] == "whatif.json");
  CHECK(predicted["changes"] == json::array({"--graph decode_step"}));
  CHECK(predicted["stage"] == "decode_step");
  CHECK(predicted["measured_ratio"].get<double>() == Approx(0.55));
  CHECK(predicted["error"].get<double>() == Approx(0.1));
  CHECK(predicted["within"] == true);
  result.predicted->pair.reset();
  result.end = TrialEnd::kFailed;
  CHECK(predicted_sentences(result)[0] == "The prediction is not checked, and nothing is recorded: the trial did not end.");
}
