// What every verb prints with --json, and every JSON file it leaves, fits its schema: that is what keeps the schemas true.
#include <algorithm>
#include <fstream>
#include <set>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

using Words = std::vector<std::string>;

const std::string kSmall = (kFixtures / "h200-probe" / "probe_node.sqlite").string();
const std::string kLlamaExport = (kFixtures / "h200-llama" / "nsys.sqlite").string();

class Checked {
 public:
  explicit Checked(Scene& scene) : scene_(scene) {}

  void file(const fs::path& path, const std::string& schema) {
    seen_.insert(schema);
    const Outcome valid = scene_.nl_stage({"validate", "--schema", schema, path.string()});
    INFO(schema << ": " << path << "\n" << valid.out << valid.err);
    CHECK(valid.status == 0);
  }

  // Its name is that of the verb where none is given.
  nlohmann::json printed(Words words, std::string schema = "", int status = 0) {
    if (schema.empty()) schema = words.front();
    if (std::find(words.begin(), words.end(), "--json") == words.end()) words.emplace_back("--json");
    const Outcome outcome = scene_.nl_stage(words);
    std::string line;
    for (const std::string& word : words) line += word + " ";
    INFO(line << "\n" << outcome.err);
    CHECK(outcome.status == status);
    const fs::path path = scene_.path / "printed.json";
    std::ofstream(path) << outcome.out;
    file(path, schema);
    return nlohmann::json::parse(outcome.out, nullptr, false);
  }

  // All but those that only a GPU or another installation can make.
  void all_were_seen(const std::set<std::string>& elsewhere) {
    const auto listed = nlohmann::json::parse(scene_.nl_stage({"schema", "--json"}).out);
    for (const auto& each : listed["schemas"]) {
      INFO(each["name"]);
      CHECK((seen_.contains(each["name"]) || elsewhere.contains(each["name"])));
    }
  }

 private:
  Scene& scene_;
  std::set<std::string> seen_;
};

void check_several_runs(Scene& scene, Checked& checked, const std::string& bundle, const std::string& other) {
  const std::string expectations = (scene.path / "gate.yaml").string(), archive = (scene.path / "a.nlz").string();
  checked.printed({"compare", bundle, "--to", bundle});
  checked.printed({"gate", bundle, "-e", expectations, "--update"});
  checked.printed({"gate", other, "-e", expectations}, "", 9);
  checked.printed({"gate", bundle, other, "--list"});
  checked.printed({"fingerprint", bundle});
  checked.printed({"fingerprint", other, "--to", bundle, "--kernels"});
  checked.printed({"fingerprint", "search", bundle}, "fingerprint-search");
  checked.printed({"facts", bundle, other, "--format", "csv", "--out", (scene.path / "facts").string()});
  checked.printed({"facts", bundle, "/etc/passwd", "--out", (scene.path / "some").string()}, "", 3);
  checked.printed({"facts", "--schema"});
  checked.printed({"trends", "gpu_busy_share"});
  checked.printed({"trends", "gpu_busy_share", "--by", "commit"});
  checked.printed({"export", "last", bundle, "-o", archive, "--redact", "host"});
  checked.printed({"import-bundle", archive, "--out", (scene.path / "unpacked").string(), "--ledger", (scene.path / "other.db").string()});
  const std::string command = "sleep 0.02";
  checked.printed({"try", "--a", command, "--b", command, "--rounds", "2", "--no-profile", "--out", (scene.path / "trial").string()},
                  "trial");
  checked.file(scene.path / "trial" / "trial.json", "trial");
  std::ofstream(scene.path / "commands") << "sleep 0.02\nsleep 0.02\nsleep 0.02\n";
  checked.printed({"bisect", "--commands", (scene.path / "commands").string(), "--rounds", "2", "--out", (scene.path / "bisect").string()},
                  "bisect", 9);
  const std::string queue = (scene.path / "queue").string();
  checked.printed({"suite", "--queue", queue, "--enqueue", "true", "--enqueue", "false"}, "queue");
  checked.printed({"suite", "--queue", queue, "--queue-status"}, "queue");
}

}  // namespace

TEST_CASE("schemas: every --json and every JSON file fits its own") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  Checked checked(scene);
  const std::string bundle = scene.bundle().string(), other = (scene.path / "other").string();
  REQUIRE(import(scene, {kSmall}).status == 0);
  REQUIRE(scene.nl_stage({"import", kLlamaExport, "--copy", "--out", other}).status == 0);
  for (const char* name : {"run", "manifest", "env"}) checked.file(scene.bundle() / (std::string(name) + ".json"), name);
  check_several_runs(scene, checked, bundle, other);
  checked.printed({"ls"});
  checked.printed({"ls", "--metric", "tpot_ms"});
  checked.printed({"tag", "last", "x"});
  checked.printed({"note", "last", "x"});
  checked.printed({"record", bundle});
  checked.printed({"report", bundle});
  checked.printed({"stats", kSmall});
  checked.printed({"whatif", other, "--graph", "decode_step"});
  checked.printed({"whatif", other, "--batch", "2"});
  checked.printed({"whatif", "--record"});
  const std::string results = (kFixtures / "load" / "vllm.json").string(), records = (scene.path / "load.json").string();
  checked.printed({"load", "--from", results, "--slo", "ttft=40ms", "--out", records});
  checked.file(records, "load-records");
  checked.printed({"query", other, "SELECT name, calls, total_ns, NULL FROM kernels"});
  checked.printed({"query", "--schema"});
  for (const std::string& run : {bundle, other}) checked.printed({"show", run}, "answer");
  checked.printed({"mcp", "--allow-run"});
  const std::string tokens = (scene.path / "tokens.json").string();
  checked.printed({"serve", "token", "add", "ci", "--role", "write", "--tokens", tokens}, "serve-token-add");
  checked.printed({"serve", "token", "ls", "--tokens", tokens}, "serve-token-ls");
  checked.printed({"serve", "token", "rm", "ci", "--tokens", tokens}, "serve-token-rm");
  checked.printed({"validate", bundle, "/etc/passwd"}, "", 3);
  checked.printed({"rm", "last", "--dry-run"});
  checked.printed({"backends"});
  checked.printed({"schema"});
  checked.printed({"plan", "--keys"});
  checked.printed({"completion", "bash"});
  checked.printed({"manual", (scene.path / "man").string()});
  checked.printed({"--version"}, "version");
  for (const char* verb : {"run", "import", "compare", "help", "ls", "whatif"}) checked.printed({"help", verb});
  checked.printed({"help"});
  checked.printed({"help", "topics"});
  checked.printed({"help", "glossary"});
  for (const char* name : {"launch_bound_decode", "tpot_ms", "step", "launching_share", "run.top_n_kernels"})
    checked.printed({"explain", name});
  CHECK(checked.printed({"improt"}, "error", 2)["error"]["code"] == "unknown_verb");
  CHECK(checked.printed({"show", "nonesuch"}, "error", 3)["error"]["code"] == "no_such_run");
  checked.printed({"doctor"}, "", scene.nl_stage({"doctor"}).status);
  // Checked where they are made: dumps of ranks are made by collectives_test.py, suites and nodes need longer, the others a GPU, a model file, a server that goes on
  // or an archive unpacked by hand.
  checked.all_were_seen({"collectives", "suite", "nodes", "ceilings", "calibrate", "session", "archive", "serve"});
}

TEST_CASE("schemas: a plan fits, and what does not fit is named by its place") {
  Scene scene;
  scene.use_standins();
  Checked checked(scene);
  for (const char* runner : {"deep", "light", "unprofiled"}) checked.printed({"plan", "--json", "--config", runner, "/bin/true"});
  const fs::path file = scene.path / "ls.json";
  std::ofstream(file) << R"({"runs": [{"run_id": 3}]})";
  const Outcome refused = scene.nl_stage({"validate", "--schema", "ls", file.string()});
  CHECK(refused.status == 3);
  CHECK(refused.says("it does not fit the schema 'ls': at /runs/0"));
  CHECK(scene.nl_stage({"validate", "--schema", "lss", file.string()}).status == 2);
}
