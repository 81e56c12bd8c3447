#include "exporters/whatif/record.h"

#include <nlohmann/json.hpp>

#include "exporters/whatif/whatif.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using nlohmann::json;

namespace {

PredictionPair graph_pair() {
  PredictionPair pair;
  pair.recorded_at = "2026-11-18T12:00:00Z";
  pair.hardware = "NVIDIA H200";
  pair.stage = "decode_step";
  pair.changes = "--graph decode_step";
  pair.kind = "graph";
  pair.tracer = "nsys";
  pair.predicted_ratio = 0.39;
  pair.low_ratio = 0.32;
  pair.high_ratio = 0.48;
  pair.measured_ratio = 0.43;
  pair.measured_low_ratio = 0.42;
  pair.measured_high_ratio = 0.45;
  return pair;
}

PredictionRecord one_pair() {
  const PredictionPair pair = graph_pair();
  return {"NVIDIA H200", {pair}, {1, 1, pair.error()}, {{"graph", {1, 1, pair.error()}}}, 1};
}

}  // namespace

TEST_CASE("prediction pair: prediction and outcome in one sentence") {
  PredictionPair pair = graph_pair();
  CHECK(exporters::pair_sentence(pair) == "Predicted −61 % (−68 to −52 %), measured −57 % (−58 to −55 %): within the interval.");
  pair.measured_ratio = 0.5;
  pair.measured_low_ratio = pair.measured_high_ratio = std::nullopt;
  CHECK(exporters::pair_sentence(pair) ==
        "Predicted −61 % (−68 to −52 %), measured −50 %: outside the interval, 28 % longer than predicted.");
  pair.measured_ratio = 0.3;
  CHECK(exporters::pair_sentence(pair) ==
        "Predicted −61 % (−68 to −52 %), measured −70 %: outside the interval, 23 % shorter than predicted.");
  pair.predicted_ratio = pair.measured_ratio = 1;
  pair.low_ratio = 0.966;
  pair.high_ratio = 1.035;
  CHECK(exporters::pair_sentence(pair) == "Predicted 0 % (−3.4 to +3.5 %), measured 0 %: within the interval.");
}

TEST_CASE("prediction record: pairs, figures by kind and the scale") {
  PredictionRecord record = one_pair();
  const std::string text = exporters::record_markdown({record}, "ledger.sqlite");
  CHECK(test::has(text, "NVIDIA H200: 1 pair, median error 10.3 %, 1 in the interval (100 %)."));
  CHECK(
      test::has(text, "| 2026-11-18T12:00:00Z | decode_step | --graph decode_step | nsys | −61 % | −68 to −52 % | −57 % | +10 % | yes |"));
  CHECK(test::has(text, "| graph | 1 | 10.3 % | 1 |"));
  CHECK(test::has(text, "as shipped"));
  record.interval_scale = 1.3;
  CHECK(test::has(exporters::record_markdown({record}, "ledger.sqlite"), "These pairs scale the intervals of whatif by 1.3."));
  CHECK(test::has(exporters::record_text({record}, "ledger.sqlite", 200), "--graph decode_step"));
}

TEST_CASE("prediction record: none is one sentence with the command that makes one") {
  const std::string text = exporters::record_markdown({}, "ledger.sqlite");
  CHECK(test::has(text, "ledger.sqlite has no prediction with its outcome: "));
  CHECK(test::has(text, "nl-stage try --predicted whatif.json"));
  CHECK(json::parse(exporters::record_json({}, "ledger.sqlite")) == json({{"ledger", "ledger.sqlite"}, {"machines", json::array()}}));
}

TEST_CASE("prediction record: as JSON") {
  const json root = json::parse(exporters::record_json({one_pair()}, "ledger.sqlite"));
  const json& machine = root["machines"][0];
  CHECK(machine["hardware"] == "NVIDIA H200");
  CHECK(machine["count"] == 1);
  CHECK(machine["within"] == 1);
  CHECK(machine["interval_scale"] == 1);
  CHECK(machine["kinds"][0]["kind"] == "graph");
  const json& pair = machine["pairs"][0];
  CHECK(pair["changes"] == "--graph decode_step");
  CHECK(pair["measured_low_ratio"] == 0.42);
  CHECK(pair["workload"].is_null());
  CHECK(pair["within"] == true);
  CHECK(pair["error"].get<double>() == Approx(0.43 / 0.39 - 1));
}

TEST_CASE("whatif text: a scale of the intervals is said, and none is not") {
  WhatIf result;
  result.name = "llama";
  result.stage = "decode_step";
  CHECK(test::has(exporters::whatif_markdown(result, {"NVIDIA H200", "nsys", 1.3, 24}),
                  "Intervals are scaled by 1.3, by 24 pairs of this ledger."));
  CHECK_FALSE(test::has(exporters::whatif_markdown(result, {"NVIDIA H200", "nsys", 1, 24}), "scaled"));
}
