#include "analysis/verdicts/rules/fields.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis::rules;

TEST_CASE("a kernel's time in decode has its steps among it, and no other stage") {
  Run run;
  run.stages.emplace_back().name = "decode";
  run.kernels.emplace();
  run.kernels->emplace_back().stages = {
      {"prefill", 1, 1}, {"decode", 20, 1}, {"decode_step", 300, 1}, {"vision", 4000, 1}, {"prefill_image", 50000, 1}};
  const RunTotals totals = total(run);
  const Subject kernel = subjects_of(run, totals, RuleScope::kKernel).front();
  const auto read = [&](const char* field) { return find_field(RuleScope::kKernel, field)->read(kernel); };
  CHECK(read("decode_time").number == 320);
  CHECK(read("prefill_time").number == 1);
  CHECK(read("main_stage").text == "prefill_image");
}
