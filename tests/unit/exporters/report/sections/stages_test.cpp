#include <string>
#include <vector>

#include "exporters/report/html/html.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// The figures of a run and its stages: the first ones of a page, iterations, budgets.
using namespace nl;
using namespace nl::exporters;
using namespace nl::exporters::report;
using nl::test::count;
using nl::test::has;

namespace {

std::string text_of_section(const Section& section) { return markdown({"T", "", {}, {}, {section}}); }

}  // namespace

TEST_CASE("sections: stages that nobody marked say where they come from") {
  Run run;
  run.stages.resize(1);
  run.stages[0].name = "capture";
  run.import_stats.notes = {{Code::kNoKernels}, {Code::kStagesMapped, {"stages.map"}}};
  CHECK(has(text_of_section(stages(run)), "## Stages\n\n" + text_of(run.import_stats.notes[1]) + "\n"));
  run.import_stats.notes.pop_back();
  CHECK(has(text_of_section(stages(run)), "## Stages\n\n|"));
}

TEST_CASE("sections: percentiles stand in the tables as far as the windows support them, else the longest") {
  Run run;
  run.stages.resize(2);
  run.stages[0].name = "prefill";
  run.stages[0].wall = TimeSummary{3, 6'000'000, 2e6, 2e6, 3'000'000, 1'000'000, 3'000'000, 0};  // p99 of three: of an older format
  run.stages[1].name = "decode_step";
  run.stages[1].wall = TimeSummary{19, 38'000'000, 2e6, 2e6, {}, 1'000'000, 4'000'000, 0};
  const auto text = [&] { return text_of_section(stages(run)); };
  CHECK(has(text(), "| Stage | n | Mean | Std | p50 | Longest | Sum | Warm-up | Ranges |"));
  CHECK(has(text(), "| prefill | 3 | 2.000 ms | 0 ns | 2.000 ms | 3.000 ms |"));
  CHECK_FALSE(has(text(), "p99"));
  run.stages[1].wall.count = 20;
  run.stages[1].wall.p90_ns = 2'500'000;
  run.stages[1].wall.p95_ns = 3'500'000;
  CHECK(has(text(), "| Stage | n | Mean | Std | p50 | p90 | p95 | Longest | Sum | Warm-up | Ranges |"));
  CHECK(has(text(), "| decode_step | 20 | 2.000 ms | 0 ns | 2.000 ms | 2.500 ms | 3.500 ms | 4.000 ms |"));
  CHECK(has(text(), "| prefill | 3 | 2.000 ms | 0 ns | 2.000 ms | — | — | 3.000 ms |"));
  run.stages[1].wall.count = 100;
  run.stages[1].wall.p99_ns = 3'900'000;
  CHECK(has(text(), "| p50 | p90 | p95 | p99 | Longest | Sum |"));
  CHECK(has(text(), "| 2.500 ms | 3.500 ms | 3.900 ms | 4.000 ms |"));
  run.latency.tpot = run.stages[1].wall;
  CHECK(has(text(), "| Latency | Mean | Std | p50 | p90 | p95 | p99 | Longest | n |"));
}

TEST_CASE("sections: the first figures of a page, from one measurement or several") {
  Run run;
  run.latency.ttft = TimeSummary{1, 2'000'000, 2e6, 1e6, 3'000'000, 2'000'000, 2'000'000, 0};
  const auto tiles = [&] { return std::get<Tiles>(headline_tiles(run).at(0)).tiles; };
  const auto tile = [&](const std::string& title) {
    for (const Tile& each : tiles())
      if (each.title == title) return each;
    return Tile{};
  };
  CHECK(tiles()[0].figure == "2.000 ms");
  CHECK(tiles()[0].detail == "one measurement");
  run.latency.ttft->count = 2;
  CHECK(tiles()[0].detail == "longest 2.000 ms, n = 2");
  run.latency.ttft->count = 20;
  run.latency.ttft->p95_ns = 1'900'000;
  CHECK(tiles()[0].detail == "p95 1.900 ms, n = 20");
  run.latency.ttft->count = 100;
  CHECK(tiles()[0].detail == "p99 3.000 ms, n = 100");
  CHECK(tiles().size() == 1);  // the others are not known
  run.energy.stages.resize(2);
  run.energy.stages[0].stage = "prefill";
  run.energy.stages[0].joules_per_token = 1;
  run.energy.stages[1].stage = "decode_draft";
  run.energy.stages[1].joules_per_token = 2;
  CHECK(tile("Energy per token").figure == "2.00 J");
  CHECK(tile("Energy per token").detail == "decode_draft");
  run.stages.resize(1);
  run.stages[0].name = "decode";
  run.stages[0].wall.count = 1;
  run.stages[0].budget = Budget{1000, 250, 0, 0, 0, 750, 0, 0};
  run.efficiency.resize(1);
  run.efficiency[0].stage = "decode";
  run.efficiency[0].mfu = 0.5;
  run.efficiency[0].mbu = 0.75;
  CHECK(tile("GPU computing").figure == "25.0 %");
  CHECK(tile("MFU").figure == "50.0 %");
  run.efficiency[0].limit = Bound::kMemory;
  CHECK(tile("MBU").figure == "75.0 %");
  CHECK(tile("MBU").detail == "of the peak, decode");
}

TEST_CASE("sections: facts beside the title") {
  Run run;
  CHECK(facts(run).size() == 1);
  run.mode.clear();  // in files of older formats
  CHECK(facts(run).empty());
  run.hardware.cpu_model = "EPYC";
  run.mode = "deep";
  run.provenance.tracer = Tracer::kNsys;
  CHECK(facts(run) == std::vector<std::string>{"EPYC", "deep mode", "captured by nsys"});
  run.hardware.gpus.resize(1);
  run.hardware.gpus[0].name = "NVIDIA H200";
  CHECK(facts(run)[0] == "NVIDIA H200");
  run.hardware.gpus.resize(2);
  CHECK(facts(run)[0] == "2 × NVIDIA H200");
  run.hardware.gpus[0].name.clear();
  CHECK(facts(run)[0] == "2 × GPU");
}

TEST_CASE("sections: an iteration is drawn by its stages, warm-up cut at the top") {
  Run run;
  run.stages.resize(3);
  run.stages[0].name = "prefill";
  run.stages[1].name = "decode";
  run.stages[2].name = "decode_step";
  run.iterations.count = 202;
  run.iterations.list.resize(201, {0, 100, false, {{"prefill", 20}, {"decode", 70}, {"decode_step", 60}}, 0, 0});
  run.iterations.list[0].warmup = true;
  run.iterations.list[0].wall_ns = 5000;
  const Blocks blocks = iterations(run);
  const auto chart = std::get<ColumnChart>(std::get<Figure>(blocks.at(1)));
  CHECK(chart.scale == Approx(115));
  CHECK(chart.label == "Wall time of 200 iterations");
  REQUIRE(chart.columns.size() == 200);
  CHECK(chart.columns[0].tip == "iteration 1, warm-up: 5.00 µs (5000 ns), prefill 20 ns, decode 70 ns, decode_step 60 ns");
  CHECK(chart.columns[0].faded);
  CHECK(chart.columns[1].value == 100);
  REQUIRE(chart.columns[1].parts.size() == 3);  // steps lie inside decode, which is what they leave of it
  CHECK(chart.columns[1].parts[1].colour == "s-1");
  CHECK(chart.columns[1].parts[1].value == 10);
  CHECK(chart.columns[1].parts[2].value == 60);
  CHECK(has(html::blocks_markup(blocks), "Columns that reach the top are longer than the axis. The first 200 of 202."));
  for (auto& iteration : run.iterations.list) iteration.warmup = true;
  CHECK(std::get<ColumnChart>(std::get<Figure>(iterations(run).at(1))).scale == 5000);
  run.iterations.list.resize(1);
  CHECK(iterations(run).empty());
}

TEST_CASE("sections: more GPU work than wall time is explained") {
  Run run;
  run.stages.resize(2);
  run.stages[0].name = "prefill";
  run.stages[1].name = "decode_step";
  for (StageEntry& stage : run.stages) {
    stage.wall.count = 2;
    stage.wall.mean_ns = 500;
    stage.wall.total_ns = stage.wall.max_ns = 1000;
    stage.gpu_busy_ns = 900;
  }
  CHECK_FALSE(has(text_of_section(stages(run)), "end before"));
  run.stages[1].gpu_busy_ns = 1266;
  CHECK(
      has(text_of_section(stages(run)), "Ranges of decode_step end before the GPU work that they launched: nothing in them waits for it."));
}

TEST_CASE("sections: three budgets stand side by side, the next in a table of its own") {
  Run run;
  run.stages.resize(3);
  for (auto& stage : run.stages) stage.budget.emplace();
  CHECK(count(text_of_section(budgets(run)), "| Bin, ms |") == 1);
  run.stages.resize(4, run.stages[0]);
  CHECK(count(text_of_section(budgets(run)), "| Bin, ms |") == 2);
}

TEST_CASE("sections: iterations are counted also where no rule tells warm-up, and problems have the place that is known") {
  Run run;
  run.stages.resize(1);
  run.iterations.count = 2;
  CHECK(has(text_of_section(stages(run)), "2 iterations; none is warm-up. Rule: none.\n"));
  run.problems = {{Code::kError, "it failed", "", "try again"}, {Code::kError, "once more", "a.log", ""}};
  CHECK(has(markdown({"T", "", {}, overview(run)}), "- it failed Fix: try again\n- once more (a.log)\n"));
}
