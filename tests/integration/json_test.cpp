// --json on every verb: one object on standard output, on success and on failure.
#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

using Words = std::vector<std::string>;

const std::string kAnswered = (kFixtures / "h200-probe" / "probe_node.sqlite").string();

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// All that are listed, those below others, and those that are not listed.
std::vector<Words> all_verbs(Scene& scene, const Words& above = {}) {
  std::vector<Words> verbs;
  const auto listed = nlohmann::json::parse(scene.nl_stage(Words{"help"} + above + Words{"--json"}).out);
  for (const auto& verb : listed["verbs"]) {
    verbs.push_back(above + Words{verb["name"]});
    for (const Words& below : all_verbs(scene, verbs.back())) verbs.push_back(below);
  }
  if (above.empty()) verbs.insert(verbs.end(), {{"session"}, {"manual"}});
  return verbs;
}

std::string line_of(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += word + " ";
  return line;
}

nlohmann::json object_of(Scene& scene, const Words& words, int status) {
  const Outcome outcome = scene.nl_stage(words);
  INFO(line_of(words) << "\n" << outcome.out << outcome.err);
  CHECK((status < 0 || outcome.status == status));
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);  // no more than one: the rest would not parse
  CHECK(json.is_object());
  CHECK(outcome.out.ends_with("}\n"));
  return json;
}

void check_error(Scene& scene, const Words& words, int status) {
  const auto json = object_of(scene, words, status);
  INFO(line_of(words));
  REQUIRE(json.contains("error"));
  for (const char* field : {"code", "kind", "what", "where", "fix", "exit_status"}) CHECK(json["error"].contains(field));
  CHECK(json["error"]["exit_status"] == status);
}

}  // namespace

TEST_CASE("json: every verb prints one object, whatever is wrong with its words") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  for (const Words& verb : all_verbs(scene)) {
    check_error(scene, verb + Words{"--zzzzzzzz", "--json"}, 2);
    check_error(scene, verb + Words{"--json", "--zzzzzzzz"}, 2);
    CHECK(object_of(scene, verb + Words{"--json", "--help"}, 0)["name"] == verb.back());
    if (verb.back() == "suite" || verb.back() == "serve") continue;  // nothing given: they begin
    object_of(scene, verb + Words{"--json"}, -1);
  }
  check_error(scene, {"suite", "--json"}, 2);
  check_error(scene, {"improt", "--json"}, 2);
  check_error(scene, {"--json"}, 2);
  CHECK(object_of(scene, {"-V", "--json"}, 0)["name"] == "nl-stage");
  for (const char* verb : {"run", "plan", "try", "bisect"}) {
    check_error(scene, {verb, "--zzzzzzzz", "x", "--json", "./workload"}, 2);
    CHECK(scene.nl_stage({verb, "--zzzzzzzz=x", "./workload", "--json"}).out.empty());
  }
}

TEST_CASE("json: every verb that reads a file says what is wrong with it") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  const std::string none = (scene.path / "none").string();
  const std::vector<Words> all = {{"import", none},
                                  {"report", none},
                                  {"compare", none, "--to", none},
                                  {"nodes", none, none},
                                  {"gate", none, "--list"},
                                  {"fingerprint", none},
                                  {"fingerprint", "search", none},
                                  {"stats", none},
                                  {"show", none},
                                  {"tag", none, "x"},
                                  {"note", none, "x"},
                                  {"rm", none},
                                  {"record", none},
                                  {"facts", none},
                                  {"collectives", none},
                                  {"trends", "tpot_ms"},
                                  {"export", none, "-o", none + ".nlz"},
                                  {"import-bundle", none}};
  for (const Words& words : all) check_error(scene, words + Words{"--json"}, 3);
  CHECK(object_of(scene, {"validate", none, "--json"}, 3)["files"][0]["valid"] == false);
  object_of(scene, {"suite", none, "--json"}, -1);
  check_error(scene, {"gate", none, "-e", none, "--json"}, 2);
  check_error(scene, {"run", "-c", none, "--json", "/bin/true"}, 2);
  check_error(scene, {"completion", "csh", "--json"}, 2);
  check_error(scene, {"schema", "zzzzzzzz", "--json"}, 2);
  check_error(scene, {"help", "zzzzzzzz", "--json"}, 2);
  check_error(scene, {"try", "--rounds", "x", "--json", "./workload"}, 2);
}

TEST_CASE("json: every verb that needs no GPU answers with one object") {
  Scene scene;
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  const std::string bundle = scene.bundle().string();
  object_of(scene, {"import", kAnswered, "--out", bundle, "--name", "probe", "--json"}, 0);
  const std::vector<Words> all = {{"report", bundle},
                                  {"compare", bundle, "--to", bundle},
                                  {"gate", bundle, "--list"},
                                  {"fingerprint", bundle, "--kernels"},
                                  {"fingerprint", bundle, "--kernels", "--to", bundle},
                                  {"fingerprint", "search", bundle, "--kernels"},
                                  {"stats", kAnswered},
                                  {"ls"},
                                  {"show", "last"},
                                  {"tag", "last", "x"},
                                  {"note", "last", "x"},
                                  {"record", bundle},
                                  {"facts", bundle, "--out", (scene.path / "facts").string()},
                                  {"trends", "gpu_busy_share"},
                                  {"export", "last", "-o", bundle + ".nlz"},
                                  {"import-bundle", bundle + ".nlz", "--out", (scene.path / "unpacked").string()},
                                  {"rm", "last", "--dry-run"},
                                  {"validate", bundle},
                                  {"backends"},
                                  {"schema"},
                                  {"schema", "run"},
                                  {"help"},
                                  {"completion", "bash"},
                                  {"completion", "zsh"},
                                  {"completion", "fish"},
                                  {"plan", "--keys"},
                                  {"suite", "--queue", (scene.path / "queue").string(), "--queue-status"},
                                  {"manual", (scene.path / "man").string()}};
  for (const Words& words : all) CHECK_FALSE(object_of(scene, words + Words{"--json"}, 0).contains("error"));
  const auto script = object_of(scene, {"completion", "bash", "--json"}, 0);
  CHECK(script["shell"] == "bash");
  CHECK(script["script"] == scene.nl_stage({"completion", "bash"}).out);
}
