#include "orchestrator/bundle/read_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "exporters/run_json/run_json.h"
#include "model/comparison.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::test::has;
using nl::test::read_text;

namespace {

using nlohmann::json;

std::string fault_of(const json& document) {
  try {
    nl::orchestrator::validate_run_json(document.dump(), "some/run.json");
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kInput);
    CHECK(error.where == "some/run.json");
    return error.message;
  }
  return "valid";
}

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
      CHECK((property.contains("type") || property.contains("enum") || property.contains("$ref")));
      check_strict(property, where + "/" + name);
    }
  }
  if (schema.contains("items")) check_strict(schema.at("items"), where + "/items");
}

}  // namespace

TEST_CASE("a string of half a megabyte where a pattern is asked for is refused, and does not end the program") {
  json document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  document["created_at"] = "2025-01-01T00:00:00." + std::string(500'000, '1') + "Z";
  CHECK(has(fault_of(document), "/created_at"));
  document["created_at"] = "2025-01-01T00:00:00Z";
  document["name"] = std::string(500'000, 'a');  // nothing is asked of it
  CHECK(fault_of(document) == "valid");
}

TEST_CASE("the schema that files are held against is the one in schema/, and strict throughout") {
  CHECK(nl::exporters::run_json_schema() == read_text(NL_SOURCE_ROOT "/schema/run.schema.json"));
  const json schema = json::parse(nl::exporters::run_json_schema());
  check_strict(schema, "");
  for (const auto& [name, definition] : schema.at("definitions").items()) check_strict(definition, name);
}

TEST_CASE("what we write is valid: a full run, an empty one, one without kernels") {
  nl::orchestrator::validate_run_json(nl::exporters::run_to_json(nl::test::full_run()));
  nl::Run run;
  nl::orchestrator::validate_run_json(nl::exporters::run_to_json(run));
  run.kernels.emplace();
  nl::orchestrator::validate_run_json(nl::exporters::run_to_json(run));
  auto broken_text = nl::test::full_run();
  broken_text.kernels->at(0).name = std::string(1, static_cast<char>(0xff));
  nl::orchestrator::validate_run_json(nl::exporters::run_to_json(broken_text));
}

TEST_CASE("unknown, missing and wrong properties are refused with their place") {
  const json valid = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
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
  SECTION("inside a shape that several fields share") {
    document["stages"][0]["budget"]["wall_ns"] = -1;
    CHECK(has(fault_of(document), "/stages/0/budget/wall_ns"));
    document = valid;
    document["stages"][0]["budget"]["colour"] = 1;
    CHECK(has(fault_of(document), "colour"));
    CHECK(has(fault_of(document), "/stages/0/budget"));
    document = valid;
    document["stages"][0]["budget"] = nullptr;
    CHECK(fault_of(document) == "valid");
  }
  SECTION("a backend, a precision or a mode that there is none of") {
    for (const auto& [place, word] : {std::pair{"/software/backend", "whatever"},
                                      {"/model/weights_precision", "banana"},
                                      {"/model/compute_precision", "float"},
                                      {"/mode", "turbo"}}) {
      document = valid;
      document[json::json_pointer(place)] = word;
      CHECK(has(fault_of(document), place));
    }
    document = valid;
    document["software"]["backend"] = document["model"]["weights_precision"] = nullptr;
    CHECK(fault_of(document) == "valid");
  }
  SECTION("a grid of two") {
    document["kernels"][0]["ncu"][0]["grid"] = {1, 2};
    CHECK(has(fault_of(document), "/kernels/0/ncu/0/grid"));
  }
  SECTION("another major version") {
    document["schema_version"] = "4.0.0";
    CHECK(has(fault_of(document), "/schema_version"));
  }
}

TEST_CASE("a run.json of an older format is called that, whatever it lacks") {
  json document = json::parse(nl::exporters::run_to_json(nl::test::full_run()));
  document.erase("clock");
  CHECK(has(fault_of(document), "clock"));
  for (const char* version : {"3.0.0", "2.1.0", "2.0.0", "2.0.9", "1.0.0"}) {
    document["schema_version"] = version;
    CHECK(fault_of(document) ==
          fmt::format("format {}, written by an older nl-stage; this one writes {} and checks no other", version, nl::kRunSchemaVersion));
  }
  for (const json& version :
       {json("3.99.0"), json(nl::kRunSchemaVersion), json("2.0"), json("2.0.0.0"), json("-1.0.0"), json(""), json(2)}) {
    document["schema_version"] = version;
    CHECK(has(fault_of(document), "not a valid run.json: at /"));
  }
}

TEST_CASE("a compare.json of an older format is called that, and how to write it anew") {
  json document = json::parse(nl::exporters::comparison_to_json(nl::Comparison{}));
  CHECK(fault_of(document) == "valid");
  document["schema_version"] = "1.0.0";
  CHECK(fault_of(document) ==
        fmt::format("format 1.0.0, written by an older nl-stage; this one writes {} and checks no other", nl::kCompareSchemaVersion));
  document["schema_version"] = "3.0.0";
  CHECK(has(fault_of(document), "not a valid compare.json: at /"));
}

TEST_CASE("what is no JSON is refused") {
  REQUIRE_THROWS_AS(nl::orchestrator::validate_run_json("{\"a\": ", "x"), nl::Error);
  REQUIRE_THROWS_AS(nl::orchestrator::validate_run_json("", "x"), nl::Error);
  REQUIRE_THROWS_AS(nl::orchestrator::validate_run_json("[]", "x"), nl::Error);
}
