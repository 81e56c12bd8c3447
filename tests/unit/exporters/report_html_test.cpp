#include "exporters/report_html.h"

#include <limits>
#include <string>

#include "exporters/html/html_text.h"
#include "exporters/html/svg_bars.h"
#include "exporters/html/svg_roofline.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("text stays text in HTML: elements, attributes, bad UTF-8 and control characters") {
  using nl::html::text;
  CHECK(text("f<int>(a & b)\"'") == "f&lt;int&gt;(a &amp; b)&quot;&#39;");
  CHECK(text("µ ✓ 😀") == "µ ✓ 😀");
  CHECK(text(std::string("a\0b\nc\x7f", 6)) == "a b c ");
  CHECK(text("\xff") == "\xef\xbf\xbd");
  CHECK(text("\xc3") == "\xef\xbf\xbd");                                  // cut off
  CHECK(text("\xc0\xbc") == "\xef\xbf\xbd\xef\xbf\xbd");                  // an overlong "<"
  CHECK(text("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // half of a pair
  CHECK(nl::html::attribute("title", "\"><x") == " title=\"&quot;&gt;&lt;x\"");
  CHECK(nl::html::cut("aµb", 2) == "a");
  CHECK(nl::html::cut("aµb", 3) == "aµ");
  CHECK(nl::html::cut("ab", 9) == "ab");
}

TEST_CASE("report.html needs nothing from elsewhere and lets no other script in") {
  const std::string text = nl::report_html(nl::test::rich_run());
  CHECK(has(text, "default-src 'none'; style-src 'sha256-"));
  CHECK(has(text, "script-src 'sha256-"));
  CHECK_FALSE(has(text, "unsafe-inline"));
  for (const char* outside : {"http://", "https://", "src=", "@import", "url(", "<link", "style=\""}) {
    INFO(outside);
    CHECK_FALSE(has(text, outside));
  }
  CHECK(count(text, "<script") == 1);
}

TEST_CASE("report.html has every section, and those without data say why") {
  const std::string rich = nl::report_html(nl::test::rich_run());
  for (const char* id : {"summary", "findings", "stages", "budget", "timeline", "efficiency", "operators", "layers",
                         "kernels", "perturbation", "energy", "abstentions", "capture", "environment", "import"}) {
    INFO(id);
    CHECK(has(rich, "<section id=\"" + std::string(id) + "\""));
    CHECK(has(rich, "<a href=\"#" + std::string(id) + "\""));
  }
  CHECK(has(rich, "what they save overlaps and is not to be added up"));
  const std::string sparse = nl::report_html(nl::test::sparse_run());
  CHECK(has(sparse, "Not captured: the collector records NVTX ranges only"));
  CHECK(has(sparse, "Not captured: without GPU data the time of a stage cannot be divided."));
  CHECK(has(sparse, "Not measured: no NVML on this machine."));
  CHECK_FALSE(has(sparse, ">0 ns<"));
  CHECK_FALSE(has(sparse, ">0.0 %<"));
  CHECK(has(nl::report_html(nl::Run()), "</html>"));
}

TEST_CASE("report.html: a hostile name appears only escaped") {
  nl::Run run = nl::test::full_run();
  const std::string hostile = "</script><script>alert(1)</script>";
  run.name = run.run_id = run.model.name = hostile;
  run.kernels->at(0).name = hostile;
  run.findings[0].message = hostile;
  run.timeline->names = {hostile, hostile};
  const std::string text = nl::report_html(run);
  CHECK_FALSE(has(text, "<script>alert"));
  CHECK(count(text, "</script>") == 1);
  CHECK(has(text, "&lt;/script&gt;&lt;script&gt;alert(1)"));
}

TEST_CASE("report.html stays under 5 MB, and what is cut is summed") {
  const nl::Run run = nl::test::large_run(5000, 501, 3000, 200);
  const std::string text = nl::report_html(run);
  CHECK(text.size() < 5'000'000);
  CHECK(has(text, "4,500 more kernels"));
  CHECK(has(text, "1 more"));
  CHECK(has(text, "1,377,000"));  // their calls: 4,500 times 306
}

TEST_CASE("a stacked bar fills the whole and no more") {
  const std::string bar = nl::html::stacked_bar("x", {{50, "a", "", "50 %"}, {0, "b", "", ""}, {80, "c", "", ""}}, 100);
  CHECK(has(bar, "class=\"a\" x=\"0.0000%\" width=\"50.0000%\""));
  CHECK(has(bar, "class=\"c\" x=\"50.0000%\" width=\"50.0000%\""));
  CHECK_FALSE(has(bar, "class=\"b\""));
  CHECK(nl::html::stacked_bar("x", {{1, "a", "", ""}}, 0).find("<rect") == std::string::npos);
}

TEST_CASE("the roofline is drawn of what has a place in it") {
  nl::Run run = nl::test::rich_run();
  const std::string picture = nl::html::roofline_picture(run);
  CHECK(count(picture, "<circle") == 6);
  CHECK(count(picture, "class=\"stage\"") == 3);
  CHECK(has(picture, "bf16, f16 989 TFLOP/s"));
  CHECK(has(picture, "memory 4.80 TB/s"));
  CHECK(has(picture, "FLOPs a byte of DRAM traffic"));
  run.roofline.points[0].intensity = 0;
  run.roofline.points[1].flops_per_s = std::numeric_limits<double>::infinity();
  run.roofline.points[2].intensity = std::numeric_limits<double>::quiet_NaN();
  const std::string fewer = nl::html::roofline_picture(run);
  CHECK(count(fewer, "<circle") == 3);
  CHECK_FALSE(has(fewer, "nan"));
  CHECK_FALSE(has(fewer, "inf"));
  run.peaks.reset();
  CHECK_FALSE(has(nl::html::roofline_picture(run), "class=\"roof"));
  CHECK(nl::html::roofline_picture(nl::Run()).empty());
}

TEST_CASE("report.html survives damaged figures") {
  nl::Run run = nl::test::rich_run();
  run.timeline->lanes[0].slices = {{-5, -3, 99, 1}, {run.timeline->end_ns * 3, 10, 0, 1}};
  run.stages[0].wall.mean_ns = std::numeric_limits<double>::quiet_NaN();
  run.stages[0].budget->gpu_compute_ns = -7;
  run.iterations.list[1].stages[0].second = -1;
  run.phases.span_ns = 0;
  CHECK(has(nl::report_html(run), "</html>"));
  run.timeline->end_ns = run.timeline->start_ns;
  CHECK(has(nl::report_html(run), "the run has no iteration with ranges or GPU work in it"));
}
