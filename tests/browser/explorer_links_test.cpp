#include "tests/browser/explored.h"

using nl::test::contains;
using nl::test::Explored;

namespace {

// "Duration" → "56.00 µs", as the panel says it.
// Of the budget's legend: "7.0 % GPU computes, 560.00 µs".
std::string budget_text(Explored& page) { return page.browser.evaluate("shown('.sum-budget li', true).join('; ')"); }
std::string kernel_rows(Explored& page) {
  return page.browser.evaluate(
      "[...document.querySelectorAll('.sum-table')][0].querySelector('tbody').innerText.replace(/\\s+/g, ' ').trim()");
}
std::string operator_rows(Explored& page) {
  return page.browser.evaluate(
      "[...document.querySelectorAll('.sum-table')][1].querySelector('tbody').innerText.replace(/\\s+/g, ' ').trim()");
}

}  // namespace

TEST_CASE("explorer: a click pins a slice and tells all of it; launch and kernel link to each other", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.open("#v=5040000000,5041000000");
  page.browser.click(page.x_of(40.128e6), page.lane_y("GPU 0 stream"));
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.fact("Duration") == "56.00 \u00b5s");
  CHECK(page.fact("Start") == "5.040100 s, 100.00 \u00b5s into decode_step 5");
  CHECK(page.fact("Lane") == "GPU 0 stream 7: kernels and copies");
  CHECK(page.fact("Grid") == "4 \u00d7 8 \u00d7 1");
  CHECK(page.fact("Block") == "384 \u00d7 1 \u00d7 1");
  CHECK(page.fact("Full name") == "void gemm_kernel<float, 128>(float*)");
  CHECK(page.fact("DRAM throughput") == "77.9 %");
  CHECK(page.fact("Match") == "matched by mangled name, grid and block");
  CHECK(page.fact("Operator") == "aten::mm");
  CHECK(page.fact("Layer") == "model.layers.3");
  CHECK(page.fact("Python") == "modeling.py:312 forward");
  CHECK(page.fact("In the trace") == "trace.pftrace at 5.040100 s");
  CHECK(page.fact("Launched by") == "cudaLaunchKernel, 10.00 \u00b5s before the start");
  page.browser.evaluate(
      "window.copied = ''; navigator.clipboard.writeText = t => (copied = t, Promise.resolve()); document.querySelector('.slice-panel "
      ".copy').click()");
  const std::string copied = page.browser.evaluate("copied");
  CHECK(contains(copied, "gemm_kernel\nDuration: 56.00 \u00b5s\n"));
  CHECK(contains(copied, "Grid: 4 \u00d7 8 \u00d7 1"));
  page.browser.evaluate("document.querySelector('.slice-facts .link').click()");
  CHECK(page.text(".slice-panel h3") == "cudaLaunchKernel");
  CHECK(page.fact("Launches") == "gemm_kernel, starts 10.00 \u00b5s after the call");
  page.browser.evaluate("document.querySelector('.slice-facts .link').click()");
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(contains(page.text("#live"), "gemm_kernel"));  // told to those who hear it
  page.browser.evaluate("canvas.focus()");
  page.browser.press("ArrowRight", 39);
  CHECK(page.text(".slice-panel h3") == "add_kernel");
  page.browser.press("ArrowUp", 38);
  CHECK(page.text(".slice-panel h3") == "GPU computes");  // the budget's lane lies between
  page.browser.press("ArrowUp", 38);
  CHECK(page.text(".slice-panel h3") == "cudaLaunchKernel");
  page.browser.press("f");
  CHECK(page.span() < 7e3);
  page.browser.press("Escape", 27);
  CHECK(page.browser.evaluate("document.querySelector('.slice-panel').hidden") == true);
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: / searches kernels, ranges and calls", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.browser.evaluate("document.activeElement.blur()");
  page.browser.press("/");
  CHECK(page.browser.evaluate("document.activeElement.className") == "search");
  page.browser.type("gemm");
  page.pause();
  CHECK(page.browser.evaluate("shown('.search-results button', true)") == nlohmann::json({"gemm_kernelkernel, 50 \u00d7, 2.800 ms"}));
  page.browser.press("Enter", 13);
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.fact("Start") == "5.000100 s, 100.00 \u00b5s into decode_step 1");
  page.browser.evaluate("canvas.focus()");
  page.browser.press("n");
  CHECK(contains(page.fact("Start"), "5.001700 s"));
  page.browser.press("N");
  page.browser.press("N");
  CHECK(contains(page.fact("Start"), "5.076500 s"));  // from the first one back to the last that is listed
  for (const auto& [query, kind] : {std::pair{"launchkernel", "call"}, std::pair{"decode", "range"}}) {
    page.browser.evaluate("canvas.focus()");
    page.browser.press("/");
    page.browser.type(query);
    page.pause();
    CHECK(contains(page.text(".search-results button"), kind));
  }
  CHECK(contains(page.hash(), "q=decode"));
  page.browser.press("Escape", 27);
  page.pause();
  CHECK_FALSE(contains(page.hash(), "q="));
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: a kernel's row leads to where it runs, and its slice back to the row", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.browser.evaluate("document.querySelector('#kernel-1 .to-timeline').click()");
  page.pause();
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.browser.evaluate("document.querySelector('.slice-facts a').getAttribute('href')") == "#kernel-1");
}

TEST_CASE("explorer: what is of several GPUs, or only nearby, says so", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  auto detail = nl::test::explorer_detail();
  detail["devices"].push_back({{"device", 1}, {"pid", 1}, {"title", "GPU 1 (NVIDIA H200)"}});
  detail["sites_nearby"] = {1};
  Explored page(1440, nl::test::explorer_page("explorer-two", detail, nl::test::explorer_facts()));
  page.open("#t=5040000000,5048000000");
  page.pause();
  CHECK(contains(page.text(".sums-panel p"), "Added over GPU 0 (NVIDIA H200) and GPU 1 (NVIDIA H200)."));
  CHECK(kernel_rows(page) == "gemm_kernel 280.00 \u00b5s 1.8 % 5 add_kernel 280.00 \u00b5s 1.8 % 5");  // of 16 ms
  page.open("#pin=2,5040100000");
  page.pause();
  CHECK(page.fact("Python nearby") == "modeling.py:312 forward (nearest sample, up to 5.000 ms away)");
}

TEST_CASE("explorer: a chosen range has its own sums, exact inside a window, by whole buckets elsewhere", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.open("#t=5040000000,5048000000");  // step 4: ten kernels of 56 µs in 8 ms
  page.pause();
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 8.000 ms from 5.040000 s"));
  CHECK(contains(page.text(".sums-panel p"), "Exact"));
  CHECK(budget_text(page) == "93 % launch-starved, 7.440 ms; 7.0 % GPU computes, 560.00 \u00b5s");
  CHECK(kernel_rows(page) == "gemm_kernel 280.00 \u00b5s 3.5 % 5 add_kernel 280.00 \u00b5s 3.5 % 5");
  CHECK(operator_rows(page) == "aten::mm 280.00 \u00b5s 3.5 % 5");
  page.open("#t=5040000000,5040128000");  // half of the first kernel
  page.pause();
  CHECK(budget_text(page) == "78 % launch-starved, 100.00 \u00b5s; 22 % GPU computes, 28.00 \u00b5s");
  page.open("#t=5010200000,5011900000");  // two buckets of step 1: three kernels start in them
  page.pause();
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 2.000 ms from 5.010000 s"));
  CHECK(contains(page.text(".sums-panel p"), "Approximate: by whole buckets of 1.000 ms"));
  CHECK(budget_text(page) == "92 % launch-starved, 1.832 ms; 8.4 % GPU computes, 168.00 \u00b5s");
  CHECK(kernel_rows(page) == "gemm_kernel 112.00 \u00b5s 5.6 % 2 add_kernel 56.00 \u00b5s 2.8 % 1");
  page.open("#v=5040000000,5048000000");
  page.browser.drag(page.x_of(41e6), page.top + 30, page.x_of(43e6), page.top + 30, 8);  // with Shift
  page.pause();
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 2.00"));
  CHECK(std::abs(page.span() - 8e6) < 10);  // the view stays
  const double ruler = page.browser.evaluate("document.querySelector('.ruler').getBoundingClientRect().top + 8");
  page.browser.drag(page.x_of(44e6), ruler, page.x_of(47e6), ruler);
  page.pause();
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 3.00"));
  page.browser.evaluate("[...document.querySelectorAll('.sums-panel button')].find(b => b.textContent === 'Clear').click()");
  page.pause();
  CHECK(contains(page.text(".sums-panel h3"), "In view: 8.000 ms"));
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("explorer: busy is the time in which the GPU does anything, kernels that overlap count each, and both end at the edges",
          "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  auto detail = nl::test::explorer_detail();
  detail["lanes"].push_back({{"kind", "gpu"}, {"title", "GPU 0 stream 8: kernels"}, {"pid", 1}, {"device", 0}, {"stream", 8}});
  detail["windows"][1]["lanes"].push_back(
      {{"lane", 3}, {"d", {128'000}}, {"dur", {56'000}}, {"kernel", {0}}});  // from the middle of the step's first kernel on
  Explored page(1440, nl::test::explorer_page("explorer-streams", detail, nl::test::explorer_facts()));
  page.open("#t=5040000000,5040150000");
  page.pause();
  CHECK(page.text(".sum-busy") == "GPU busy 50.00 \u00b5s, 33 % of the range. Kernels and copies overlap: they add up to 72.00 \u00b5s.");
  CHECK(kernel_rows(page) == "gemm_kernel 72.00 \u00b5s 48 % 2");
  page.open("#t=5041700000,5041756000");  // the third kernel alone, from edge to edge
  page.pause();
  CHECK(page.text(".sum-busy") == "GPU busy 56.00 \u00b5s, 100 % of the range.");
  page.open("#t=5010200000,5011900000");
  page.pause();
  CHECK(page.text(".sum-busy") == "GPU busy 168.00 \u00b5s, 8.4 % of the range.");
  page.open("#t=5018200000,5018900000");
  page.pause();
  CHECK(page.text(".sum-busy") == "No GPU works in this range.");
}

TEST_CASE("explorer: state is in the address, and a finding's link moves the timeline", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.open("#v=5040000000,5041000000");
  page.browser.click(page.x_of(40.128e6), page.lane_y("GPU 0 stream"));
  page.browser.press("m");
  page.pause();
  const std::string saved = page.hash();
  CHECK(saved == "#v=5040000000,5041000000&t=5040100000,5040156000&pin=2,5040100000");
  page.open(saved);
  page.pause();
  CHECK(page.hash() == saved);
  CHECK(page.text(".slice-panel h3") == "gemm_kernel");
  CHECK(page.view() == std::pair(40e6, 41e6));
  page.browser.evaluate(
      "scrollTo(0, 0); const link = document.createElement('a'); link.href = '#t=5070000000,5072000000'; "
      "document.querySelector('main').prepend(link); link.click()");
  page.pause();
  CHECK(page.view() == std::pair(69.8e6, 72.2e6));  // with a margin of a tenth
  CHECK(contains(page.text(".sums-panel h3"), "Selected: 2.000 ms from 5.070000 s"));
  CHECK(page.browser.evaluate("(r => r.top >= 0 && r.top < innerHeight)(document.querySelector('.explorer').getBoundingClientRect())") ==
        true);
  page.browser.evaluate("location.hash = '#kernels'");
  page.pause();
  CHECK(page.browser.evaluate("(r => r.top < innerHeight && r.bottom > 0)(document.getElementById('kernels').getBoundingClientRect())") ==
        true);
  CHECK(page.browser.complaints == std::vector<std::string>());
}
