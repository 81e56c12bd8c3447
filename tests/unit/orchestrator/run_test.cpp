// A whole run, with tools that are played: what it is asked for arrives, what it leaves is there.
#include "orchestrator/run.h"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "exporters/run_json/run_json.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tools.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using Strings = std::vector<std::string>;

namespace {

struct WholeRun {
  test::FakeTree tree;
  RunRequest request;
  int status = 0;  // of the traced workload
  test::PlayedLauncher launcher{[this](const ProcessSpec& process, ProcessResult& result) { play(process, result); }};

  WholeRun() {
    Config& config = request.config;
    config.tools = test::fake_tools(tree);
    config.workload.command = {tree.program("w").string(), "x"};
    config.artifacts.dir = (tree.root() / "runs").string();
    config.run.name = "a name";
    config.run.mode = "light";
    config.run.top_n_kernels = 1;
    config.ncu.enabled = false;
    config.perturbation.repeats = 1;
    config.energy.interval_ms = 1;
    config.composed_yaml = "run: {}\n";
    config.workload.inputs = {tree.write("prompts.txt", "abc").string()};
  }
  // The meters are read in a thread of their own: a pass lasts until they were.
  void wait_for_meters() const {
    if (request.config.energy.enabled == "off") return;
    void* library = dlopen(request.config.tools.nvml.c_str(), RTLD_LAZY);
    REQUIRE(library != nullptr);
    const int* reads = static_cast<const int*>(dlsym(library, "nl_fake_nvml_reads"));
    REQUIRE(reads != nullptr);
    const int before = __atomic_load_n(reads, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 2000 && __atomic_load_n(reads, __ATOMIC_SEQ_CST) == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    dlclose(library);
  }
  void play(const ProcessSpec& process, ProcessResult& result) const {
    result.duration_ns = 1'000'000'000;
    if (process.argv.at(1) != "export") wait_for_meters();
    if (const auto folder = process.env.find("NL_STAGE_TRACE_DIR"); folder != process.env.end()) {
      test::CounterFile file;
      file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1);
      std::ofstream(fs::path(folder->second) / "w.7.nltrace", std::ios::binary) << file.whole();
      return;
    }
    for (const auto& word : process.argv) {
      if (!word.starts_with("--output=")) continue;
      const fs::path output = word.substr(9);
      if (output.extension() != ".sqlite") {
        std::ofstream(output.string() + ".nsys-rep") << "a report";
        result.exit_status = status;
      } else {
        fs::copy_file(NL_FIXTURES "/h200-probe/probe_node.sqlite", output);
        fs::permissions(output, fs::perms::owner_write, fs::perm_options::add);
      }
    }
  }
  RunResult run() { return run_workload(request, launcher); }
  std::string refusal() {
    try {
      run();
    } catch (const Error& error) {
      return error.message + " | " + error.where + " | " + error.fix;
    }
    return "";
  }
};

}  // namespace

TEST_CASE("run: from a configuration to a bundle") {
  WholeRun whole;
  const RunResult result = whole.run();
  CHECK_FALSE(result.failure);
  CHECK(result.interrupt_signal == 0);
  const Run& run = result.run;
  CHECK(run.status == RunStatus::kComplete);
  CHECK(test::outcomes_of(run.provenance.passes) ==
        Strings{"unprofiled ok", "nsys ok", "nsys-export ok", "operators skipped", "operators-export skipped"});
  CHECK(captured_by(run.provenance.tracer, run.provenance.meter) == "nsys");
  CHECK(run.software.nsys_version == "2025.3.1");
  CHECK(run.software.ncu_version.empty());
  REQUIRE(run.kernels);
  CHECK(std::count_if(run.kernels->begin(), run.kernels->end(), [](const KernelEntry& kernel) { return kernel.selected; }) ==
        1);  // run.top_n_kernels
  CHECK(run.perturbation.order == "unprofiled nsys");
  CHECK(run.provenance.workload_starts == 3);  // the operator pass is planned, too
  CHECK(run.provenance.expected_s == 3);
  CHECK_FALSE(run.provenance.budget_s);
  CHECK(run.energy.pass == "unprofiled");
  CHECK_FALSE((run.findings.empty() && run.abstentions.empty()));  // the shipped rules were asked
  CHECK(run.peaks);                                                // and the table of devices
  CHECK(whole.launcher.started.at(1).forward_output);

  CHECK(result.bundle.parent_path() == whole.tree.root() / "runs");
  CHECK(result.bundle.filename().string().ends_with("-a-name-light"));
  CHECK(test::read_text(result.bundle / "config.yaml") == "run: {}\n");
  CHECK(test::has(test::read_text(result.bundle / "inputs.yaml"), "prompts.txt\n    size_bytes: 3\n"));
  for (const char* name : {"run.json", "report.md", "trace.pftrace", "manifest.json", "energy/samples.csv",
                           "nsys/run_cuda_gpu_kern_sum.csv", "nsys/run.sqlite"}) {
    INFO(name);
    CHECK(fs::exists(result.bundle / name));
  }
  CHECK(exporters::run_from_json(test::read_text(result.bundle / "run.json")).run_id == run.run_id);
}

TEST_CASE("run: what is asked of it") {
  WholeRun whole;
  whole.request.out = whole.tree.root() / "mine";
  whole.request.echo = orchestrator::Echo::kNothing;
  whole.request.config.artifacts.perfetto = false;
  whole.request.config.nsys.stats_csv = false;
  whole.request.config.energy.enabled = "off";
  const RunResult result = whole.run();
  CHECK(result.bundle == whole.tree.root() / "mine");
  CHECK_FALSE(fs::exists(whole.tree.root() / "runs"));
  CHECK_FALSE(whole.launcher.started.at(1).forward_output);
  CHECK_FALSE(fs::exists(result.bundle / "trace.pftrace"));
  CHECK_FALSE(fs::exists(result.bundle / "nsys/run_cuda_gpu_kern_sum.csv"));
  CHECK_FALSE(fs::exists(result.bundle / "energy/samples.csv"));
  CHECK(result.run.energy.note == "switched off (energy.enabled)");
}

TEST_CASE("run: with a budget of time the trace comes first, and what would not fit is left out") {
  WholeRun whole;
  whole.request.config.perturbation.repeats = 2;
  whole.request.config.run.budget_s = 3.5;  // each process takes a second
  SECTION("operators are worth more than repetitions") {
    const Run run = whole.run().run;
    CHECK(test::outcomes_of(run.provenance.passes) == Strings{"nsys ok", "nsys-export ok", "unprofiled skipped", "nsys-repeat skipped",
                                                              "nsys-repeat-export skipped", "unprofiled skipped", "operators skipped",
                                                              "operators-export skipped"});
    return;
  }
  whole.request.config.mark.operators = false;
  const Run run = whole.run().run;
  CHECK(test::outcomes_of(run.provenance.passes) ==
        Strings{"nsys ok", "nsys-export ok", "unprofiled ok", "nsys-repeat skipped", "nsys-repeat-export skipped", "unprofiled skipped"});
  CHECK(run.provenance.workload_starts == 4);
  CHECK(run.provenance.expected_s == 4);
  CHECK(run.provenance.budget_s == 3.5);
  CHECK(run.provenance.adaptations.back() == Remark{Code::kLeftOutForTime, {"3.5", "nsys-repeat, unprofiled"}});
  CHECK(run.perturbation.order == "nsys unprofiled");
  CHECK(run.status == RunStatus::kComplete);
}

TEST_CASE("run: an input that is not there is refused before anything runs") {
  WholeRun whole;
  whole.request.config.workload.inputs.push_back("absent.txt");
  CHECK(whole.refusal() ==
        "an input of the workload is not there | absent.txt | correct workload.inputs; its paths are relative to "
        "where the workload is started (workload.working_directory)");
  CHECK(whole.launcher.started.empty());
  CHECK_FALSE(fs::exists(whole.tree.root() / "runs"));
}

TEST_CASE("run: a workload that fails leaves a bundle that says so") {
  WholeRun whole;
  whole.status = 3;
  const RunResult result = whole.run();
  CHECK(result.failure == ErrorKind::kWorkload);
  CHECK(result.run.status == RunStatus::kFailed);
  CHECK(result.run.workload.exit_status == 3);
  CHECK(test::has(test::read_text(result.bundle / "run.json"), "workload-failed"));
}

TEST_CASE("run: what cannot work is refused before anything is started") {
  WholeRun whole;
  Config& config = whole.request.config;
  SECTION("no such program") {
    config.workload.command[0] = "./nowhere-to-be-found";
    CHECK(test::has(whole.refusal(), "nowhere-to-be-found"));
  }
  SECTION("a program that is looked for where the workload runs") {
    config.workload.command[0] = "./w";
    CHECK(test::has(whole.refusal(), "./w"));
    config.workload.working_directory = whole.tree.root();
    CHECK(whole.refusal() == "");
    return;
  }
  SECTION("no command: the bundle that was begun is gone") {
    config.workload.command.clear();
    CHECK(whole.refusal().starts_with("there is no command to profile"));
  }
  SECTION("a rule that cannot be read") {
    config.analysis.rules = {whole.tree.write("mine.yaml", "nonsense: [").string()};
    CHECK(test::has(whole.refusal(), "mine.yaml"));
  }
  SECTION("a table of devices that cannot be read") {
    config.device.file = whole.tree.write("card.yaml", "nonsense: [").string();
    CHECK(test::has(whole.refusal(), "card.yaml"));
  }
  SECTION("a tool that is named and not there") {
    config.tools.nsys = "/nowhere/nsys";
    CHECK(whole.refusal() == "/nowhere/nsys does not exist | tools.nsys | correct tools.nsys, or remove it to search the usual places");
  }
  SECTION("a check that is blocked") {
    const test::SetVariable set("TMPDIR", "/nowhere/tmp");
    CHECK(test::has(whole.refusal(), "/nowhere/tmp cannot be written to"));
  }
  CHECK(whole.launcher.started.empty());
  CHECK((!fs::exists(whole.tree.root() / "runs") || fs::is_empty(whole.tree.root() / "runs")));
}
