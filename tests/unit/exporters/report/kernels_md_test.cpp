#include <sstream>
#include <string>
#include <vector>

#include "exporters/report/reports.h"
#include "exporters/report/text/run_text.h"
#include "tests/catch.h"
#include "tests/unit/exporters/report/markdown_cells.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

namespace {

std::vector<std::string> table_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    if (!line.empty() && line[0] == '|') lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("kernels.md has the documented columns and plain numbers") {
  const auto lines = table_lines(nl::exporters::kernels_markdown(nl::test::full_run()));
  REQUIRE(lines.size() == 9);  // the kernels, the launches that ncu profiled, and what stalled the warps
  CHECK(cells(lines[0]) == std::vector<std::string>{"kernel_name", "total_ms", "calls", "mean_ms", "device", "share %", "p50 µs", "p99 µs",
                                                    "longest µs", "stages", "SM %", "DRAM %", "occupancy %", "tensor pipe %", "bound by"});
  CHECK(cells(lines[2]) == std::vector<std::string>{"void at::native::reduce<(int)4>(T1)", "0.001000", "3", "0.000333", "0", "100.0",
                                                    "0.30", "—", "0.50", "prefill 60 %, none 40 %", "61.2", "12.5", "33.3", "—",
                                                    "compute"});
  CHECK(cells(lines[5])[4] == "0.30");
  CHECK(cells(lines[5])[5] == "0.20–0.50");
  CHECK(cells(lines[5])[7] == "0.31");
  CHECK(cells(lines[5])[8] == "yes");
  CHECK(cells(lines[5])[9] == "normalised_name");
  CHECK(cells(lines[5])[12] == "ncu");
  CHECK(cells(lines[8]) ==
        std::vector<std::string>{"void at::native::reduce<(int)4>(T1)", "100", "long_scoreboard 50 %, wait 15 %, barrier 7 %"});
}

// The golden file is what a real capture gives, as golden_test.cpp checks.
TEST_CASE("kernels.md of a real capture has the kernel with the most GPU time first, and each mean is its time by its calls") {
  const auto lines = table_lines(nl::test::read_text(NL_FIXTURES "/golden/h200-llama/kernels.md"));
  const auto number = [](const std::string& cell) { return std::stod(cell); };
  double last = 1e9;
  std::size_t rows = 0;
  for (std::size_t i = 2; i < lines.size() && cells(lines[i]).size() == cells(lines[0]).size(); ++i, ++rows) {
    const std::vector<std::string> row = cells(lines[i]);
    INFO(row[0]);
    CHECK(number(row[1]) <= last);
    CHECK(number(row[3]) * number(row[2]) == Approx(number(row[1])).margin(1e-6 * number(row[2])));  // six decimals are printed
    last = number(row[1]);
  }
  CHECK(rows >= 10);
}

TEST_CASE("kernels.md says who measured the launches") {
  auto run = nl::test::full_run();
  CHECK(nl::exporters::kernels_markdown(run).find("\n## Launches measured by ncu\n") != std::string::npos);
  auto& samples = run.kernels->at(0).ncu;
  samples.push_back(samples[0]);
  samples[1].measured_by = nl::Meter::kCupti;
  CHECK(nl::exporters::kernels_markdown(run).find("\n## Launches measured by ncu and CUPTI\n") != std::string::npos);
  samples.erase(samples.begin());
  const std::string text = nl::exporters::kernels_markdown(run);
  CHECK(text.find("\n## Launches measured by CUPTI\n") != std::string::npos);
  CHECK(cells(table_lines(text)[5])[12] == "CUPTI");
  run.kernels->at(0).stalls.clear();
  CHECK(nl::exporters::kernels_markdown(run).find("stalled") == std::string::npos);
}

TEST_CASE("names: pipes, newlines and tags are escaped, long ones are listed in full") {
  auto run = nl::test::full_run();
  auto& kernel = run.kernels->at(0);
  kernel.name = "a|b\n<unnamed>::f<x>";
  auto lines = table_lines(nl::exporters::kernels_markdown(run));
  CHECK(cells(lines[2])[0] == "a\\|b \\<unnamed>::f\\<x>");
  kernel.name = "void at::native::<unnamed>::reduce<(int)4, " + std::string(200, 'x') + ">(T1, int)";
  kernel.ncu.clear();
  run.kernels->push_back(kernel);
  run.kernels->back().name += " const";
  const std::string text = nl::exporters::kernels_markdown(run);
  lines = table_lines(text);
  CHECK(cells(lines[2])[0] == "void at::native::\\<unnamed>::reduce<...>(...) [1]");
  CHECK(cells(lines[3])[0] == "void at::native::\\<unnamed>::reduce<...>(...) const [2]");
  CHECK(cells(lines[2])[10] == "—");
  CHECK(text.find("\n1. void at::native::\\<unnamed>::reduce<(int)4, xxx") != std::string::npos);
  CHECK(text.find("\n2. ") != std::string::npos);
  run.kernels->at(0).name = std::string(150, 'n');  // nothing to leave out
  lines = table_lines(nl::exporters::kernels_markdown(run));
  CHECK(cells(lines[2])[0] == std::string(150, 'n'));
}

TEST_CASE("where there are no kernels the reason stands there") {
  nl::Run run;
  run.kernels_note = nl::Remark{nl::Code::kRangesOnly};
  CHECK(nl::exporters::kernels_markdown(run) ==
        "# Kernels\n\nNot captured. The collector recorded NVTX ranges only: there was no GPU, or the workload did not use it.\n");
  run.kernels.emplace();
  run.kernels_note.reset();
  CHECK(nl::exporters::kernels_markdown(run).find("none ran") != std::string::npos);
}

TEST_CASE("chosen kernels without a sample are named with the reason") {
  auto run = nl::test::full_run();
  run.kernels->at(0).ncu.clear();
  run.kernels->at(0).ncu_note = nl::Remark{nl::Code::kCountersDenied, {"ncu"}};
  CHECK(nl::exporters::kernels_markdown(run).find(
            "- void at::native::reduce<(int)4>(T1): ncu may not read the GPU's performance counters.") != std::string::npos);
}

TEST_CASE("the sample of the shape with the most time stands for the kernel") {
  auto kernel = nl::test::full_run().kernels->at(0);
  auto other = kernel.ncu[0];
  other.nsys_calls = 100;
  other.ncu_id = 77;
  kernel.ncu.push_back(other);
  CHECK(nl::exporters::report::main_sample(kernel)->ncu_id == 77);
  kernel.ncu.clear();
  CHECK(nl::exporters::report::main_sample(kernel) == nullptr);
}

TEST_CASE("broken brackets in a name end somewhere") {
  CHECK(nl::exporters::short_kernel_name("f<(") == "f<...>");
  CHECK(nl::exporters::short_kernel_name("f()") == "f()");
  CHECK(nl::exporters::short_kernel_name("") == "");
  CHECK(nl::exporters::short_kernel_name(">)f") == ">)f");
}
