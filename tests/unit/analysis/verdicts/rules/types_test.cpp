#include <utility>

#include "analysis/verdicts/rules/expression.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis::rules;

namespace {

double number_of(const std::string& text) {
  Run run;
  const RunTotals totals = total(run);
  const auto parsed = parse_expression(text, RuleScope::kRun);
  INFO(text << ": " << parsed.fault.what);
  REQUIRE(parsed.expression);
  std::vector<Expression::Missing> missing;
  return parsed.expression->evaluate(subjects_of(run, totals, RuleScope::kRun).front(), missing).number;
}

}  // namespace

TEST_CASE("each operator refuses what it cannot take, on either side, and says where") {
  const std::pair<const char*, std::size_t> refused[] = {{"1 or 1 < 2", 0}, {"1 < 2 or 1", 9},  {"1 and 1 < 2", 0}, {"1 < 2 and 'a'", 10},
                                                         {"not 1", 4},      {"(1 < 2) + 1", 0}, {"1 + (1 < 2)", 4}, {"'a' * 2", 0},
                                                         {"2 / 'a'", 4},    {"-'a'", 1},        {"'a' < 1", 4},     {"1 < 'a'", 2},
                                                         {"1 == 'a'", 2},   {"'a' - 'b'", 0}};
  for (const auto& [text, at] : refused) {
    const auto parsed = parse_expression(text, RuleScope::kRun);
    CAPTURE(text, parsed.fault.what, parsed.fault.at, at);
    CHECK_FALSE(parsed.expression.has_value());
    CHECK_FALSE(parsed.fault.what.empty());
    CHECK(parsed.fault.at == at);
  }
}

TEST_CASE("each unit has its size") {
  const std::pair<const char*, double> expected[] = {
      {"1%", 0.01},     {"1ns", 1},        {"1us", 1e3},      {"1µs", 1e3},     {"1ms", 1e6},   {"1s", 1e9},         {"1B", 1},
      {"1kB", 1e3},     {"1MB", 1e6},      {"1GB", 1e9},      {"1k", 1e3},      {"1KiB", 1024}, {"1MiB", 1048576.0}, {"1GiB", 1073741824.0},
      {"2.5ms", 2.5e6}, {"1 - 2 - 3", -4}, {"12 / 2 / 3", 2}, {"1 + 2 * 3", 7}, {"-2 * -3", 6}, {"(1 + 2) * 3", 9}};
  for (const auto& [text, number] : expected) {
    CAPTURE(text);
    CHECK(number_of(text) == Approx(number));
  }
}
