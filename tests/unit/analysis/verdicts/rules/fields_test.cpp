#include "analysis/verdicts/rules/fields.h"

#include <fmt/format.h>

#include <set>

#include "tests/unit/golden.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::analysis::rules;

namespace {

// The page with these rows in the table below "### heading".
std::string with_rows(const std::string& page, const std::string& heading, const std::string& rows) {
  const std::string rule = "| --- | --- | --- | --- |\n";
  const std::size_t section = page.find("\n### " + heading + "\n");
  REQUIRE(section != std::string::npos);
  const std::size_t begin = page.find(rule, section) + rule.size();
  std::size_t end = begin;
  while (page.compare(end, 3, "| `") == 0) end = page.find('\n', end) + 1;
  return page.substr(0, begin) + rows + page.substr(end);
}

}  // namespace

TEST_CASE("docs/rules.md describes every field as it is, and no other", "[golden]") {
  const std::pair<const char*, void (*)(std::vector<Field>&)> tables[] = {{"run and stage", add_time_fields},
                                                                          {"run", add_run_fields},
                                                                          {"stage", add_stage_fields},
                                                                          {"kernel", add_kernel_fields},
                                                                          {"operator", add_operator_fields}};
  const std::string file = NL_SOURCE_ROOT "/docs/rules.md";
  std::string page = test::read_text(file);
  for (const auto& [heading, add] : tables) {
    std::vector<Field> fields;
    add(fields);
    std::string rows;
    for (const Field& field : fields)
      rows += fmt::format("| `{}` | {} | {} | {} |\n", field.name, field.type == Type::kTruth ? "true or false" : unit_word(field.unit),
                          key_of(field.capture), field.help);
    page = with_rows(page, heading, rows);
  }
  test::check_golden(file, page);
}

TEST_CASE("no field is there twice, and an empty run makes none of them fail") {
  Run run;
  run.stages.emplace_back();
  run.kernels.emplace();
  run.kernels->emplace_back();
  run.operators.emplace_back();
  run.operators.back().entries.emplace_back();
  const RunTotals totals = total(run);
  for (const RuleScope scope : {RuleScope::kRun, RuleScope::kStage, RuleScope::kKernel, RuleScope::kOperator}) {
    std::set<std::string_view> names;
    const auto subjects = subjects_of(run, totals, scope);
    REQUIRE(subjects.size() == 1);
    for (const Field& field : fields_of(scope)) {
      CAPTURE(field.name);
      CHECK(names.insert(field.name).second);
      const Value value = field.read(subjects.front());
      // Nothing was captured: only what the run says of itself may be known, and shares of nothing are not.
      if (value.known && field.capture == Capture::kCuda && scope == RuleScope::kStage) CHECK(field.name.empty());
      if (value.known && field.unit == Unit::kShare) CHECK((field.name == "gpu_share" || field.name == "top_kernel_share"));
    }
  }
}

TEST_CASE("a kernel that was launched once has times, and one that never was has none") {
  Run run;
  run.kernels.emplace();
  run.kernels->emplace_back().time = {1, 500, 500, 500, 500, 500, 500, 0};
  run.kernels->emplace_back();
  const RunTotals totals = total(run);
  const auto subjects = subjects_of(run, totals, RuleScope::kKernel);
  REQUIRE(subjects.size() == 2);
  const Field* mean = find_field(RuleScope::kKernel, "mean_time");
  REQUIRE(mean != nullptr);
  CHECK(mean->read(subjects[0]).number == 500);
  CHECK_FALSE(mean->read(subjects[1]).known);
}

TEST_CASE("without stages nobody knows a kernel's time in them") {
  Run run;
  run.kernels.emplace();
  run.kernels->emplace_back().stages = {{"none", 500, 1}};
  const auto read = [&](const char* name) {
    const RunTotals totals = total(run);
    return find_field(RuleScope::kKernel, name)->read(subjects_of(run, totals, RuleScope::kKernel).front());
  };
  for (const char* name : {"prefill_time", "decode_time", "main_stage"}) {
    CAPTURE(name);
    CHECK_FALSE(read(name).known);
    CHECK_FALSE(read(name).captured);
  }
  run.stages.emplace_back().name = "prefill";
  CHECK(read("prefill_time").number == 0);
  CHECK(read("prefill_time").known);
  CHECK(read("main_stage").text == "none");
}

namespace {

Value least_bytes(const Run& run) {
  const RunTotals totals = total(run);
  return find_field(RuleScope::kKernel, "least_bytes")->read(subjects_of(run, totals, RuleScope::kKernel).front());
}

}  // namespace

TEST_CASE("the least traffic of a matrix product: both operands and the result, once") {
  Run run;
  run.kernels.emplace();
  run.kernels->emplace_back().name = "gemm";
  CHECK_FALSE(least_bytes(run).captured);
  OperatorEntry& op = run.operators.emplace_back().entries.emplace_back();
  op.name = "aten::mm";
  op.shapes = {{"[[256, 1024], [1024, 512]]", 3, 10, 10}, {"[[8, 1024], [1024, 512]]", 3, 10, 10}};
  CHECK_FALSE(least_bytes(run).captured);  // no kernel of this name
  op.kernels = {{"gemm", 6, 20}};
  // The largest of the shapes; as the dtype is not known, four bytes an element.
  CHECK(least_bytes(run).number == 4.0 * (256 * 1024 + 1024 * 512 + 256 * 512));
  run.model.attributes["dtype"] = "bf16";
  CHECK(least_bytes(run).number == 2.0 * (256 * 1024 + 1024 * 512 + 256 * 512));
  op.shapes[1].text = "[[], [1024, 512]]";  // one that cannot be read
  CHECK_FALSE(least_bytes(run).known);
  op.shapes = {{"[[512], [256, 1024], [1024, 512]]", 3, 10, 10}};
  op.name = "aten::addmm";
  CHECK(least_bytes(run).number == 2.0 * (256 * 1024 + 1024 * 512 + 256 * 512));
  op.shapes = {{"[[4, 256, 64], [4, 64, 256]]", 3, 10, 10}};
  op.name = "aten::bmm";
  CHECK(least_bytes(run).number == 2.0 * 4 * (256 * 64 + 64 * 256 + 256 * 256));
  op.name = "aten::_softmax";
  CHECK_FALSE(least_bytes(run).captured);
}
