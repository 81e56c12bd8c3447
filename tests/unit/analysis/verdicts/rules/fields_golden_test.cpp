#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "analysis/verdicts/rules/fields.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_value_run.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/golden.h"

using namespace nl;
using namespace nl::analysis::rules;

namespace {

const char* const kScopes[] = {"run", "stage", "kernel", "operator"};

std::string text_of(const Field& field, const Value& value) {
  if (!value.known) return value.captured ? "none" : "not captured";
  if (field.type == Type::kNumber) return fmt::format("{:.6g}", value.number);
  return field.type == Type::kTruth ? (value.truth ? "true" : "false") : "'" + std::string(value.text) + "'";
}

void add_values(const char* name, const Run& run, std::string& out) {
  const RunTotals totals = total(run);
  for (const RuleScope scope : {RuleScope::kRun, RuleScope::kStage, RuleScope::kKernel, RuleScope::kOperator})
    for (const Subject& subject : subjects_of(run, totals, scope)) {
      out += fmt::format("{}: {} '{}'\n", name, kScopes[static_cast<int>(scope)], subject.name());
      for (const Field& field : fields_of(scope))
        out += fmt::format("  {} = {} at {}\n", field.name, text_of(field, field.read(subject)), pointer_to(subject, field.place));
    }
}

// What fields compute from more than one value: idle phases, iterations, GPUs, ncu's counters and the kernel's roofline point.
Run computed_run() {
  Run run = test::every_value_run();
  run.model.attributes = {{"batch_size", "501"}, {"prompt_tokens", "502"}, {"experts", "503"}};
  run.phases.phases.push_back({.name = "idle", .wall_ns = 20, .budget = {}});
  run.phases.phases.push_back({.name = "mixed", .wall_ns = 10, .budget = {}});
  run.iterations.list.resize(4);
  run.iterations.list[0].warmup = true;
  for (std::size_t i = 0; i < 4; ++i) run.iterations.list[i].wall_ns = std::array{900, 500, 400, 700}[i];
  run.stages[0].devices = {{.device = 0, .busy_ns = 800, .windows = 4}, {.device = 1, .busy_ns = 600, .windows = 4}};
  for (StageDevice& gpu : run.stages[0].devices) gpu.budget.gpu_compute_ns = gpu.busy_ns;
  NcuSample& sample = run.kernels->front().ncu.front();
  sample.metrics = {{"lts__t_sector_hit_rate.pct", 50.4}, {"launch__waves_per_multiprocessor", 505}, {"launch__registers_per_thread", 506}};
  run.roofline.points.front().kernel = run.kernels->front().name;
  run.roofline.points.front().ncu_id = sample.ncu_id;
  return run;
}

}  // namespace

TEST_CASE("every field that rules may ask for reads its own value", "[golden]") {
  std::string text;
  add_values("every value", test::every_value_run(), text);
  add_values("computed", computed_run(), text);
  add_values("full", test::full_run(), text);
  test::check_golden(test::kGolden + "rule_fields.txt", text);
}
