#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

// schema/run.schema.json is made of the fields that writer and reader go through. After a change of these run tools/golden, which
// writes it anew, and look: git diff schema.
TEST_CASE("schema/run.schema.json is what the declared fields make of it", "[golden]") {
  nl::test::check_golden(NL_SOURCE_ROOT "/schema/run.schema.json", nl::exporters::run_json_schema());
}
