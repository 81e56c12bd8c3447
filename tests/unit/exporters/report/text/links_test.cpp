#include "exporters/report/text/links.h"

#include <nlohmann/json.hpp>

#include "exporters/report/reports.h"
#include "model/glossary.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/sample_run.h"

using namespace nl::exporters::report;

TEST_CASE("a pointer into run.json leads to the row that shows it") {
  nl::Run run;
  run.stages.resize(2);
  run.stages[1].name = "decode step/2";
  run.kernels.emplace(600);
  run.roofline.points.resize(3);
  run.operators.resize(1);
  run.operators[0].entries.resize(2);
  CHECK(link_to(run, "/stages/1") == "#stage-decode-step-2");
  CHECK(link_to(run, "/stages/1/budget") == "#stage-decode-step-2");  // it has none
  run.stages[1].budget = nl::Budget{};
  run.stages[1].activity = nl::StageActivity{};
  run.stages[1].gpu_busy_ns = 1;
  run.stages[1].counters = nl::StageCounters{};
  run.stages[1].counters->windows = 1;
  CHECK(link_to(run, "/stages/1/budget") == "#budget-decode-step-2");
  CHECK(link_to(run, "/stages/1/launch_waits") == "#budget-decode-step-2");
  CHECK(link_to(run, "/stages/1/activity") == "#gpu-time-decode-step-2");
  CHECK(link_to(run, "/stages/1/counters") == "#counters-decode-step-2");
  CHECK(link_to(run, "/stages/1/host_code") == "#stage-decode-step-2");
  run.stages[1].host_code = nl::HostCode{};
  run.stages[1].host_code->samples = 100;
  CHECK(link_to(run, "/stages/1/host_code") == "#host-code-decode-step-2");
  run.stages[1].gaps.resize(2);
  run.stages[1].gaps[0].kind = nl::GapKind::kRecurring;
  run.stages[1].gaps[0].wall_share = 0.2;
  CHECK(link_to(run, "/stages/1/gaps/1") == "#gap-decode-step-2-2");
  CHECK(link_to(run, "/kernels/2/ncu/0") == "#kernel-3");
  CHECK(link_to(run, "/kernels/550") == "#kernels");  // not among the rows of the page
  CHECK(link_to(run, "/kernels") == "#kernels");
  CHECK(link_to(run, "/roofline/points/2") == "#roofline-3");
  CHECK(link_to(run, "/operators/0/entries/1") == "#operator-2");
  CHECK(link_to(run, "/operators/1/entries/1") == "#operators");
  CHECK(link_to(run, "/iterations") == "#stages");  // there is no chart
  CHECK(link_to(run, "/energy/stages/0") == "#energy");
  CHECK(link_to(run, "/phases") == "");
  CHECK(link_to(run, "/kernelsandmore") == "");
}

TEST_CASE("a kernel links to the point of the launch that was measured, and to none where none was") {
  nl::Run run;
  run.kernels.emplace(2);
  (*run.kernels)[0].name = "gemm";
  (*run.kernels)[1].name = "norm";
  (*run.kernels)[1].ncu.resize(1);
  (*run.kernels)[1].ncu[0].ncu_id = 7;
  run.roofline.points.resize(2);
  run.roofline.points[0].kernel = run.roofline.points[1].kernel = "norm";
  run.roofline.points[1].ncu_id = 7;
  const auto data = nlohmann::json::parse(nl::exporters::page_data(run, ""));
  CHECK(data["kernels"][0]["roofline"].is_null());
  CHECK(data["kernels"][1]["roofline"] == "roofline-2");
}

namespace {

// The targets of a page's links to itself; moments of the timeline apart.
void check_links(const std::string& page, std::size_t& links, std::size_t& moments) {
  const bool timeline = page.find("data-explorer") != std::string::npos;
  for (std::size_t at = page.find("href=\"#"); at != std::string::npos; at = page.find("href=\"#", at + 1)) {
    const std::size_t begin = at + 7, end = page.find('"', begin);
    const std::string target = page.substr(begin, end - begin);
    INFO(target);
    if (target.starts_with("t=")) {
      CHECK(timeline);
      ++moments;
      continue;
    }
    CHECK(page.find(" id=\"" + target + "\"") != std::string::npos);
    ++links;
  }
}

}  // namespace

TEST_CASE("every link of a page has its target in the page") {
  std::size_t links = 0, moments = 0;
  check_links(nl::exporters::report_html(nl::test::rich_run()), links, moments);
  CHECK(links > 10);
  CHECK(moments > 0);
  for (nl::Run run : {nl::test::full_run(), nl::test::host_run(), nl::test::every_value_run(), nl::test::sparse_run(),
                      nl::test::large_run(700, 600, 10, 300)}) {
    const std::size_t before = links;
    check_links(nl::exporters::report_html(run), links, moments);
    CHECK(links > before);
  }
}

TEST_CASE("a page without a timeline has no links to moments") {
  nl::Run run = nl::test::rich_run();
  run.timeline.reset();
  std::size_t links = 0, moments = 0;
  check_links(nl::exporters::report_html(run), links, moments);
  CHECK(links > 10);
  CHECK(moments == 0);
}

TEST_CASE("every term of the glossary has a text for its tip, without marks") {
  const auto tips = nlohmann::json::parse(nl::exporters::page_data(nl::Run(), ""))["glossary"];
  for (const nl::GlossaryEntry& entry : nl::glossary()) {
    INFO(entry.term);
    CHECK(tips.contains(std::string(entry.term)));
  }
  for (const auto& [term, tip] : tips.items()) {
    INFO(term << ": " << tip);
    const std::string text = tip;
    CHECK(text.size() > 10);
    for (const char* mark : {"`", "**", "]("}) CHECK(text.find(mark) == std::string::npos);
  }
}
