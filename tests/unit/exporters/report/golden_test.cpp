#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::test::read_text;

namespace {

// After a change of the reports, write them anew (tools/golden) and look at the difference.
void check_golden(const std::string& name, const std::string& text) {
  const std::string file = std::string(NL_FIXTURES) + "/golden/" + name;
  if (std::getenv("NL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    WARN("wrote " << file);
  }
  const std::string golden = read_text(file);
  std::size_t line = 1, at = 0;
  for (; at < std::min(text.size(), golden.size()) && text[at] == golden[at]; ++at) line += text[at] == '\n';
  INFO(name << " differs in line " << line << ": " << text.substr(at, 80));
  CHECK((text == golden));
}

}  // namespace

TEST_CASE("the reports of a run with everything in it are the golden ones", "[golden]") {
  check_golden("rich/report.md", nl::exporters::report_markdown(nl::test::rich_run()));
  check_golden("rich/stakeholder_summary.md", nl::exporters::stakeholder_markdown(nl::test::rich_run()));
}
