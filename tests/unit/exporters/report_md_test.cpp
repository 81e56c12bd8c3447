#include "exporters/report_md.h"

#include <string>

#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("report.md tells status, stages, kernels, coverage, capture and import") {
  const std::string text = nl::report_markdown(nl::test::full_run());
  CHECK(text.substr(0, 29) == "# 20250101-120000-llama-deep\n");
  CHECK(has(text, "**partial: usable"));
  CHECK(has(text, "- ncu profiled 1 of 2 kernels (ncu pass)"));
  CHECK(has(text, "| prefill | 3 | 1.00 µs | 333 ns | 300 ns | 500 ns | 900 ns | 90.0 % | 7 | LLM:prefill |"));
  CHECK(has(text, "| void at::native::reduce<(int)4>(T1) | 1.00 µs | 100.0 % | 3 |"));
  CHECK(has(text, "| of it inside a stage | 60.0 % |"));
  CHECK(has(text, "| GPU time in graphs traced without their kernels | not captured |"));
  CHECK(has(text, "Workload: `python3 run.py '--prompt=it'\\''s'`, exit status 3"));
  CHECK(has(text, "| nsys | ok | — | 5 ns |  |"));
  CHECK(has(text, "- --gpu-metrics-devices left out"));
  CHECK(has(text, "| GPU | 0: NVIDIA H200, 132 SMs |"));
  CHECK(has(text, "| end before start | 1 |"));
  CHECK(has(text, "| ncu: a row was cut off | 1 |"));
  CHECK(has(text, "Not in the export: GPU_METRICS."));
}

TEST_CASE("an empty run says what is not there") {
  nl::Run run;
  run.kernels_note = "nothing ran on a GPU";
  const std::string text = nl::report_markdown(run);
  CHECK(has(text, "# Run\n"));
  CHECK(has(text, "No ranges of the domain LLM"));
  CHECK(has(text, "Not captured: nothing ran on a GPU."));
  CHECK(has(text, "| GPU busy, whole capture | not captured |"));
  CHECK(has(text, "No damaged rows."));
  CHECK_FALSE(has(text, "## Environment"));
}

TEST_CASE("a stage that never closed has no wall time and says so") {
  nl::Run run;
  run.stages = {{"decode", {"LLM:decode_all"}, {}, 500, 500, 3, 2}};
  CHECK(has(nl::report_markdown(run), "| decode | 0 | — | — | — | — | 500 ns | — | 3 | LLM:decode_all (2 never closed) |"));
}

TEST_CASE("a command with backticks stays one code span") {
  nl::Run run;
  run.workload.command = {"sh", "-c", "echo `date`"};
  CHECK(has(nl::report_markdown(run), "Workload: `` sh -c 'echo `date`' ``"));
}

TEST_CASE("long names carry the numbers that kernels.md lists them under") {
  auto run = nl::test::full_run();
  run.kernels->push_back(run.kernels->at(0));
  run.kernels->at(0).name = "void f<" + std::string(100, 'x') + ">(int)";
  run.kernels->at(1).name = "void f<" + std::string(100, 'y') + ">(int)";
  const std::string text = nl::report_markdown(run);
  CHECK(has(text, "| void f<...>(...) [1] |"));
  CHECK(has(text, "| void f<...>(...) [2] |"));
}
