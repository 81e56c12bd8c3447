#include <string>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// What the host ran while the GPU waited: in words, in tables and as a flame graph.
using namespace nl;
using namespace nl::exporters::report;
using nl::test::has;

namespace {

std::string host_text(const Run& run) { return nl::exporters::markdown({"T", "", {}, {}, {host_code(run)}}); }

// One stage of ten windows of 1 ms, half of it launch-starved, with `samples` samples in that.
Run run_with(std::uint64_t samples) {
  Run run;
  StageEntry stage;
  stage.name = "prefill";
  stage.wall.count = 10;
  stage.budget.emplace();
  stage.budget->wall_ns = 10'000'000;
  stage.budget->launch_starved_ns = 5'000'000;
  HostCode code;
  code.waited_ns = 5'000'000;
  code.samples = samples;
  code.kinds = {{HostWork::kOther, samples, 5'000'000}};
  code.lines = {{{"f", "/a/b.py", "b", 7, 0, ""}, HostWork::kOther, samples, samples, 5'000'000, 5'000'000}};
  stage.host_code = code;
  run.stages = {stage};
  run.host.emplace();
  run.host->sampler = HostSampler::kPython;
  run.host->period_ns = 10'000'000;
  return run;
}

const FlameChart::Frame& frame_named(const FlameChart& chart, const std::string& name) {
  for (const auto& frame : chart.frames)
    if (frame.name == name) return frame;
  FAIL("no frame " << name);
  return chart.frames.front();
}

}  // namespace

TEST_CASE("host code: nothing is said of a run whose host nobody looked at") {
  CHECK(host_code(nl::test::rich_run()).blocks.empty());
  CHECK(host_code(Run()).blocks.empty());
}

TEST_CASE("host code: the wait, the kinds by share, the samples, the sampler and its cost") {
  const std::string text = host_text(nl::test::host_run());
  // 410 samples: model 61 + 48 + 1, framework 84 + 52 + 37 + 22, generation 31 + 19 + 1, sampling 28, sync 17 (4.1 %), tokenizer 9.
  CHECK(has(text,
            "Meanwhile the host runs: overhead of PyTorch (module calls, dispatch) 47.6 %, Python code of the model's modules 26.8 %, "
            "the generation loop 12.4 %, choosing the next token 6.8 %."));
  CHECK(has(text, "410 samples fall into this wait, so a share is certain to about ±5 points."));
  CHECK(has(text,
            "Python stacks were sampled every 10 ms; taking the samples took 0.8 % of the process' time. 3 of 1,915 samples were lost."));
  CHECK(has(text, "The GPU is launch-starved 81.2 % of the time, 3.461 ms per window."));  // of 4.26 ms
  CHECK(has(text, "2 garbage collections fall into this wait, for 1.210 ms (1.5 % of it)."));
  CHECK(has(text, "| `pthread_cond_wait` | 24 | 129.17 µs |"));
}

TEST_CASE("host code: a line has its function, file, module, kind, samples, share of the wait and time per window") {
  const std::string text = host_text(run_with(25));
  CHECK(has(text, "| `f` | `b.py:7` | 25 | 100.0 % | 500 µs | other code | b |"));
  CHECK(has(text, "25 samples fall into this wait, so a share is certain to about ±20 points."));
}

TEST_CASE("host code: below twenty samples it says so and what would give more, and shows no share") {
  for (const auto& [samples, shown] : {std::pair{19u, false}, std::pair{20u, true}}) {
    INFO(samples);
    const std::string text = host_text(run_with(samples));
    CHECK(has(text, "Fewer than 20 samples fall into the wait of prefill (19)") != shown);
    CHECK(has(text, "mark.host_samples_hz") != shown);
    CHECK(has(text, "| `f` |") == shown);
  }
  Run run = run_with(3);
  run.host->sampler = HostSampler::kNsys;  // has no such key
  CHECK_FALSE(has(host_text(run), "mark.host_samples_hz"));
}

TEST_CASE("host code: a stage that hardly waits and has few samples is passed over") {
  Run run = run_with(3);
  run.stages[0].budget->launch_starved_ns = 100'000;  // 1 %
  CHECK(host_code(run).blocks.empty());
  run = run_with(30);
  run.stages[0].budget->launch_starved_ns = 100'000;
  CHECK_FALSE(host_code(run).blocks.empty());
}

TEST_CASE("host code: a request leaves it to its stages") {
  Run run = nl::test::host_run();
  StageEntry request = run.stages[2];
  request.name = "request";
  run.stages.insert(run.stages.begin(), request);
  CHECK_FALSE(has(host_text(run), "### request\n"));
  run.stages = {request};
  CHECK(has(host_text(run), "### request\n"));
}

TEST_CASE("host code: decode leaves it to its steps") {
  const std::string text = host_text(nl::test::host_run());
  CHECK(has(text, "### decode_step\n"));
  CHECK_FALSE(has(text, "### decode\n"));
  Run run = nl::test::host_run();
  run.stages.erase(run.stages.begin() + 2);
  CHECK(has(host_text(run), "### decode\n"));
}

TEST_CASE("host code: nsys as the sampler is named, and a cost that nobody measured is not zero") {
  Run run = run_with(25);
  run.host->sampler = HostSampler::kNsys;
  CHECK(has(host_text(run), "nsys sampled the CPU's stacks every 10 ms; what that cost was not measured."));
}

TEST_CASE("host code: a text shows ten lines and says how many there are") {
  Run run = run_with(100);
  HostCode& code = *run.stages[0].host_code;
  code.lines.assign(60, code.lines[0]);
  for (std::uint32_t i = 0; i < 60; ++i) code.lines[i].frame.line = 100 + i;
  const std::string text = host_text(run);
  CHECK(has(text, "b.py:109"));
  CHECK_FALSE(has(text, "b.py:110"));
  CHECK(has(text, "60 lines in all: report.html has more."));
}

TEST_CASE("host code: files are named without their folders, but for __init__.py") {
  CHECK(place_text({"f", "/usr/lib/site-packages/torch/nn/modules/module.py", "", 1775, 0, ""}) == "module.py:1775");
  CHECK(place_text({"f", "/usr/lib/torch/__init__.py", "", 3, 0, ""}) == "torch/__init__.py:3");
  CHECK(place_text({"f", "torch/__init__.py", "", 3, 0, ""}) == "torch/__init__.py:3");
  CHECK(place_text({"f", "/__init__.py", "", 3, 0, ""}) == "__init__.py:3");
  CHECK(place_text({"at::native::add", "/opt/torch/lib/libtorch_cuda.so", "", 0, 0, ""}) == "libtorch_cuda.so");
  CHECK(place_text({"f", "", "", 3, 0, ""}).empty());
  CHECK(frame_text({"f", "a.py", "", 3, 0, ""}) == "f (a.py:3)");
  CHECK(frame_text({"", "", "", 0, 0, ""}) == "(no name)");
}

TEST_CASE("host code in plain words: the largest kind, as a rough part, and its largest function") {
  Run run = run_with(100);
  StageEntry& stage = run.stages[0];
  HostCode& code = *stage.host_code;
  code.kinds = {{HostWork::kModel, 52, {}}, {HostWork::kFramework, 48, {}}};
  const HostFrame attention = {"Attention.forward", "/m/model.py", "m", 245, 0, ""}, norm = {"Norm.forward", "/m/model.py", "m", 60, 0, ""};
  code.lines = {{{"call", "/t/module.py", "t", 1, 0, ""}, HostWork::kFramework, 48, 48, {}, {}},
                {norm, HostWork::kModel, 20, 20, {}, {}},
                {attention, HostWork::kModel, 17, 17, {}, {}},
                {attention, HostWork::kModel, 15, 15, {}, {}}};
  code.lines[3].frame.line = 250;
  // Two lines of Attention.forward have 32 of the 52: more than half, and more than the 20 of Norm.forward.
  CHECK(host_clause(stage) == "about half of the wait is Python code of the model's modules, mostly Attention.forward (model.py:245)");
  code.lines[3].frame.function += ".<locals>.<genexpr>.<locals>.<lambda>";  // a part of the same function
  CHECK(host_clause(stage) == "about half of the wait is Python code of the model's modules, mostly Attention.forward (model.py:245)");
  code.lines[3].samples = 5;
  CHECK(host_clause(stage) == "about half of the wait is Python code of the model's modules, most often Attention.forward (model.py:245)");
  code.lines.clear();
  code.kinds[0].samples = 95;
  CHECK(host_clause(stage) == "nearly all of the wait is Python code of the model's modules");
  code.samples = 19;
  CHECK(host_clause(stage).empty());
  stage.host_code.reset();
  CHECK(host_clause(stage).empty());
}

TEST_CASE("flame graph: callees lie below their caller, the widest first, as wide as their samples") {
  Run run = run_with(100);
  run.host->frames = {{{"main", "m.py", "m", 1, 0, ""}, HostWork::kOther},
                      {{"left", "m.py", "m", 2, 0, "x = 1"}, HostWork::kModel},
                      {{"right", "m.py", "m", 3, 0, ""}, HostWork::kFramework}};
  run.host->stacks = {{"prefill", {0, 2}, 20}, {"prefill", {0, 1}, 70}, {"prefill", {0, 1, 2}, 10}, {"decode", {2}, 900}};
  const FlameChart chart = flame_graph(run, run.stages[0]);
  REQUIRE(chart.frames.size() == 4);
  CHECK(chart.frames[0].name == "main");
  CHECK(chart.frames[0].width == Approx(1));
  const auto& left = frame_named(chart, "left");
  CHECK(left.start == Approx(0));
  CHECK(left.width == Approx(0.8));
  CHECK(left.depth == 1);
  CHECK(left.colour == "w-model");
  CHECK(left.tip == "left (m.py:2): 80 samples, 80.0 % of the wait · Python code of the model's modules · x = 1");
  CHECK(chart.frames[2].depth == 2);  // right, called by left
  CHECK(chart.frames[2].width == Approx(0.1));
  CHECK(chart.frames[3].depth == 1);  // right, called by main
  CHECK(chart.frames[3].start == Approx(0.8));
  CHECK(chart.frames[3].width == Approx(0.2));
  CHECK(has(chart.label, "100 samples"));
  CHECK(has(chart.label, "ends in main (m.py:1), left (m.py:2), right (m.py:3)"));
}

TEST_CASE("flame graph: narrow frames of one caller are one") {
  Run run = run_with(1000);
  run.host->frames = {{{"main", "m.py", "m", 1, 0, ""}, HostWork::kOther}};
  run.host->stacks = {{"prefill", {0}, 990}};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    run.host->frames.push_back({{"f", "m.py", "m", i, 0, ""}, HostWork::kOther});
    run.host->stacks.push_back({"prefill", {0, i}, i + 1});  // 2, 3 and 4 of 1,000
  }
  const FlameChart chart = flame_graph(run, run.stages[0]);
  REQUIRE(chart.frames.size() == 2);
  CHECK(chart.frames[1].tip == "3 narrow frames: 9 samples, 0.9 % of the wait");
  CHECK(chart.frames[1].width == Approx(0.009));
  CHECK(chart.frames[1].depth == 1);
}

TEST_CASE("flame graph: a graph of many frames is drawn with fewer narrow ones") {
  Run run = run_with(10'000);
  run.host->frames.resize(100);
  for (std::uint32_t i = 0; i < 100; ++i) {
    run.host->frames[i].frame.function = std::string(5000, 'f');
    run.host->stacks.push_back({"prefill", std::vector<std::uint32_t>(100, i), 100});  // 100 deep, each 1 % wide
  }
  const FlameChart chart = flame_graph(run, run.stages[0]);
  CHECK(chart.frames.size() == 1);  // at 2 % all of them are narrow
  CHECK(chart.frames[0].width == Approx(1));
  run.host->stacks.resize(15);
  CHECK(flame_graph(run, run.stages[0]).frames.size() == 1500);
  CHECK(flame_graph(run, run.stages[0]).frames[0].tip.size() < 200);
}

TEST_CASE("flame graph: stacks that were not kept leave a gap, and frames that are not there end a stack") {
  Run run = run_with(200);
  run.host->frames = {{{"main", "m.py", "m", 1, 0, ""}, HostWork::kOther}};
  run.host->stacks = {{"prefill", {0, 77}, 100}, {"prefill", {78}, 10}};
  const FlameChart chart = flame_graph(run, run.stages[0]);
  REQUIRE(chart.frames.size() == 1);
  CHECK(chart.frames[0].width == Approx(0.5));
  run.host->stacks.clear();
  CHECK(flame_graph(run, run.stages[0]).frames.empty());
  run.host.reset();
  CHECK(flame_graph(run, run.stages[0]).frames.empty());
}
