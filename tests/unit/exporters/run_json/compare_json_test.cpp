#include "exporters/run_json/run_json.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/exporters/report/compare/sample_comparison.h"
#include "tests/unit/golden.h"

// After a change of the fields run tools/golden, which writes the schema anew, and look: git diff schema.
TEST_CASE("schema/compare.schema.json is what the declared fields make of it", "[golden]") {
  nl::test::check_golden(NL_SOURCE_ROOT "/schema/compare.schema.json", nl::exporters::comparison_schema());
}

TEST_CASE("compare.json: counters of nsys and ncu are there, null with a reason where nobody captured them") {
  const auto json = nlohmann::json::parse(nl::exporters::comparison_to_json(nl::test::slower_kernel()));
  CHECK(json["nsys_counters"]["lines"].is_null());
  CHECK(json["nsys_counters"]["missing"] == "not_captured");
  CHECK(json["ncu_counters"]["missing"] == "not_captured");
  CHECK(json["stages"]["missing"].is_null());
  CHECK(json["stages"]["lines"].size() == 1);
}

TEST_CASE("compare.json: changes are relative, and their logarithm is kept for mirrors") {
  const auto json = nlohmann::json::parse(nl::exporters::comparison_to_json(nl::test::slower_kernel()));
  const auto& change = json["stages"]["lines"][0]["change"];
  CHECK(change["relative"].get<double>() == Approx(0.03));
  CHECK(change["relative_low"].get<double>() == Approx(0.02));
  CHECK(change["log_ratio"].get<double>() == Approx(std::log(1.03)));
}
