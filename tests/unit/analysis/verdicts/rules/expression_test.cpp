#include "analysis/verdicts/rules/expression.h"

#include <algorithm>
#include <random>

#include "analysis/verdicts/rules/compile.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;
using namespace nl::analysis::rules;

namespace {

// A stage with a budget and no model, a run with one kernel that ncu did not measure.
struct Fixture {
  Fixture() {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = "prefill";
    stage.wall = {4, 8000, 2000, 2000, 2000, 2000, 2000, 0};
    stage.budget = Budget{8000, 6000, 0, 0, 0, 2000, 0, 0};
    run.kernels.emplace().emplace_back();
    run.kernels->back().name = "void cutlass::Kernel2<ampere_bf16_Gemm>(T1)";
    run.phases.span_ns = 10000;
    totals = total(run);
  }

  Value value(const std::string& text, RuleScope scope = RuleScope::kStage) {
    const auto parsed = parse_expression(text, scope);
    INFO(text << ": " << parsed.fault.what);
    REQUIRE(parsed.expression);
    missing.clear();
    kept.push_back(*parsed.expression);
    return kept.back().evaluate(subjects_of(run, totals, scope).front(), missing);
  }
  double number(const std::string& text) {
    const Value result = value(text);
    CHECK(result.known);
    return result.number;
  }
  // "true", "false", "unknown: fields"
  std::string truth(const std::string& text, RuleScope scope = RuleScope::kStage) {
    const Value result = value(text, scope);
    if (result.known) return missing.empty() ? (result.truth ? "true" : "false") : "known, and something is missing";
    std::string names = "unknown:";
    for (const auto& each : missing) names += " " + each.name;
    return names;
  }

  Run run;
  RunTotals totals;
  std::vector<Expression::Missing> missing;
  std::vector<Expression> kept;
};

Fault fault(const std::string& text) {
  const auto parsed = parse_expression(text, RuleScope::kStage);
  INFO(text);
  REQUIRE_FALSE(parsed.expression);
  return parsed.fault;
}

}  // namespace

TEST_CASE("arithmetic, units and precedence") {
  Fixture f;
  CHECK(f.number("1 + 2 * 3") == 7);
  CHECK(f.number("(1 + 2) * 3") == 9);
  CHECK(f.number("10 - 4 - 3") == 3);
  CHECK(f.number("-2 * -3") == 6);
  CHECK(f.number("2 / 4 / 2") == 0.25);
  CHECK(f.number("10us") == 10e3);
  CHECK(f.number("10µs") == 10e3);
  CHECK(f.number("1.5ms + 500ns") == 1500500);
  CHECK(f.number("30%") == Approx(0.3));
  CHECK(f.number("2KiB + 1kB") == 3048);
  CHECK(f.number("min(3, 2, 5) + max(1, 4) + abs(-1)") == 7);
  CHECK(f.number("total_time") == 8000);
  CHECK(f.number("run.total_time - total_time") == 2000);
  CHECK(f.number("launch_starved_share") == 0.25);
}

TEST_CASE("comparisons, texts and logic") {
  Fixture f;
  CHECK(f.truth("total_time > 7us and total_time <= 8us") == "true");
  CHECK(f.truth("total_time != 8us or not total_time >= 9us") == "true");
  CHECK(f.truth("total_time != 8us") == "false");
  CHECK(f.truth("total_time != 9us") == "true");
  CHECK(f.truth("not (total_time == 8us)") == "false");
  CHECK(f.truth("name == \"prefill\" and name != 'decode'") == "true");
  CHECK(f.truth("true and not false") == "true");
  CHECK(f.truth("1 > 2 or 1 > 3 and true") == "false");
  CHECK(f.truth("matches(name, \"^PRE.*l$\")") == "true");
  CHECK(f.truth("contains(name, \"FILL\")") == "true");
  CHECK(f.truth("contains(name, \"decode\")") == "false");
  CHECK(f.truth("matches(name, \"gemm|sgemv\")", RuleScope::kKernel) == "true");
  CHECK(f.truth("kind == \"gemm\"", RuleScope::kKernel) == "true");
}

TEST_CASE("what was not captured matters only where the result depends on it") {
  Fixture f;
  CHECK(f.truth("mfu < 30%") == "unknown: mfu");
  CHECK(f.truth("mfu < 30% and total_time > 9us") == "false");
  CHECK(f.truth("total_time > 9us and mfu < 30%") == "false");
  CHECK(f.truth("mfu < 30% or total_time > 7us") == "true");
  CHECK(f.truth("mfu < 30% or total_time > 9us") == "unknown: mfu");
  CHECK(f.truth("mfu < mbu and total_time > 7us") == "unknown: mfu mbu");
  CHECK(f.truth("(mfu < 30% or total_time > 7us) and mbu < 1") == "unknown: mbu");
  CHECK(f.truth("(total_time > 7us or mfu < 30%) and mbu < 1") == "unknown: mbu");
  CHECK(f.truth("run.ttft > 1") == "unknown: run.ttft");
  CHECK(f.truth("not (mfu < 30% and false)") == "true");
  CHECK(f.truth("min(mfu, 1) > 0") == "unknown: mfu");
  CHECK(f.truth("known(mfu)") == "false");
  CHECK(f.truth("known(total_time)") == "true");
  CHECK(f.truth("known(mfu) and mfu < 30%") == "false");
  CHECK(f.truth("occupancy < 25%", RuleScope::kKernel) == "unknown: occupancy");
  CHECK(f.truth("metric(\"sm__cycles_active.avg\") > 3", RuleScope::kKernel) == "unknown: sm__cycles_active.avg");
  (*f.run.kernels)[0].ncu.emplace_back().metrics["sm__cycles_active.avg"] = 4;
  CHECK(f.truth("metric(\"sm__cycles_active.avg\") > 3", RuleScope::kKernel) == "true");
}

TEST_CASE("a division by zero, and the mean of nothing, have no value, and no command would capture them") {
  Fixture f;
  CHECK(f.truth("total_time / 0 > 1") == "unknown:");
  CHECK(f.truth("total_time / (total_time - total_time) > 1 or true") == "true");
  CHECK(f.truth("1e308 * 1e308 > 1") == "unknown:");
  f.run.stages[0].activity.emplace();
  CHECK(f.truth("mean_kernel_time > 1us") == "unknown:");
  CHECK(f.truth("gemm_share > 0") == "unknown:");
}

TEST_CASE("faults know their place") {
  CHECK(fault("").what == "there is no expression");
  CHECK(fault("total_time >").at == 12);
  CHECK(fault("total_time > > 3").at == 13);
  CHECK(fault("totl_time > 3").word == "totl_time");
  CHECK(fault("1 + totl_time > 3").at == 4);
  CHECK(fault("total_time = 3").what == "write == to compare");
  CHECK(fault("name < 'a'").what == "'<' needs numbers; for a text there are == and !=");
  CHECK(fault("name + 1").what == "'+' needs a number, and this is a text");
  CHECK(fault("total_time > true").what == "'>' compares a number with true or false");
  CHECK(fault("not total_time").at == 4);
  CHECK(fault("1 < 2 < 3").at == 6);
  CHECK(fault("1 < 2 < 3").what == "comparisons cannot be chained; join them with 'and'");
  CHECK(fault("(1 < 2").what == "a ')' is missing here");
  CHECK(fault("min(1)").what == "min needs at least two numbers");
  CHECK(fault("matches(name, name)").what == "matches needs a text in quotes");
  CHECK(fault("name == 'a").what == "this text has no closing quote");
  CHECK(fault("1 & 2").what == "'&' has no meaning here");
  CHECK(fault("1e999 > 2").what == "this number is out of range");
  CHECK(fault("and").what == "'and' is not expected here");
  CHECK(fault("run.mfu > 1").word == "run.mfu");
  CHECK(fault("total_time 3").at == 11);
}

TEST_CASE("faults say what an operator needs, and which fields there are") {
  for (const char* text : {"1 or true", "true or 1"}) CHECK(fault(text).what == "'or' needs true or false, and this is a number");
  for (const char* text : {"name and true", "true and name"}) CHECK(fault(text).what == "'and' needs true or false, and this is a text");
  CHECK(fault("not 1").what == "'not' needs true or false, and this is a number");
  CHECK(fault("-name").what == "'-' needs a number, and this is a text");
  for (const char* text : {"1 - name", "name - 1"}) CHECK(fault(text).what == "'-' needs a number, and this is a text");
  for (const char* text : {"2 * true", "true * 2"}) CHECK(fault(text).what == "'*' needs a number, and this is true or false");
  CHECK(fault("2 / name").at == 4);
  const auto candidates = fault("totl_time > 3").candidates;
  CHECK(std::count(candidates.begin(), candidates.end(), "total_time") == 1);
  CHECK(std::count(candidates.begin(), candidates.end(), "run.gpus") == 1);
  CHECK(std::count(candidates.begin(), candidates.end(), "gpus") == 0);
  CHECK(fault("totl_time > 3").what == "unknown field 'totl_time' of a stage");
}

TEST_CASE("depth and length are bounded") {
  CHECK(fault(std::string(1000, '(')).what == "this is nested too deeply");
  CHECK(fault(std::string(1000, '-') + "1").what == "this is nested too deeply");
  std::string nots;
  for (int i = 0; i < 500; ++i) nots += "not ";
  CHECK(fault(nots + "true").what == "this is nested too deeply");
  CHECK(fault(std::string(4000, ' ') + "1").what == "this expression is too long");
  CHECK(parse_expression(std::string(3999, ' ') + "1", RuleScope::kStage).expression);
  Fixture f;
  std::string sum = "1";
  while (sum.size() < 3990) sum += "+1";
  CHECK(f.number(sum) == 1996);  // 3991 characters, every other one a 1
}

TEST_CASE("a pattern neither hangs nor overflows on a long name") {
  Fixture f;
  (*f.run.kernels)[0].name = std::string(100000, 'a');
  CHECK(f.truth("matches(name, \"(a*)*b\")", RuleScope::kKernel) == "false");
  CHECK(f.truth("matches(name, \"(a|b)*$\")", RuleScope::kKernel) == "true");
}

TEST_CASE("random texts never crash, and what parses can be evaluated") {
  const std::vector<std::string> words = {
      "total_time", "mfu",        "name", "run.gpus", "kind", "has_steps", "matches", "contains", "min", "max", "abs",
      "known",      "metric",     "and",  "or",       "not",  "true",      "(",       ")",        ",",   "+",   "-",
      "*",          "/",          "<",    ">=",       "==",   "!=",        "1",       "30%",      "5ms", "'a'", "\"[a-z]+\"",
      "\"(\"",      "\"a{2,3}\"", "0",    ".5",       "µ",    "\xff",      "=",       "{",        "1e9"};
  std::mt19937 random(20240607);
  Fixture f;
  const auto subject = subjects_of(f.run, f.totals, RuleScope::kStage).front();
  std::size_t understood = 0;
  for (int round = 0; round < 16000; ++round) {
    std::string text;
    const std::size_t count = random() % 9 + 1;
    for (std::size_t i = 0; i < count; ++i) text += words[random() % words.size()] + (random() % 4 ? " " : "");
    if (round % 10 == 0)  // and plain noise
      for (auto& c : text) c = static_cast<char>(random());
    const auto parsed = parse_expression(text, RuleScope::kStage);
    if (!parsed.expression) {
      CHECK(!parsed.fault.what.empty());
      CHECK(parsed.fault.at <= text.size());
      continue;
    }
    ++understood;
    std::vector<Expression::Missing> missing;
    const Value value = parsed.expression->evaluate(subject, missing);
    if (value.known) CHECK(missing.empty());
    Sentence::parse("{" + text + "}", RuleScope::kStage);
  }
  CHECK(understood > 200);  // else the words would not be worth much
}

TEST_CASE("values are written in their units") {
  const auto text = [](double value, Unit unit) { return value_text(Value::of(value), Type::kNumber, unit); };
  CHECK(text(0.634, Unit::kShare) == "63 %");
  CHECK(text(0.031, Unit::kShare) == "3.1 %");
  CHECK(text(0, Unit::kShare) == "0 %");
  CHECK(text(850, Unit::kTime) == "850 ns");
  CHECK(text(12345, Unit::kTime) == "12.3 µs");
  CHECK(text(4.2e6, Unit::kTime) == "4.20 ms");
  CHECK(text(999.9e6, Unit::kTime) == "1.00 s");
  CHECK(text(1.5e9, Unit::kBytes) == "1.50 GB");
  CHECK(text(1234567, Unit::kCount) == "1,234,567");
  CHECK(text(12.34, Unit::kCount) == "12.3");
  CHECK(text(989e12, Unit::kFlopsPerS) == "989 TFLOP/s");
  CHECK(value_text(Value::not_captured(), Type::kNumber, Unit::kTime) == "not captured");
  CHECK(value_text(Value::none(), Type::kNumber, Unit::kTime) == "no value");
}

TEST_CASE("sentences hold expressions") {
  Fixture f;
  const auto subject = subjects_of(f.run, f.totals, RuleScope::kStage).front();
  const auto text = [&](const char* sentence) { return Sentence::parse(sentence, RuleScope::kStage).sentence->text(subject); };
  CHECK(text("{name} takes {total_time}, {launch_starved_share} of it waiting.") == "prefill takes 8.00 µs, 25 % of it waiting.");
  CHECK(text("{total_time / run.total_time:percent}{mfu}") == "80 %not captured");
  CHECK(text("") == "");
  const auto bad = Sentence::parse("up to {totl_time}", RuleScope::kStage);
  CHECK_FALSE(bad.sentence);
  CHECK(bad.fault.at == 7);
  CHECK(Sentence::parse("{", RuleScope::kStage).fault.what == "this '{' has no '}'");
  CHECK(Sentence::parse("{}", RuleScope::kStage).fault.what == "there is no expression");
}
