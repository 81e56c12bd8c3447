#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

using nl::test::check_golden;
using nl::test::kGolden;

namespace {

// The page without its style and its script, which have files of their own, and with the digests that follow from them.
std::string without_assets(std::string page) {
  for (const std::string tag : {"style", "script"}) {
    const std::size_t open = page.find("<" + tag + ">"), close = page.find("</" + tag + ">", open);
    REQUIRE(close != std::string::npos);
    page.erase(open, close - open);
    const std::string digest = tag + "-src 'sha256-";
    const std::size_t at = page.find(digest);
    REQUIRE(at != std::string::npos);
    page.erase(at + digest.size(), page.find('\'', at + digest.size()) - at - digest.size());
  }
  // What is packed depends on the version of zlib; its contents have tests of their own.
  const std::string data = "id=\"detail-data\">";
  if (const std::size_t at = page.find(data); at != std::string::npos) page.erase(at + data.size(), page.find('<', at) - at - data.size());
  return page;
}

void check_reports(const std::string& name, const nl::Run& run) {
  check_golden(kGolden + name + "/report.md", nl::exporters::report_markdown(run));
  // A build without a script has other pages; they say so.
  if (!nl::exporters::html::built_in_script().text.empty())
    check_golden(kGolden + name + "/report.html", without_assets(nl::exporters::report_html(run)));
  check_golden(kGolden + name + "/stakeholder_summary.md", nl::exporters::stakeholder_markdown(run));
  check_golden(kGolden + name + "/kernels.md", nl::exporters::kernels_markdown(run));
  check_golden(kGolden + name + "/operators.md", nl::exporters::operators_markdown(run));
}

}  // namespace

TEST_CASE("the reports of a run with everything in it are the golden ones", "[golden]") { check_reports("rich", nl::test::rich_run()); }

TEST_CASE("the reports show each value of a run in its own place", "[golden]") {
  check_reports("every_value", nl::test::every_value_run());
}

TEST_CASE("the reports of a run whose host was sampled are the golden ones", "[golden]") {
  const nl::Run run = nl::test::host_run();
  const auto section_of = [](const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t begin = text.find(from), end = text.find(to, begin + 1);
    REQUIRE(end != std::string::npos);
    return text.substr(begin, end - begin);
  };
  check_golden(kGolden + "host/section.md", section_of(nl::exporters::report_markdown(run), "## Host code while", "\n## "));
  check_golden(kGolden + "host/section.html", section_of(nl::exporters::report_html(run), "<section id=\"host\"", "<section "));
  check_golden(kGolden + "host/stakeholder_summary.md", nl::exporters::stakeholder_markdown(run));
}

TEST_CASE("the reports of a run without a GPU are the golden ones", "[golden]") { check_reports("sparse", nl::test::sparse_run()); }
