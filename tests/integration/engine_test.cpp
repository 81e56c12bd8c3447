// mark.engine through a whole run: stand-ins with the names and shapes of inference engines (tests/fixtures/engines), which compute nothing.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

namespace {

const fs::path kEngines = kFixtures / "engines";

Outcome run_engine(Scene& scene, const std::string& engine, const std::string& script) {
  return scene.nl_stage({"run", "--config", "light", "--set", "nsys.enabled=false", "--set", "perturbation.repeats=0", "--set",
                         "mark.engine=" + engine, "--out", scene.bundle().string(), "--", "python3", (kEngines / script).string()});
}

// The marks of the domain LLM, in the order of their times.
std::vector<std::string> marks(Scene& scene) {
  const Outcome answer = scene.nl_stage({"query", scene.bundle().string(),
                                         "SELECT name FROM slices WHERE kind = 'mark' AND (name LIKE 'step %' OR name LIKE 'request %') "
                                         "ORDER BY start_ns",
                                         "--format", "csv"});
  INFO(answer.err);
  REQUIRE(answer.status == 0);
  std::vector<std::string> lines;
  std::istringstream text(answer.out);
  for (std::string line; std::getline(text, line);)
    if (line.find("step index=") != std::string::npos || line.find("request ") != std::string::npos) lines.push_back(line);
  return lines;
}

std::size_t count_of(const std::vector<std::string>& lines, const std::string& word) {
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const auto& line) { return line.find(word) != std::string::npos; }));
}

}  // namespace

TEST_CASE("mark.engine: a run of a stand-in for vLLM has its steps, and in each the requests") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene;
  const Outcome outcome = run_engine(scene, "vllm", "serve_vllm.py");
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  const auto run = scene.json("run.json");
  CHECK(run["provenance"]["adaptations"].dump().find("mark.engine is vllm") != std::string::npos);
  CHECK(run["import_stats"]["notes"].dump().find("They come from the ranges of vLLM") != std::string::npos);
  const std::vector<std::string> lines = marks(scene);
  CHECK(count_of(lines, "step index=") == 10);
  CHECK(count_of(lines, "request arrived") == 3);
  CHECK(count_of(lines, "request preempted") == 1);
  CHECK(count_of(lines, "request finished") == 3);
  CHECK(count_of(lines, ":prefill:") >= 3);
}

TEST_CASE("mark.engine: auto follows a stand-in for SGLang, and off marks nothing") {
  if (!have_collector()) NL_SKIP("built without the collector");
  Scene scene, off;
  const Outcome outcome = run_engine(scene, "auto", "serve_sglang.py");
  INFO(outcome.err << outcome.out);
  REQUIRE(outcome.status == 0);
  CHECK(count_of(marks(scene), "step index=") == 5);
  REQUIRE(run_engine(off, "off", "serve_sglang.py").status == 0);
  CHECK(marks(off).empty());
}
