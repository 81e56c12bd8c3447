#include "orchestrator/capture/limits.h"

#include <fstream>

#include "orchestrator/capture/capture.h"
#include "orchestrator/process/process.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;
using nl::Code;
using nl::PassKind;
using Strings = std::vector<std::string>;

namespace {

Toolset tools_with_collector() {
  Toolset tools;
  tools.gpus = {"NVIDIA H200"};
  tools.collector = "/lib/libnl_collector.so";
  return tools;
}

// The workload under the collector; its first `too_large` runs write too much.
struct LargeTrace {
  nl::test::Folder folder;
  Bundle bundle = Bundle::create({folder.path, folder / "b", "x", "light"}, {});
  Config config = nl::test::config_for({"./w"});
  Verdict verdict;
  int too_large = 1, traced = 0;
  bool second_writes = true;
  std::vector<ProcessSpec> started;
  Strings records;

  LargeTrace() {
    config.ncu.enabled = false;
    config.capture.max_size = "1MB";
  }
  void play(const ProcessSpec& process, ProcessResult& result) {
    const bool traces = process.env.at("NL_STAGE_TRACE_DIR") == (bundle.path() / "collector").string();
    CHECK(bool(process.enough) == traces);
    started.push_back(process);
    result.duration_ns = 1'000'000'000;
    const int number = traces ? traced++ : 0;
    result.had_enough = traces && number < too_large;
    if (result.had_enough) result.exit_status = 130;
    fs::create_directories(bundle.path() / "facts");  // as the marks do
    if (traces) std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")).parent_path() / "facts" / std::to_string(number)) << "{}";
    if (number > 0 && !second_writes) return;
    nl::test::CounterFile file;
    file.thread(7).string(1, "LLM").string(2, "prefill").push(2, 1500, 1).pop(9000, 1).thread(0);
    file.add(nl::trace_format::Kind::kGpuSession, nl::trace_format::GpuSession{{}, 900, 1, 1}, 130001);
    std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")) / ("w." + std::to_string(number) + ".nltrace"), std::ios::binary)
        << file.whole();
  }
  Capture run() {
    const Plan plan = make_plan(config, tools_with_collector(), bundle.path());
    nl::test::PlayedLauncher launcher([this](const ProcessSpec& process, ProcessResult& result) { play(process, result); });
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    Capture capture = execute(plan, runner);
    records = nl::test::whole_records(capture.passes);
    return capture;
  }
};

Strings codes_of(const Capture& capture) {
  Strings codes;
  for (const nl::Remark& remark : capture.adaptations) codes.emplace_back(nl::key_of(remark.code));
  return codes;
}

// The run is partial: what came after the limit is missing.
bool cut_short(const LargeTrace& large) {
  const auto& problems = large.verdict.problems();
  const auto cut = [](const nl::Problem& problem) { return problem.code == Code::kTraceCutShort; };
  return std::any_of(problems.begin(), problems.end(), cut) && nl::status_of(problems, true) == nl::RunStatus::kPartial;
}

}  // namespace

TEST_CASE("trace size: of a folder, and of what was written since") {
  const nl::test::Folder folder;
  fs::create_directories(folder / "a/b");
  std::ofstream(folder / "a/x") << "123";
  std::ofstream(folder / "a/b/y") << "12345";
  CHECK(bytes_below(folder.path) == 8);
  CHECK(bytes_below(folder.path, fs::file_time_type::clock::now() + std::chrono::hours(1)) == 0);
  CHECK(bytes_below(folder / "none") == 0);
}

TEST_CASE("trace size: a process that writes too much is asked to end") {
  const nl::test::Folder folder;
  Plan plan;
  plan.bundle = folder.path;
  plan.config.capture.max_size = "300kB";
  Pass pass;
  pass.kind = PassKind::kCollector;
  pass.outputs = {"collector"};
  fs::create_directories(folder / "collector");
  pass.process.argv = {"/bin/sh", "-c", "trap 'echo asked; exit 0' INT; while :; do head -c 100000 /dev/zero >> \"$1\"; sleep 0.01; done",
                       "sh", (folder / "collector/x").string()};
  pass.process.timeout_s = 60;
  pass.process.signal_group = true;
  limit_trace_size(pass, plan);
  const ProcessResult result = run_process(pass.process);
  CHECK(result.had_enough);
  CHECK_FALSE(result.timed_out);
  CHECK(bytes_below(folder / "collector") > 300'000);
  Pass unlimited;
  unlimited.outputs = {"collector"};
  plan.config.capture.max_size.clear();
  limit_trace_size(unlimited, plan);
  CHECK_FALSE(unlimited.process.enough);
}

TEST_CASE("trace size: what a lighter plan goes without, pass for pass") {
  Config config = nl::test::config_for({"./w"});
  config.perturbation.repeats = 2;
  Toolset tools = tools_with_collector();
  tools.nsys.emplace().path = "/opt/nsys";
  const Plan plan = make_plan(config, tools, "/b");
  const auto lighter = lighter_plan(plan);
  REQUIRE(lighter);
  CHECK(lighter->without == "osrt, kernels inside CUDA graphs");
  CHECK(lighter->plan.passes.size() == plan.passes.size());
  CHECK(nl::test::names_of(lighter->plan) == nl::test::names_of(plan));
  CHECK(lighter->plan.config.nsys.trace == Strings{"cuda", "nvtx"});
  CHECK_FALSE(lighter_plan(lighter->plan));  // there is no less
  config.capture.prefer = "cupti";
  config.capture.pc_sampling = 18;
  CHECK(lighter_plan(make_plan(config, tools, "/b"))->without == "stall reasons, kernels inside CUDA graphs");
}

TEST_CASE("trace size: the workload is traced once more with less, and the first trace is kept") {
  LargeTrace large;
  large.config.perturbation.repeats = 2;
  const Capture capture = large.run();
  CHECK(large.records ==
        Strings{"unprofiled ok 0 [unprofiled/1]", "collector ok 130 [cut-trace] ended when its trace exceeded capture.max_size",
                "collector ok 0 [collector]", "unprofiled ok 0 [unprofiled/2]", "collector-repeat ok 0 [] for its timings: not kept"});
  CHECK(codes_of(capture) == Strings{"traced-by-collector", "traced-with-less"});
  CHECK(capture.adaptations.back().details == Strings{"1MB", "kernels inside CUDA graphs", "cut-trace"});
  CHECK(capture.workload_exit == 0);
  CHECK(capture.collector_files == std::vector<fs::path>{large.bundle.path() / "collector/w.1.nltrace"});
  CHECK(fs::exists(large.bundle.path() / "cut-trace/w.0.nltrace"));
  CHECK(fs::exists(large.bundle.path() / "cut-trace/facts/0"));
  for (const std::size_t later : {2u, 4u}) CHECK(large.started.at(later).env.at("NL_STAGE_CUDA_GRAPHS") == "graph");
  CHECK(large.verdict.problems().empty());
}

TEST_CASE("trace size: a second trace that is too large as well is cut short") {
  LargeTrace large;
  large.too_large = 2;
  const Capture capture = large.run();
  CHECK(codes_of(capture) == Strings{"traced-by-collector", "traced-with-less"});
  CHECK(cut_short(large));
  CHECK(capture.any());
  CHECK_FALSE(capture.workload_exit);
}

TEST_CASE("trace size: where the second trace fails, the first is what there is") {
  LargeTrace large;
  large.second_writes = false;
  const Capture capture = large.run();
  CHECK(cut_short(large));
  CHECK(capture.collector_files == std::vector<fs::path>{large.bundle.path() / "collector/w.0.nltrace"});
  CHECK(fs::exists(capture.collector_files.at(0)));
  CHECK(fs::exists(large.bundle.path() / "facts/0"));
}

TEST_CASE("trace size: without anything lighter the trace ends there") {
  LargeTrace large;
  large.config.capture.cuda_graphs = "graph";
  const Capture capture = large.run();
  CHECK(large.started.size() == 1);
  CHECK(codes_of(capture) == Strings{"traced-by-collector"});
  CHECK(cut_short(large));
  CHECK(capture.trace.ranges.size() == 1);
}
