#include "tests/browser/explored.h"

using nl::test::contains;
using nl::test::Explored;

namespace {

Explored sampled(const std::string& fragment, int width = 1440) {
  return Explored(width, nl::test::explorer_page("explorer-sampled", nl::test::sampled_detail(), nl::test::explorer_facts()), fragment);
}

// Of step 4 (from 40 ms): its sixth kernel ends at 4.156 ms, its seventh starts at 4.9 ms.
constexpr double kInWait = 44.5e6;

}  // namespace

TEST_CASE("explorer: it opens on the median step of the program's unit, and the whole is a key away", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page = sampled("");
  page.pause();
  CHECK(page.view() == std::pair(39.2e6, 48.8e6));  // step 4, with a tenth of it on each side
  CHECK(contains(page.text(".step-line"), "Step 5: decode_step 5"));
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 8.000 ms from 5.040000 s"));
  CHECK(page.hash() == "");  // a link of the page as it opens says nothing
  page.browser.evaluate("canvas.focus()");
  page.browser.press("0");
  page.pause();
  CHECK(page.view() == std::pair(0.0, 100e6));
  CHECK(contains(page.hash(), "v=5000000000,5100000000"));
  page.open(page.hash());
  page.pause();
  CHECK(page.view() == std::pair(0.0, 100e6));  // what the address says goes before
  page.browser.evaluate("canvas.focus()");
  page.browser.press("h");
  page.pause();
  CHECK(page.view() == std::pair(39.2e6, 48.8e6));
  CHECK(page.hash() == "");
  page.open("#t=5070000000,5072000000");
  page.pause();
  CHECK(page.view() == std::pair(69.8e6, 72.2e6));
  CHECK(page.text(".step-line").empty());
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: an idle slice says how long, why, between what, what the host ran, and how often it comes again", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page = sampled("#v=5044000000,5045000000");
  const double y = page.lane_y("Budget");
  page.browser.mouse("mouseMoved", page.x_of(kInWait), y);
  const std::string tip = page.text("#tip");
  CHECK(contains(tip, "launch-starved: 744.00 \u00b5s from 5.044156 s"));
  CHECK(contains(tip, "2.976 ms a window, in 10 of 10 windows of decode_step, 4 in each: 29.760 ms in all, 36 % of the stage"));
  CHECK(contains(tip, "audit_tokens (serve.py:10), called by Book.put: 20 of 20 samples"));
  page.browser.click(page.x_of(kInWait), y);
  page.pause();
  CHECK(page.text(".slice-panel h3") == "launch-starved");
  CHECK(page.fact("Duration") == "744.00 \u00b5s");
  CHECK(page.fact("Bin") == "launch-starved: what it means");
  CHECK(page.fact("Comes again, the whole gap") ==
        "2.976 ms a window, in 10 of 10 windows of decode_step, 4 in each: 29.760 ms in all, 36 % of the stage");
  CHECK(page.fact("Host, in all of them") == "audit_tokens (serve.py:10), called by Book.put: 20 of 20 samples");
  CHECK(page.fact("Stack samples") == "audit_tokens (serve.py:10): 2 of 2 samples");
  CHECK(page.fact("Work before") == "add_kernel");
  CHECK(page.fact("Work after") == "gemm_kernel");
  CHECK(page.fact("Call before") == "cudaLaunchKernel, ends 61.00 \u00b5s before the gap");
  CHECK(page.fact("Call after") == "cudaLaunchKernel, begins 734.00 \u00b5s into the gap");
  CHECK(contains(page.hash(), "pin=3,5044156000"));
  page.open(page.hash());
  page.pause();
  CHECK(page.text(".slice-panel h3") == "launch-starved");
  page.browser.evaluate("canvas.focus()");
  page.browser.press(".");
  CHECK(contains(page.fact("Start"), "5.045756 s"));  // between the next two of these kernels
  page.browser.press(".");
  CHECK(contains(page.fact("Start"), "5.070956 s"));  // in the next step that is listed: the last of a step lies at its edge
  for (int i = 0; i < 3; ++i) page.browser.press(",");
  CHECK(contains(page.fact("Start"), "5.042556 s"));
  page.browser.evaluate("document.querySelector('.kind-next').click()");
  CHECK(contains(page.fact("Start"), "5.044156 s"));
  page.browser.evaluate("[...document.querySelectorAll('.slice-facts .link')].at(-1).click()");
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: sampled stacks are a lane, with tip, panel and search by function", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page = sampled("#v=5040000000,5048000000");
  const double y = page.lane_y("Python");
  page.browser.mouse("mouseMoved", page.x_of(kInWait), y);
  CHECK(
      contains(page.text("#tip"),
               "audit_tokens: 1.000 ms from 5.044250 s, 2 samples\naudit_tokens (serve.py:10)\nBook.put (serve.py:22)\nmain (serve.py:3)"));
  page.browser.click(page.x_of(kInWait), y);
  CHECK(page.text(".slice-panel h3") == "audit_tokens");
  CHECK(page.fact("Samples") == "2 samples, one about every 500.00 \u00b5s");
  CHECK(page.fact("In all") == "20 samples have audit_tokens (serve.py) in their stack");
  page.browser.press("Escape", 27);
  page.browser.evaluate("document.activeElement.blur()");
  page.browser.press("/");
  page.browser.type("book.put");
  page.pause();
  CHECK(page.browser.evaluate("shown('.search-results button', true)") ==
        nlohmann::json({"Book.put (serve.py)function, 20 samples, about 10.000 ms"}));
  page.browser.press("Enter", 13);
  page.pause();
  CHECK(page.text(".slice-panel h3") == "audit_tokens");
  CHECK(page.text(".search-count") == "5 of 10");  // the first from the left edge on
  page.browser.evaluate("document.querySelector('.search-steps button:last-child').click()");
  CHECK(page.text(".search-count") == "6 of 10");
  CHECK(contains(page.fact("Start"), "5.054250 s"));  // also where no slices are listed
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: the sentence on the GPU, the bar and the tables of a range have one denominator", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page = sampled("#t=5000000000,5100000000");
  page.pause();
  CHECK(page.text(".sum-busy") == "GPU busy 5.600 ms, 5.6 % of the range.");
  CHECK(contains(page.text(".sums-panel p"), "Shares are of the range, 100.000 ms."));
  // Ten steps of 8 ms, one of them 9.9 ms: the rest is between the steps.
  CHECK(page.browser.evaluate("shown('.sum-budget li', true).join('; ')") ==
        "76 % launch-starved, 76.300 ms; 5.6 % GPU computes, 5.600 ms; 18 % GPU idle outside of the stages, 18.100 ms");
  page.browser.evaluate(
      "window.copied = ''; navigator.clipboard.writeText = t => (copied = t, Promise.resolve()); document.querySelector('.sums-panel "
      ".copy').click()");
  const std::string copied = page.browser.evaluate("copied");
  CHECK(contains(copied, "Selected: 100.000 ms from 5.000000 s\n"));
  CHECK(contains(copied, "GPU busy 5.600 ms, 5.6 % of the range.\nBudget\n  76.300 ms  76 %  launch-starved\n"));
  CHECK(contains(copied, "  2.800 ms  2.8 %  50 \u00d7  gemm_kernel"));
  CHECK(page.browser.complaints == std::vector<std::string>());
}
