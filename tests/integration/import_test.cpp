// Bundles from captures made elsewhere, and what becomes of damaged ones.
#include <fstream>
#include <map>

#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

void copy_part(const fs::path& from, const fs::path& to, std::uintmax_t size) {
  fs::copy_file(from, to);
  fs::resize_file(to, size);
}

}  // namespace

TEST_CASE("import makes the bundle of a real PyTorch capture, and leaves the capture alone") {
  Scene scene;
  const fs::path sqlite = kFixtures / "h200-llama/nsys.sqlite";
  const std::string before = nl::orchestrator::sha256_file(sqlite);
  const Outcome outcome = import(scene, {"--nsys", sqlite.string(), "--ncu", (kFixtures / "h200-llama/ncu_prefill_raw.csv").string(),
                                         (kFixtures / "h200-llama/ncu_decode_raw_base.csv").string(), "--name", "llama"});
  INFO(outcome.err << outcome.out);
  CHECK(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  CHECK(run["status"] == "complete");
  CHECK(run["name"] == "llama");
  CHECK(run["provenance"]["captured_by"] == "import");
  CHECK(run["provenance"]["inputs_sha256"][sqlite.string()] == before);
  CHECK(nl::orchestrator::sha256_file(sqlite) == before);
  int samples = 0;
  for (const auto& kernel : run["kernels"]) samples += static_cast<int>(kernel["ncu"].size());
  CHECK(samples > 0);
  CHECK(scene.text(scene.bundle() / "nsys/run_cuda_gpu_kern_sum.csv") == scene.text(kFixtures / "h200-llama/nsys_cuda_gpu_kern_sum.csv"));
  CHECK_FALSE(fs::exists(scene.bundle() / "nsys/run.sqlite"));
}

TEST_CASE("whatif and query of an imported run read the capture that it came from, and say where that changed or is gone") {
  Scene scene;
  const fs::path capture = scene.path / "mine.sqlite", run_json = scene.bundle() / "run.json";
  fs::copy_file(kFixtures / "h200-llama/nsys.sqlite", capture);
  REQUIRE(import(scene, {capture.string()}).status == 0);
  for (const fs::path& run : {scene.bundle(), run_json}) {
    const Outcome predicted = scene.nl_stage({"whatif", run.string(), "--graph", "decode_step", "--json"});
    INFO(run << predicted.err);
    CHECK(predicted.status == 0);
    CHECK(nlohmann::json::parse(predicted.out)["predictions"].size() == 1);
    CHECK(scene.nl_stage({"query", run.string(), "SELECT count(*) FROM slices"}).status == 0);
  }
  std::ofstream(capture, std::ios::app) << "x";
  const Outcome changed = scene.nl_stage({"whatif", scene.bundle().string()});
  CHECK(changed.status == 3);
  CHECK(changed.err.find("has changed") != std::string::npos);
  fs::remove(capture);
  const Outcome gone = scene.nl_stage({"whatif", scene.bundle().string()});
  CHECK(gone.status == 3);
  CHECK(gone.err.find("is not there any more") != std::string::npos);
}

TEST_CASE("import of ncu's report alone: its launches are the kernels, and that is said") {
  Scene scene;
  const Outcome outcome =
      scene.nl_stage({"import", "--ncu", (kFixtures / "h200-probe/ncu_prefill_raw.csv").string(), "--out", scene.bundle().string()});
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  check_bundle(scene);
  const auto run = scene.json("run.json");
  REQUIRE_FALSE(run["kernels"].empty());
  for (const auto& kernel : run["kernels"]) {
    CHECK(kernel["ncu"].size() == kernel["calls"]);
    CHECK(kernel["total_ns"] > 0);
  }
  CHECK(run["import_stats"]["notes"][0]["code"] == "ncu-alone");
}

TEST_CASE("import takes files of any format it knows, folders of them and bundles, without flags") {
  Scene flags, files, folder, again;
  const fs::path sqlite = kFixtures / "h200-llama/nsys.sqlite", page = kFixtures / "h200-llama/ncu_prefill_raw.csv";
  REQUIRE(flags.nl_stage({"import", "--nsys", sqlite.string(), "--ncu", page.string(), "--out", flags.bundle().string()}).status == 0);
  REQUIRE(files.nl_stage({"import", page.string(), sqlite.string(), "--out", files.bundle().string()}).status == 0);
  fs::create_directories(folder.path / "captures");
  fs::copy_file(sqlite, folder.path / "captures/a.db");  // what is in it counts, not its name
  fs::copy_file(page, folder.path / "captures/b.txt");
  std::ofstream(folder.path / "captures/notes.md") << "not a capture";
  REQUIRE(folder.nl_stage({"import", (folder.path / "captures").string(), "--out", folder.bundle().string()}).status == 0);
  const auto expected = flags.json("run.json");
  for (Scene* scene : {&files, &folder}) {
    const auto run = scene->json("run.json");
    for (const char* part : {"stages", "kernels", "findings", "roofline"}) CHECK(run[part] == expected[part]);
  }
  fs::create_directories(flags.bundle() / "nsys");
  fs::copy_file(sqlite, flags.bundle() / "nsys/run.sqlite");  // as a run leaves it
  REQUIRE(again.nl_stage({"import", flags.bundle().string(), "--out", again.bundle().string()}).status == 0);
  CHECK(again.json("run.json")["stages"] == expected["stages"]);
}

TEST_CASE("import of a step of vLLM that replays CUDA graphs: the captures beside the trace give its kernels their operators and layers") {
  Scene beside, named, alone, other;
  const fs::path vllm = kFixtures / "tracelens/vllm_mixed", sglang = kFixtures / "tracelens/sglang_decode";
  const auto notes = [](Scene& scene) {
    std::map<std::string, std::string> texts;
    const nlohmann::json run = scene.json("run.json");
    for (const auto& note : run["import_stats"]["notes"]) texts[note["code"]] = note["text"];
    return texts;
  };
  const auto import = [&](Scene& scene, const fs::path& trace, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"import", "--kineto", trace.string(), "--out", scene.bundle().string()};
    words.insert(words.end(), more.begin(), more.end());
    REQUIRE(scene.nl_stage(words).status == 0);
  };
  import(beside, vllm / "trace.json.gz");
  CHECK(notes(beside)["stages-of-engine"].find("mixed_step: 1 (9 prompts with 8155 tokens, 37 output tokens)") != std::string::npos);
  CHECK(notes(beside)["graphs-joined"].find("25 of 25 replayed CUDA graphs") != std::string::npos);
  CHECK(beside.json("run.json")["layers"].size() == 27);
  CHECK(beside.json("run.json")["provenance"]["inputs_sha256"].size() == 2);

  fs::copy_file(vllm / "trace.json.gz", alone.path / "trace.json.gz");
  import(alone, alone.path / "trace.json.gz");
  CHECK_FALSE(notes(alone).contains("graphs-joined"));
  CHECK(alone.json("run.json")["layers"].empty());
  import(named, alone.path / "trace.json.gz", {"--graph-captures", (vllm / "capture_traces/graph_capture_rank_0.json.gz").string()});
  CHECK(named.json("run.json")["layers"] == beside.json("run.json")["layers"]);
  CHECK(named.json("run.json")["stages"] == alone.json("run.json")["stages"]);  // the capture is before the trace, and no part of it

  import(other, alone.path / "trace.json.gz", {"--graph-captures", (sglang / "capture_traces/bs_32_rank0.json.gz").string()});
  CHECK(notes(other)["graphs-not-joined"].find("25 of 25 replayed CUDA graphs match no captured graph") != std::string::npos);
  CHECK(other.json("run.json")["layers"].empty());
}

TEST_CASE("import refuses what no format knows, and captures of two runs") {
  Scene scene;
  std::ofstream(scene.path / "notes.txt") << "hello";
  const Outcome unknown = scene.nl_stage({"import", (scene.path / "notes.txt").string()});
  CHECK(unknown.status == 3);
  CHECK(unknown.says("no format that nl-stage reads"));
  const std::string sqlite = (kFixtures / "h200-llama/nsys.sqlite").string(), other = (kFixtures / "h200-probe/probe_node.sqlite").string();
  const Outcome two = scene.nl_stage({"import", sqlite, other});
  CHECK(two.status == 3);
  CHECK(two.says("the captures are not of one run: they were made"));
  fs::create_directories(scene.path / "empty");
  CHECK(scene.nl_stage({"import", (scene.path / "empty").string()}).says("no capture in it"));
}

TEST_CASE("import reads the details page as well") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "h200-probe/probe_node.sqlite").string(), "--ncu",
                                         (kFixtures / "h200-probe/ncu_prefill_details.csv").string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  check_bundle(scene);
}

TEST_CASE("import --copy puts a blanked copy into the bundle") {
  Scene scene;
  const fs::path sqlite = scene.path / "in.sqlite";
  fs::copy_file(kFixtures / "h200-probe/probe_node.sqlite", sqlite);
  CHECK(import(scene, {"--nsys", sqlite.string(), "--copy"}).status == 0);
  CHECK(fs::exists(scene.bundle() / "nsys/run.sqlite"));
  check_bundle(scene);
}

TEST_CASE("fault: import of what is not there, or nothing") {
  Scene scene;
  CHECK(import(scene, {}).status == 2);
  const Outcome outcome = import(scene, {"--nsys", (scene.path / "none.sqlite").string()});
  CHECK(outcome.status == 3);
  CHECK(outcome.says("none.sqlite"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("fault: import of a damaged SQLite") {
  Scene scene;
  const fs::path whole = kFixtures / "h200-probe/probe_node.sqlite";
  const fs::path file = scene.path / "damaged.sqlite";
  SECTION("empty") { std::ofstream(file) << ""; }
  SECTION("no database") { std::ofstream(file) << std::string(100000, 'x'); }
  SECTION("truncated") { copy_part(whole, file, fs::file_size(whole) / 2); }
  SECTION("truncated in the header") { copy_part(whole, file, 50); }
  const Outcome outcome = import(scene, {"--nsys", file.string()});
  INFO(outcome.err);
  CHECK(outcome.status == 3);
  CHECK(outcome.says("damaged.sqlite"));
  CHECK_FALSE(fs::exists(scene.bundle()));
}

TEST_CASE("import of a capture without kernels says so, and does not say zero") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "crafted/ranges.sqlite").string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  check_bundle(scene);
}

TEST_CASE("import of names that are NULL, odd or not UTF-8 gives a valid bundle") {
  Scene scene;
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "crafted/names.sqlite").string()});
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  check_bundle(scene);
}

TEST_CASE("import of a CSV in units and numbers of another locale equals the one in base units") {
  Scene first, second;
  const std::string sqlite = (kFixtures / "h200-llama/nsys.sqlite").string();
  CHECK(import(first, {"--nsys", sqlite, "--ncu", (kFixtures / "h200-llama/ncu_decode_raw.csv").string()}).status == 0);
  CHECK(import(second, {"--nsys", sqlite, "--ncu", (kFixtures / "h200-llama/ncu_decode_raw_base.csv").string()}).status == 0);
  const auto rounded = first.json("run.json")["kernels"], exact = second.json("run.json")["kernels"];
  REQUIRE(rounded.size() == exact.size());
  int compared = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    REQUIRE(rounded[i]["ncu"].size() == exact[i]["ncu"].size());
    for (std::size_t j = 0; j < exact[i]["ncu"].size(); ++j, ++compared)
      // ncu prints three digits where it chooses the unit itself.
      CHECK(rounded[i]["ncu"][j]["ncu_duration_ns"].get<double>() ==
            Approx(exact[i]["ncu"][j]["ncu_duration_ns"].get<double>()).epsilon(0.01));
  }
  CHECK(compared > 0);
}

TEST_CASE("fault: import of a damaged ncu CSV") {
  Scene scene;
  const std::string sqlite = (kFixtures / "h200-llama/nsys.sqlite").string();
  const fs::path csv = scene.path / "cut.csv";
  SECTION("truncated in the middle of a row: the rows before it count, the rest is counted as damaged") {
    const fs::path whole = kFixtures / "h200-llama/ncu_decode_raw_base.csv";
    copy_part(whole, csv, fs::file_size(whole) * 2 / 3);
    const Outcome outcome = import(scene, {"--nsys", sqlite, "--ncu", csv.string()});
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    check_bundle(scene);
    CHECK_FALSE(scene.json("run.json")["ncu_rows_damaged"].empty());
  }
  SECTION("empty") {
    std::ofstream(csv) << "";
    CHECK(import(scene, {"--nsys", sqlite, "--ncu", csv.string()}).status == 3);
  }
  SECTION("no CSV of ncu") {
    std::ofstream(csv) << "a,b\n1,2\n";
    CHECK(import(scene, {"--nsys", sqlite, "--ncu", csv.string()}).status == 3);
  }
}

TEST_CASE("fault: a .nsys-rep or .ncu-rep without the tool names the command to run elsewhere") {
  Scene scene;
  scene.env["PATH"] = "/usr/bin:/bin";
  const fs::path capture = scene.path / "x.ncu-rep";
  std::ofstream(capture) << "report";
  const Outcome doctor = scene.nl_stage({"doctor", "--json"});
  if (doctor.out.find("\"ncu\"") == std::string::npos) NL_SKIP("doctor says nothing of ncu");
  const auto report = nlohmann::json::parse(doctor.out);
  for (const auto& check : report["checks"])
    if (check["id"] == "ncu" && check["level"] == "ok") NL_SKIP("ncu is installed here");
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "h200-probe/probe_node.sqlite").string(), "--ncu", capture.string()});
  CHECK(outcome.status == 4);
  CHECK(outcome.says("ncu --import"));
}

TEST_CASE("fault: import into a folder that is not empty") {
  Scene scene;
  fs::create_directories(scene.bundle() / "something");
  const Outcome outcome = import(scene, {"--nsys", (kFixtures / "h200-probe/probe_node.sqlite").string()});
  CHECK(outcome.status == 8);
  CHECK(fs::exists(scene.bundle() / "something"));
}

TEST_CASE("import: without a name a run has that of its file; a name that is given stays, whatever it is") {
  Scene scene;
  const fs::path capture = scene.path / "llama 8b.sqlite";
  fs::copy_file(kFixtures / "h200-llama" / "nsys.sqlite", capture);
  REQUIRE(import(scene, {capture.string()}).status == 0);
  CHECK(scene.json("run.json")["name"] == "llama-8b");
  CHECK(scene.text(scene.bundle() / "config.yaml").find("llama-8b") != std::string::npos);
  for (const std::vector<std::string>& given : std::vector<std::vector<std::string>>{{"--name", "run"}, {"--set", "run.name=run"}}) {
    fs::remove_all(scene.bundle());
    std::vector<std::string> words = {capture.string()};
    words.insert(words.end(), given.begin(), given.end());
    REQUIRE(import(scene, words).status == 0);
    CHECK(scene.json("run.json")["name"] == "run");
  }
  const auto compared = nlohmann::json::parse(
      scene.nl_stage({"compare", capture.string(), "--to", (kFixtures / "h200-llama" / "nsys.sqlite").string(), "--json"}).out);
  CHECK(compared["a"]["runs"][0]["name"] == "llama-8b");
  CHECK(compared["b"]["runs"][0]["name"] == "h200-llama");
}
