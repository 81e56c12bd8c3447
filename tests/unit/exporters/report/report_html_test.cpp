#include <limits>
#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "exporters/report/text/figure_text.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

using nl::test::count;
using nl::test::has;

namespace {}  // namespace

TEST_CASE("text stays text in HTML: elements, attributes, bad UTF-8 and control characters") {
  using nl::exporters::html::text;
  CHECK(text("f<int>(a & b)\"'") == "f&lt;int&gt;(a &amp; b)&quot;&#39;");
  CHECK(text("µ ✓ 😀") == "µ ✓ 😀");
  CHECK(text("gemm\u202Egnp.exe\u2069") == "gemm\\u202egnp.exe\\u2069");  // a name that shows itself as another one
  CHECK(text(std::string("a\0b\nc\x7f", 6)) == "a b c ");
  CHECK(text("\xff") == "\xef\xbf\xbd");
  CHECK(text("\xc3") == "\xef\xbf\xbd");                                  // cut off
  CHECK(text("\xc0\xbc") == "\xef\xbf\xbd\xef\xbf\xbd");                  // an overlong "<"
  CHECK(text("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // half of a pair
  CHECK(nl::exporters::html::attribute("title", "\"><x") == " title=\"&quot;&gt;&lt;x\"");
  CHECK(nl::exporters::cut("aµb", 2) == "a");
  CHECK(nl::exporters::cut("aµb", 3) == "aµ");
  CHECK(nl::exporters::cut("ab", 9) == "ab");
}

TEST_CASE("report.html needs nothing from elsewhere and lets no other script in") {
  if (nl::exporters::html::built_in_script().text.empty()) NL_SKIP("built without a script (-Dreport_script=none)");
  const std::string text = nl::exporters::report_html(nl::test::rich_run());
  CHECK(has(text, "default-src 'none'; style-src 'sha256-"));
  CHECK(has(text, "script-src 'sha256-"));
  CHECK_FALSE(has(text, "unsafe-inline"));
  // Scripts name SVG namespaces and homes of libraries, which no request goes to: in scripts only what could send a request counts.
  const std::size_t script = text.rfind("<script>"), end = text.find("</script>", script);
  const std::string markup = text.substr(0, script) + text.substr(end), code = text.substr(script, end - script);
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "<link", "style=\""}) {
    INFO(outside);
    CHECK_FALSE(has(markup, outside));
  }
  for (const char* asking :
       {"fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "importScripts", "eval(", "new Function", "setAttribute(\"style\""}) {
    INFO(asking);
    CHECK_FALSE(has(code, asking));
  }
  CHECK(count(text, "<script>") == 1);
}

TEST_CASE("a page without a script says so, lets none in and keeps its tables") {
  nl::exporters::report::Document document;
  document.title = "sparse";
  const std::vector<nl::exporters::html::DataBlock> data = {{"page-data", "application/json", "{}"}};
  const std::string without = nl::exporters::html::page(document, "made here", data, {});
  CHECK(has(without, "script-src 'none'"));
  CHECK_FALSE(has(without, "<script"));
  CHECK(has(without, "<p class=\"missing\">This page has no script, because nl-stage was built without one"));
  CHECK(has(without, "<footer>made here</footer>\n</body>"));
  const std::string with = nl::exporters::html::page(document, "made here", data, {"act();", "DIGEST"});
  CHECK(has(with, "script-src 'sha256-DIGEST'"));
  CHECK(has(with, "id=\"page-data\">{}</script>\n<script>act();</script>\n</body>"));
  CHECK_FALSE(has(with, "This page has no script"));
}

TEST_CASE("report.html has every section, and those without data say why") {
  const std::string rich = nl::exporters::report_html(nl::test::rich_run());
  for (const char* id : {"summary", "findings", "stages", "budget", "evidence", "timeline", "activity", "efficiency", "operators", "layers",
                         "kernels", "perturbation", "energy", "abstentions", "capture", "environment", "import"}) {
    INFO(id);
    CHECK(has(rich, "<section id=\"" + std::string(id) + "\""));
    CHECK(has(rich, "<a href=\"#" + std::string(id) + "\""));
  }
  CHECK(has(rich, "They overlap; do not add them."));
  const std::string sparse = nl::exporters::report_html(nl::test::sparse_run());
  CHECK(has(sparse, "Not captured. The collector recorded NVTX ranges only"));
  CHECK(has(sparse, "Not captured: the time of a stage is divided by GPU data, and there is none."));
  CHECK(has(sparse, "Not measured: no NVML on this machine."));
  CHECK_FALSE(has(sparse, ">0 ns<"));
  CHECK_FALSE(has(sparse, ">0.0 %<"));
  nl::Run unmarked = nl::test::rich_run();
  unmarked.stages.clear();
  const std::string without_stages = nl::exporters::report_html(unmarked);
  CHECK(has(without_stages, "No stage is marked, so there is no time to divide."));
  CHECK_FALSE(has(without_stages, "divided by GPU data"));
  CHECK(has(nl::exporters::report_html(nl::Run()), "</html>"));
}

TEST_CASE("report.html: a hostile name appears only escaped") {
  nl::Run run = nl::test::full_run();
  const std::string hostile = "</script><script>alert(1)</script>";
  run.name = run.run_id = run.model.name = hostile;
  run.kernels->at(0).name = hostile;
  run.findings[0].message = hostile;
  run.timeline->names = {hostile, hostile};
  const std::string text = nl::exporters::report_html(run);
  CHECK_FALSE(has(text, "<script>alert"));
  const bool script = !nl::exporters::html::built_in_script().text.empty();
  CHECK(count(text, "</script>") == (script ? 3 : 0));  // the script, and two blocks of data
  CHECK(has(text, "&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST_CASE("report.html stays under 5 MB, and what is cut is summed") {
  const nl::Run run = nl::test::large_run(5000, 501, 3000, 200);
  const std::string text = nl::exporters::report_html(run);
  CHECK(text.size() < 5'000'000);
  CHECK(has(text, "4,500 more kernels"));
  CHECK(has(text, "1 more operator<"));
  CHECK(has(text, "1,377,000"));  // their calls: 4,500 times 306
}

TEST_CASE("report.html survives damaged figures") {
  nl::Run run = nl::test::rich_run();
  run.timeline->lanes[0].slices = {{-5, -3, 99, 1}, {run.timeline->end_ns * 3, 10, 0, 1}};
  run.stages[0].wall.mean_ns = std::numeric_limits<double>::quiet_NaN();
  run.stages[0].budget->gpu_compute_ns = -7;
  run.iterations.list[1].stages[0].second = -1;
  run.phases.span_ns = 0;
  CHECK(has(nl::exporters::report_html(run), "</html>"));
  run.timeline->end_ns = run.timeline->start_ns;
  CHECK(has(nl::exporters::report_html(run), "the run has no iteration with ranges or GPU work in it"));
}

TEST_CASE("report.html draws what was sampled: a step for each value, a gap where there is none") {
  nl::Run run;
  run.activity = {
      {0, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed", "SM active", 2'000'000, 1'000'000, {50.0, 25.0, std::nullopt, 0.0}},
      {0, "dram__bytes_read.sum.per_second", "DRAM read", 2'000'000, 1'000'000, {1e12, 2e12, 3e12, 4e12}},
      {1, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "tensor", 4'000'000, 1'000'000, {10.0, 20.0}}};
  run.iterations.list.resize(2);
  run.iterations.list[0] = {2'000'000, 1'000'000, true, {}, 0, 0};
  run.iterations.list[1] = {3'000'000, 2'000'000, false, {}, 0, 0};
  const std::string text = nl::exporters::report_html(run);
  // The percentages share the scale of the largest, 50; the third begins in the middle.
  CHECK(has(text, "d=\"M0 100V0H1V50H2V100zM3 100V100H4V100z\""));
  CHECK(has(text, "d=\"M0 100V80H1V60H2V40H3V20H4V100z\""));
  CHECK(has(text, "<svg x=\"50.0000%\" y=\"162\" width=\"50.0000%\" height=\"56\" viewBox=\"0 0 2 100\""));
  CHECK(has(text, "<b>SM active</b><br>GPU 0: 0 to 50.0 %<br>mean 25.0 %"));
  CHECK(has(text, "<b>DRAM read</b><br>GPU 0: 0 to 5.00 TB/s<br>mean 2.50 TB/s"));
  CHECK(has(text, "4.000 ms from 0.002000 s of the capture"));
  CHECK(count(text, "class=\"window") == 2);
  CHECK(has(nl::exporters::report_html(nl::test::rich_run()), "<b>SM active</b><br>0 to 20.0 %<br>"));  // of the only GPU
  CHECK(has(text, "class=\"window warmup\" x=\"0.0000%\" y=\"20\" width=\"25.0000%\""));
}

TEST_CASE("report.html: curves stay small, and damaged ones do no harm") {
  nl::Run run;
  run.activity.resize(100);
  for (auto& curve : run.activity) {
    curve.metric = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
    curve.step_ns = 1000;
    curve.values.assign(5000, 33.3);
  }
  const std::string text = nl::exporters::report_html(run);
  CHECK(count(text, "viewBox=") == 48);
  CHECK(has(text, "52 more curves in run.json."));
  CHECK(count(text, "V33.4H") == 48 * 556);                              // 5,000 values, nine to a step; the scale ends at 50
  CHECK(text.size() < nl::exporters::report_html({}).size() + 350'000);  // style and script are in every page
  run.activity.resize(3);
  run.activity[0].values = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -5.0};
  run.activity[1].step_ns = 0;
  run.activity[2].values = {std::nullopt};
  const std::string damaged = nl::exporters::report_html(run);
  CHECK(has(damaged, "d=\"M2 100V100H3V100z\""));
  CHECK(has(damaged, "no sample"));
  for (const char* none : {"Vnan", "Vinf", "nan %", "inf %"}) CHECK_FALSE(has(damaged, none));
  run.activity.clear();
  CHECK_FALSE(has(nl::exporters::report_html(run), "id=\"activity\""));
  run.kernels.emplace();
  CHECK(has(nl::exporters::report_html(run), "Not sampled. To capture it: <code>nl-stage run --config sampling -- ./your_workload</code>"));
}

TEST_CASE("report.html has the counters of the stages, the stalls and the clock's error") {
  const std::string text = nl::exporters::report_html(nl::test::full_run());
  for (const char* part : {"<h3>GPU counters</h3>", "2.05 kB", "sampled, 64 samples", "long_scoreboard 50 %, wait 15 %, barrier 7 %",
                           "differ by at most 1.20 µs"}) {
    INFO(part);
    CHECK(has(text, part));
  }
  CHECK(has(text, "ncu measured the columns from SM % to Bound by"));
}
