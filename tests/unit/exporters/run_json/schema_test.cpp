#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"

// schema/run.schema.json is made of the fields that writer and reader go through. After a change of these run tools/golden, which
// writes it anew, and look: git diff schema.
TEST_CASE("schema/run.schema.json is what the declared fields make of it", "[golden]") {
  const std::string file = NL_SOURCE_ROOT "/schema/run.schema.json";
  const std::string ours = nl::exporters::run_json_schema();
  if (std::getenv("NL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << ours;
    WARN("wrote " << file);
    return;
  }
  std::ifstream stream(file, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(stream), {}) == ours);
}
