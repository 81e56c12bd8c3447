#include "runs/archive/redaction.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include "model/error.h"
#include "orchestrator/config/config.h"
#include "runs/archive/archive.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/archive/crafted_archive.h"

using namespace nl;
using runs::LeftOutReason, runs::TextRedaction;
using test::Folder, test::has, test::make_bundle, test::paths_below, test::read_text;
namespace fs = std::filesystem;

namespace {

Run run_in(const std::string& folder) {
  Run run;
  run.workload.working_directory = folder;
  return run;
}

std::string without_paths(const std::string& text, const Run& run = {}) { return TextRedaction({.paths = true}, run, "", {}).apply(text); }
std::string without_host(const std::string& text) {
  return TextRedaction({.host = true}, {}, "", {"gpu-17", "gpu-17.lab.example"}).apply(text);
}

}  // namespace

TEST_CASE("redaction: of an absolute path the last name stays") {
  CHECK(without_paths("/home/me/models/run.py") == "/redacted/run.py");
  CHECK(without_paths("\"/home/me/x.py\", '/data/y/z'") == "\"/redacted/x.py\", '/redacted/z'");
  CHECK(without_paths("--out=/scratch/me/a:/home/me/b") == "--out=/redacted/a:/redacted/b");
  CHECK(without_paths("-I/home/me/include file:///home/me/x") == "-I/redacted/include file:///redacted/x");
  CHECK(without_paths(R"(done\n/home/me/log)") == R"(done\n/redacted/log)");
  CHECK(without_paths("/home/me/bin/") == "/redacted/bin/");
  CHECK(without_paths("/home/jürgen/größe.py") == "/redacted/größe.py");
}

TEST_CASE("redaction: what only looks like a path stays") {
  for (const char* text :
       {"48 tokens/s and 4.8 TB/s", "https://example.com/home/me/page", "/usr/lib/x86_64-linux-gnu/libc.so.6", "/proc/self/maps",
        "/stages/0/budget", "/block/attention/MatMul", "a/home/me/b", "</td></tr>", "/", "//", "/home", "1 / 2 / 3"}) {
    INFO(text);
    CHECK(without_paths(text) == text);
  }
}

TEST_CASE("redaction: the run's own folders are known whole, spaces and odd roots included") {
  const Run run = run_in("/cluster7/my project/a b");
  CHECK(without_paths("in /cluster7/my project/a b/run.py and /cluster7/other/x", run) == "in /redacted/run.py and /redacted/x");
  CHECK(without_paths("/cluster7/other/x") == "/cluster7/other/x");
}

TEST_CASE("redaction: names of nodes and references of findings are no paths, whatever folders there are") {
  Run run = run_in("/model/src");
  OperatorStep step;
  step.calls.resize(1);
  step.calls[0].node = "/model/layers.0/MatMul";
  run.operator_steps = {step};
  CHECK(without_paths("\"/model/layers.0/MatMul\" \"/model/weights/x\"", run) == "\"/model/layers.0/MatMul\" \"/redacted/x\"");
}

TEST_CASE("redaction: host names, as words") {
  CHECK(without_host("on gpu-17.lab.example (gpu-17)") == "on redacted-host (redacted-host)");
  CHECK(without_host("gpu-170 mygpu-17 gpu-17") == "gpu-170 mygpu-17 redacted-host");
  CHECK(without_host("/home/me") == "/home/me");
}

TEST_CASE("redaction: the values of environments in config.yaml") {
  const std::string kept =
      "artifacts:\n  keep_env: true\nstages:\n  map: {\"prefill\": \"^p\"}\nworkload:\n  env: {\"A\": \"x \\\"y\\\" z\", \"B\": \"\"}\n  "
      "hydra: false\n";
  CHECK(runs::without_environment(kept, "config.yaml") ==
        "artifacts:\n  keep_env: true\nstages:\n  map: {\"prefill\": \"^p\"}\nworkload:\n  env: {\"A\": \"<set>\", \"B\": \"<set>\"}\n  "
        "hydra: false\n");
  CHECK(runs::without_environment("", "config.yaml").empty());
  CHECK_THROWS_AS(runs::without_environment("workload:\n  env: {A: hunter2}\n", "config.yaml"), Error);
  CHECK_THROWS_AS(runs::without_environment("a: [", "config.yaml"), Error);
}

TEST_CASE("redaction: an exported bundle has no environment, and on request no host and no folders") {
  const Folder folder;
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  fs::create_directories(folder / "bundle/nsys");
  {
    SQLite::Database db((folder / "bundle/nsys/run.sqlite").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec(
        "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT); INSERT INTO META_DATA_CAPTURE VALUES ('X_ENVIRONMENT_VARIABLE', "
        "'TOKEN=hunter2');"
        "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'secrethost');"
        "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, '/home/me/lib.so'), (2, 'aten::mm');");
  }
  make_bundle(folder / "bundle", "run-1",
              {{"nsys/run.nsys-rep", "TOKEN=hunter2"},
               {"trace.pftrace", std::string("\0x", 2)},
               {"logs/out.log", "secrethost: /home/me/run.py\n"},
               {"report.html", "a page with packed data: c2VjcmV0aG9zdA=="},
               {"config.yaml", "workload:\n  env: {\"TOKEN\": \"hunter2\"}\n"}});
  const auto unpacked = [&](const runs::Redactions& redacted, const char* name) {
    runs::export_runs({{(folder / "bundle").string()}, folder.path / (std::string(name) + ".nlz"), "", redacted});
    return runs::import_bundle({folder.path / (std::string(name) + ".nlz"), folder / name, "", {}});
  };
  const auto everything = [&](const char* name) {
    std::string all;
    for (const std::string& file : paths_below(folder / name)) all += read_text(folder / name / file);
    return all;
  };

  const auto plain = unpacked({}, "plain");
  REQUIRE(plain.bundles[0].about.left_out.size() == 1);
  CHECK(plain.bundles[0].about.left_out[0].reason == LeftOutReason::kEnvironment);
  CHECK_FALSE(has(everything("plain"), "hunter2"));
  CHECK(has(everything("plain"), "secrethost"));
  CHECK(has(everything("plain"), "/home/me/run.py"));

  const auto hidden = unpacked({.host = true, .paths = true}, "hidden");
  CHECK(hidden.bundles[0].about.left_out.size() == 2);  // and trace.pftrace, which is not text
  CHECK_FALSE(has(everything("hidden"), "secrethost"));
  CHECK_FALSE(has(everything("hidden"), "/home/me"));
  CHECK(has(read_text(folder / "plain/run-1/report.html"), "c2VjcmV0aG9zdA=="));
  CHECK_FALSE(has(read_text(folder / "hidden/run-1/report.html"), "c2VjcmV0aG9zdA=="));  // made anew
  CHECK(has(read_text(folder / "hidden/run-1/report.html"), "id=\"page-data\""));
  CHECK(read_text(folder / "hidden/run-1/logs/out.log") == "redacted-host: /redacted/run.py\n");
  SQLite::Database db((folder / "hidden/run-1/nsys/run.sqlite").string());
  CHECK(db.execAndGet("SELECT group_concat(value) FROM StringIds").getString() == "/redacted/lib.so,aten::mm");
  CHECK(db.execAndGet("SELECT value FROM TARGET_INFO_SYSTEM_ENV").getString() == "redacted-host");

  unpacked({.environment = false}, "kept");
  CHECK(read_text(folder / "kept/run-1/nsys/run.nsys-rep") == "TOKEN=hunter2");
  CHECK(has(everything("kept"), "{\"TOKEN\": \"hunter2\"}"));
}
