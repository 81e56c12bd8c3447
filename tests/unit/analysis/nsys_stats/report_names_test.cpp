#include "analysis/nsys_stats/reports.h"

#include "model/error.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("a report is found by its whole name only") {
  const Trace trace;
  for (const std::string_view report : stats_report_names()) {
    const std::string name(report);
    for (const std::string& wrong : {name.substr(0, name.size() - 1), name.substr(1), name + "s", " " + name, name + " "}) {
      INFO(wrong);
      CHECK_THROWS_AS(make_stats_report(trace, wrong), Error);
    }
    CHECK(make_stats_report(trace, name).report == name);
  }
  CHECK_THROWS_AS(make_stats_report(trace, ""), Error);
}
