// The operator pass: where it stands in a plan, when it is run, and what becomes of it.

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "analysis/analyse.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/read.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

Config marked_config() {
  Config config = test::config_for({"python3", "gen.py"});
  config.mark.automatic = true;
  config.ncu.enabled = false;
  return config;
}

Toolset with_nsys() {
  Toolset tools;
  tools.nsys.emplace().path = "/opt/nsys";
  tools.gpus = {"NVIDIA H200"};
  tools.collector = "/lib/libnl_collector.so";
  return tools;
}

const Pass& planned_pass(const Plan& plan, PassKind kind) {
  const auto found = std::find_if(plan.passes.begin(), plan.passes.end(), [&](const Pass& pass) { return pass.kind == kind; });
  REQUIRE(found != plan.passes.end());
  return *found;
}

bool has_word(const Pass& pass, const std::string& word) {
  return std::find(pass.process.argv.begin(), pass.process.argv.end(), word) != pass.process.argv.end();
}

// Plays nsys: the traced pass leaves the probe's capture, the operator pass the same with an operator range in it.
struct OperatorScene {
  test::FakeTree tree;
  Config config = marked_config();
  Toolset tools = with_nsys();
  Verdict verdict;
  Plan plan;
  Capture capture;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());
  std::string facts = R"({"versions": {"python": "3.12.3", "torch": "2.11.0"}})";
  std::string dtypes = R"({"operators": [{"name": "aten::mm", "shapes": "[[1, 2], [2, 2]]", "dtypes": "[float16, float16]"}]})";
  std::string traced_range;           // a range of the traced pass that becomes an operator
  ProcessResult operators, exported;  // how the operator pass and its export end
  std::string broken_export;          // instead of the export
  int started = 0;

  static void copy_capture(const fs::path& to, const std::string& range) {
    fs::copy_file(NL_FIXTURES "/h200-probe/probe_node.sqlite", to);
    fs::permissions(to, fs::perms::owner_write, fs::perm_options::add);
    if (range.empty()) return;
    SQLite::Database db(to.string(), SQLite::OPEN_READWRITE);
    db.exec("UPDATE NVTX_EVENTS SET text = '" + range +
            "', textId = NULL, domainId = 0 WHERE rowid = (SELECT min(rowid) FROM NVTX_EVENTS WHERE end IS NOT NULL AND eventType = 59)");
  }
  void play(const ProcessSpec& process, ProcessResult& result) {
    ++started;
    const bool exporting = process.argv.at(1) == "export";
    fs::path output;
    for (const auto& word : process.argv)
      if (word.starts_with("--output=")) output = word.substr(9);
    const bool of_operators = output.parent_path().filename() == "operators";
    if (of_operators) result = exporting ? exported : operators;
    if (!exporting) {
      std::ofstream(output.string() + ".nsys-rep") << "a report";
      const char* folder = of_operators ? "operators" : "facts";
      fs::create_directories(bundle.path() / folder);
      if (!(of_operators ? dtypes : facts).empty())
        std::ofstream(bundle.path() / folder / (of_operators ? "dtypes-7.json" : "facts-7.json")) << (of_operators ? dtypes : facts);
    } else if (of_operators && !broken_export.empty()) {
      std::ofstream(output) << broken_export;
    } else {
      copy_capture(output, of_operators ? "aten::mm, op_id = 7, sizes = [[1, 2], [2, 2]]" : traced_range);
    }
  }
  Strings run() {
    plan = make_plan(config, tools, bundle.path());
    test::PlayedLauncher launcher([this](const ProcessSpec& process, ProcessResult& result) { play(process, result); });
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    capture = execute(plan, runner);
    return test::whole_problems(verdict.problems());
  }
  Strings records() const { return test::whole_records(capture.passes); }
};

}  // namespace

TEST_CASE("operator pass: after the trace and its repetitions, before the counters, with its own report") {
  Config config = marked_config();
  config.perturbation.repeats = 2;
  config.ncu.enabled = true;
  config.nsys.trace = {"cuda", "nvtx", "osrt"};
  config.nsys.sample = "process-tree";
  config.nsys.cuda_graph_trace = "graph";
  Toolset tools = with_nsys();
  tools.ncu.emplace().path = "/opt/ncu";
  const Plan plan = make_plan(config, tools, "/b");
  CHECK(test::names_of(plan) == Strings{"unprofiled", "nsys", "nsys-export", "unprofiled", "nsys-repeat", "nsys-repeat-export", "operators",
                                        "operators-export", "ncu", "ncu-export-raw", "ncu-export-details"});
  const Pass& pass = planned_pass(plan, PassKind::kOperators);
  for (const char* word : {"--trace=cuda,nvtx", "--sample=none", "--cuda-graph-trace=node", "--output=/b/operators/run", "gen.py"})
    CHECK(has_word(pass, word));
  CHECK(pass.optional);
  CHECK_FALSE(pass.sample_power);
  CHECK(pass.process.env.at("NL_STAGE_OPERATORS_DIR") == "/b/operators");
  CHECK_FALSE(pass.process.env.contains("NL_STAGE_FACTS_DIR"));
  CHECK_FALSE(pass.process.env.contains("NL_STAGE_HOST_SAMPLES_HZ"));
  CHECK(pass.outputs == std::vector<fs::path>{"operators/run.nsys-rep"});
  const Pass& read = planned_pass(plan, PassKind::kOperatorsExport);
  CHECK(read.optional);
  CHECK(read.process.argv.back() == "/b/operators/run.nsys-rep");
  CHECK(describe_plan(plan).find("operators: record the operators and layers of a few steps") != std::string::npos);
}

TEST_CASE("operator pass: the collector records it without samples, into a folder of its own") {
  Config config = marked_config();
  config.capture.prefer = "cupti";
  config.capture.sampling_us = 500;
  config.capture.cuda_graphs = "graph";
  const Plan plan = make_plan(config, with_nsys(), "/b");
  CHECK(test::names_of(plan) == Strings{"collector", "operators"});
  const auto& env = planned_pass(plan, PassKind::kOperators).process.env;
  CHECK(env.at("NL_STAGE_TRACE_DIR") == "/b/operators/collector");
  CHECK(env.at("NL_STAGE_CUDA_GRAPHS") == "node");
  CHECK_FALSE(env.contains("NL_STAGE_PM_SAMPLING_US"));
  CHECK(planned_pass(plan, PassKind::kCollector).process.env.at("NL_STAGE_CUDA_GRAPHS") == "graph");
}

TEST_CASE("operator pass: there is none where it is off or would be in vain") {
  Config config = marked_config();
  Toolset tools = with_nsys();
  const auto planned = [&] { return test::names_of(make_plan(config, tools, "/b")); };
  const Strings without{"nsys", "nsys-export"};
  SECTION("mark.operators is false") { config.mark.operators = false; }
  SECTION("mark.auto is false") { config.mark.automatic = false; }
  SECTION("the trace itself has PyTorch's operators") {
    config.nsys.pytorch = "autograd-shapes-nvtx";
    CHECK(make_plan(config, tools, "/b").adaptations ==
          std::vector<Remark>{{Code::kOperatorsLeftOut, {"the trace itself records PyTorch's operators (nsys.pytorch)"}}});
  }
  SECTION("NVML says that there is no GPU") {
    tools.gpus.clear();
    tools.nvml = "/lib/libnvidia-ml.so.1";
  }
  CHECK(planned() == without);
}

TEST_CASE("operator pass: its trace and its data types become a source of operators") {
  OperatorScene scene;
  CHECK(scene.run() == Strings{});
  CHECK(scene.records() == Strings{"nsys ok 0 [nsys/run.nsys-rep]", "nsys-export ok 0 [nsys/run.sqlite]",
                                   "operators ok 0 [operators/run.nsys-rep]", "operators-export ok 0 [operators/run.sqlite]"});
  REQUIRE(scene.capture.operators);
  CHECK(scene.capture.adaptations.empty());
  const auto evidence = read(scene.plan, std::move(scene.capture), {}, scene.bundle, scene.verdict);
  REQUIRE(evidence.operators.size() == 1);
  CHECK(evidence.operators[0].operator_pass);
  CHECK(evidence.operators[0].dtypes == std::vector<OperatorDtypes>{{"aten::mm", "[[1, 2], [2, 2]]", "[float16, float16]"}});
}

TEST_CASE("operator pass: its export is dropped after reading where exports are not kept") {
  OperatorScene scene;
  scene.config.nsys.sqlite = false;
  CHECK(scene.run() == Strings{});
  CHECK(scene.capture.operators);
  CHECK_FALSE(fs::exists(scene.bundle.path() / "operators/run.sqlite"));
  CHECK(fs::exists(scene.bundle.path() / "operators/run.nsys-rep"));
  CHECK(scene.records().back() == "operators-export ok 0 [] read, and not kept (nsys.export.sqlite: false)");
}

TEST_CASE("operator pass: a workload without PyTorch is not run once more") {
  OperatorScene scene;
  std::string why = "the workload is no Python program that uses PyTorch";
  SECTION("no Python") { scene.facts.clear(); }
  SECTION("Python alone") { scene.facts = R"({"versions": {"python": "3.12.3"}})"; }
  SECTION("its operators are in the trace") {
    scene.traced_range = "aten::mm, op_id = 7";
    why = "the trace has PyTorch's operators";
  }
  CHECK(scene.run() == Strings{});
  CHECK(scene.started == 2);
  CHECK_FALSE(scene.capture.operators);
  CHECK(scene.records().at(2) == "operators skipped - [] " + why);
  CHECK(scene.records().at(3) == "operators-export skipped - [] " + why);
  CHECK(scene.capture.adaptations == std::vector<Remark>{{Code::kOperatorsLeftOut, {why}}});
}

TEST_CASE("operator pass: whatever goes wrong in it is noted and fails nothing") {
  OperatorScene scene;
  std::string what, log = "logs/operators.stderr.log";
  SECTION("the workload fails") {
    scene.operators.exit_status = 3;
    what = "ended with status 3";
  }
  SECTION("it takes too long") {
    scene.operators.timed_out = true;
    what = "was ended by its timeout";
  }
  SECTION("it cannot be exported") {
    scene.exported.exit_status = 1;
    scene.exported.stderr_text = "Importer error.\n";
    what = "could not be exported: Importer error";
    log = "logs/operators-export.stderr.log";
  }
  CHECK(scene.run() == Strings{});
  CHECK_FALSE(scene.verdict.failure());
  CHECK_FALSE(scene.capture.operators);
  CHECK(scene.capture.adaptations == std::vector<Remark>{{Code::kOperatorsFailed, {what}, log}});
}

TEST_CASE("operator pass: an export that is no database is noted and not kept") {
  OperatorScene scene;
  scene.broken_export = "not a database";
  CHECK(scene.run() == Strings{});
  CHECK_FALSE(scene.capture.operators);
  REQUIRE(scene.capture.adaptations.size() == 1);
  CHECK(scene.capture.adaptations[0].code == Code::kOperatorsFailed);
  CHECK_FALSE(fs::exists(scene.bundle.path() / "operators/run.sqlite"));
}
