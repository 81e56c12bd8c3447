#include "exporters/run_json/run_json.h"

#include <nlohmann/json.hpp>

#include "model/suite_report.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

TEST_CASE("schema/suite.schema.json is what the declared fields make of it", "[golden]") {
  nl::test::check_golden(NL_SOURCE_ROOT "/schema/suite.schema.json", nl::exporters::suite_schema());
}

TEST_CASE("suite.json: what was not measured is null, and every part is there") {
  nl::SuiteReport report;
  report.pairs.emplace_back();
  const auto json = nlohmann::json::parse(nl::exporters::suite_to_json(report));
  CHECK(json["schema_version"] == nl::kSuiteSchemaVersion);
  CHECK(json["pairs"][0]["speedup"].is_null());
  CHECK(json["targets"].empty());
}
