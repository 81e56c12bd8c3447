#include "orchestrator/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "analysis/ncu_match.h"
#include "analysis/summarise.h"
#include "exporters/run_json.h"
#include "model/error.h"
#include "parsers/ncu_csv.h"
#include "parsers/nsys_sqlite.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

namespace {

using nlohmann::json;

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

std::string fault_of(const json& document) {
  try {
    nl::validate_run_json(document.dump(), "some/run.json");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kInput);
    CHECK(error.where == "some/run.json");
    return error.message;
  }
  return "valid";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Every property of every object of the schema, so that nothing in it goes unseen.
void check_strict(const json& schema, const std::string& where) {
  if (!schema.is_object()) return;
  if (schema.contains("properties")) {
    INFO(where);
    CHECK(schema.value("additionalProperties", json(true)) == json(false));
    for (const auto& [name, property] : schema.at("properties").items()) {
      INFO(name);
      const auto& required = schema.at("required");
      CHECK(std::find(required.begin(), required.end(), name) != required.end());
      CHECK((property.contains("type") || property.contains("enum")));
      check_strict(property, where + "/" + name);
    }
  }
  if (schema.contains("items")) check_strict(schema.at("items"), where + "/items");
}

// The numbers of a golden run.json may differ in the last bit where one compiler fuses a multiplication
// and an addition and another does not; all else must be equal.
void check_same(const json& ours, const json& golden, const std::string& where) {
  if (ours.is_number_float() && golden.is_number_float()) {
    const double a = ours.get<double>(), b = golden.get<double>();
    if (std::abs(a - b) > 1e-12 * std::max(std::abs(a), std::abs(b))) FAIL_CHECK(where << ": " << a << " instead of " << b);
    return;
  }
  if (ours.type() != golden.type() && !(ours.is_number() && golden.is_number())) {
    FAIL_CHECK(where << ": " << ours.dump() << " instead of " << golden.dump());
  } else if (ours.is_object()) {
    for (const auto& [key, value] : golden.items())
      if (!ours.contains(key)) FAIL_CHECK(where << "/" << key << " is missing");
    for (const auto& [key, value] : ours.items()) {
      if (!golden.contains(key)) FAIL_CHECK(where << "/" << key << " is new");
      else check_same(value, golden.at(key), where + "/" + key);
    }
  } else if (ours.is_array()) {
    if (ours.size() != golden.size()) FAIL_CHECK(where << ": " << ours.size() << " items instead of " << golden.size());
    for (std::size_t i = 0; i < std::min(ours.size(), golden.size()); ++i) check_same(ours[i], golden[i], where + "/" + std::to_string(i));
  } else if (ours != golden) {
    FAIL_CHECK(where << ": " << ours.dump() << " instead of " << golden.dump());
  }
}

}  // namespace

TEST_CASE("the embedded schema is the file, and strict throughout") {
  CHECK(nl::kRunSchema == read_text(NL_SOURCE_ROOT "/schema/run.schema.json"));
  check_strict(json::parse(nl::kRunSchema), "");
}

TEST_CASE("what we write is valid: a full run, an empty one, one without kernels") {
  nl::validate_run_json(nl::run_to_json(nl::test::full_run()));
  nl::Run run;
  nl::validate_run_json(nl::run_to_json(run));
  run.kernels.emplace();
  nl::validate_run_json(nl::run_to_json(run));
  auto broken_text = nl::test::full_run();
  broken_text.kernels->at(0).name = "\xff";
  nl::validate_run_json(nl::run_to_json(broken_text));
}

TEST_CASE("unknown, missing and wrong properties are refused with their place") {
  const json valid = json::parse(nl::run_to_json(nl::test::full_run()));
  CHECK(fault_of(valid) == "valid");
  json document = valid;
  SECTION("unknown at the top") {
    document["colour"] = "red";
    const auto fault = fault_of(document);
    CHECK(has(fault, "colour"));
  }
  SECTION("unknown deep inside") {
    document["kernels"][0]["ncu"][0]["colour"] = "red";
    const auto fault = fault_of(document);
    CHECK(has(fault, "/kernels/0/ncu/0"));
    CHECK(has(fault, "colour"));
  }
  SECTION("missing") {
    document["kernels"][0].erase("calls");
    const auto fault = fault_of(document);
    CHECK(has(fault, "/kernels/0"));
    CHECK(has(fault, "calls"));
  }
  SECTION("of the wrong type") {
    document["stages"][0]["total_ns"] = "1000";
    CHECK(has(fault_of(document), "/stages/0/total_ns"));
  }
  SECTION("a fraction where a whole number belongs") {
    document["kernels"][0]["calls"] = 1.5;
    CHECK(has(fault_of(document), "/kernels/0/calls"));
  }
  SECTION("below the minimum") {
    document["kernels"][0]["total_ns"] = -1;
    CHECK(has(fault_of(document), "/kernels/0/total_ns"));
  }
  SECTION("outside the list") {
    document["status"] = "splendid";
    CHECK(has(fault_of(document), "/status"));
    document = valid;
    document["kernels"][0]["ncu"][0]["bound_by"] = "magic";
    CHECK(has(fault_of(document), "/kernels/0/ncu/0/bound_by"));
  }
  SECTION("a grid of two") {
    document["kernels"][0]["ncu"][0]["grid"] = {1, 2};
    CHECK(has(fault_of(document), "/kernels/0/ncu/0/grid"));
  }
  SECTION("another major version") {
    document["schema_version"] = "2.0.0";
    CHECK(has(fault_of(document), "/schema_version"));
  }
}

TEST_CASE("what is no JSON is refused") {
  REQUIRE_THROWS_AS(nl::validate_run_json("{\"a\": ", "x"), nl::Error);
  REQUIRE_THROWS_AS(nl::validate_run_json("", "x"), nl::Error);
  REQUIRE_THROWS_AS(nl::validate_run_json("[]", "x"), nl::Error);
}

// After a change of what run.json holds, write it anew and look at the difference:
//   NL_UPDATE_GOLDEN=1 build/tests/unit/orchestrator/orchestrator_tests "[golden]"
TEST_CASE("the run.json of a real capture is the golden one", "[golden]") {
  const std::string llama = NL_FIXTURES "/h200-llama/";
  const std::string file = NL_FIXTURES "/golden/h200-llama/run.json";
  const auto trace = nl::read_nsys_sqlite(llama + "nsys.sqlite");
  nl::Run run;
  run.run_id = "golden";
  run.provenance.captured_by = "import";
  nl::summarise(trace, {}, run);
  nl::match_ncu(nl::read_ncu_csv(llama + "ncu_prefill_raw.csv"), trace, run);
  nl::match_ncu(nl::read_ncu_csv(llama + "ncu_decode_details.csv"), trace, run);
  const std::string text = nl::run_to_json(run);
  nl::validate_run_json(text);
  if (std::getenv("NL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    WARN("wrote " << file);
  }
  const std::string golden = read_text(file);
  REQUIRE_FALSE(golden.empty());
  check_same(json::parse(text), json::parse(golden), "");
  nl::validate_run_json(golden, file);
}
