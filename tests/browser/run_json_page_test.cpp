#include <algorithm>
#include <fstream>
#include <map>

#include "exporters/report/reports.h"
#include "exporters/report/text/figure_text.h"
#include "tests/browser/explored.h"
#include "tests/unit/exporters/sample_run.h"

using nl::test::contains;
using nl::test::Explored;

namespace {

// As `nl-stage report run.json` makes it where nothing lies beside the file.
std::filesystem::path page_of_run_json(const std::string& name, const nl::Run& run) {
  const std::filesystem::path folder = std::filesystem::path(NL_BUILD_ROOT) / "tests/browser/pages", file = folder / (name + ".html");
  std::filesystem::create_directories(folder);
  std::ofstream(file, std::ios::binary) << nl::exporters::report_html(run);
  return file;
}

nlohmann::json kernel_sums(Explored& page) {
  return page.browser.evaluate(
      "[...document.querySelectorAll('.sum-table')].filter(t => t.querySelector('h4').textContent.startsWith('Kernels')).flatMap(t => "
      "[...t.querySelectorAll('tbody tr')].map(r => [r.cells[0].textContent, r.cells[1].textContent, r.cells[3].textContent]))");
}

// The same from run.json's slices: time and calls by name, most first.
nlohmann::json sums_of_slices(const nl::Run& run) {
  struct Sum {
    nl::Ns time_ns = 0;
    std::uint64_t calls = 0;
  };
  std::map<std::string, Sum> sums;
  for (const nl::TimelineLane& lane : run.timeline->lanes)
    for (const nl::TimelineSlice& slice : lane.slices)
      if (lane.kind == nl::LaneKind::kGpu) {
        Sum& sum = sums[nl::exporters::readable_kernel_name(run.timeline->names[slice.name])];
        sum.time_ns += slice.duration_ns;
        ++sum.calls;
      }
  std::vector<std::pair<std::string, Sum>> sorted(sums.begin(), sums.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.time_ns > b.second.time_ns; });
  nlohmann::json rows = nlohmann::json::array();
  for (const auto& [name, sum] : sorted)
    rows.push_back({name, nl::exporters::time_text(static_cast<double>(sum.time_ns)), std::to_string(sum.calls)});
  return rows;
}

}  // namespace

TEST_CASE("a page of run.json alone: tables and sums have run.json's own numbers", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  const nl::Run run = nl::test::rich_run();
  Explored page(1440, page_of_run_json("run-json", run), "");
  page.pause();
  CHECK(kernel_sums(page) == sums_of_slices(run));
  CHECK(contains(page.text(".sums-panel p"), "From run.json alone"));
  CHECK(contains(page.text(".sums-panel p"), "128 slices are left out."));
  nlohmann::json totals = nlohmann::json::array();
  for (const nl::KernelEntry& kernel : *run.kernels) totals.push_back(kernel.time.total_ns);
  CHECK(page.browser.evaluate("(t => [...t.tBodies[0].rows].map(r => Number(r.cells[[...t.tHead.rows[0].cells].findIndex(h => "
                              "h.dataset.key === 'total')].dataset.v)))(document.querySelector('[data-table=kernels]'))") == totals);
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("a page of run.json alone: merged slices have no sums by name", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  nl::Run run = nl::test::rich_run();
  for (nl::TimelineSlice& slice : run.timeline->lanes.back().slices) slice.merged = 5;  // each is five kernels and the gaps between them
  Explored page(1440, page_of_run_json("run-json-merged", run), "");
  page.pause();
  CHECK(kernel_sums(page).empty());
  CHECK(contains(page.text(".sums-panel"), "1,500 slices of the GPU are merged here: their times by name are not known."));
  const double y = page.lane_y("GPU 0 stream");
  page.browser.click(page.x_of(90000 + 31000 + 11 * 129000 + 17000), y);
  page.pause();
  CHECK(contains(page.text(".slice-facts"), "Merged"));
  page.browser.press("/");
  page.browser.type("nvjet");
  page.pause();
  CHECK_FALSE(contains(page.text(".search-results"), "\u00d7"));
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("a page of run.json alone: moments that it does not show are no links, tables as CSV have units", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  nl::Run run = nl::test::rich_run();
  nl::FindingEvidence elsewhere = run.findings[0].evidence.at(0), shown = elsewhere;
  elsewhere.window_start_ns = 1000;  // the timeline starts at 2.471 s
  elsewhere.window_end_ns = 2000;
  shown.window_start_ns = run.timeline->start_ns + 1000;
  shown.window_end_ns = run.timeline->start_ns + 5000;
  run.findings[0].evidence = {elsewhere, shown};
  Explored page(1440, page_of_run_json("run-json-links", run), "");
  CHECK(page.browser.evaluate(
            "[...document.querySelectorAll('#finding-1 a')].map(a => a.getAttribute('href')).filter(h => h && h.startsWith('#t='))") ==
        nlohmann::json({"#t=" + std::to_string(run.timeline->start_ns + 1000) + "," + std::to_string(run.timeline->start_ns + 5000)}));
  CHECK(page.browser.evaluate("document.querySelectorAll('[title=\"Not in the timeline of this page\"]').length > 0") == true);
  page.browser.evaluate(
      "window.saved = ''; URL.createObjectURL = blob => (blob.text().then(t => saved = t), '#'); HTMLAnchorElement.prototype.click = () => "
      "{}; 0");
  page.browser.evaluate("[...document.querySelectorAll('#kernels .filter button')].find(b => b.textContent === 'CSV').click()");
  const std::string csv = page.browser.evaluate("new Promise(done => setTimeout(() => done(saved), 50))");
  CHECK(csv.starts_with("Kernel,Kind,Total (ns),Share (fraction),Calls,"));
  CHECK(contains(csv, ",Mean (ns),p50 (ns),p99 (ns),"));
  CHECK(contains(csv, "\nnvjet_sm90_tst_8x64_64x16_2x1_v_bz_TNN,other," + std::to_string(run.kernels->at(0).time.total_ns) + ","));
  CHECK(page.browser.complaints == std::vector<std::string>());
}
