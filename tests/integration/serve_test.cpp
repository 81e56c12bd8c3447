// `nl-stage serve`, as a team uses it: pages, JSON, tokens, live runs, TLS.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/catch.h"
#include "tests/integration/served.h"

using namespace nl::test;

namespace {

const std::string kCapture = (kFixtures / "h200-probe" / "probe_node.sqlite").string();

std::string imported(Scene& scene, const std::string& name) {
  const Outcome outcome = scene.nl_stage({"import", kCapture, "--name", name, "--out", (scene.path / name).string(), "--json"});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return nlohmann::json::parse(outcome.out)["run_id"];
}

double seconds_of(const std::function<void()>& act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The one live run of this scene, once it does what is asked for.
nlohmann::json live_run(const Server& server, const std::string& progress) {
  for (int i = 0; i < 600; ++i) {
    const auto live = server.get("/api/v1/live").json()["live"];
    if (live.size() == 1 && live[0]["progress"].get<std::string>().find(progress) != std::string::npos) return live[0];
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  FAIL("no live run does " << progress);
  return {};
}

// Its live runs are those of this scene alone.
void keep_live_runs_apart(Scene& scene) {
  scene.env["XDG_RUNTIME_DIR"] = (scene.path / "runtime").string();
  fs::create_directories(scene.path / "runtime");
}

}  // namespace

TEST_CASE("serve: the runs of the ledger, as pages and as ls and show print them") {
  Scene scene;
  const std::string id = imported(scene, "morning");
  Server server(scene);
  CHECK(server.get("/runs").body.find("morning") != std::string::npos);
  auto listed = server.get("/api/v1/runs").json();
  CHECK(listed["next"].is_null());
  listed.erase("next");
  CHECK(listed == nlohmann::json::parse(scene.nl_stage({"ls", "--json"}).out));
  CHECK(server.get("/api/v1/runs/" + id).json()["bundle_state"] == "whole");
  const auto shown = nlohmann::json::parse(scene.nl_stage({"show", id, "--json"}).out);
  CHECK(server.get("/api/v1/tools/summary?run=" + id).json() == shown);
  CHECK(server.get("/api/v1/runs/" + id + "/run.json").body == scene.text(scene.path / "morning/run.json"));
  const Reply report = server.get("/runs/" + id + "/report");
  // The same page but for the trace that lies beside it in the bundle.
  std::string in_bundle = scene.text(scene.path / "morning/report.html");
  const std::string beside = "\"trace_file\":\"trace.pftrace\"";
  REQUIRE(in_bundle.find(beside) != std::string::npos);
  CHECK(report.body == in_bundle.replace(in_bundle.find(beside), beside.size(), "\"trace_file\":null"));
  CHECK(server.get("/api/v1/openapi.json").json()["paths"].contains("/api/v1/runs/{run}"));
  CHECK(server.get("/metrics").body.find("# TYPE nl_stage_http_requests_total counter") != std::string::npos);
}

TEST_CASE("serve: it ends within a second, with status 0, by either signal") {
  Scene scene;
  imported(scene, "morning");
  for (const int number : {SIGINT, SIGTERM}) {
    Server server(scene);
    Client idle(server.port), asking(server.port);
    idle.send("GET /runs HTTP/1.1\r\nHost: localhost\r\n");  // never to its end
    CHECK(server.get("/runs").status == 200);
    Outcome outcome;
    CHECK(seconds_of([&] { outcome = server.end(number); }) <
          1.5);  // a second of its own, and the look of the test every 20 ms on a busy machine
    CHECK(outcome.status == 0);
    CHECK(idle.closed(1));
  }
}

TEST_CASE("serve: beyond loopback it needs a token to listen, and says how to make one") {
  Scene scene;
  scene.env["XDG_DATA_HOME"] = (scene.path / "data").string();
  const Outcome refused = scene.nl_stage({"serve", "--address", "0.0.0.0", "--port", "0"}, 10);
  CHECK(refused.status == 2);
  CHECK(refused.says("nl-stage serve token add NAME --role read|write"));
  const std::string token = token_of(scene, "ci", "read");
  imported(scene, "morning");
  Server server(scene, {"--address", "0.0.0.0"});
  CHECK(server.get("/api/v1/runs").status == 401);
  CHECK(server.get("/api/v1/runs", "Authorization: Bearer " + token + "\r\n").status == 200);
  CHECK(scene.nl_stage({"serve", "token", "rm", "ci"}).status == 0);
  CHECK(server.get("/api/v1/runs", "Authorization: Bearer " + token + "\r\n").status == 401);
}

TEST_CASE("serve: two servers and the command line share one ledger") {
  Scene scene;
  const std::string id = imported(scene, "morning"), token = token_of(scene, "me", "write");
  Server one(scene), two(scene);
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i)
    writers.emplace_back([&, i] {
      const Server& server = i % 2 == 0 ? one : two;
      for (int j = 0; j < 5; ++j) server.post("/api/v1/runs/" + id + "/tags", token, fmt::format("{{\"add\": [\"t{}-{}\"]}}", i, j));
    });
  for (std::thread& writer : writers) writer.join();
  CHECK(scene.nl_stage({"tag", id, "by-hand"}).status == 0);
  for (const Server* server : {&one, &two}) CHECK(server->get("/api/v1/runs/" + id).json()["tags"].size() == 41);
}

TEST_CASE("serve: a live run is listed with its pass, and a server that is killed does not disturb it") {
  Scene scene;
  scene.use_standins();
  keep_live_runs_apart(scene);
  imported(scene, "morning");
  Server server(scene);
  const fs::path go_on = scene.path / "go-on";
  const pid_t run = scene.start(light(scene, {"/bin/sh", "-c", fmt::format("while [ ! -e {} ]; do sleep 0.1; done", go_on.string())}));
  const auto live = live_run(server, "nsys");
  CHECK(live["bundle"] == scene.bundle().string());
  CHECK(live["pid"] == run);
  server.kill_it();
  std::ofstream(go_on) << "x";
  Outcome outcome;
  scene.finish(run, 60, outcome);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  Server next(scene);
  CHECK(next.get("/api/v1/live").json()["live"].empty());
  CHECK(next.get("/api/v1/runs").json()["runs"].size() == 2);
}

TEST_CASE("serve: a writer stops a live run, which keeps its bundle") {
  Scene scene;
  scene.use_standins();
  keep_live_runs_apart(scene);
  const std::string writer = token_of(scene, "me", "write"), reader = token_of(scene, "ci", "read");
  imported(scene, "morning");
  Server server(scene);
  const pid_t run = scene.start(light(scene, {"/bin/sh", "-c", "sleep 4251"}));
  const std::string id = live_run(server, "nsys")["run_id"];
  CHECK(server.post("/api/v1/live/" + id + "/stop", reader, "{}").status == 403);
  CHECK(server.ask("POST", "/api/v1/live/" + id + "/stop", "Content-Type: application/json\r\n", "{}").status == 401);
  CHECK(server.post("/api/v1/live/" + id + "/stop", writer, "{}").json()["stopped"] == id);
  Outcome outcome;
  scene.finish(run, 60, outcome);
  CHECK(outcome.status == 128 + SIGINT);
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "interrupted");
  CHECK(server.post("/api/v1/live/" + id + "/stop", writer, "{}").status == 404);
}

TEST_CASE("serve: HTTPS with a certificate, and nothing else on that port") {
  Scene scene;
  imported(scene, "morning");
  const std::string make = fmt::format(
      "cd {} && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 "
      "-subj /CN=localhost -addext subjectAltName=DNS:localhost >/dev/null 2>&1",
      scene.path.string());
  if (std::system(make.c_str()) != 0 || std::system("curl --version >/dev/null 2>&1") != 0) NL_SKIP("no openssl or no curl");
  if (scene.nl_stage({"serve", "--port", "0", "--tls-cert", "missing.pem", "--tls-key", "missing.pem"}, 10).status == 4)
    NL_SKIP("built without TLS");
  CHECK(scene.nl_stage({"serve", "--port", "0", "--tls-cert", "cert.pem"}, 10).status == 2);
  Server server(scene, {"--tls-cert", (scene.path / "cert.pem").string(), "--tls-key", (scene.path / "key.pem").string()});
  const auto curl = [&](const std::string& words) {
    return std::system(
        fmt::format("curl --silent --fail --max-time 10 --cacert {}/cert.pem {} >{}/got", scene.path.string(), words, scene.path.string())
            .c_str());
  };
  CHECK(curl(fmt::format("https://localhost:{}/api/v1/runs", server.port)) == 0);
  CHECK(scene.text(scene.path / "got").find("morning") != std::string::npos);
  CHECK(curl(fmt::format("https://localhost:{}/api/v1/runs --tls-max 1.1", server.port)) != 0);
  CHECK(server.get("/api/v1/runs").status == 0);
  CHECK(server.end(SIGTERM).status == 0);
}
