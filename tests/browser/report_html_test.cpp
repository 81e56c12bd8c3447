#include "exporters/report/reports.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/browser/browser.h"
#include "tests/browser/page_checks.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

using nl::test::Browser;
namespace fs = std::filesystem;

namespace {

// Kept in the build folder: what a person looks at after a change of the report.
fs::path kept(const std::string& name) {
  const fs::path folder = fs::path(NL_BUILD_ROOT) / "tests/browser/pages";
  fs::create_directories(folder);
  return folder / name;
}

void write_file(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

fs::path page_of(const std::string& name, const nl::Run& run) {
  const fs::path file = kept(name + ".html");
  write_file(file, nl::exporters::report_html(run));
  return file;
}

// Width and height stand at fixed places behind a PNG's signature.
std::pair<unsigned, unsigned> png_size(const std::string& bytes) {
  REQUIRE(bytes.size() > 24);
  REQUIRE(bytes.substr(0, 8) == "\x89PNG\r\n\x1a\n");
  const auto number = [&](std::size_t at) {
    unsigned out = 0;
    for (std::size_t i = at; i < at + 4; ++i) out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
  };
  return {number(16), number(20)};
}

}  // namespace

TEST_CASE("report.html fits a phone and a desktop, light and dark", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  struct Screen {
    const char* name;
    int width, height;
    bool phone;
  };
  for (const auto& [name, run] :
       {std::pair{"rich", nl::test::rich_run()}, std::pair{"sparse", nl::test::sparse_run()}, std::pair{"empty", nl::Run()}}) {
    const fs::path page = page_of(name, run);
    for (const Screen& screen : {Screen{"phone", 390, 844, true}, Screen{"desktop", 1280, 900, false}})
      for (const std::string theme : {"light", "dark"}) {
        const std::string title = std::string(name) + "-" + screen.name + "-" + theme;
        INFO(title);
        browser.screen(screen.width, screen.height, screen.phone);
        browser.theme(theme);
        browser.open(page);
        CHECK(browser.evaluate("innerWidth") == screen.width);
        CHECK(browser.evaluate("document.documentElement.scrollWidth") <= screen.width);
        const auto faint = browser.evaluate(nl::test::kFaintTexts);
        INFO(faint.dump(1));
        CHECK(faint.empty());
        const std::string png = browser.screenshot();
        write_file(kept(title + ".png"), png);
        CHECK(png_size(png) == std::pair<unsigned, unsigned>(screen.width, screen.height));
        // A blank page compresses to about 3 kB at either size; text does not.
        CHECK(png.size() > 10000);
        const bool dark = browser.evaluate("parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]) < 64");
        CHECK(dark == (theme == "dark"));
      }
  }
}

TEST_CASE("report.html asks for nothing but itself, complains of nothing and opens in two seconds", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  const fs::path page = page_of("large", nl::test::large_run(5000, 500, 3000, 200));
  CHECK(fs::file_size(page) < 5'000'000);
  browser.screen(1280, 900, false);
  browser.call("Performance.enable", {{"timeDomain", "threadTicks"}});
  browser.open(page);
  const double load_s =
      browser.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now() / 1000), 0)))");
  const double cpu_s = browser.thread_seconds();
  // Of the two seconds the page's own thread may take three quarters; drawing needs the rest. Its processor time is the
  // same on a busy machine, the clock on the wall is not: the clock counts only where the machine is otherwise idle.
  INFO("ready after " << load_s << " s, " << cpu_s << " s of the processor");
  CHECK(cpu_s > 0);
  CHECK(cpu_s < 1.5);
  double load[1] = {};
  if (getloadavg(load, 1) == 1 && load[0] < 1) CHECK(load_s < 2);
  CHECK(browser.complaints == std::vector<std::string>());
  REQUIRE(browser.requests.size() == 1);
  CHECK(browser.requests[0] == "file://" + page.string());
  CHECK(browser.evaluate("performance.getEntriesByType('resource').length") == 0);
}

TEST_CASE("report.html: the policy lets nothing out and no other script in", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  std::string text = nl::exporters::report_html(nl::test::rich_run());
  text.insert(text.find("<main>"), "<script>window.stranger = 1</script><img src='https://example.invalid/a.png' alt=''>");
  const fs::path page = kept("injected.html");
  write_file(page, text);
  browser.open(page);
  CHECK(browser.evaluate("typeof window.stranger") == "undefined");
  CHECK(browser.evaluate("document.querySelectorAll('table.sortable thead button').length > 0") == true);
  CHECK(browser.complaints.size() >= 2);  // the policy speaks of both
  CHECK(browser.evaluate("performance.getEntriesByType('resource').filter(e => e.responseEnd > 0 && e.transferSize > 0).length") == 0);
}

TEST_CASE("report.html: tables sort by mouse and by key, and filter", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  browser.screen(1280, 900, false);
  browser.open(page_of("rich", nl::test::rich_run()));
  browser.evaluate(
      "window.t = document.querySelector('#kernels table'); window.head = title => [...t.tHead.rows[0].cells].find(c => c.textContent === "
      "title); window.column = title => "
      "[...t.tBodies[0].rows].map(r => r.cells[head(title).cellIndex]).map(c => c.dataset.v === undefined ? null : +c.dataset.v); 0");
  const char* falling = "column('Total').every((v, i, all) => i === 0 || v <= all[i - 1])";
  CHECK(browser.evaluate(falling) == true);
  browser.evaluate(
      "head('Total').querySelector('button').click(), "
      "head('Total').querySelector('button').click()");
  CHECK(browser.evaluate("head('Total').getAttribute('aria-sort')") == "ascending");
  CHECK(browser.evaluate("column('Total').every((v, i, all) => i === 0 || v >= all[i - 1])") == true);
  CHECK(browser.evaluate(falling) == false);
  browser.evaluate("head('Calls').querySelector('button').focus()");
  browser.press("Enter", 13);
  CHECK(browser.evaluate("head('Calls').getAttribute('aria-sort')") == "descending");
  CHECK(browser.evaluate("head('Total').hasAttribute('aria-sort')") == false);
  CHECK(browser.evaluate("column('Calls')[0] === Math.max(...column('Calls'))") == true);
  browser.evaluate("head('SM %').querySelector('button').click()");  // SM %, which two kernels lack
  CHECK(browser.evaluate("column('SM %').slice(-2).every(v => v === null) && column('SM %')[0] === Math.max(...column('SM %'))") == true);
  browser.evaluate(
      "window.f = document.querySelector('#kernels .filter input'); f.value = 'nvjet TNT'; f.dispatchEvent(new "
      "Event('input')); 0");
  CHECK(browser.evaluate("[...t.tBodies[0].rows].filter(r => !r.hidden).length") == 2);
  CHECK(browser.complaints == std::vector<std::string>());
}

TEST_CASE("report.html: the theme toggles, the timeline zooms, tips tell the nanoseconds", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  browser.screen(1280, 900, false);
  browser.theme("light");
  browser.open(page_of("rich", nl::test::rich_run()));
  const std::string before = browser.evaluate("getComputedStyle(document.body).backgroundColor");
  browser.evaluate("document.getElementById('theme').click()");
  CHECK(browser.evaluate("getComputedStyle(document.body).backgroundColor") != before);
  CHECK(browser.evaluate("document.getElementById('theme').getAttribute('aria-label')") == "Change to the light theme");
  browser.evaluate(
      "window.z = document.querySelector('.zoom'); window.w = z.firstElementChild.getBoundingClientRect().width; "
      "z.focus()");
  browser.press("+", 187);
  CHECK(browser.evaluate("Math.round(z.firstElementChild.getBoundingClientRect().width / w)") == 2);
  CHECK(browser.evaluate("document.documentElement.scrollWidth") <= 1280);
  browser.evaluate(
      "document.querySelector('#budget svg.bar rect.b-starved').dispatchEvent(new PointerEvent('pointerover', "
      "{bubbles: true, clientX: 5, clientY: 5}))");
  const std::string tip = browser.evaluate("document.querySelector('.tip').textContent");
  INFO(tip);
  CHECK(tip.find("launch-starved: ") == 0);
  CHECK(tip.find(std::to_string(nl::test::rich_run().stages[0].budget->launch_starved_ns) + " ns") != std::string::npos);
}

TEST_CASE("report.html: the activity is drawn as wide as its lanes, above the iterations, in both themes", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  const fs::path page = page_of("rich", nl::test::rich_run());
  for (const auto& [width, theme] : {std::pair{1280, "light"}, std::pair{390, "dark"}}) {
    browser.screen(width, 900, width < 640);
    browser.theme(theme);
    browser.open(page);
    browser.evaluate("document.getElementById('activity').scrollIntoView(); 0");
    write_file(kept(std::string("activity-") + theme + ".png"), browser.screenshot());
    browser.evaluate("window.a = [...document.querySelectorAll('#activity path')].map(p => p.getBoundingClientRect()); 0");
    CHECK(browser.evaluate("a.length") == 3);
    // The first curve is the largest and reaches the top of its scale but for the rounding up of that, from 19 to 20.
    CHECK(browser.evaluate("Math.round(a[0].height)") == 53);
    CHECK(browser.evaluate("a.every((r, i) => i === 0 || r.top > a[i - 1].bottom)") == true);
    CHECK(browser.evaluate("Math.abs(a[0].width - document.querySelector('#activity .zoom > svg').getBoundingClientRect().width) < 2") ==
          true);
    CHECK(browser.evaluate("document.querySelectorAll('#activity rect.window').length") == 4);
    CHECK(browser.evaluate("[...document.querySelectorAll('#activity .curves span')].every((s, i) => s.scrollHeight <= 68)") == true);
  }
  CHECK(browser.complaints == std::vector<std::string>());
}

TEST_CASE("report.html: a step now and after the sequence are drawn on one scale, beside the titles of their lanes", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  const fs::path page = page_of("rich", nl::test::rich_run());
  for (const auto& [width, theme] : {std::pair{1280, "light"}, std::pair{1280, "dark"}, std::pair{390, "light"}}) {
    INFO(width << " " << theme);
    browser.screen(width, 900, width < 640);
    browser.theme(theme);
    browser.open(page);
    browser.evaluate("document.getElementById('what-if').scrollIntoView(); 0");
    write_file(kept("what-if-" + std::to_string(width) + "-" + theme + ".png"), browser.screenshot());
    browser.evaluate(
        "window.box = e => e.getBoundingClientRect(); window.g = [...document.querySelectorAll('#what-if rect.window')].map(box); "
        "window.t = [...document.querySelectorAll('#what-if .strips span')].map(box); window.p = box(document.querySelector('#what-if "
        ".strip-chart > svg')); 0");
    CHECK(browser.evaluate("g.length") == 2);
    CHECK(browser.evaluate("Math.abs(g[0].width - p.width) < 1 && Math.abs(g[1].width - p.width * 1.188 / 3.6) < 1") == true);
    // The lanes of each strip stand beside their titles: host and GPU, below "now" and "after".
    CHECK(browser.evaluate("Math.abs(g[0].top - t[1].top) < 2 && Math.abs(g[1].bottom - t[5].bottom) < 2") == true);
    CHECK(browser.evaluate("[...document.querySelectorAll('#what-if rect.w-less')].length") == 2);
    CHECK(browser.evaluate("document.documentElement.scrollWidth") <= width);
  }
  CHECK(browser.complaints == std::vector<std::string>());
}

TEST_CASE("report.html: the flame graph is drawn as wide as its box, callees below their callers, in both themes", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  const fs::path page = page_of("host", nl::test::host_run());
  for (const auto& [width, theme] : {std::pair{1280, "light"}, std::pair{1280, "dark"}, std::pair{390, "light"}}) {
    INFO(width << " " << theme);
    browser.screen(width, 1400, width < 640);
    browser.theme(theme);
    browser.open(page);
    browser.evaluate("document.getElementById('host').scrollIntoView(); 0");
    write_file(kept("host-" + std::to_string(width) + "-" + theme + ".png"), browser.screenshot());
    browser.evaluate(
        "window.p = document.querySelector('.flame .zoom > svg').getBoundingClientRect(); window.f = [...document.querySelectorAll('.flame "
        ".zoom > svg > *')].map(e => e.tagName === 'svg' ? e.querySelector('rect') : e).map(e => e.getBoundingClientRect()); 0");
    CHECK(browser.evaluate("Math.abs(f[0].width - p.width) < 2 && Math.abs(f[0].left - p.left) < 2") == true);
    CHECK(browser.evaluate("f.every(r => r.left >= p.left - 1 && r.right <= p.right + 1 && r.bottom <= p.bottom + 1)") == true);
    CHECK(browser.evaluate("f[1].top >= f[0].bottom - 1") == true);
    CHECK(browser.evaluate("document.documentElement.scrollWidth") <= width);
    const auto faint = browser.evaluate(nl::test::kFaintTexts);
    INFO(faint.dump(1));
    CHECK(faint.empty());
  }
  browser.evaluate(
      "document.querySelector('.flame rect.w-model').dispatchEvent(new PointerEvent('pointerover', {bubbles: true, clientX: 5, clientY: "
      "5}))");
  const std::string tip = browser.evaluate("document.querySelector('.tip').textContent");
  CHECK(tip.find("Qwen3ForCausalLM.forward (modeling_qwen3.py:480): 336 samples, 82.0 % of the wait") == 0);
  CHECK(browser.evaluate("document.querySelector('.flame svg[role=img]').getAttribute('aria-label').includes('410 samples')") == true);
  CHECK(browser.complaints == std::vector<std::string>());
}

TEST_CASE("report.html: names cannot break out of it", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  const std::string hostile =
      "</script></style></title></svg><img src=x onerror=window.pwned=1><script>window.pwned=1</script>&amp;\"' "
      "onmouseover=\"window.pwned=1";
  Browser browser;
  browser.open(page_of("hostile", nl::test::named_everywhere(nl::test::host_run(), hostile)));
  CHECK(browser.evaluate("typeof window.pwned") == "undefined");
  CHECK(browser.evaluate("[...document.scripts].filter(s => !s.type).length") == 1);
  CHECK(browser.evaluate("document.images.length") == 0);
  CHECK(browser.evaluate("document.querySelectorAll('[onmouseover], [onerror]').length") == 0);
  CHECK(browser.evaluate("document.title") == hostile);
  CHECK(browser.evaluate("document.querySelector('h1').firstChild.textContent.trim()") == hostile);
  CHECK(browser.complaints == std::vector<std::string>());
}

TEST_CASE("report.html can be read without its script and printed", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Browser browser;
  browser.call("Emulation.setScriptExecutionDisabled", {{"value", true}});
  browser.screen(390, 844, true);
  const fs::path page = page_of("rich", nl::test::rich_run());
  browser.open(page);
  CHECK(browser.evaluate("document.querySelectorAll('button').length") == 0);
  CHECK(browser.evaluate("document.querySelectorAll('#kernels tbody tr').length") == 10);
  CHECK(browser.evaluate("document.documentElement.scrollWidth") <= 390);
  browser.call("Emulation.setScriptExecutionDisabled", {{"value", false}});
  browser.call("Emulation.clearDeviceMetricsOverride");
  browser.theme("dark");  // paper is white all the same
  browser.open(page);
  const std::string pdf = browser.pdf();
  write_file(kept("rich.pdf"), pdf);
  CHECK(pdf.substr(0, 5) == "%PDF-");
  std::size_t pages = 0;
  for (std::size_t at = pdf.find("/Type /Page\n"); at != std::string::npos; at = pdf.find("/Type /Page\n", at + 1)) ++pages;
  CHECK(pages >= 2);
  CHECK(pages <= 13);  // of which the first screen, with the median step and what to do, is one
  browser.open(page_of("many", nl::test::large_run(60, 40, 10, 3)));
  browser.call("Emulation.setEmulatedMedia", {{"media", "print"}});
  CHECK(browser.evaluate("[...document.querySelectorAll('#kernels tbody tr')].filter(r => r.checkVisibility()).length") ==
        60);  // all of them
}
