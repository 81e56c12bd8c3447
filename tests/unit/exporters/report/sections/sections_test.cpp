#include <string>
#include <vector>

#include "exporters/report/html/html.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/markdown.h"
#include "exporters/report/text/run_text.h"
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

// The first ran in warm-up only, the last mostly.
Run with_warm_up() {
  Run run = with_kernels(3);
  const char* names[] = {"autotune", "gemm", "softmax"};
  for (std::size_t i = 0; i < 3; ++i) {
    KernelEntry& kernel = run.kernels->at(i);
    kernel.name = names[i];
    kernel.time.total_ns = static_cast<Ns>(9000 - 1000 * i);
    kernel.stages = {{"decode", kernel.time.total_ns, 3}};
  }
  run.kernels->at(1).measured = {{"decode", 100, 1}};
  run.kernels->at(2).measured = {{"decode", 300, 1}};
  return run;
}

}  // namespace

TEST_CASE("the kernel table has the kernels of the measured windows, and says what is left out") {
  const Section section = kernels(with_warm_up());
  const std::string text = as_text(section), page = as_page(section);
  CHECK(has(text, "By GPU time in the measured windows"));
  CHECK(has(text, "1 kernel that runs only in warm-up or outside of the measured windows is left out: 9.00 µs in all."));
  CHECK_FALSE(has(text, "autotune"));
  CHECK(text.find("softmax") < text.find("gemm"));
  CHECK(has(text, "75.0 %"));
  CHECK(has(page, "id=\"kernel-3\""));
  CHECK_FALSE(has(page, "id=\"kernel-1\""));
  CHECK(link_to(with_warm_up(), "/kernels/0") == "#kernels");
  CHECK(link_to(with_warm_up(), "/kernels/2/ncu/0") == "#kernel-3");
}

TEST_CASE("the kernel table of a page tells kernels apart that read alike") {
  Run run = with_kernels(2);
  const std::string body =
      "(int, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
      "at::native::binary_internal::MulFunctor<float>>, std::array<char*, 3>)";
  run.kernels->at(0).name = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>" + body;
  run.kernels->at(1).name = "void at::native::unrolled_elementwise_kernel<at::native::MulFunctor<float>>" + body;
  const std::string page = as_page(kernels(run));
  CHECK(has(page, ", vectorized_elementwise_kernel</code></summary>"));
  CHECK(has(page, ", unrolled_elementwise_kernel</code></summary>"));
  CHECK_FALSE(has(as_page(kernels(with_kernels(1))), ", gemm"));
}

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
  CHECK(has(page, ">2 more operators</th><td></td><td class=\"n\" data-v=\"20\" title=\"20 ns\">20 ns</td>"));
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
  CHECK(has(as_page(kernels(many)),
            ">4 more kernels</th><td></td><td class=\"n\" data-v=\"4000\" title=\"4,000 ns\">4.00 µs</td><td class=\"n\" "
            "data-v=\"0.004\">0.4 %</td>"
            "<td class=\"n\" data-v=\"12\">12</td></tr>"));
  many.kernels->back().device = 1;  // shares of two GPUs do not add up
  many.kernels->back().name = "norm";
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
