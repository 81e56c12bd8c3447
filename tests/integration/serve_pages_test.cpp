// The pages of `nl-stage serve` as a person sees and uses them, on a phone and on wide screens.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "tests/browser/browser.h"
#include "tests/browser/page_checks.h"
#include "tests/catch.h"
#include "tests/integration/served.h"

using namespace nl::test;

namespace {

// Runs of several days with names that a hostile person would choose, tags, notes, and one whose bundle is gone.
struct Team : Scene {
  Team() {
    const std::string capture = (kFixtures / "h200-probe" / "probe_node.sqlite").string();
    for (const char* name : {"nightly", "baseline", "foreign", "gone"}) {
      const fs::path out = path / fmt::format("bundle-{}", ++runs);
      REQUIRE(nl_stage({"import", capture, "--name", name, "--out", out.string(), "--json"}).status == 0);
    }
    rename_foreign();
    fs::remove_all(path / "bundle-4");
    REQUIRE(nl_stage({"tag", "baseline", "release", "v1.2"}).status == 0);
    REQUIRE(nl_stage({"note", "baseline", "clocks locked at 1980 MHz \"><img src=x onerror=alert(1)>"}).status == 0);
    writer = token_of(*this, "me", "write");
    use_standins();
    env["XDG_RUNTIME_DIR"] = (path / "runtime").string();
    fs::create_directories(path / "runtime");
  }
  // As if another program had written its run.json: names of our own are letters and digits.
  void rename_foreign() {
    const fs::path file = path / "bundle-3/run.json";
    std::string json = text(file);
    const std::string name = "\"name\": \"foreign\"";
    REQUIRE(json.find(name) != std::string::npos);
    std::ofstream(file) << json.replace(json.find(name), name.size(), "\"name\": \"<script>alert(1)</script>\"");
    REQUIRE(nl_stage({"rm", "foreign"}).status == 0);
    REQUIRE(nl_stage({"record", (path / "bundle-3").string()}).status == 0);
  }
  int runs = 0;
  std::string writer;
};

void keep_picture(Browser& browser, const std::string& name) {
  const fs::path folder = fs::path(NL_BUILD_ROOT) / "tests/integration/pages";
  fs::create_directories(folder);
  std::ofstream(folder / (name + ".png"), std::ios::binary) << browser.screenshot();
}

// No picture can be read whose words lie outside of it, or are too faint.
void check_page(Browser& browser, const std::string& name, int width) {
  INFO(name << " at " << width);
  browser.evaluate("new Promise(done => setTimeout(done, 400))");  // frames
  CHECK(browser.evaluate("document.documentElement.scrollWidth") <= width);
  const auto faint = browser.evaluate(kFaintTexts);
  INFO(faint.dump(1));
  CHECK(faint.empty());
  INFO(nlohmann::json(browser.complaints).dump(1));
  CHECK(browser.complaints.empty());
  keep_picture(browser, fmt::format("{}-{}", name, width));
}

void sign_in(Browser& browser, const std::string& address, const std::string& token) {
  browser.open_address(address + "/login?next=%2Fruns");
  browser.evaluate("document.querySelector('[name=token]').focus()");
  browser.type(token);
  browser.follow("document.querySelector('.login').requestSubmit();");
  browser.open_address(address + "/runs");
}

}  // namespace

TEST_CASE("serve pages: every page at 390, 1440 and 1920 px", "[browser]") {
  if (browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Team team;
  const pid_t run = team.start(light(team, {"/bin/sh", "-c", "sleep 4252"}));
  Server server(team);
  for (int i = 0; i < 400 && server.get("/api/v1/live").json()["live"].empty(); ++i) usleep(50'000);
  const std::string address = fmt::format("http://localhost:{}", server.port);
  Browser browser;
  const std::vector<std::pair<std::string, std::string>> pages = {{"runs", "/runs"},
                                                                  {"none", "/runs?q=nothing"},
                                                                  {"run", "/runs/baseline"},
                                                                  {"gone", "/runs/gone"},
                                                                  {"compare", "/compare?a=baseline&b=nightly"},
                                                                  {"trends", "/trends?metric=stage.decode_step.median_ms"},
                                                                  {"suites", "/suites"},
                                                                  {"live", "/live"},
                                                                  {"login", "/login"},
                                                                  {"report", "/runs/baseline/report"},
                                                                  {"missing", "/runs/nowhere"}};
  for (const auto& [width, height, phone] : {std::tuple{390, 844, true}, std::tuple{1440, 900, false}, std::tuple{1920, 1080, false}}) {
    browser.screen(width, height, phone);
    for (const std::string theme : {"light", "dark"}) {
      if (theme == "dark" && width != 1440) continue;
      browser.theme(theme);
      for (const auto& [name, target] : pages) {
        browser.open_address(address + target);
        if (name == "missing") browser.complaints.clear();  // the 404 itself
        check_page(browser, theme == "dark" ? name + "-dark" : name, width);
      }
    }
  }
  ::kill(run, SIGINT);
  Outcome outcome;
  team.finish(run, 60, outcome);
}

TEST_CASE("serve pages: a person signs in, tags, notes, and stops a run", "[browser]") {
  if (browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Team team;
  const pid_t run = team.start(light(team, {"/bin/sh", "-c", "sleep 4253"}));
  Server server(team);
  for (int i = 0; i < 400 && server.get("/api/v1/live").json()["live"].empty(); ++i) usleep(50'000);
  const std::string address = fmt::format("http://localhost:{}", server.port);
  Browser browser;
  browser.screen(1440, 900, false);
  sign_in(browser, address, team.writer);
  CHECK(browser.evaluate("document.querySelector('.who').textContent").get<std::string>().find("me") == 0);
  CHECK(browser.evaluate("document.cookie") == "");  // scripts cannot read it

  browser.open_address(address + "/runs/baseline");
  check_page(browser, "run-signed-in", 1440);
  const auto submit = [&](const std::string& form, const std::string& field, const std::string& value) {
    browser.follow(fmt::format(
        "const f = document.querySelector('form[action$=\"{}\"]:has([name={}])'); f.elements['{}'].value = {}; f.requestSubmit();", form,
        field, field, nlohmann::json(value).dump()));
  };
  submit("/tags", "add", "from-browser");
  submit("/notes", "text", "noted <b>here</b>");
  const auto shown = server.get("/api/v1/runs/baseline").json();
  CHECK(shown["tags"] == nlohmann::json({"from-browser", "release", "v1.2"}));
  CHECK(shown["notes"].back()["text"] == "noted <b>here</b>");
  browser.open_address(address + "/runs/baseline");
  CHECK(browser.evaluate("document.querySelectorAll('.remarks b').length") == 0);

  // The frame is a stranger: it has its own origin, and none of our pages.
  CHECK(browser.evaluate("document.querySelector('iframe').contentDocument === null") == true);

  browser.open_address(address + "/live");
  check_page(browser, "live-signed-in", 1440);
  browser.evaluate("document.querySelector('button.stop').form.requestSubmit()");
  Outcome outcome;
  team.finish(run, 60, outcome);
  CHECK(outcome.status == 128 + SIGINT);
  browser.evaluate("new Promise(done => setTimeout(done, 4500))");  // the list is asked for again every two seconds
  CHECK(browser.evaluate("document.getElementById('live').textContent").get<std::string>().find("No run goes on") != std::string::npos);
}

TEST_CASE("serve pages: another site's page changes nothing", "[browser]") {
  if (browser_program().empty()) NL_SKIP("no browser (NL_STAGE_TEST_BROWSER)");
  Team team;
  Server server(team);
  const std::string address = fmt::format("http://localhost:{}", server.port);
  Browser browser;
  browser.screen(1440, 900, false);
  sign_in(browser, address, team.writer);
  const fs::path evil = team.path / "evil.html";
  std::ofstream(evil) << fmt::format(
      "<form method=post action='{0}/runs/baseline/tags'><input name=add value=stolen></form>"
      "<script>document.forms[0].submit(); fetch('{0}/api/v1/runs').then(r => r.text()).then(t => document.title = t);</script>",
      address);
  browser.open(evil);
  browser.evaluate("new Promise(done => setTimeout(done, 800))");
  CHECK(server.get("/api/v1/runs/baseline").json()["tags"] == nlohmann::json({"release", "v1.2"}));
}
