#include "exporters/gate/gate_reports.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/files.h"

// What a gate says for people, for CI systems and for scripts.
using namespace nl;
using namespace nl::exporters;
using nl::test::has;

namespace {

GateLine gate_line(const std::string& metric, GateOutcome outcome, std::optional<double> value, std::optional<double> expected) {
  GateLine line;
  line.metric = metric;
  line.info = find_metric(metric);
  line.outcome = outcome;
  line.value = value;
  if (value) line.values = {*value};
  line.expected = expected;
  if (expected) line.low = *expected * 0.95, line.high = *expected * 1.05;
  line.line = expected ? 5 : 0;
  return line;
}

GateReport gate_sample() {
  GateReport report;
  report.file = "perf/a,b:50%.yaml";
  report.results = {{"NVIDIA H200",
                     {"r1"},
                     {gate_line("tpot_ms", GateOutcome::kMet, 4.0, 4.0), gate_line("tokens_per_s", GateOutcome::kRegressed, 80, 100),
                      gate_line("ttft_ms", GateOutcome::kMissing, {}, 12), gate_line("mfu", GateOutcome::kNew, 0.412, {})}}};
  return report;
}

}  // namespace

TEST_CASE("gate text: what failed comes first, with the change and the range that is met") {
  const std::string text = gate_text(gate_sample());
  CHECK(has(text, "\nregressed  tokens_per_s"));
  CHECK(has(text, "80.0 tokens/s  100 tokens/s  −20.0 %  95.0 tokens/s to 105 tokens/s"));
  CHECK(has(text, "met        tpot_ms"));
  CHECK(has(text, "0.412"));  // a share
  CHECK(gate_verdict(gate_sample()) == "Failed: 1 regressed, 1 missing, 1 new, 1 met.");
  GateReport fine = gate_sample();
  fine.results[0].lines.resize(1);
  CHECK(gate_verdict(fine) == "Passed: 1 met.");
  fine.results[0].lines.clear();
  CHECK(gate_verdict(fine) == "Passed: nothing is expected of this hardware.");
}

TEST_CASE("gate: what is not comparable is missing, with the reason") {
  GateReport report = gate_sample();
  report.results[0].lines[2].not_comparable = WorkloadDifference{"batch", "1", "8"};
  CHECK(has(gate_text(report), "not comparable: batch is 8, and the expectation is of 1 (ttft_ms)\n"));
  CHECK(has(gate_markdown(report), "not comparable: batch is 8, and the expectation is of 1 (ttft"));
  CHECK(has(gate_junit(report), "ttft_ms on NVIDIA H200 is not comparable: batch is 8"));
  CHECK(has(gate_annotations(report), "not comparable: batch is 8"));
  CHECK(nlohmann::json::parse(gate_json(report))["results"][0]["lines"][2]["not_comparable"]["given"] == "8");
}

TEST_CASE("gate text: what an update wrote, and where") {
  GateReport report;
  report.changes = {{"NVIDIA H200", "tpot_ms", 4.0, 5.0}, {"NVIDIA H200", "mfu", {}, 0.25}};
  report.changed_files = {"perf.yaml"};
  report.notes = {"The file was written anew: its comments and its order are not kept."};
  const std::string text = gate_text(report);
  CHECK(has(text, "NVIDIA H200, tpot_ms: 4.00 ms is now 5.00 ms\n"));
  CHECK(has(text, "NVIDIA H200, mfu: now expected, 0.250\n"));
  CHECK(has(text, "wrote perf.yaml\nnote: The file was written anew"));
}

TEST_CASE("gate Markdown: a table for each hardware, failures in bold") {
  const std::string text = gate_markdown(gate_sample());
  CHECK(text.starts_with("**Failed: 1 regressed, 1 missing, 1 new, 1 met.**\n\n### NVIDIA H200, r1\n\n| Metric | Outcome |"));
  CHECK(has(text, "| `tokens_per_s` | **regressed** | 80.0 tokens/s | 100 tokens/s | −20.0 % | 95.0 tokens/s to 105 tokens/s | 1 |\n"));
  CHECK(has(text, "| `ttft_ms` | **missing** | — | 12.0 ms | — | 11.4 ms to 12.6 ms | 0 |\n"));
  CHECK(has(text, "| `mfu` | new | 0.412 | — | — | — | 1 |\n"));
}

TEST_CASE("gate annotations: an error for what failed, a notice for what is new or better, nothing for what is met") {
  const std::string text = gate_annotations(gate_sample());
  CHECK(
      has(text,
          "::error file=perf/a%2Cb%3A50%25.yaml,line=5,title=tokens_per_s regressed::tokens_per_s regressed on NVIDIA H200: 80.0 tokens/s, "
          "20.0 %25 less than the expected 100 tokens/s (allowed: 95.0 tokens/s to 105 tokens/s)\n"));
  CHECK(
      has(text,
          "::error file=perf/a%2Cb%3A50%25.yaml,line=5,title=ttft_ms missing::ttft_ms is missing on NVIDIA H200; 12.0 ms was expected\n"));
  CHECK(has(text, "::notice file=perf/a%2Cb%3A50%25.yaml,title=mfu new::mfu is new on NVIDIA H200: 0.412\n"));
  CHECK_FALSE(has(text, "tpot_ms"));
}

TEST_CASE("gate text: a name with a line break begins no line of a CI system's own") {
  GateReport report = gate_sample();
  report.results[0].hardware = "GPU\n::warning::forged";
  report.results[0].runs = {"r\n::error::1"};
  CHECK_FALSE(has("\n" + gate_text(report, 0), "\n::"));
}

TEST_CASE("gate annotations: a name with a line break makes no second command") {
  GateReport report = gate_sample();
  report.results[0].hardware = "GPU\n::error::forged";
  CHECK(nl::test::count(gate_annotations(report), "\n") == 3);
}

TEST_CASE("gate JUnit: a suite for each hardware, a case for each metric") {
  GateReport report = gate_sample();
  report.results[0].hardware = "A<\"&\x01>";
  const std::string text = gate_junit(report);
  CHECK(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"nl-stage gate\">\n"));
  CHECK(has(text, "<testsuite name=\"A&lt;&quot;&amp; &gt;\" tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\">"));
  CHECK(has(text, "name=\"tokens_per_s\">\n      <failure type=\"regressed\" message=\"tokens_per_s regressed on"));
  CHECK(has(text, "name=\"mfu\">\n      <skipped message=\"mfu is new on"));
  CHECK(nl::test::count(text, "</testcase>") == 4);
}

TEST_CASE("gate JSON: numbers as they are, null for what is not there") {
  const auto json = nlohmann::json::parse(gate_json(gate_sample()));
  CHECK(json["passed"] == false);
  const auto& lines = json["results"][0]["lines"];
  REQUIRE(lines.size() == 4);
  CHECK(lines[1]["metric"] == "tokens_per_s");
  CHECK(lines[1]["outcome"] == "regressed");
  CHECK(lines[1]["change"].get<double>() == Approx(-0.2));
  CHECK(lines[1]["better"] == "higher");
  CHECK(lines[2]["value"].is_null());
  CHECK(lines[3]["expected"].is_null());
  CHECK(lines[3]["line"].is_null());
}

TEST_CASE("gate: on a narrow terminal what was measured and expected stays") {
  const std::string text = gate_text(gate_sample(), 72);
  for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) CHECK(end - from <= 72);
  CHECK(has(text, "100 tokens/s"));
  CHECK_FALSE(has(text, "allowed"));
}
