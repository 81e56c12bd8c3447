#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/golden.h"

// Writer, reader and schema share one list of fields: one of them cannot show that it names the wrong member. This golden file
// can: every field has a value that no other has.
namespace {

using nlohmann::json;

constexpr const char* kGoldenRun = NL_FIXTURES "/golden/every_value/run.json";

// Fields with few possible values.
const std::set<std::string> kWords = {"bound_by", "bound_memory", "kind", "limit", "matched_by", "measured_by", "outcome", "scope", "severity", "status", "style", "verdict"};

void collect(const json& value, const std::string& key, const std::string& where, std::map<std::string, std::vector<std::string>>& places) {
  if (value.is_object())
    for (const auto& [name, item] : value.items()) collect(item, name, where + "/" + name, places);
  else if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], key, where + "/" + std::to_string(i), places);
  else if (!value.is_boolean() && !kWords.contains(key))
    places[value.dump()].push_back(where);
}

}  // namespace

TEST_CASE("a run with a value of its own in every field is written as the golden run.json", "[golden]") {
  const std::string ours = nl::exporters::run_to_json(nl::test::every_value_run());
  nl::test::check_golden(kGoldenRun, ours);
  const std::string golden = nl::test::read_text(kGoldenRun);
  CHECK(nl::exporters::run_to_json(nl::exporters::run_from_json(golden)) == golden);
}

TEST_CASE("no two fields of that run have the same value, and none is empty") {
  std::map<std::string, std::vector<std::string>> places;
  const auto document = json::parse(nl::exporters::run_to_json(nl::test::every_value_run()));
  collect(document, "", "", places);
  CHECK(places.size() > 400);  // 408 when this was written
  for (const auto& [value, where] : places) {
    INFO(value << " stands at " << where.front() << " and " << where.back());
    CHECK(where.size() == 1);
  }
  for (const char* empty : {"null", "0", "0.0", "\"\""}) CHECK(places.count(empty) == 0);
}
