#include "exporters/load/words.h"

#include "analysis/load/report.h"
#include "exporters/load/load.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/load/random_load.h"

using namespace nl;

namespace {

constexpr LoadTool kTools[] = {LoadTool::kNlStage, LoadTool::kVllm, LoadTool::kAiperf, LoadTool::kGuideLlm, LoadTool::kInferencePerf};
constexpr LoadFigure kFigures[] = {LoadFigure::kTtft, LoadFigure::kTpot, LoadFigure::kItl, LoadFigure::kE2e, LoadFigure::kNormalised};

}  // namespace

TEST_CASE("load words: docs/load.md has every definition as it is printed") {
  const std::string page = test::read_text(NL_SOURCE_ROOT "/docs/load.md");
  for (const LoadTool tool : kTools) {
    for (const LoadFigure figure : kFigures) {
      INFO(exporters::title_of(figure) << " of " << exporters::title_of(tool));
      CHECK(test::has(page, std::string(exporters::definition_of(figure, tool))));
    }
    for (const std::string_view text : {exporters::percentiles_of(tool), exporters::window_of(tool), exporters::goodput_of(tool)})
      CHECK(test::has(page, std::string(text)));
  }
}

TEST_CASE("load words: a figure has a value exactly where its tool has a definition") {
  const LoadReport report = analysis::load_report(test::random_load(2, 200), {});
  for (const LoadTool tool : kTools)
    for (const LoadFigure figure : kFigures)
      CHECK(report.by_tool.at(figure)[static_cast<std::size_t>(tool)].has_value() == !exporters::definition_of(figure, tool).empty());
}

TEST_CASE("load words: the report names each figure with its definition, and where the tools differ") {
  const LoadReport report =
      analysis::load_report(test::random_load(2, 200), {.ttft_ns = 50'000'000, .tpot_ns = {}, .itl_ns = {}, .e2e_ns = {}});
  for (const std::string& text :
       {exporters::load_markdown({report}), exporters::load_text({report}, 100), exporters::load_text({report}, 60)}) {
    for (const char* part : {"TTFT", "TPOT", "ITL", "E2E", "vLLM", "GuideLLM", "Schedule delay", "Goodput", "Poisson"}) {
      INFO(part);
      CHECK(test::has(text, part));
    }
  }
  const std::string text = exporters::load_markdown({report});
  CHECK(test::has(text, "| TTFT mean, ms |"));
  CHECK(test::has(text, " + ") == false);
  CHECK(test::has(text, "same"));  // E2E of nl-stage, GuideLLM and inference-perf is not: vLLM's ends before
}

TEST_CASE("load words: arrivals and limits") {
  CHECK(exporters::arrivals_text({ArrivalKind::kPoisson, 4, {}, {}, {}}) == "Poisson arrivals at 4.00/s");
  CHECK(exporters::arrivals_text({ArrivalKind::kGamma, 4, 0.5, {}, {}}) == "gamma arrivals at 4.00/s with burstiness 0.500");
  CHECK(exporters::arrivals_text({ArrivalKind::kClosed, {}, {}, 1, {}}) == "a closed loop of 1 user");
  CHECK(exporters::limits_text({200'000'000, {}, 30'000'000, {}}) == "TTFT up to 200 ms and ITL up to 30.0 ms");
}
