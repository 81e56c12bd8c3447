#include "orchestrator/evidence.h"

#include "tests/catch.h"

using namespace nl;
using nl::orchestrator::model_of;

namespace {

const ModelInfo kNoted{"Qwen3-0.6B", {{"layers", "28"}, {"dtype", "bf16"}}};

}  // namespace

TEST_CASE("evidence: the model as the process noted it, with the keys that are configured") {
  CHECK(model_of({}, kNoted).name == "Qwen3-0.6B");
  const ModelInfo named = model_of({"mine", {{"variant", "instruct"}, {"dtype", "fp8"}}}, kNoted);
  CHECK(named.name == "mine");
  CHECK(named.attributes == std::map<std::string, std::string>{{"variant", "instruct"}, {"dtype", "fp8"}, {"layers", "28"}});
}

TEST_CASE("evidence: a configured shape is not mixed with a noted one") {
  const ModelInfo described = model_of({"mine", {{"hidden_size", "64"}}}, kNoted);
  CHECK(described.name == "mine");
  CHECK(described.attributes == std::map<std::string, std::string>{{"hidden_size", "64"}});
  CHECK(model_of({"mine", {}}, {}).attributes.empty());
}
