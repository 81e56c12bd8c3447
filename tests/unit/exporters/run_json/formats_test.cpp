#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

// What earlier versions of nl-stage wrote is still read. tests/fixtures/formats has a file for each format, as it was written.
namespace {

using nlohmann::json;

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

nl::Run old_run(const std::string& name) {
  const std::string text = read_text(NL_FIXTURES "/formats/" + name + ".json");
  REQUIRE_FALSE(text.empty());
  return nl::exporters::run_from_json(text);
}

// By part of the file, so that a failure names it.
void check_same_parts(const json& ours, const json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (key == "schema_version") continue;
    INFO(key);
    CHECK(ours.at(key) == value);
  }
}

}  // namespace

TEST_CASE("a real run.json of 2.1.0 says what today's golden file of the same capture says") {
  const nl::Run run = old_run("h200-llava-2.1.0");
  CHECK(run.schema_version == "2.1.0");
  const auto ours = json::parse(nl::exporters::run_to_json(run));
  check_same_parts(ours, json::parse(read_text(NL_FIXTURES "/golden/h200-llava/run.json")));
}

TEST_CASE("a run.json of 2.1.0 with counters, samples and overhead comes back as the run that was written") {
  const auto ours = json::parse(nl::exporters::run_to_json(old_run("rich-2.1.0")));
  check_same_parts(ours, json::parse(nl::exporters::run_to_json(nl::test::rich_run())));
  const auto full = json::parse(nl::exporters::run_to_json(old_run("full-2.1.0")));
  check_same_parts(full, json::parse(nl::exporters::run_to_json(nl::test::full_run())));
}
