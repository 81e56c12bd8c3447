#include <nlohmann/json.hpp>

#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "tests/catch.h"

using namespace nl;
using nlohmann::json;

namespace {

WhatIf two_predictions() {
  Prediction refused, graph;
  refused.changes = {"--host audit=0"};
  refused.stage = graph.stage = "decode_step";
  refused.measured_ns = 4e6;
  refused.refused = NoPrediction::kNoStacks;
  graph.changes = {"--graph decode_step", "--pinned"};
  graph.measured_ns = 4e6;
  graph.unperturbed_ns = 3e6;
  graph.predicted_ns = 1.2e6;
  graph.low_ns = 1e6;
  graph.high_ns = 1.5e6;
  WhatIf result;
  result.name = "llama";
  result.stage = "decode_step";
  result.predictions = {refused, graph};
  return result;
}

std::string complaint(const std::string& text) {
  try {
    exporters::predictions_from_json(text, "whatif.json");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.where.starts_with("whatif.json"));
    CHECK_FALSE(error.fix.empty());
    return error.message + " | " + error.where;
  }
  return "read";
}

// The text of two_predictions(), changed.
template <class Change>
std::string changed(Change change) {
  json root = json::parse(exporters::whatif_json(two_predictions()));
  change(root);
  return root.dump();
}

}  // namespace

TEST_CASE("whatif json: what was written comes back") {
  const PredictionOrigin origin{"NVIDIA H200", "nsys", 1.5, 12};
  const exporters::WrittenPredictions read =
      exporters::predictions_from_json(exporters::whatif_json(two_predictions(), origin), "whatif.json");
  CHECK(read.origin.hardware == "NVIDIA H200");
  CHECK(read.origin.tracer == "nsys");
  CHECK(read.origin.interval_scale == 1.5);
  REQUIRE(read.predictions.size() == 2);
  CHECK(read.predictions[0].refused == NoPrediction::kNoStacks);
  const Prediction& graph = read.predictions[1];
  CHECK_FALSE(graph.refused);
  CHECK(graph.changes == std::vector<std::string>{"--graph decode_step", "--pinned"});
  CHECK(graph.stage == "decode_step");
  CHECK(graph.unperturbed_ns == 3e6);
  CHECK(graph.predicted_ns == 1.2e6);
  CHECK(graph.low_ns == 1e6);
  CHECK(graph.high_ns == 1.5e6);
}

TEST_CASE("whatif json: of a version that did not know scales yet") {
  const std::string text = changed([](json& root) {
    for (const char* key : {"hardware", "tracer", "interval_scale"}) root.erase(key);
  });
  const exporters::WrittenPredictions read = exporters::predictions_from_json(text, "whatif.json");
  CHECK(read.origin.interval_scale == 1);
  CHECK(read.origin.hardware.empty());
}

TEST_CASE("whatif json: what is damaged or something else is refused, with its place") {
  CHECK(complaint("") == "it is not JSON | whatif.json");
  CHECK(complaint("{\"run\": ") == "it is not JSON | whatif.json");
  CHECK(complaint("[]") == "it is not the JSON of whatif | whatif.json");
  CHECK(complaint("{}") == "there is no list | whatif.json, predictions");
  CHECK(complaint(R"({"predictions": {}})") == "there is no list | whatif.json, predictions");
  CHECK(complaint(R"({"predictions": [3]})") == "it is not a prediction | whatif.json, predictions[0]");
  CHECK(complaint(R"({"predictions": [{}]})") == "there is no list | whatif.json, predictions[0].changes");
  CHECK(complaint(std::string(100, '[')).starts_with("the JSON is nested more than 16 deep | whatif.json, byte 17"));
  const auto in_second = [](const char* key, const json& value) {
    return complaint(changed([&](json& root) { root["predictions"][1][key] = value; }));
  };
  CHECK(in_second("stage", nullptr) == "the stage is missing | whatif.json, predictions[1].stage");
  CHECK(in_second("stage", 7) == "it is not a text | whatif.json, predictions[1].stage");
  CHECK(in_second("stage", std::string(5000, 'x')) == "it is not a text | whatif.json, predictions[1].stage");
  CHECK(in_second("changes", {1}) == "a change is not a text | whatif.json, predictions[1].changes");
  CHECK(in_second("changes", std::vector<std::string>(51, "--pinned")) == "there are more than 50 changes | whatif.json, predictions[1]");
  CHECK(in_second("predicted_ns", nullptr) == "the time is missing | whatif.json, predictions[1].predicted_ns");
  CHECK(in_second("predicted_ns", "fast") == "it is not a number above zero | whatif.json, predictions[1].predicted_ns");
  CHECK(in_second("unperturbed_ns", 0) == "it is not a number above zero | whatif.json, predictions[1].unperturbed_ns");
  CHECK(in_second("low_ns", -1) == "it is not a number above zero | whatif.json, predictions[1].low_ns");
  CHECK(in_second("high_ns", 1e30) == "it is not a number above zero | whatif.json, predictions[1].high_ns");
  CHECK(in_second("high_ns", 1.1e6) == "the predicted time is not in its interval | whatif.json, predictions[1]");
  CHECK(complaint(changed([](json& root) { root["interval_scale"] = 0; })) ==
        "it is not a number above zero | whatif.json, interval_scale");
}
