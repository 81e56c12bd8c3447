#pragma once

#include <string>
#include <utility>

#include "tests/browser/browser.h"
#include "tests/browser/explorer_page.h"
#include "tests/catch.h"

// The page of explorer_page.h in a browser, and what its timeline shows.
namespace nl::test {

class Explored {
 public:
  Browser& browser = shared_browser();
  double left = 0, top = 0, width = 0, height = 0;  // of the canvas, on the screen

  // The whole of explorer_detail(). With another fragment, or none, the page opens as that says.
  static constexpr const char* kWholeView = "#v=5000000000,5100000000";

  explicit Explored(int screen_width = 1440) : Explored(screen_width, explorer_page("explorer", explorer_detail(), explorer_facts())) {}
  Explored(int screen_width, std::filesystem::path page, const std::string& fragment = kWholeView) : page_(std::move(page)) {
    browser.call("Emulation.setEmulatedMedia", {{"features", {{{"name", "prefers-reduced-motion"}, {"value", "reduce"}}}}});
    browser.call("Emulation.setTouchEmulationEnabled", {{"enabled", screen_width < 640}, {"maxTouchPoints", 2}});
    browser.screen(screen_width, 1000, screen_width < 640);
    open(fragment);
  }

  void open(const std::string& fragment) {
    browser.open(page_.string() + "?" + std::to_string(++opened_) + fragment);  // a change of the fragment alone would load nothing
    browser.evaluate(
        "new Promise(done => { const look = () => document.documentElement.dataset.ready ? done() : setTimeout(look, 10); look(); "
        "setTimeout(done, 20000); })");
    INFO(nlohmann::json(browser.complaints).dump());
    REQUIRE(browser.evaluate("document.documentElement.dataset.ready !== undefined") == true);
    browser.evaluate(
        "window.canvas = document.querySelector('.lanes-main canvas'); window.shown = (s, all) => all ? "
        "[...document.querySelectorAll(s)].map(e => e.textContent) : document.querySelector(s)?.textContent; 0");
    in_sight();
  }

  // Where the canvas is once the explorer is scrolled to.
  void in_sight() {
    browser.evaluate("document.querySelector('.explorer').scrollIntoView(); 0");
    frame();
    const auto box = browser.evaluate("(r => [r.left, r.top, r.width, r.height])(canvas.getBoundingClientRect())");
    left = box[0], top = box[1], width = box[2], height = box[3];
  }

  void frame() { browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"); }
  // Until sums and address are up to date; a search begins 80 ms after the last letter.
  void pause() {
    browser.evaluate(
        "new Promise(done => { const look = () => document.querySelector('.sums-panel[aria-busy=true]') ? setTimeout(look, 15) : done(); "
        "setTimeout(look, 140); })");
    frame();
  }

  // What is in view, in ns since the data's start.
  std::pair<double, double> view() {
    const std::string text = browser.evaluate("canvas.dataset.view || '0,100000000'");
    const std::size_t comma = text.find(',');
    return {std::stod(text.substr(0, comma)), std::stod(text.substr(comma + 1))};
  }
  double span() { return view().second - view().first; }

  // The middle of a lane on the screen; lanes are found by their titles.
  double lane_y(const std::string& title) {
    return browser.evaluate(
        "(s => s.getBoundingClientRect().top + Math.min(s.offsetHeight, 30) / 2)([...document.querySelectorAll('.lane-titles "
        "span')].find(s => s.textContent.startsWith('" +
        title + "')))");
  }
  double x_of(double time) { return left + (time - view().first) / span() * width; }

  std::string text(const std::string& selector) {
    const auto found = browser.evaluate("shown(\"" + selector + "\")");
    return found.is_string() ? found.get<std::string>() : std::string();
  }
  // Of the panel of a slice: what stands behind this title.
  std::string fact(const std::string& title) {
    const auto found = browser.evaluate("[...document.querySelectorAll('.slice-facts dt')].find(d => d.textContent === '" + title +
                                        "')?.nextElementSibling.textContent");
    return found.is_string() ? found.get<std::string>() : "(none)";
  }
  std::string hash() { return browser.evaluate("location.hash"); }

 private:
  // One for all tests: starting it takes longer than most of them.
  static Browser& shared_browser() {
    static Browser browser;
    return browser;
  }

  std::filesystem::path page_;
  inline static int opened_ = 0;  // by all of them: the browser is one
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace nl::test
