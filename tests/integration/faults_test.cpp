// Each fault of the capture: a clear message, the right exit status, nothing lost, nothing left running.
#include <signal.h>

#include <algorithm>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

TEST_CASE("a full disk behind standard output: status 8 and one message, for people and as JSON") {
  Scene scene;
  scene.prefix = {"/bin/sh", "-c", "exec \"$0\" \"$@\" > /dev/full"};
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--version"}, {"help", "run"}, {"plan", "--keys"}, {"--version", "--json"}, {"schema", "run"}}) {
    const Outcome outcome = scene.nl_stage(words);
    INFO(words[0] << ": " << outcome.err);
    CHECK(outcome.status == 8);
    CHECK(outcome.err.find("error: standard output cannot be written") == 0);
    CHECK(outcome.err.find("error:", 1) == std::string::npos);
  }
  const Outcome wrong = scene.nl_stage({"ls", "--ledger", (scene.path / "none").string(), "--json"});  // has an error of its own
  CHECK(wrong.status == 3);
}

TEST_CASE("fault: a command that is an empty word is a wrong command line") {
  Scene scene;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", ""}, {"run", "--", "", "a"}, {"plan", ""}, {"try", "--a", "true", ""}}) {
    const Outcome outcome = scene.nl_stage(words);
    CHECK(outcome.status == 2);
    CHECK(outcome.says("error: the command is an empty word"));
  }
}

TEST_CASE("fault: the workload is not found, is no program, or is not given") {
  Scene scene;
  scene.use_standins();
  const Outcome missing = scene.nl_stage(light(scene, {"./no-such-workload"}));
  CHECK(missing.status == 5);
  CHECK(missing.says("error: ./no-such-workload was not found"));
  CHECK(missing.says("fix:"));
  CHECK(scene.nl_stage(light(scene, {"nl-stage-no-such-name"})).status == 5);
  CHECK(scene.nl_stage(light(scene, {"/etc/passwd"})).status == 5);
  CHECK(scene.nl_stage({"run", "--config", "light", "--out", scene.bundle().string()}).status == 2);
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("fault: the workload ends with an error, and what was captured is kept") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "echo last words >&2; exit 3"}));
  CHECK(outcome.status == 5);
  CHECK(outcome.says("ended with status 3"));
  CHECK(outcome.says("last words"));
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "failed");
  CHECK(run["workload"]["exit_status"] == 3);
  CHECK_FALSE(run["kernels"].empty());
}

TEST_CASE("fault: a CUDA error that tracing the nodes of CUDA graphs is known for comes with its fix") {
  Scene scene;
  scene.use_standins();
  auto advised = [&](const std::string& last_words, const std::vector<std::string>& more) {
    fs::remove_all(scene.bundle());
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "echo '" + last_words + "' >&2; exit 1"}, more));
    CHECK(outcome.status == 5);
    CHECK((outcome.says("ended with a CUDA error: ") || outcome.says("ran out of GPU memory")));
    return outcome.says("may break it: --set");
  };
  CHECK(advised("CUDA error: unspecified launch failure", {}));
  CHECK(scene.text(scene.bundle() / "run.json").find("may break it: --set nsys.cuda_graph_trace=graph") != std::string::npos);
  CHECK_FALSE(advised("CUDA error: unspecified launch failure", {"--set", "nsys.cuda_graph_trace=graph"}));
  CHECK_FALSE(advised("CUDA error: out of memory", {}));
  if (!fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so")) NL_SKIP("the collector was not built");
  if (gpu_is_here()) NL_SKIP("with a GPU the collector traces graphs too");
  CHECK_FALSE(advised("CUDA error: unspecified launch failure", {"--set", "nsys.enabled=false"}));  // ranges alone trace no graph
}

TEST_CASE("fault: the workload fails under nsys, so ncu is not started") {
  Scene scene;
  scene.use_standins();
  const Outcome outcome = scene.nl_stage({"run", "--config", "deep", "--out", scene.bundle().string(), "--", "/bin/sh", "-c", "exit 3"});
  CHECK(outcome.status == 5);
  CHECK_FALSE(fs::exists(scene.env["NL_STARTED"] + ".ncu"));
  CHECK(scene.text(scene.bundle() / "run.json").find("because the workload failed in the traced pass") != std::string::npos);
}

TEST_CASE("fault: the collector pass of a workload that crashes, hangs, or leaves children") {
  Scene scene;
  const std::vector<std::string> no_nsys = {"--set", "nsys.enabled=false", "--set", "nsys.timeout_s=2"};
  if (!fs::exists(fs::path(NL_BUILD_ROOT) / "collector/libnl_collector.so")) NL_SKIP("the collector was not built");
  SECTION("crashes") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "kill -SEGV $$"}, no_nsys));
    CHECK(outcome.status == 5);
    CHECK(outcome.says("SIGSEGV"));
    CHECK(scene.json("run.json")["workload"]["exit_status"] == 128 + SIGSEGV);
  }
  SECTION("hangs") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "trap '' INT TERM; while :; do sleep 1; done"}, no_nsys));
    CHECK(outcome.status == 7);
    CHECK(outcome.says("--set nsys.timeout_s=8"));
    CHECK(scene.json("run.json")["status"] == "interrupted");
  }
  SECTION("leaves children in sessions of their own") {
    const Outcome outcome = scene.nl_stage(light(scene, {"/bin/sh", "-c", "setsid sleep 4243 & exit 0"}, no_nsys));
    CHECK(outcome.status == 6);  // a shell marks nothing; they do nothing, so the program's own end counts
    CHECK(scene.json("run.json")["status"] != "interrupted");
    CHECK(scene.text(scene.bundle() / "run.json").find("ended what outlived it") != std::string::npos);
    CHECK(scene.json("run.json")["workload"]["exit_status"] == 0);
  }
  CHECK(scene.still_running().empty());
  check_bundle(scene);
}

TEST_CASE("fault: nsys is missing where it was named") {
  Scene scene;
  scene.env["NL_STAGE_NSYS"] = (scene.path / "no-such-nsys").string();
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  CHECK(outcome.status == 4);
  CHECK(outcome.says("NL_STAGE_NSYS"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("fault: nsys' importer is broken: the raw capture is kept") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "no-importer";
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  CHECK(outcome.status == 4);
  CHECK(outcome.says("importer"));
  CHECK(fs::file_size(scene.bundle() / "nsys/run.qdstrm") > 0);
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "failed");
  CHECK(scene.json("run.json")["kernels"].is_null());
}

TEST_CASE("fault: nsys put its report into TMPDIR: it is brought into the bundle") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "tmpdir";
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  CHECK_FALSE(fs::exists(scene.path / "tmp/nsys-report-4f2a.nsys-rep"));
  check_bundle(scene);
}

TEST_CASE("fault: nsys ends well and wrote nothing") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "nothing";
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  CHECK(outcome.status == 6);
  CHECK(outcome.says("wrote no report"));
  CHECK(scene.json("run.json")["status"] == "failed");
  check_bundle(scene);
}

TEST_CASE("fault: the disk is full while exporting: the report stays, half an export does not") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "export-full";
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  CHECK(outcome.status == 8);
  CHECK(outcome.says("disk was full"));
  CHECK(outcome.says("MiB free"));
  CHECK(outcome.says("nl-stage import --nsys"));
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  CHECK_FALSE(fs::exists(scene.bundle() / "nsys/run.sqlite"));
  check_bundle(scene);
}

TEST_CASE("fault: a disk that is really full") {
  Scene scene;
  scene.use_standins();
  const fs::path disk = scene.path / "disk";
  fs::create_directories(disk);
  // Room for the report (180 KB), not for its export; in a mount namespace of its own, so that nothing is left.
  const fs::path mounted = scene.script("mounted", "mount -t tmpfs -o size=320k tmpfs " + disk.string() + " || exit 99; exec \"$@\"");
  scene.prefix = {"/usr/bin/unshare", "-rm", mounted.string()};
  if (!fs::exists(scene.prefix[0]) || scene.nl_stage({"--version"}).status != 0)
    NL_SKIP("this user may not mount a small disk (unshare -rm)");
  const Outcome outcome = scene.nl_stage({"run", "--config", "light", "--out", (disk / "bundle").string(), "--", "/bin/true"});
  INFO(outcome.err);
  CHECK(outcome.status == 8);
  CHECK(outcome.says("MiB free"));
  CHECK(outcome.says((disk / "bundle").string()));
  CHECK(scene.still_running().empty());
}

TEST_CASE("fault: nsys exports half a database and calls it done") {
  Scene scene;
  scene.use_standins();
  scene.env["NL_FAKE_NSYS"] = "export-truncated";
  const Outcome outcome = scene.nl_stage(light(scene, {"/bin/true"}));
  INFO(outcome.err);
  CHECK(outcome.status == 3);
  CHECK(fs::exists(scene.bundle() / "nsys/run.nsys-rep"));
  check_bundle(scene);
  CHECK(scene.json("run.json")["status"] == "failed");
}

TEST_CASE("fault: the output folder exists, is a file, or cannot be written") {
  Scene scene;
  scene.use_standins();
  const fs::path ran = scene.path / "ran";
  const std::vector<std::string> workload = {"/bin/sh", "-c", "touch " + ran.string()};
  SECTION("exists and is not empty") {
    fs::create_directories(scene.bundle());
    scene.script("bundle/file", "");
    const Outcome outcome = scene.nl_stage(light(scene, workload));
    CHECK(outcome.status == 8);
    CHECK(outcome.says("not empty"));
  }
  SECTION("is a file") {
    scene.script("bundle", "");
    CHECK(scene.nl_stage(light(scene, workload)).status == 8);
  }
  SECTION("cannot be made") {
    const Outcome outcome = scene.nl_stage({"run", "--config", "light", "--out", "/proc/nl-stage/bundle", "--", "/bin/true"});
    CHECK(outcome.status == 8);
    CHECK(outcome.says("/proc/nl-stage"));
  }
  CHECK_FALSE(fs::exists(ran));  // refused before anything was run
}

TEST_CASE("fault: a wrong command line is answered in three lines, with the nearest name") {
  struct Case {
    std::vector<std::string> words;
    std::string error, fix, where = "command line";
  };
  const std::vector<Case> cases = {
      {{"improt"}, "unknown verb 'improt'", "did you mean 'import'?"},
      {{"run", "--confg", "deep"}, "unknown flag '--confg'", "did you mean '--config'?"},
      {{"doctor", "extra"}, "unexpected word 'extra'", "`nl-stage doctor --help` has the flags and examples"},
      {{"import", "--nsys"}, "--nsys has no value", "write --nsys FILE", "--nsys"},
  };
  Scene scene;
  for (const auto& [words, error, fix, where] : cases) {
    const Outcome outcome = scene.nl_stage(words);
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("error: " + error + "\nwhere: " + where + "\n"));
    CHECK(outcome.err.ends_with(fix + "\n"));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 3);
  }
}

TEST_CASE("fault: a wrong flag, a wrong key, an unknown verb") {
  Scene scene;
  CHECK(scene.nl_stage({"run", "--no-such-flag"}).status == 2);
  CHECK(scene.nl_stage({"frobnicate"}).status == 2);
  CHECK(scene.nl_stage({}).status == 0);
  const Outcome outcome = scene.nl_stage({"run", "--config", "light", "--set", "run.top_n_kernel=3", "--", "/bin/true"});
  CHECK(outcome.status == 2);
  CHECK(outcome.says("run.top_n_kernels"));
}

TEST_CASE("help and version of every verb") {
  Scene scene;
  CHECK(scene.nl_stage({"--version"}).out.find("nl-stage 0.") == 0);
  CHECK(scene.nl_stage({"--help"}).says("Examples:"));
  for (const char* verb : {"run", "plan", "import", "report", "stats", "doctor", "validate"}) {
    INFO(verb);
    const Outcome outcome = scene.nl_stage({verb, "--help"});
    CHECK(outcome.status == 0);
    CHECK(outcome.says("Examples:"));
  }
}
