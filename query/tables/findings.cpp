#include <string>

#include "model/comparison.h"
#include "model/run_metrics.h"
#include "model/words.h"
#include "query/tables/run_rows.h"

// What the run concludes: findings with their evidence, and figures.
namespace nl::query {
namespace {

using enum ColumnType;

struct FindingRow {
  const Finding* finding = nullptr;
  std::size_t id = 0;
};

std::vector<FindingRow> findings_of(const Run& run) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : run.findings) rows.push_back({&finding, rows.size()});
  return rows;
}

struct EvidenceRow {
  const Finding* finding = nullptr;
  std::size_t id = 0;
  const FindingEvidence* evidence = nullptr;
};

std::vector<EvidenceRow> evidence_of(const Run& run) {
  std::vector<EvidenceRow> rows;
  for (const FindingRow& row : findings_of(run))
    for (const FindingEvidence& evidence : row.finding->evidence) rows.push_back({row.finding, row.id, &evidence});
  return rows;
}

std::vector<RunMetric> figures_of(const Run& run) { return run_metrics(run, kEveryKernel); }

Column figure(std::string_view name, ColumnType type, std::string_view help, auto read) {
  return of_item<RunMetric>(name, type, "", help, read);
}

std::string_view scope_of(const RunMetricInfo& info) {
  constexpr std::string_view kScopes[] = {"run", "stage", "kernel"};
  return kScopes[static_cast<std::size_t>(info.scope)];
}

}  // namespace

Table findings_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<FindingRow>(name, type, unit, help, read);
  };
  return {"findings",
          "a conclusion about the run; what is worth the most first, those about the measurement last",
          {each("id", kInteger, "", "its place in /findings of run.json", [](const FindingRow& row) { return Value::count(row.id); }),
           each("rule", kText, "", "the rule that concludes it", [](const FindingRow& row) { return Value::known(row.finding->rule); }),
           each("scope", kText, "", "run, stage, kernel or operator",
                [](const FindingRow& row) { return Value::of(key_of(row.finding->scope)); }),
           each("subject", kText, "", "the stage, kernel or operator; NULL: the run",
                [](const FindingRow& row) { return Value::known(row.finding->subject); }),
           each("about", kText, "", "failure, workload or measurement",
                [](const FindingRow& row) { return Value::of(key_of(row.finding->about)); }),
           each("severity", kText, "", "info, low, medium or high",
                [](const FindingRow& row) { return Value::of(key_of(row.finding->severity)); }),
           each("confidence", kReal, "of 1", "how much of the evidence holds",
                [](const FindingRow& row) { return Value::of(row.finding->confidence); }),
           each("message", kText, "", "what is wrong", [](const FindingRow& row) { return Value::known(row.finding->message); }),
           each("plain", kText, "", "the same in everyday words", [](const FindingRow& row) { return Value::known(row.finding->plain); }),
           each("action", kText, "", "what to do about it", [](const FindingRow& row) { return Value::known(row.finding->action); }),
           each("gain_ns", kReal, "ns", "saves at most this much of the run's measured time; NULL: not known",
                [](const FindingRow& row) { return Value::known(row.finding->gain_ns); }),
           each("gain_share", kReal, "of 1", "of the measured span",
                [](const FindingRow& row) { return Value::known(row.finding->gain_share); }),
           each("gain_per_window_ns", kReal, "ns", "of one window of the stage",
                [](const FindingRow& row) { return Value::known(row.finding->gain_per_window_ns); }),
           each("gain_per_token_ns", kReal, "ns", "of a generated token of one sequence",
                [](const FindingRow& row) { return Value::known(row.finding->gain_per_token_ns); }),
           each("cause", kText, "", "findings of one cause have the same word",
                [](const FindingRow& row) { return Value::known(row.finding->cause); }),
           each("part_of", kText, "", "pointer to the finding that this one is a part of",
                [](const FindingRow& row) { return Value::known(row.finding->part_of); })},
          kRun,
          30,
          open_items<FindingRow, findings_of>};
}

Table evidence_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<EvidenceRow>(name, type, unit, help, read);
  };
  return {
      "evidence",
      "one thing that was checked for a finding",
      {each("finding", kInteger, "", "findings.id", [](const EvidenceRow& row) { return Value::count(row.id); }),
       each("rule", kText, "", "of the finding", [](const EvidenceRow& row) { return Value::known(row.finding->rule); }),
       each("text", kText, "", "what was seen", [](const EvidenceRow& row) { return Value::known(row.evidence->text); }),
       each("held", kInteger, "", "1: it speaks for the finding; 0: it was checked and does not hold; NULL: not captured",
            [](const EvidenceRow& row) { return row.evidence->known ? Value::count(row.evidence->held) : Value::null(); }),
       each("reference", kText, "", "pointer into run.json", [](const EvidenceRow& row) { return Value::known(row.evidence->reference); }),
       each("start_ns", kInteger, "ns", "where in the capture to look: from",
            [](const EvidenceRow& row) { return Value::known(row.evidence->window_start_ns); }),
       each("end_ns", kInteger, "ns", "to", [](const EvidenceRow& row) { return Value::known(row.evidence->window_end_ns); })},
      kRun,
      100,
      open_items<EvidenceRow, evidence_of>};
}

Table figures_table() {
  return {"figures",
          "a figure of the run, of a stage or of a kernel, as gates and trends use it",
          {figure("key", kText, "its name: tpot_ms, stage.decode_step.median_ms",
                  [](const RunMetric& row) { return Value::of(std::string_view(row.key)); }),
           figure("value", kReal, "in that unit", [](const RunMetric& row) { return Value::of(row.value); }),
           figure("unit", kText, "ms, µs, tokens/s, J; NULL: a count, or a share of 1",
                  [](const RunMetric& row) { return Value::known(key_of(row.info->unit)); }),
           figure("scope", kText, "run, stage or kernel", [](const RunMetric& row) { return Value::of(scope_of(*row.info)); }),
           figure("better", kText, "lower, higher or neither", [](const RunMetric& row) { return Value::of(key_of(row.info->better)); }),
           figure("unprofiled", kInteger, "1: of unprofiled passes; 0: of the trace",
                  [](const RunMetric& row) { return Value::count(row.unprofiled); }),
           figure("title", kText, "as reports name it", [](const RunMetric& row) { return Value::known(row.info->title); }),
           figure("help", kText, "what it is", [](const RunMetric& row) { return Value::known(row.info->help); })},
          kRun,
          300,
          open_items<RunMetric, figures_of>};
}

}  // namespace nl::query
