#include <string>
#include <vector>

#include "exporters/report/html/html.h"
#include "exporters/report/markdown.h"
#include "exporters/report/sections/run_text.h"
#include "exporters/report/sections/sections.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// What the sections of a report leave out of a text or of a page, what they say of it, and their edges.
using namespace nl;
using namespace nl::exporters;
using namespace nl::exporters::report;
using nl::test::count;
using nl::test::has;

namespace {

std::string as_text(const Section& section) { return markdown({"T", "", {}, {}, {section}}); }
std::string as_page(const Section& section) { return html::blocks_markup(section.blocks); }

OperatorEntry small_operator(const std::string& name, Ns self_ns) {
  OperatorEntry out;
  out.name = name;
  out.calls = 2;
  out.self_ns = out.total_ns = self_ns;
  out.cuda_self_ns = out.cuda_total_ns = self_ns;
  return out;
}

Run with_operators(std::size_t number) {
  Run run;
  run.operators.resize(1);
  run.operators[0].source = "kineto";
  run.operators[0].cuda_ns = static_cast<Ns>(number) * 10;
  for (std::size_t i = 0; i < number; ++i) run.operators[0].entries.push_back(small_operator("op", 10));
  return run;
}

Run with_layers(std::size_t number) {
  Run run;
  run.layers.resize(number);
  for (auto& layer : run.layers) layer.name = "mlp";
  return run;
}

Run with_kernels(std::size_t number) {
  Run run;
  run.kernels.emplace(number);
  for (auto& kernel : *run.kernels) {
    kernel.name = "gemm";
    kernel.time.count = 3;
    kernel.time.total_ns = 1000;
    kernel.gpu_share = 0.001;
  }
  return run;
}

}  // namespace

TEST_CASE("sections: a text has ten operators, a page five hundred, the rest is summed") {
  CHECK_FALSE(has(as_text(operators(with_operators(10))), "in all"));
  const std::string eleven = as_text(operators(with_operators(11)));
  CHECK(count(eleven, "| `op` |") == 10);
  CHECK(has(eleven, "\n11 operators in all: operators.md has more.\n"));
  Run left_out = with_operators(10);
  left_out.operators[0].entries_left_out = 1;
  CHECK(has(as_text(operators(left_out)), "11 operators in all"));
  CHECK(has(as_text(operators(left_out)), "From kineto; 1 operator with little time left out.\n"));
  CHECK_FALSE(has(as_page(operators(with_operators(500))), "<tfoot>"));
  const std::string page = as_page(operators(with_operators(502)));
  CHECK(count(page, "<code>op</code>") == 500);
  CHECK(has(page, ">2 more operators</th><td class=\"n\" data-v=\"20\" title=\"20 ns\">20 ns</td>"));
  CHECK(has(page, "<td class=\"n\" data-v=\"4\">4</td>"));  // their calls
}

TEST_CASE("sections: an operator without host time or calls has none, and its first shape stands for all") {
  Run run = with_operators(1);
  OperatorEntry& op = run.operators[0].entries[0];
  op.total_ns = 3000;
  op.shapes = {{"[1, 2]", 1, 0, {}}, {"[3]", 1, 0, {}}, {"[4]", 1, 0, {}}};
  op.kernels = {{"first<1>(int)", 1, 1}, {"second", 1, 1}, {"third", 1, 1}};
  const std::string page = as_page(operators(run));
  CHECK(has(page, ">1.50 µs</td>"));  // 3 µs by two calls
  CHECK(has(page, "<code>[1, 2]</code> and 2 more</td>"));
  CHECK(has(page, "<code>first&lt;...&gt;(...)</code>, <code>second</code></td>"));
  op.host_time_known = false;
  CHECK_FALSE(has(as_page(operators(run)), "3.00 µs"));
  op.host_time_known = true;
  op.calls = 0;
  CHECK_FALSE(has(as_page(operators(run)), "1.50 µs"));
  CHECK(has(as_page(operators(run)), "3.00 µs"));
}

TEST_CASE("sections: a text has twenty-four layers, a page five hundred, by their depth") {
  CHECK_FALSE(has(as_text(layers(with_layers(24))), "in all"));
  CHECK(count(as_text(layers(with_layers(25))), "| `mlp` |") == 24);
  CHECK(has(as_text(layers(with_layers(25))), "\n25 modules in all: operators.md has every one.\n"));
  CHECK_FALSE(has(as_page(layers(with_layers(500))), "<tfoot>"));
  CHECK(has(as_page(layers(with_layers(501))), ">1 more module in run.json</th>"));
  Run deep = with_layers(2);
  deep.layers[1].depth = 7;
  CHECK(has(as_page(layers(deep)), "<span class=\"d5\"><code>mlp</code></span>"));
  CHECK(layers(Run()).blocks.empty());
}

TEST_CASE("sections: a text has fifteen kernels, a page five hundred, the rest is summed") {
  CHECK_FALSE(has(as_text(kernels(with_kernels(15))), "in all"));
  CHECK(count(as_text(kernels(with_kernels(16))), "| gemm |") == 15);
  CHECK(has(as_text(kernels(with_kernels(16))), "\n16 kernels in all.\n"));
  CHECK_FALSE(has(as_page(kernels(with_kernels(500))), "<tfoot>"));
  Run many = with_kernels(504);
  CHECK(has(as_page(kernels(many)), ">4 more kernels</th><td class=\"n\" data-v=\"4000\" title=\"4,000 ns\">4.00 µs</td><td class=\"n\" data-v=\"0.004\">0.4 %</td>"
                                   "<td class=\"n\" data-v=\"12\">12</td></tr>"));
  many.kernels->back().device = 1;  // shares of two GPUs do not add up
  CHECK(has(as_page(kernels(many)), ">4.00 µs</td><td class=\"n\"><span class=\"none\">—</span></td>"));
  Run none;
  CHECK(has(as_text(kernels(none)), "Not captured: the capture holds no kernels."));
  none.kernels.emplace();
  CHECK(has(as_text(kernels(none)), "None: the capture holds no kernels."));
}

TEST_CASE("sections: a text has twenty measured launches, a page two hundred") {
  const auto launches = [](std::size_t number) {
    Run run;
    run.roofline.points.resize(number);
    for (auto& point : run.roofline.points) point.kernel = "gemm";
    return Section{"", "", "Roofline", roofline(run)};
  };
  CHECK_FALSE(has(as_text(launches(20)), "more launch"));
  CHECK(count(as_text(launches(21)), "| gemm |") == 20);
  CHECK(has(as_text(launches(21)), "\n1 more launch in run.json.\n"));
  CHECK_FALSE(has(as_page(launches(200)), "<tfoot>"));
  CHECK(has(as_page(launches(202)), ">2 more launches in run.json.<"));
}

TEST_CASE("sections: what limits a launch is its colour") {
  Run run;
  run.roofline.points.resize(4);
  for (auto& point : run.roofline.points) point.intensity = point.flops_per_s = 10;
  run.roofline.points[1].bound_by = Bound::kCompute;
  run.roofline.points[2].bound_by = Bound::kMemory;
  run.roofline.points[3].bound_by = Bound::kLatency;
  const auto chart = std::get<RooflineChart>(std::get<Figure>(roofline(run).at(1)));
  std::vector<std::string> seen;
  for (const auto& point : chart.points) seen.push_back(point.colour + " " + std::to_string(point.number));
  CHECK(seen == std::vector<std::string>{"p-none 1", "p-compute 2", "p-memory 3", "p-latency 4"});
}

TEST_CASE("sections: the environment has what is known") {
  Run run;
  CHECK(environment(run).blocks.empty());
  run.hardware.gpus.resize(2);
  run.hardware.gpus[1].id = 1;
  run.hardware.gpus[1].name = "NVIDIA H200";
  run.hardware.gpus[1].sm_count = 132;
  run.hardware.gpus[1].memory_bytes = 150'000'000'000;
  run.hardware.cpu_model = "EPYC";
  run.hardware.cpu_count = 1;
  const std::string text = as_text(environment(run));
  CHECK(has(text, "| GPU 0 | unknown |\n"));
  CHECK(has(text, "| GPU 1 | NVIDIA H200, 132 SMs, 150 GB |\n"));
  CHECK(has(text, "| CPU | EPYC, 1 processor |\n"));
}

TEST_CASE("run text: cells carry what they are sorted by, and the exact time") {
  const Cell time = time_cell(1500.4);
  CHECK(time.text.spans.at(0).text == "1.50 µs");
  CHECK(time.value == 1500.4);
  CHECK(time.tip == "1,500 ns");
  CHECK(time_cell(-1500.6).tip == "-1,501 ns");
  CHECK(time_cell(9e18).tip == "");
  CHECK(time_cell(std::optional<Ns>()).text.spans.at(0).text == kNoValue);
  CHECK_FALSE(time_cell(std::optional<Ns>()).value);
  CHECK(count_cell(1200).value == 1200);
  CHECK(percent_cell(12.5).text.spans.at(0).text == "12.5");
  CHECK(figure_cell(2.0, "W").text.spans.at(0).text == "2.00 W");
  CHECK(code_cell("").text.spans.at(0).text == kNoValue);
  CHECK(code_cell("x").text.spans.at(0).style == Inline::kCode);
  CHECK(metric_cell(MetricUnit::kPercent, 5.0).text.spans.at(0).text == "5.0");
  CHECK(metric_cell(MetricUnit::kBytes, 5.0).text.spans.at(0).text == "5.00 B");
  CHECK(metric_cell(MetricUnit::kBytesPerSecond, 5.0).text.spans.at(0).text == "5.00 B/s");
  CHECK(metric_cell(MetricUnit::kHertz, 5.0).text.spans.at(0).text == "5.00");
  CHECK(bound_cell(Bound::kMemory, MemoryLevel::kDram).text.spans.at(0).text == "memory (DRAM)");
  CHECK(bound_cell(Bound::kCompute, MemoryLevel::kDram).text.spans.at(0).text == "compute");
  CHECK(bound_cell({}, {}).text.spans.at(0).text == kNoValue);
}

TEST_CASE("run text: stages by name, and the colour each of the first six has of its own") {
  Run run;
  run.stages.resize(7);
  for (std::size_t i = 0; i < 7; ++i) run.stages[i].name = std::string(1, static_cast<char>('a' + i));
  CHECK(stage_named(run, "c") == &run.stages[2]);
  CHECK(stage_named(run, "z") == nullptr);
  CHECK(stage_colour(run, "f") == "s-5");
  CHECK(stage_colour(run, "g") == "s-0");
  CHECK(stage_colour(run, "z") == "s-1");
  CHECK(stage_title(run, "a") == "a");
  CHECK(source_label(run) == "");
  run.stages[3].source = StageSource::kEngine;
  CHECK(stage_title(run, "d") == "d (engine)");
  CHECK(source_label(run) == " (engine)");
}

TEST_CASE("run text: the operators of a summary are those that cover most of the GPU's time") {
  Run run = with_operators(1);
  CHECK(main_operators(run) == &run.operators[0]);
  run.operators.resize(3, run.operators[0]);
  CHECK(main_operators(run) == &run.operators[0]);
  run.operators[1].gpu_share = 0.0;
  CHECK(main_operators(run) == &run.operators[1]);
  run.operators[2].gpu_share = 0.9;
  CHECK(main_operators(run) == &run.operators[2]);
  run.operators[2].entries.clear();
  CHECK(main_operators(run) == &run.operators[1]);
  CHECK(main_operators(Run()) == nullptr);
}

TEST_CASE("run text: what a finding is about, and why something is missing") {
  Run run;
  Finding finding;
  finding.rule = "rule";
  finding.subject = "decode";
  CHECK(scope_text(run, finding) == "the run");
  finding.scope = RuleScope::kStage;
  CHECK(scope_text(run, finding) == "stage decode");
  finding.scope = RuleScope::kOperator;
  CHECK(scope_text(run, finding) == "operator decode");
  finding.subject.clear();
  CHECK(scope_text(run, finding) == "operator");
  CHECK(title_of(finding) == "rule");
  run.stages.resize(1);
  run.stages[0].name = finding.subject = "decode";
  run.stages[0].source = StageSource::kInferred;
  CHECK(scope_text(run, finding) == "operator decode");
  finding.scope = RuleScope::kStage;
  CHECK(scope_text(run, finding) == "stage decode (inferred)");
  const auto words = [](const Paragraph& paragraph) { return paragraph.text.spans.at(0).text; };
  CHECK(words(not_captured("", "")) == "Not captured.");
  CHECK(words(not_captured("", "nobody asked")) == "Not captured: nobody asked.");
  CHECK(words(not_captured("no GPU", "nobody asked", "None")) == "None: no GPU.");
  CHECK(not_captured("", "").role == Role::kMissing);
  CHECK(status_sentence(RunStatus::kInterrupted) == "interrupted: the run ended early, what was captured is kept");
}

TEST_CASE("sections: stages that nobody marked say where they come from") {
  Run run;
  run.stages.resize(1);
  run.stages[0].name = "capture";
  run.import_stats.notes = {{Code::kNoKernels}, {Code::kStagesMapped, {"stages.map"}}};
  CHECK(has(as_text(stages(run)), "## Stages\n\n" + text_of(run.import_stats.notes[1]) + "\n"));
  run.import_stats.notes.pop_back();
  CHECK(has(as_text(stages(run)), "## Stages\n\n|"));
}

TEST_CASE("sections: a bar for each share of the peak that is known") {
  Run run;
  run.efficiency.resize(2);
  run.efficiency[0].stage = "prefill";
  run.efficiency[0].mfu = 0.5;
  run.efficiency[1].stage = "decode";
  run.efficiency[1].mbu = 0.25;
  std::vector<Bar> bars;
  for (const auto& block : efficiency(run).blocks)
    if (const auto* figure = std::get_if<Figure>(&block))
      if (const auto* chart = std::get_if<BarChart>(figure)) bars = chart->bars;
  REQUIRE(bars.size() == 2);
  CHECK(bars[0].spoken == "prefill MFU: 50.0 %");
  CHECK(bars[0].segments.at(0).colour == "b-compute");
  CHECK(bars[1].spoken == "decode MBU: 25.0 %");
  CHECK(bars[1].segments.at(0).value == 0.25);
  CHECK(bars[1].segments.at(0).colour == "b-copy");
}

TEST_CASE("sections: launches are by ncu where nobody says who measured them") {
  Run run;
  run.roofline.points.resize(1);
  CHECK(has(html::blocks_markup(roofline(run)), "aria-label=\"Launches measured by ncu\""));
  run.kernels.emplace(1);
  run.kernels->front().ncu.resize(1);
  run.kernels->front().ncu[0].measured_by = Meter::kCupti;
  CHECK(has(html::blocks_markup(roofline(run)), "aria-label=\"Launches measured by CUPTI\""));
}

TEST_CASE("sections: the first figures of a page, from one measurement or several") {
  Run run;
  run.latency.ttft = TimeSummary{1, 2'000'000, 2e6, 1e6, 3'000'000, 2'000'000, 2'000'000, 0};
  const auto tiles = [&] { return std::get<Tiles>(overview(run).at(1)).tiles; };
  CHECK(tiles()[0].figure == "2.000 ms");
  CHECK(tiles()[0].detail == "one measurement");
  run.latency.ttft->count = 2;
  CHECK(tiles()[0].detail == "p99 3.000 ms, n = 2");
  CHECK(tiles()[1].figure == kNoValue);
  run.energy.stages.resize(2);
  run.energy.stages[0].stage = "prefill";
  run.energy.stages[0].joules_per_token = 1;
  run.energy.stages[1].stage = "decode_draft";
  run.energy.stages[1].joules_per_token = 2;
  CHECK(tiles()[5].figure == "2.00 J");
  CHECK(tiles()[5].detail == "decode_draft");
  run.stages.resize(1);
  run.stages[0].name = "decode";
  run.stages[0].wall.count = 1;
  run.stages[0].budget = Budget{1000, 250, 0, 0, 0, 750, 0, 0};
  run.efficiency.resize(1);
  run.efficiency[0].stage = "decode";
  run.efficiency[0].mfu = 0.5;
  run.efficiency[0].mbu = 0.75;
  CHECK(tiles()[3].figure == "25.0 %");
  CHECK(tiles()[4].title == "MFU");
  CHECK(tiles()[4].figure == "50.0 %");
  run.efficiency[0].limit = Bound::kMemory;
  CHECK(tiles()[4].title == "MBU");
  CHECK(tiles()[4].figure == "75.0 %");
  CHECK(tiles()[4].detail == "of the peak, decode");
}

TEST_CASE("sections: facts beside the title") {
  Run run;
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
  run.stages.resize(2);
  run.stages[0].name = "prefill";
  run.stages[1].name = "decode";
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
  REQUIRE(chart.columns[1].parts.size() == 2);  // steps lie inside decode
  CHECK(chart.columns[1].parts[1].colour == "s-1");
  CHECK(chart.columns[1].parts[1].value == 70);
  CHECK(has(html::blocks_markup(blocks), "may be cut off at the top. The first 200 of 202."));
  for (auto& iteration : run.iterations.list) iteration.warmup = true;
  CHECK(std::get<ColumnChart>(std::get<Figure>(iterations(run).at(1))).scale == 5000);
  run.iterations.list.resize(1);
  CHECK(iterations(run).empty());
}

TEST_CASE("sections: three budgets stand side by side, the next in a table of its own") {
  Run run;
  run.stages.resize(3);
  for (auto& stage : run.stages) stage.budget.emplace();
  CHECK(count(as_text(budgets(run)), "| Bin, ms |") == 1);
  run.stages.resize(4, run.stages[0]);
  CHECK(count(as_text(budgets(run)), "| Bin, ms |") == 2);
}

TEST_CASE("sections: iterations are counted also where no rule tells warm-up, and problems have the place that is known") {
  Run run;
  run.stages.resize(1);
  run.iterations.count = 2;
  CHECK(has(as_text(stages(run)), "2 iterations; none is warm-up. Rule: none.\n"));
  run.problems = {{Code::kError, "it failed", "", "try again"}, {Code::kError, "once more", "a.log", ""}};
  CHECK(has(markdown({"T", "", {}, overview(run)}), "- it failed Fix: try again\n- once more (a.log)\n"));
}
