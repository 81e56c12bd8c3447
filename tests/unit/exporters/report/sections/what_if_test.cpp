#include "exporters/whatif/whatif.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "exporters/report/html/html.h"
#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// What a report says of the changes that were predicted.
using namespace nl;
using namespace nl::exporters;
using nl::test::count;
using nl::test::has;

namespace {

Run predicted_run() {
  Run run;
  run.what_if = test::sample_what_if("decode_step");
  return run;
}

std::string what_if_text(const Run& run) { return markdown({"T", "", {}, {}, {report::what_if(run)}}); }

}  // namespace

TEST_CASE("what if: the section says the step, the replay, the predictions, the sequence and what is taken for granted") {
  CHECK(
      what_if_text(predicted_run()) ==
      "# T\n\n## What a change would bring\n\n"
      "decode_step takes 4.260 ms as captured, and 3.600 ms without the tracer's part (3.550 ms in passes without a tracer); what binds is "
      "launching.\n\n"
      "The replay of the capture is off by 1.2 %.\n\n"
      "| Change | Now, ms | Predicted, ms | Interval, ms | Change of time | Binds then |\n"
      "| --- | ---: | ---: | ---: | ---: | --- |\n"
      "| --graph decode_step | 3.600 | 1.548 | 1.300 to 1.900 | −57 % | the host's code |\n"
      "| --host sample_token=0 | 3.600 | 3.240 | 2.800 to 3.700 | −10 % | launching |\n"
      "| --kernel gemm=0.5 | 3.600 | 3.420 | at best | −5 % at best | launching |\n\n"
      "First --graph decode_step: −57 %. Then --host sample_token=0: −23 % more. Together 3.600 ms becomes 1.188 ms (950.00 µs to 1.500 "
      "ms).\n\n"
      "The predictions take for granted:\n\n"
      "- The host's code between the launches of a graph is gone, and what the launching function does before and after them, as far as "
      "samples show it.\n"
      "- The tracer adds the same to each launch.\n"
      "- The time in a function is its share of the stack samples.\n"
      "- Kernels run as fast as the best of their kind was measured on this card.\n\n"
      "No prediction of --pinned: The trace has nothing that this change is about.\n");
}

TEST_CASE("what if: without predictions there is no section, in no report") {
  CHECK(report::what_if(Run()).blocks.empty());
  Run run = test::rich_run();
  CHECK(has(report_markdown(run), "\n## What a change would bring\n"));
  const std::string page = report_html(run);
  CHECK(has(page, "<section id=\"what-if\""));
  CHECK(page.find("<section id=\"findings\"") < page.find("<section id=\"what-if\""));
  CHECK(page.find("<section id=\"what-if\"") < page.find("<section id=\"stages\""));
  run.what_if.reset();
  CHECK_FALSE(has(report_markdown(run), "What a change would bring"));
  CHECK_FALSE(has(report_html(run), "id=\"what-if\""));
}

TEST_CASE("what if: refusals of one reason are one line, and stand in no table") {
  Run run = predicted_run();
  for (Prediction& each : run.what_if->predictions) each.refused = NoPrediction::kNotReplayed;
  run.what_if->predictions.back().refused = NoPrediction::kNoStacks;
  run.what_if->sequence.clear();
  const std::string text = what_if_text(run);
  CHECK_FALSE(has(text, "| Change |"));
  CHECK_FALSE(has(text, "First "));
  CHECK(
      has(text,
          "\nNo prediction of --graph decode_step, --host sample_token=0 and --kernel gemm=0.5: The replay of what was measured is off by "
          "more than 5 %: the trace does not show what the stage waits for. Nor of --pinned: The host's code was not sampled: capture with "
          "mark.host_samples_hz.\n"));
  const std::string page = html::blocks_markup(report::what_if(run).blocks);
  CHECK(count(page, "<span><b>") == 1);  // without a sequence, the window as it is
  CHECK_FALSE(has(page, "w-less"));
  run.what_if->predictions.clear();
  CHECK(has(what_if_text(run), "No change that nl-stage knows would save more than half a percent."));
}

TEST_CASE("what if: one change is drawn, and not called a sequence") {
  Run run = predicted_run();
  run.what_if->sequence.resize(1);
  CHECK_FALSE(has(what_if_text(run), "First "));
  const std::string page = html::blocks_markup(report::what_if(run).blocks);
  CHECK(count(page, "class=\"w-less\"") == 1);
  CHECK(has(page, "One decode_step of median length without the tracer&#39;s part, and the same one after --graph decode_step."));
}

TEST_CASE("what if: the verb says the same, and its JSON knows a bound") {
  WhatIf result = test::sample_what_if("decode_step");
  result.name = "llama";
  const std::string text = whatif_markdown(result);
  CHECK(has(text, "# What if: llama\n\ndecode_step takes 4.260 ms as captured"));
  CHECK(has(text, "| --pinned | 4.260 | — | — | — | — |"));
  CHECK(has(text, "- No prediction of --pinned: The trace has nothing that this change is about.\n- The host's code between"));
  const auto document = nlohmann::json::parse(whatif_json(result));
  CHECK(document.at("predictions").at(2).at("ceiling") == true);
  CHECK(document.at("predictions").at(0).at("ceiling") == false);
  CHECK(document.at("predictions").at(3).at("predicted_ns").is_null());
}
