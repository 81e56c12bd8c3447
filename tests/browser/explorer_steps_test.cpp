#include "tests/browser/explored.h"

using nl::test::contains;
using nl::test::Explored;

namespace {

void pick(Explored& page, const std::string& title) {
  page.browser.evaluate("[...document.querySelectorAll('.step-picker button')].find(b => b.textContent === '" + title + "').click()");
  page.pause();
}

void enter(Explored& page, const std::string& label, const std::string& number) {
  page.browser.evaluate("(i => { i.value = '" + number +
                        "'; i.dispatchEvent(new Event('change')); })(document.querySelector('.step-picker input[aria-label^=\"" + label +
                        "\"]'))");
  page.pause();
}

}  // namespace

TEST_CASE("explorer: steps are picked as median, slowest, first or by number, and laid over each other", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  pick(page, "Slowest");
  CHECK(contains(page.text(".step-line"), "Step 8: decode_step 8 of iteration 2, 9.900 ms"));
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 9.900 ms from 5.070000 s"));
  CHECK(contains(page.hash(), "step=8"));
  pick(page, "Median");  // of ten, nine of which took 8 ms: the fifth
  CHECK(contains(page.text(".step-line"), "Step 5: decode_step 5"));
  // The step's own budget, as the tables of the report have it.
  CHECK(page.browser.evaluate("shown('.sum-budget li', true).join('; ')") ==
        "81 % launch-starved, 6.440 ms; 13 % launch latency, 1.000 ms; 7.0 % GPU computes, 560.00 \u00b5s");
  pick(page, "First");
  CHECK(contains(page.text(".step-line"), "Step 1: decode_step 1"));
  pick(page, "\u203a");
  CHECK(contains(page.text(".step-line"), "Step 2: decode_step 2"));
  enter(page, "Step number", "5");
  CHECK(page.view() == std::pair(39.2e6, 48.8e6));
  page.in_sight();
  const double alone = page.height;
  enter(page, "Overlay", "8");
  page.in_sight();
  CHECK(contains(page.text(".step-line"), "step 8: decode_step 8 of iteration 2, 9.900 ms (+1.900 ms)"));
  CHECK(page.height > alone * 1.6);
  // 9.9 ms against 8 ms with the same kernels: all of it is waiting, and step 5 alone has 1 ms of launch latency.
  CHECK(page.text(".step-difference") ==
        "Step 8 against step 5: +1.900 msBudget: launch-starved +2.900 ms, launch latency \u22121.000 ms.");
  CHECK(page.browser.evaluate("shown('.lane-titles span', true).filter(t => t === 'the same in step 8').length") == 4);
  CHECK(contains(page.hash(), "step=5"));
  CHECK(contains(page.hash(), "with=8"));
  // The second step's kernels are drawn at the same places as the first one's: they start at the same distances.
  CHECK(page.browser.evaluate(
            "(() => { const r = devicePixelRatio, rows = [...document.querySelectorAll('.lane-titles span')].slice(-2).map(s => "
            "Math.round((s.getBoundingClientRect().bottom - canvas.getBoundingClientRect().top - 4) * r));"
            "const line = y => [...canvas.getContext('2d').getImageData(0, y, canvas.width, 1).data].filter((_, i) => i % 4 === 0).map((v, "
            "i) => v); const [a, b] = rows.map(line);"
            "return a.filter((v, i) => v !== b[i]).length < a.length * 0.02; })()") == true);
  const std::string saved = page.hash();
  page.open(saved);
  page.pause();
  CHECK(contains(page.text(".step-line"), "Below each lane step 8"));
  enter(page, "Overlay", "");
  page.in_sight();
  CHECK(page.height == alone);
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: the histogram's columns, its outliers and the points of the curve pick steps", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.pause();
  CHECK(page.text(".step-charts h4") == "10 measured decode_steps");
  CHECK(contains(page.text(".outliers"), "1 outlier: step 8, 9.900 ms"));
  page.browser.evaluate("document.querySelector('.outliers button').click()");
  CHECK(contains(page.text(".step-line"), "Step 8"));
  page.browser.evaluate("document.querySelector('.step-bar:not(.far)').focus()");
  page.browser.press("Enter", 13);
  CHECK(contains(page.text(".step-line"), "8.000 ms"));
  page.browser.evaluate("document.querySelector('.step-bar.far').dispatchEvent(new MouseEvent('click', {bubbles: true}))");
  CHECK(contains(page.text(".step-line"), "Step 8"));
  page.browser.evaluate("document.querySelector('.step-curve').scrollIntoView({block: 'center'}); 0");
  page.pause();
  const auto box = page.browser.evaluate(
      "(r => [r.left, r.top, r.width, r.height])(document.querySelector('.step-curve canvas').getBoundingClientRect())");
  const double left = box[0].get<double>() + 62, right = box[0].get<double>() + box[2].get<double>() - 12;
  page.browser.click(left + (right - left) * 3 / 9, box[1].get<double>() + 40);  // positions 0 to 9: the fourth
  CHECK(contains(page.text(".step-line"), "Step 4: decode_step 4"));
  page.browser.press("ArrowRight", 39);
  page.browser.press("ArrowRight", 39);
  page.browser.press("Enter", 13);
  CHECK(contains(page.text(".step-line"), "Step 3: decode_step 3"));
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: short steps inside of others are not the ones that are looked at first", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  nlohmann::json detail = nl::test::explorer_detail();
  detail["stages"].push_back({{"name", detail["names"].size()}});
  detail["names"].push_back("sampling");
  nlohmann::json& steps = detail["steps"];
  for (int i = 0; i < 12; ++i) {  // more of them than decode steps
    for (const char* column : {"start", "iteration", "position", "warmup", "tokens", "window"})
      if (steps.contains(column)) steps[column].push_back(steps[column][0]);
    steps["stage"].push_back(1);
    steps["wall"].push_back(100'000);
  }
  Explored page(1440, nl::test::explorer_page("sampling", detail, nl::test::explorer_facts()));
  page.pause();
  CHECK(page.text(".step-charts h4") == "10 measured decode_steps");
}
