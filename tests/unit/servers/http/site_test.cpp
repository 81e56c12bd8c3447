#include "servers/http/site.h"

#include <fmt/format.h>

#include <set>

#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/servers/http/site_scene.h"

using nl::test::has, nl::test::header_of, nl::test::ledger_run, nl::test::SiteScene;
using nlohmann::json;

namespace {

// What a hostile person would call a run.
constexpr const char* kHostile = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>";

nl::Run hostile_run() {
  nl::Run run = ledger_run("run-hostile", "2026-11-16T10:00:00Z");
  run.name = kHostile;
  run.workload.command = {"python", kHostile};
  run.model.name = kHostile;
  return run;
}

}  // namespace

TEST_CASE("serve pages: each is whole, escaped, and comes with its policy") {
  SiteScene scene;
  scene.record(hostile_run());
  auto ledger = scene.place.open();
  ledger.add_note("run-hostile", kHostile);
  ledger.add_tag("run-hostile", "<b>bold</b>");
  for (const char* address : {"/runs", "/runs?q=%3Cscript%3E&tag=%22%3E%3Cb%3E", "/runs/run-hostile", "/compare",
                              "/compare?a=run-hostile&b=%3Cscript%3E", "/trends", "/trends?metric=%3Cscript%3E", "/suites", "/live",
                              "/login", "/login?next=%22%3E%3Cscript%3E", "/runs/%3Cscript%3E", "/nothing"}) {
    INFO(address);
    const auto response = scene.get(address);
    CHECK(has(response.body, "<!doctype html>"));
    CHECK(has(response.body, "</html>"));
    CHECK_FALSE(has(response.body, "<script>alert"));
    CHECK_FALSE(has(response.body, "<img"));
    CHECK_FALSE(has(response.body, "<b>bold"));
    CHECK_FALSE(has(response.body, " style="));
    CHECK_FALSE(has(response.body, " onclick="));
    const std::string policy = header_of(response, "Content-Security-Policy");
    CHECK(has(policy, "default-src 'none'"));
    CHECK_FALSE(has(policy, "unsafe"));
    CHECK(has(policy, "frame-ancestors 'none'"));
    CHECK(header_of(response, "X-Content-Type-Options") == "nosniff");
    CHECK(header_of(response, "Cache-Control") == "no-store");
    CHECK(header_of(response, "Referrer-Policy") == "same-origin");
  }
  CHECK(has(scene.get("/runs").body, "&lt;script&gt;alert"));
}

TEST_CASE("serve pages: paging visits each run once, newest first, in both databases") {
  for (const std::string& database : nl::test::ledger_databases()) {
    INFO(database);
    SiteScene scene(database);
    constexpr int kRuns = 120;
    auto ledger = scene.place.open();
    for (int i = 0; i < kRuns; ++i)  // several of one second, as an import of many makes them
      ledger.record(ledger_run(fmt::format("run-{:03}", i), fmt::format("2026-11-16T10:00:{:02}Z", i / 10)), "{}", {});
    std::set<std::string> seen;
    std::string last = "~", after;
    int pages = 0;
    do {
      const json answer =
          json::parse(scene.get("/api/v1/runs?limit=25" + (after.empty() ? "" : "&after=" + nl::servers::http::escaped(after))).body);
      for (const auto& run : answer["runs"]) {
        CHECK(seen.insert(run["run_id"]).second);
        CHECK(run["run_id"].get<std::string>() < last);
        last = run["run_id"];
      }
      after = answer["next"].is_null() ? "" : answer["next"].get<std::string>();
      ++pages;
    } while (!after.empty() && pages < 10);
    CHECK(seen.size() == kRuns);
    CHECK(pages == 5);
    const std::string page = scene.get("/runs").body;
    CHECK(has(page, "run-119"));
    CHECK_FALSE(has(page, "run-069"));
    CHECK(has(page, "Older runs"));
    CHECK(scene.get("/metrics").status == 200);
  }
}

TEST_CASE("serve pages: filters are those of ls") {
  SiteScene scene;
  scene.record(ledger_run("run-a", "2026-11-16T10:00:00Z"));
  scene.record(ledger_run("run-b", "2026-11-17T10:00:00Z"));
  scene.place.open().add_tag("run-a", "nightly");
  const auto found = [&](const std::string& query) {
    std::vector<std::string> ids;
    const auto answer = json::parse(scene.get("/api/v1/runs?" + query).body);
    for (const auto& run : answer.at("runs")) ids.push_back(run["run_id"]);
    return ids;
  };
  CHECK(found("tag=nightly") == std::vector<std::string>{"run-a"});
  CHECK(found("since=2026-11-17") == std::vector<std::string>{"run-b"});
  CHECK(found("status=failed").empty());
  CHECK(scene.get("/api/v1/runs?since=yesterday").status == 400);
  CHECK(scene.get("/api/v1/runs?after=nowhere").status == 400);
  CHECK(scene.get("/api/v1/runs?limit=0").status == 400);
  CHECK(scene.get("/api/v1/runs?limit=1e9").status == 400);
  CHECK(scene.get("/api/v1/runs?q=%2A%2A").status == 400);  // no word in it
}

TEST_CASE("serve pages: a run, its report, its run.json, and what its ledger knows without a bundle") {
  SiteScene scene;
  nl::Run run = nl::test::rich_run();
  run.run_id = "run-rich";
  scene.record(run, scene.folder / "gone");
  const auto page = scene.get("/runs/run-rich");
  CHECK(page.status == 200);
  CHECK(has(page.body, "The bundle is not here"));
  CHECK(has(page.body, "src=\"/runs/run-rich/report\""));
  CHECK(has(page.body, "data-sql_argument=\"sql\""));
  CHECK(header_of(scene.get("/runs/last"), "Location") == "/runs/run-rich");

  const auto report = scene.get("/runs/run-rich/report");
  CHECK(report.status == 200);
  CHECK(has(report.body, "<h2 id="));
  CHECK(has(header_of(report, "Content-Security-Policy"), "sandbox allow-scripts"));
  CHECK(has(header_of(report, "Content-Security-Policy"), "frame-ancestors 'self'"));
  CHECK_FALSE(has(header_of(report, "Content-Security-Policy"), "allow-same-origin"));

  CHECK(json::parse(scene.get("/api/v1/runs/run-rich").body)["bundle_state"] == "not here");
  CHECK(json::parse(scene.get("/api/v1/runs/run-rich/run.json").body)["run_id"] == "run-rich");
  CHECK(scene.get("/runs/none").status == 404);
  const auto missing = scene.get("/api/v1/runs/none");
  CHECK(missing.status == 404);
  CHECK(json::parse(missing.body)["error"]["kind"] == "input");
}

TEST_CASE("serve pages: two runs are compared, and a metric drawn") {
  SiteScene scene;
  for (int i = 0; i < 12; ++i)
    scene.record(ledger_run(fmt::format("run-{:02}", i), fmt::format("2026-11-{:02}T10:00:00Z", i + 1), i < 6 ? 1e6 : 2e6));
  CHECK(has(scene.get("/compare?a=run-00&b=run-11").body, "src=\"/compare/document?a=run-00&amp;b=run-11\""));
  CHECK(has(scene.get("/compare/document?a=run-00&b=run-11").body, "<!doctype html>"));
  CHECK(json::parse(scene.get("/api/v1/compare?a=run-00&b=run-11").body).contains("schema_version"));
  CHECK(scene.get("/api/v1/compare?a=run-00").status == 400);
  const auto trend = scene.get("/trends?metric=stage.decode_step.median_ms");
  CHECK(has(trend.body, "<svg"));
  CHECK(has(header_of(trend, "Content-Security-Policy"), "style-src 'self' 'sha256-"));
  CHECK(json::parse(scene.get("/api/v1/trends?metric=stage.decode_step.median_ms").body)["series"].size() == 1);
  CHECK(has(scene.get("/metrics").body, "nl_stage_run_stage_median_ms{"));
  CHECK(has(scene.get("/metrics").body, "nl_stage_ledger_up 1\n"));
}

TEST_CASE("serve pages: without a ledger the server says so, and stays") {
  SiteScene scene;
  std::filesystem::remove(scene.place.location);
  const auto page = scene.get("/runs");
  CHECK(page.status == 404);
  CHECK(has(page.body, "there is no ledger yet"));
  CHECK(has(scene.get("/metrics").body, "nl_stage_ledger_up 0\n"));
  CHECK(scene.get("/healthz").body == "ok\n");
}

TEST_CASE("serve pages: HEAD is answered as GET, other methods are named") {
  SiteScene scene;
  CHECK(scene.ask("HEAD", "/runs", "", {}).status == 200);
  const auto wrong = scene.ask("DELETE", "/runs", "", {});
  CHECK(wrong.status == 405);
  CHECK(header_of(wrong, "Allow") == "GET");
  CHECK(scene.ask("GET", "/runs/../../etc/passwd", "", {}).status == 400);
  CHECK(scene.ask("GET", "http://evil.example/", "", {}).status == 400);
}
