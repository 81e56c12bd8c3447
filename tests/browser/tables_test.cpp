#include "tests/browser/explored.h"

using nl::test::Explored;

TEST_CASE("report.html: terms are explained to the pointer and to the keyboard", "[browser]") {
  if (nl::test::browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Explored page;
  page.browser.evaluate("window.term = [...document.querySelectorAll('.term')].find(e => e.textContent.toLowerCase() === 'launch-starved' && e.tagName === 'SPAN'); term.focus()");
  CHECK(page.text(".tip") == "The GPU is idle and nothing is queued for it.");
  CHECK(page.browser.evaluate("document.querySelector('.tip').hidden") == false);
  page.browser.press("Escape", 27);
  CHECK(page.browser.evaluate("document.querySelector('.tip').hidden") == true);
  CHECK(page.browser.evaluate("term.getAttribute('aria-description')") == "The GPU is idle and nothing is queued for it.");
}
