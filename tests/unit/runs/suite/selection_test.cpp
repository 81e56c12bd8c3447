#include "model/error.h"
#include "runs/suite/suite.h"
#include "tests/catch.h"

using namespace nl::runs;

namespace {

std::string chosen(const std::vector<std::string>& patterns) {
  Suite suite;
  for (const char* name : {"attention_baseline", "attention_optimized", "mlp_baseline", "mlp_optimized", "plain", "graphs"})
    suite.targets.push_back({name, {"true"}, {}, {}, {}, {}});
  suite.targets.back().baseline = "plain";
  std::string names;
  for (const SuiteTarget& target : chosen_targets(std::move(suite), patterns).targets) names += target.name + " ";
  return names;
}

}  // namespace

TEST_CASE("suite targets: a pair is chosen by its name, a target with its baseline") {
  CHECK(chosen({"mlp"}) == "mlp_baseline mlp_optimized ");
  CHECK(chosen({"mlp_optimized"}) == "mlp_baseline mlp_optimized ");
  CHECK(chosen({"mlp_baseline"}) == "mlp_baseline ");
  CHECK(chosen({"graphs"}) == "plain graphs ");
  CHECK(chosen({"att*", "plain"}) == "attention_baseline attention_optimized plain ");
  CHECK(chosen({}) == "attention_baseline attention_optimized mlp_baseline mlp_optimized plain graphs ");
}

TEST_CASE("suite targets: a name that nothing has is refused, with the nearest") {
  try {
    chosen({"mlp", "atention"});
    FAIL("it was taken");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kUsage);
    CHECK(error.message == "the suite has no target or pair 'atention'");
    CHECK(error.where == "--target");
    CHECK(error.fix == "did you mean 'attention'?");
  }
}
