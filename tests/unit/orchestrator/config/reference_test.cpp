#include <fstream>
#include <iterator>

#include "orchestrator/config/keys.h"
#include "tests/catch.h"

namespace {

std::string page() {
  std::ifstream file(NL_SOURCE_ROOT "/docs/configuration.md");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

TEST_CASE("docs/configuration.md has the keys as they are declared") {
  const std::string text = page();
  const std::string begin = nl::orchestrator::kReferenceBegin, end = nl::orchestrator::kReferenceEnd;
  REQUIRE(text.find(begin) != std::string::npos);
  REQUIRE(text.find(end) != std::string::npos);
  const auto start = text.find(begin) + begin.size();
  INFO("make it anew: nl-stage plan --keys --markdown, between the two comments of docs/configuration.md");
  CHECK(text.substr(start, text.find(end) - start) == nl::orchestrator::config_reference_markdown());
}

TEST_CASE("the reference says type, bounds, default and words of each key") {
  const std::string text = nl::orchestrator::config_reference_markdown();
  const auto has = [&](const char* row) { return text.find(row) != std::string::npos; };
  CHECK(has("| `run.mode` | `deep`, `light` | `deep` | "));
  CHECK(has("| `run.top_n_kernels` | a whole number from 1 to 1000 | `10` | "));
  CHECK(has("| `run.stages` | a list of texts | `[prefill, decode]` | "));
  CHECK(has("| `nsys.export.sqlite` | true or false | `true` | "));
  CHECK(has("| `nsys.trace` | a list of `cuda`, `cuda-hw`, "));
  CHECK(has("| `energy.interval_ms` | a number from 1 to 60000 | `50` | "));
  CHECK(has("| `model.layers` | a whole number from 1 |  | decoder layers |"));
  for (const auto& key : nl::orchestrator::config_keys()) {
    INFO(key.path);
    CHECK(has(("| `" + std::string(key.path) + "` | ").c_str()));
    CHECK(nl::orchestrator::config_keys_json().find("\"key\": \"" + std::string(key.path) + "\"") != std::string::npos);
    CHECK(nl::orchestrator::config_keys_text().find(std::string(key.path) + " ") != std::string::npos);
  }
}
