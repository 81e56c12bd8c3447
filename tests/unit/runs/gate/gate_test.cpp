#include "runs/gate/gate.h"

#include <fstream>

#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// The gate over real runs and files: written, met, regressed, refused.
using namespace nl;
using namespace nl::runs;
using nl::test::has;

namespace {

const std::string kGolden = NL_FIXTURES "/golden/h200-llama/run.json";

struct GateFolder : nl::test::Folder {
  GateRequest request(std::vector<std::string> runs = {kGolden}, bool update = false) const {
    return {std::move(runs), path / "perf.yaml", update, {}, {}};
  }
  std::string text() const { return nl::test::read_text(path / "perf.yaml"); }
  std::string run(const char* name, void (*change)(Run&)) const {
    Run run = exporters::run_from_json(nl::test::read_text(kGolden));
    change(run);
    return file(name, exporters::run_to_json(run)).string();
  }
};

ErrorKind kind_of(const GateRequest& request) {
  try {
    check_gate(request);
  } catch (const Error& error) {
    return error.kind;
  }
  return ErrorKind::kInternal;
}

}  // namespace

TEST_CASE("gate: a file written by --update is met by the same run, and a second update changes nothing") {
  const GateFolder folder;
  CHECK(kind_of(folder.request()) == ErrorKind::kConfig);  // there is no file yet
  const GateReport written = check_gate(folder.request({kGolden}, true));
  CHECK(written.changed_files == std::vector<std::string>{(folder.path / "perf.yaml").string()});
  CHECK(has(folder.text(), "  NVIDIA H200:\n"));
  CHECK(has(folder.text(), "    stage.decode_step.median_ms:\n"));
  CHECK(has(folder.text(), "captured_by: \"import (nsys-sqlite)\", model: \"h200-llama\", "));
  const GateReport report = check_gate(folder.request());
  CHECK(report.passed());
  REQUIRE(report.results.size() == 1);
  CHECK(report.results[0].lines.size() >= 8);
  for (const GateLine& line : report.results[0].lines) CHECK(line.outcome == GateOutcome::kMet);
  const std::string before = folder.text();
  CHECK(check_gate(folder.request({kGolden}, true)).changed_files.empty());
  CHECK(folder.text() == before);
}

TEST_CASE("gate: a slower run fails, and its update keeps the comments") {
  const GateFolder folder;
  check_gate(folder.request({kGolden}, true));
  std::string text = folder.text();
  text.insert(text.find("hardware:"), "# agreed on in May\n");
  std::ofstream(folder.path / "perf.yaml") << text;
  const std::string slow = folder.run("slow.json", [](Run& run) {
    run.run_id = "slow";
    for (StageEntry& stage : run.stages)
      if (stage.name == "decode_step") stage.wall.median_ns *= 1.5;
  });
  const GateReport report = check_gate(folder.request({slow}));
  CHECK_FALSE(report.passed());
  for (const GateLine& line : report.results[0].lines)
    CHECK((line.outcome == GateOutcome::kRegressed) == (line.metric == "stage.decode_step.median_ms"));
  const GateReport updated = check_gate(folder.request({slow}, true));
  REQUIRE(updated.changes.size() == 1);
  CHECK(updated.notes.empty());
  CHECK(updated.passed());
  CHECK(has(folder.text(), "# agreed on in May\nhardware:"));
  CHECK(has(folder.text(), "run: \"slow\""));
}

TEST_CASE("gate: a run whose stages are empty misses them, and NaN is not taken for a figure") {
  const GateFolder folder;
  check_gate(folder.request({kGolden}, true));
  const std::string empty = folder.run("empty.json", [](Run& run) {
    run.stages.clear();
    run.latency = {};
    run.efficiency.clear();
  });
  const GateReport report = check_gate(folder.request({empty}));
  CHECK_FALSE(report.passed());
  for (const GateLine& line : report.results[0].lines) CHECK(line.outcome == GateOutcome::kMissing);
}

TEST_CASE("gate: runs of another capture mode, without hardware or damaged are refused") {
  const GateFolder folder;
  check_gate(folder.request({kGolden}, true));
  CHECK(kind_of(folder.request({folder.run("collector.json", [](Run& run) { run.provenance.tracer = Tracer::kCupti; })})) ==
        ErrorKind::kInput);
  CHECK(kind_of(folder.request({folder.run("nowhere.json", [](Run& run) { run.hardware = {}; })})) == ErrorKind::kInput);
  CHECK(kind_of(folder.request({folder.file("half.json", "{\"schema_version\": \"3.0").string()})) == ErrorKind::kInput);
  CHECK(kind_of(folder.request({(folder.path / "none.json").string()})) == ErrorKind::kInput);
}

TEST_CASE("gate: a file that cannot be written leaves the old one as it was") {
  const GateFolder folder;
  GateRequest request = folder.request({kGolden}, true);
  request.expectations = folder.path / "no" / "such" / "perf.yaml";
  CHECK(kind_of(request) == ErrorKind::kOutput);
}
