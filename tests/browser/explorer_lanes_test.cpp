#include "tests/browser/explored.h"

using nl::test::contains;
using nl::test::Explored;

namespace {

nlohmann::json titles(Explored& page) { return page.browser.evaluate("shown('.lane-titles b, .lane-title span:not(:has(b))', true)"); }

Explored sampled(int width = 1440) {
  return Explored(width, nl::test::explorer_page("explorer-sampled", nl::test::sampled_detail(), nl::test::explorer_facts()));
}

const std::string kTitleOf = "[...document.querySelectorAll('.lane-title')].find(t => t.textContent.includes('";

}  // namespace

TEST_CASE("explorer: lanes fold, pin to the top and move, by key and by mouse, and the address holds it", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page = sampled();
  const nlohmann::json as_opened = {"stages", "Python", "CUDA calls", "Budget", "GPU 0 stream 7: kernels and copies"};
  CHECK(titles(page) == as_opened);
  const double unfolded = page.height;
  page.browser.evaluate(kTitleOf + "GPU 0 stream')).focus()");
  page.browser.press("Enter", 13);
  page.in_sight();
  CHECK(page.height == unfolded - 34 + 15);
  CHECK(page.browser.evaluate("document.activeElement.dataset.lane") == "2");  // it keeps the focus
  page.browser.press("p");
  CHECK(titles(page)[0] == "GPU 0 stream 7: kernels and copies");
  page.browser.evaluate(kTitleOf + "Python')).focus()");
  page.browser.evaluate(
      "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown', altKey: true, bubbles: true})); 0");
  page.pause();
  CHECK(titles(page) == nlohmann::json({"GPU 0 stream 7: kernels and copies", "stages", "CUDA calls", "Python", "Budget"}));
  const std::string hash = page.hash();
  CHECK(contains(hash, "fold=2"));
  CHECK(contains(hash, "top=2"));
  CHECK(contains(hash, "order=0.1.4.3.2"));
  page.open(hash);
  page.pause();
  CHECK(titles(page)[3] == "Python");
  CHECK(titles(page)[0] == "GPU 0 stream 7: kernels and copies");
  page.browser.evaluate("document.querySelector('.reset-lanes').click()");
  page.pause();
  CHECK(titles(page) == as_opened);
  CHECK_FALSE(contains(page.hash(), "fold="));
  // By mouse: a title is dragged over another, the buttons fold and pin.
  const auto middle = [&](const std::string& title) {
    return page.browser.evaluate("(r => r.top + r.height / 2)(" + kTitleOf + title + "')).getBoundingClientRect())").get<double>();
  };
  page.in_sight();
  page.browser.drag(page.left - 100, middle("CUDA calls"), page.left - 100, middle("stages") - 3);
  page.pause();
  CHECK(titles(page)[0] == "CUDA calls");
  page.browser.evaluate(kTitleOf + "Budget')).querySelector('.lane-pin').click()");
  CHECK(titles(page)[0] == "Budget");
  page.browser.evaluate(kTitleOf + "Budget')).querySelector('.lane-fold').click()");
  CHECK(page.browser.evaluate(kTitleOf + "Budget')).querySelector('.lane-fold').getAttribute('aria-expanded')") == "false");
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: a pinned lane stays in sight while the others scroll, and is the one that a click there hits", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  auto detail = nl::test::sampled_detail();
  for (int i = 0; i < 60; ++i) {
    detail["lanes"].push_back({{"kind", "gpu"},
                               {"title", "GPU 0 stream " + std::to_string(100 + i) + ": kernels"},
                               {"pid", 1},
                               {"device", 0},
                               {"stream", 100 + i}});
    detail["windows"][1]["lanes"].push_back({{"lane", 3 + i}, {"d", {0}}, {"dur", {8'000'000}}, {"kernel", {1}}});
  }
  // Lanes of the data come first: the budget's is behind them.
  Explored page(1440, nl::test::explorer_page("explorer-pinned", detail, nl::test::explorer_facts()), "#v=5040000000,5048000000&top=2");
  page.browser.evaluate("document.querySelector('.lanes-box').scrollTop = 700; 0");
  page.frame();
  const double top = page.browser.evaluate("document.querySelector('.ruler').getBoundingClientRect().bottom");
  CHECK(page.browser.evaluate("document.querySelector('.lane-title.pinned').getBoundingClientRect().top").get<double>() < top + 8);
  page.browser.click(page.x_of(40.128e6), top + 20);
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: lanes with nothing in the step take no room, and titles have the whole of their text as a tip", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  auto detail = nl::test::sampled_detail();
  detail["lanes"].push_back({{"kind", "gpu"}, {"title", "GPU 0 stream 13: copies"}, {"pid", 1}, {"device", 0}, {"stream", 13}});
  detail["windows"][0]["lanes"].push_back({{"lane", 3}, {"d", {0}}, {"dur", {1000}}, {"kernel", {1}}});
  Explored page(1440, nl::test::explorer_page("explorer-empty", detail, nl::test::explorer_facts()), "");
  page.pause();
  CHECK_FALSE(contains(titles(page).dump(), "stream 13"));
  CHECK(page.text(".more-lanes") == "Show 1 empty lane");
  page.browser.evaluate("document.querySelector('.empty-lanes').click()");
  CHECK(contains(titles(page).dump(), "stream 13"));
  page.browser.evaluate("document.querySelector('.empty-lanes').click()");
  page.browser.evaluate("canvas.focus()");
  page.browser.press("0");
  page.pause();
  CHECK(contains(titles(page).dump(), "stream 13"));  // it has something in the first step
  page.browser.mouse("mouseMoved", page.left - 60, page.lane_y("GPU 0 stream 7"));
  CHECK(page.text("#tip") == "GPU 0 stream 7: kernels and copies");
  CHECK(page.browser.complaints == std::vector<std::string>());
}
