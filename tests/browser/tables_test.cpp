#include <fstream>

#include "exporters/report/compare/compare.h"
#include "exporters/report/html/html.h"
#include "tests/browser/explored.h"
#include "tests/unit/exporters/report/compare/sample_comparison.h"

using nl::test::Browser;
using nl::test::Explored;

namespace {

// Four kernels of two kinds, the second of two stages; each total in ns, p50 hidden at first.
constexpr const char* kTable =
    R"html(<section id="tables"><h2>Tables</h2><div class="scroll" role="region" tabindex="0" aria-label="Kernels">
<table class="sortable" data-table="four" data-filter><thead><tr><th scope="col" data-key="kernel">Kernel</th><th scope="col" class="n" data-key="total" data-sum>Total</th>
<th scope="col" class="n" data-key="calls" data-sum>Calls</th><th scope="col" class="n" data-key="p50" data-hidden>p50</th></tr></thead><tbody>
<tr id="kernel-1" data-kind="gemm" data-stage="prefill" data-layer="l0|l1"><th scope="row"><code>big, "wide"</code></th><td class="n" data-v="4000">4.00 µs</td><td class="n" data-v="2">2</td><td class="n" data-v="2000">2.00 µs</td></tr>
<tr id="kernel-2" data-kind="norm" data-stage="prefill|decode_step" data-layer="l0"><th scope="row"><code>norm</code></th><td class="n" data-v="3000">3.00 µs</td><td class="n" data-v="1000">1,000</td><td class="n" data-v="3">3 ns</td></tr>
<tr id="kernel-3" data-kind="gemm" data-stage="decode_step" data-layer="l1"><th scope="row"><code>small</code></th><td class="n" data-v="2500">2.50 µs</td><td class="n" data-v="1">1</td><td class="n" data-v="2500">2.50 µs</td></tr>
<tr id="kernel-4" data-kind="norm" data-stage="decode_step" data-layer="l0"><th scope="row"><code>last</code></th><td class="n" data-v="1000">1.00 µs</td><td class="n" data-v="234">234</td><td class="n" data-v="4">4 ns</td></tr>
</tbody></table></div></section>
<section id="small"><h2>Small</h2><p><a id="to-row" href="#kernel-3">row</a> <a id="to-moment" href="#t=1,2">moment</a></p><div class="scroll"><table class="sortable"><thead><tr><th scope="col">Name</th></tr></thead>
<tbody><tr><th scope="row">b</th></tr><tr><th scope="row">a</th></tr></tbody></table></div></section>)html";

std::filesystem::path keep(const std::string& name, const std::string& text) {
  const std::filesystem::path folder = std::filesystem::path(NL_BUILD_ROOT) / "tests/browser/pages", file = folder / (name + ".html");
  std::filesystem::create_directories(folder);
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

class Tables {
 public:
  Browser browser;

  Tables() {
    std::string page = nl::exporters::html::page({}, "");
    page.insert(page.find("</main>"), kTable);
    file_ = keep("tables", page);
    browser.screen(1440, 900, false);
    open("");
  }
  void open(const std::string& fragment) { browser.open(file_.string() + "?" + std::to_string(++opened_) + fragment); }
  nlohmann::json rows() {
    return browser.evaluate(
        "[...document.querySelectorAll('#tables tbody tr')].filter(r => r.checkVisibility()).map(r => [...r.cells].filter(c => "
        "c.checkVisibility()).map(c => c.textContent.trim()).join(' | '))");
  }
  void choose(const std::string& label, const std::string& value) {
    browser.evaluate("(s => { s.value = '" + value +
                     "'; s.dispatchEvent(new Event('change')); })(document.querySelector('#tables [aria-label=\"" + label + "\"]'))");
  }

 private:
  std::filesystem::path file_;
  int opened_ = 0;
};

}  // namespace

TEST_CASE("tables: groups have sums, keep together when sorted, and fold", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Tables page;
  CHECK(page.rows() ==
        nlohmann::json({"big, \"wide\" | 4.00 µs | 2", "norm | 3.00 µs | 1,000", "small | 2.50 µs | 1", "last | 1.00 µs | 234"}));
  page.browser.evaluate("document.querySelector('#tables .columns').open = true; document.querySelector('#tables .columns input').focus()");
  page.browser.press("Escape", 27);
  CHECK(page.browser.evaluate("[document.querySelector('#tables .columns').open, document.activeElement.tagName]") ==
        nlohmann::json({false, "SUMMARY"}));
  page.choose("Group by", "kind");
  CHECK(page.rows() == nlohmann::json({"gemm (2) | 6.50 µs | 3", "big, \"wide\" | 4.00 µs | 2", "small | 2.50 µs | 1",
                                       "norm (2) | 4.00 µs | 1,234", "norm | 3.00 µs | 1,000", "last | 1.00 µs | 234"}));
  page.browser.evaluate("document.querySelectorAll('#tables thead button')[0].click()");  // by name, upwards
  CHECK(page.rows() == nlohmann::json({"gemm (2) | 6.50 µs | 3", "big, \"wide\" | 4.00 µs | 2", "small | 2.50 µs | 1",
                                       "norm (2) | 4.00 µs | 1,234", "last | 1.00 µs | 234", "norm | 3.00 µs | 1,000"}));
  page.browser.evaluate("document.querySelector('#tables .group button').click()");
  CHECK(page.rows() ==
        nlohmann::json({"gemm (2) | 6.50 µs | 3", "norm (2) | 4.00 µs | 1,234", "last | 1.00 µs | 234", "norm | 3.00 µs | 1,000"}));
  page.choose("Group by", "layer");
  CHECK(page.rows().dump().find("l0 (2) | 4.00 µs | 1,234") != std::string::npos);
  CHECK(page.rows().dump().find("several layers (1) | 4.00 µs | 2") != std::string::npos);
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("tables: stages filter, columns are chosen, the address keeps both, CSV has what is shown", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Tables page;
  CHECK(page.browser.evaluate("document.querySelector('#tables .columns summary').textContent") ==
        "Columns (3 of 4)");  // one is off at first
  page.choose("Stage", "prefill");
  CHECK(page.rows() == nlohmann::json({"big, \"wide\" | 4.00 µs | 2", "norm | 3.00 µs | 1,000"}));
  page.browser.evaluate(
      "window.saved = ''; URL.createObjectURL = blob => (blob.text().then(t => saved = t), '#'); HTMLAnchorElement.prototype.click = () => "
      "{}; 0");
  page.browser.evaluate(
      "(boxes => { boxes[2].click(); boxes[1].click(); })(document.querySelectorAll('#tables .columns input'))");  // p50 on, calls off
  CHECK(page.rows() == nlohmann::json({"big, \"wide\" | 4.00 µs | 2.00 µs", "norm | 3.00 µs | 3 ns"}));
  page.browser.evaluate("[...document.querySelectorAll('#tables .filter button')].find(b => b.textContent === 'CSV').click()");
  CHECK(page.browser.evaluate("new Promise(done => setTimeout(() => done(saved), 50))") ==
        "Kernel,Total (ns),p50 (ns)\n\"big, \"\"wide\"\"\",4000,2000\nnorm,3000,3\n");
  const std::string hash = page.browser.evaluate("location.hash");
  CHECK(hash == "#four.stage=prefill&four.cols=calls,p50");
  page.open(hash + "&four.group=kind");
  CHECK(page.rows() ==
        nlohmann::json({"gemm (1) | 4.00 µs | ", "big, \"wide\" | 4.00 µs | 2.00 µs", "norm (1) | 3.00 µs | ", "norm | 3.00 µs | 3 ns"}));
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("tables: the address keeps the state of every table, through anchors, back and forward", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Tables page;
  const auto hash = [&] { return page.browser.evaluate("location.hash").get<std::string>(); };
  const auto sort = [&](const std::string& table, int column) {
    page.browser.evaluate("document.querySelectorAll('" + table + " thead button')[" + std::to_string(column) + "].click()");
  };
  const auto go = [&](const std::string& script) {
    page.browser.evaluate("new Promise(done => { addEventListener('hashchange', () => setTimeout(done, 30), {once: true}); " + script +
                          "; })");
  };
  const auto names = [&](const std::string& table) {
    return page.browser
        .evaluate("[...document.querySelectorAll('" + table +
                  " tbody tr:not(.group)')].filter(r => r.checkVisibility()).map(r => r.cells[0].textContent).join()")
        .get<std::string>();
  };
  sort("#tables", 2);  // calls, the most first
  sort("#small", 0);   // a table without tools: by name
  page.browser.evaluate("document.querySelector('#tables input[type=search]').focus()");
  page.browser.type("l");
  page.browser.type("a");
  CHECK(hash() == "#four.sort=-calls&small.sort=0&four.filter=la");
  CHECK(names("#tables") == "last");
  CHECK(names("#small") == "a,b");
  go("history.back()");  // both letters were one step
  CHECK(hash() == "#four.sort=-calls&small.sort=0");
  CHECK(names("#tables") == "norm,last,big, \"wide\",small");
  CHECK(page.browser.evaluate("document.querySelector('#tables input[type=search]').value") == "");
  go("document.querySelector('#to-row').click()");
  CHECK(hash() == "#four.sort=-calls&small.sort=0&at=kernel-3");
  CHECK(names("#tables") == "norm,last,big, \"wide\",small");
  page.open(hash());
  CHECK(names("#tables") == "norm,last,big, \"wide\",small");
  CHECK(names("#small") == "a,b");
  CHECK(page.browser.evaluate("document.querySelector('#kernel-3').classList.contains('at')") == true);
  CHECK(page.browser.evaluate("document.querySelector('#tables th[aria-sort]').dataset.key") == "calls");
  sort("#tables", 2);
  CHECK(hash() == "#four.sort=calls&small.sort=0&at=kernel-3");
  go("document.querySelector('#to-moment').click()");  // a link of the timeline leaves the tables alone
  CHECK(hash() == "#t=1,2&four.sort=calls&small.sort=0");
  CHECK(names("#tables") == "small,big, \"wide\",last,norm");
  go("history.go(-1)");
  go("history.go(-1)");
  CHECK(names("#tables") == "norm,last,big, \"wide\",small");
  go("history.forward()");
  CHECK(names("#tables") == "small,big, \"wide\",last,norm");
  page.open("#four.sort=-nonsense&four.group=nothing&four.cols=none&four.stage=x");
  CHECK(names("#tables") == "big, \"wide\",norm,small,last");
  CHECK(page.browser.complaints == std::vector<std::string>());
}

TEST_CASE("tables: head and names stay in sight", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page(390);
  page.browser.evaluate(
      "window.box = document.querySelector('#kernels .scroll'); box.scrollIntoView(); box.scrollLeft = 200; box.scrollTop = 150; 0");
  page.frame();
  const char* kept =
      "(() => { const b = box.getBoundingClientRect(), row = box.querySelector('tbody tr:nth-child(6) th').getBoundingClientRect(), head = "
      "box.querySelector('thead th').getBoundingClientRect();"
      "return box.scrollLeft > 100 && Math.abs(row.left - b.left) < 2 && Math.abs(head.left - b.left) < 2 && head.top >= b.top - 1; })()";
  CHECK(page.browser.evaluate(kept) == true);
  CHECK(page.browser.evaluate("document.documentElement.scrollWidth") <= 390);
  // What opens over the page stays inside it.
  page.browser.evaluate("for (const part of document.querySelectorAll('.explorer-help, .columns')) part.open = true; 0");
  CHECK(page.browser.evaluate("[innerWidth, document.documentElement.scrollWidth]") == nlohmann::json({390, 390}));
}

TEST_CASE("report.html: terms are explained to the pointer and to the keyboard", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.browser.evaluate(
      "window.term = [...document.querySelectorAll('.term')].find(e => e.textContent.toLowerCase() === 'launch-starved' && e.tagName === "
      "'SPAN'); term.focus()");
  page.frame();
  CHECK(page.text(".tip") == "The GPU is idle and nothing is queued for it.");
  CHECK(page.browser.evaluate("document.querySelector('.tip').hidden") == false);
  page.browser.press("Escape", 27);
  CHECK(page.browser.evaluate("document.querySelector('.tip').hidden") == true);
  page.browser.evaluate("term.dispatchEvent(new PointerEvent('pointerover', {bubbles: true, clientX: 50, clientY: 50}))");
  CHECK(page.browser.evaluate("document.querySelector('.tip').hidden") == false);
  // Plain words are explained in heads of tables, not in sentences.
  CHECK(
      page.browser.evaluate(
          "[...document.querySelectorAll('.term')].filter(e => e.textContent.toLowerCase() === 'total').every(e => e.closest('thead'))") ==
      true);
  CHECK(page.browser.evaluate("document.querySelector('#kernels thead .term')?.dataset.tip") == "All of it.");
  CHECK(page.browser.evaluate("term.getAttribute('aria-description')") == "The GPU is idle and nothing is queued for it.");
}

TEST_CASE("compare.html: the same script leaves a page without a timeline alone", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  const auto file = keep("compare", nl::exporters::comparison_html(nl::test::slower_kernel(), "1.0"));
  for (const int width : {390, 1440}) {
    browser.screen(width, 900, width < 640);
    browser.open(file);
    CHECK(browser.evaluate("document.documentElement.scrollWidth") <= width);
    CHECK(browser.evaluate("document.querySelectorAll('.explorer, canvas').length") == 0);
    CHECK(browser.evaluate("document.getElementById('theme') !== null") == true);
    CHECK(browser.complaints == std::vector<std::string>());
  }
}
