#include "runs/archive/redaction.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <unistd.h>

#include "model/error.h"
#include "orchestrator/bundle/redact.h"
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

// What was found in redacted archives, and its kin. The words "alice", "secret" and the host must be gone from each.
TEST_CASE("redaction: planted secrets") {
  const Run run = run_in("/home/alice/proj");
  TextRedaction redaction({.host = true, .paths = true}, run, "", {"gpu-17", "gpu-17.lab.example"});
  redaction.know_roots_of("0\t/raid9/alice/site-packages/x/y.py:17\tforward");
  const std::pair<const char*, const char*> kPlanted[] = {
      {"@/home/alice/args.txt", "@/redacted/args.txt"},
      {"stage_flops./home/alice/secret/x", "stage_flops./redacted/x"},
      {"+/home/alice/x #/home/alice/y ~/home/alice/z", "+/redacted/x #/redacted/y ~/redacted/z"},
      {"//home//alice//x", "/redacted/x"},
      {"--y=//home//alice//secret//z", "--y=/redacted/z"},
      {"/home/alice/lr=0.1/secret/f", "/redacted/f"},
      {"--x=/home/alice/lr=0.1,seed=2/secret/f", "--x=/redacted/f"},
      {"/home/alice/(copy)/secret/w", "/redacted/w"},
      {"/home/alice/(copy)/data/w", "/redacted/w"},
      {"/home/alice/secret[1]/w", "/redacted/w"},
      {"/home/alice/runs/10:20:30/secret/f", "/redacted/f"},
      {"/home/alice/proj/lr=0.1/secret/f", "/redacted/f"},
      {"/home/alice/alice's secret", "/redacted/alice's secret"},
      {"-isystem/home/alice/include", "-isystem/redacted/include"},
      {"sftp://gpu-17/home/alice/x", "sftp://redacted-host/redacted/x"},
      {R"(\/home\/alice\/secret\/x.py)", "/redacted/x.py"},
      {"\x1b[31m/home/alice/x\x1b[0m", "\x1b[31m/redacted/x\x1b[0m"},
      {R"(\u001b[31m/home/alice/x)", R"(\u001b[31m/redacted/x)"},
      {"/raid9/alice/train.bin", "/redacted/train.bin"},
      {"gpu-17_run GPU-17 Gpu-17.Lab.Example", "redacted-host_run redacted-host redacted-host"},
      {"20261118-gpu-17_run-light-0a1b2c3d", "20261118-redacted-host_run-light-0a1b2c3d"},
      {"events.out.tfevents.1731888000.gpu-17.4711.0", "events.out.tfevents.1731888000.redacted-host.4711.0"},
      {"gpu-17-ib0 ib-gpu-17", "redacted-host-ib0 ib-redacted-host"},
      {"a=/home/alice/x,b=/home/alice/y,3", "a=/redacted/x,b=/redacted/y,3"},
      {"['/home/alice/x','/usr/lib/y']", "['/redacted/x','/usr/lib/y']"},
      {"main;/home/alice/a.py:12;torch/nn.py:3;/usr/lib/x.so", "main;/redacted/a.py:12;torch/nn.py:3;/usr/lib/x.so"},
      {"/home/alice/a.py:12,48 tokens/s", "/redacted/a.py:12,48 tokens/s"},
  };
  for (const auto& [planted, expected] : kPlanted) {
    INFO(planted);
    CHECK(redaction.apply(planted) == expected);
    CHECK(redaction.apply(expected) == expected);  // what is redacted stays as it is
  }
}

TEST_CASE("redaction: variables of the command line, always") {
  Run run;
  run.workload.command = {"/usr/bin/env", "-i",      "HF_TOKEN=hf_1 'x\"",      "N=1", "python", "A=kept",
                          "-x",           "MPI=m_1", "--export=ALL,S=s_1,T=t_1"};
  run.provenance.passes.resize(1);
  run.provenance.passes[0].argv = {
      "nsys", "--env-var", "V=v_1", "--env-var=W=w_1,w_2", "bash", "-c", "K=k_1 export L='l 1'; M=m_2 python X=kept"};
  const TextRedaction redaction({}, run, "", {});
  REQUIRE(redaction.asked());
  CHECK_FALSE(redaction.names_asked());
  CHECK(redaction.apply("env HF_TOKEN=hf_1 'x\" N=1 A=kept") == "env HF_TOKEN=<set> N=<set> A=kept");
  CHECK(redaction.apply(R"(["HF_TOKEN=hf_1 'x\"", "MPI=m_1"])") == R"(["HF_TOKEN=<set>", "MPI=<set>"])");
  CHECK(redaction.apply(R"('HF_TOKEN=hf_1 '\''x"' python)") == "'HF_TOKEN=<set>' python");
  CHECK(redaction.apply("--export=ALL,S=s_1,T=t_1 --env-var V=v_1 --env-var=W=w_1,w_2") ==
        "--export=ALL,S=<set>,T=<set> --env-var V=<set> --env-var=W=<set>");
  CHECK(redaction.apply("K=k_1 export L='l 1'; M=m_2 python X=kept") == "K=<set> export L=<set>; M=<set> python X=kept");
  CHECK(redaction.apply("N=10") == "N=10");
  CHECK_FALSE(TextRedaction({.environment = false}, run, "", {}).asked());
}

TEST_CASE("redaction: names of files and ids of runs lose the host, and values on the command line go with every export") {
  const Folder folder;
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  const std::string id = std::string("20261118-") + host + "_run-light-0a1b2c3d";
  const fs::path bundle = make_bundle(folder / "bundle", id,
                                      {{std::string("hydra/events.out.tfevents.1731888000.tbnode7.example.4711.0"), "tbnode7 step 1"},
                                       {"cmd.txt", "env HF_TOKEN=hf_secret123 python"},
                                       {"facts/stacks-1.txt", "0\t/raid9/alice/train.py:3\t/raid9/alice/data dir"}});
  runs::export_runs({{bundle.string()}, folder.path / "hidden.nlz", "", {.host = true, .paths = true}});
  const auto hidden = runs::import_bundle({folder.path / "hidden.nlz", folder / "hidden", "", {}});
  REQUIRE(hidden.bundles.size() == 1);
  CHECK(hidden.bundles[0].about.run_id == "20261118-redacted-host_run-light-0a1b2c3d");
  std::string all;
  for (const std::string& file : paths_below(folder / "hidden")) all += file + "\n" + read_text(folder / "hidden" / file);
  for (const std::string& secret : {std::string(host), std::string("tbnode7"), std::string("alice")}) {
    INFO(secret);
    CHECK_FALSE(has(all, secret));
  }
  CHECK(has(all, "events.out.tfevents.1731888000.redacted-host.4711.0"));
}

TEST_CASE("redaction: BLOBs in columns of texts") {
  const Folder folder;
  const fs::path file = folder / "x.sqlite";
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec(
        "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (1, CAST('/home/me/a/b' AS BLOB)), (2, x'00ff2f');");
  }
  const TextRedaction redaction({.paths = true}, {}, "", {});
  CHECK(orchestrator::redact_texts(file, [&](std::string_view text) { return redaction.apply(text); }) == 1);
  SQLite::Database db(file.string());
  CHECK(db.execAndGet("SELECT CAST(value AS TEXT) || typeof(value) FROM StringIds WHERE id = 1").getString() == "/redacted/bblob");
  CHECK(db.execAndGet("SELECT hex(value) FROM StringIds WHERE id = 2").getString() == "00FF2F");
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
