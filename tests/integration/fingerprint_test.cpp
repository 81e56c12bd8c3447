// nl-stage fingerprint over real captures of an H200.
#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

const std::string kLlamaGolden = (kFixtures / "golden/h200-llama/run.json").string();
const std::string kLlavaGolden = (kFixtures / "golden/h200-llava/run.json").string();

}  // namespace

TEST_CASE("fingerprint: of a capture with ncu's counters, all six features of a kernel are known") {
  Scene scene;
  const Outcome imported = import(scene, {"--nsys", (kFixtures / "h200-llama/nsys.sqlite").string(), "--ncu",
                                          (kFixtures / "h200-llama/ncu_decode_raw_base.csv").string()});
  INFO(imported.err);
  REQUIRE(imported.status == 0);
  const Outcome outcome = scene.nl_stage({"fingerprint", scene.bundle().string(), "--json"});
  REQUIRE(outcome.status == 0);
  const auto json = nlohmann::json::parse(outcome.out);
  CHECK(json["kind"] == "kernels");
  int whole = 0, counted = 0;
  double share = 0;
  for (const auto& item : json["items"]) {
    bool all = true;
    for (const auto& raw : item["raw"]) all = all && !raw.is_null();
    whole += all;
    counted += !item["raw"]["warp_efficiency"].is_null();
    share += item["vector"][0].get<double>();
    for (const auto& feature : item["vector"]) CHECK((feature.get<double>() >= 0 && feature.get<double>() <= 1));
  }
  CHECK(share == Approx(1));
  CHECK(whole > 0);
  CHECK(counted > 3);
}

TEST_CASE("fingerprint: a run is exactly like itself, and a text model resembles its vision cousin") {
  Scene scene;
  const auto similarity = [&](const std::string& a, const std::string& b) {
    const Outcome outcome = scene.nl_stage({"fingerprint", a, "--to", b, "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return nlohmann::json::parse(outcome.out)["similarity"].get<double>();
  };
  CHECK(similarity(kLlamaGolden, kLlamaGolden) == 1);
  const double forth = similarity(kLlamaGolden, kLlavaGolden);
  CHECK(forth == similarity(kLlavaGolden, kLlamaGolden));
  CHECK(forth > 0.3);
  CHECK(forth < 1);
}

TEST_CASE("fingerprint: a run without operators and kernels, and wrong peaks, are refused") {
  Scene scene;
  CHECK(scene.nl_stage({"fingerprint", (scene.path / "none").string()}).status == 3);
  CHECK(scene.nl_stage({"fingerprint", kLlamaGolden, "--peaks", (scene.path / "none.yaml").string()}).status == 2);
  CHECK(scene.nl_stage({"fingerprint", kLlamaGolden, "--peaks", (kFixtures / "../../conf/device/h200.yaml").string()}).status == 0);
}
