#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exporters/run_json/run_json.h"
#include "model/suite_report.h"
#include "model/text_table.h"
#include "model/visible_text.h"
#include "runs/suite/run_suite.h"

// suite.json and suite.md: docs/suite.md describes them.
namespace nl::runs {
namespace {

constexpr const char* kSuiteProfiles[] = {"none", "light", "deep"};

std::optional<std::int64_t> size_or_none(std::int64_t size) { return size > 0 ? std::optional(size) : std::nullopt; }

SuiteRunReport run_report(const SuiteResult& result, const TaskRecord& record) {
  return {static_cast<std::uint64_t>(record.task.number),
          static_cast<std::uint64_t>(record.task.repetition),
          record.task.profiled,
          kTaskOutcomes[static_cast<std::size_t>(record.outcome)],
          record.run_id,
          record.node,
          record.bundle.empty() ? "" : std::filesystem::relative(record.bundle, result.out).string(),
          record.seconds,
          record.stage_ms,
          record.detail,
          size_or_none(record.task.size),
          static_cast<std::uint64_t>(record.attempts),
          record.reused};
}

std::vector<SuiteTargetReport> target_reports(const SuiteResult& result) {
  std::vector<SuiteTargetReport> targets;
  for (std::size_t i = 0; i < result.suite.targets.size(); ++i) {
    SuiteTargetReport& target = targets.emplace_back(SuiteTargetReport{result.suite.targets[i].name, result.suite.targets[i].command, {}});
    for (const TaskRecord& record : result.tasks)
      if (record.task.target == i) target.runs.push_back(run_report(result, record));
  }
  return targets;
}

SuitePairReport pair_report(const Suite& suite, const PairResult& pair) {
  return {pair.pair.name,
          suite.targets[pair.pair.baseline].name,
          suite.targets[pair.pair.optimised].name,
          pair.measured,
          pair.baseline_ms,
          pair.optimised_ms,
          pair.speedup,
          pair.low,
          pair.high,
          std::string(verdict_name(pair.verdict)),
          pair.note,
          outputs_name(pair),
          size_or_none(pair.size),
          pair.expectation ? pair.expectation->speedup : std::nullopt,
          pair.expectation ? expectation_name(pair.expectation->verdict) : "",
          pair_remarks(pair)};
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string speedup_text(const PairResult& pair) {
  if (!pair.speedup) return "-";
  return pair.low ? fmt::format("{:.3f} ({:.3f} to {:.3f})", *pair.speedup, *pair.low, *pair.high) : fmt::format("{:.3f}", *pair.speedup);
}

using Cells = std::vector<std::string>;

const Cells kTargetTitles = {"target", "runs", "median s", "profile"};

std::string median_text(const std::vector<double>& values) { return values.empty() ? "-" : fmt::format("{:.3f}", median_of(values)); }

std::string measured_text(const PairResult& pair) { return pair.measured.empty() ? "-" : pair.measured; }

std::string pair_row(const PairResult& pair) {
  return fmt::format("| {} | {} | {} | {} | {} | {}{} |\n", pair.pair.name, measured_text(pair), median_text(pair.baseline_ms),
                     median_text(pair.optimised_ms), speedup_text(pair), verdict_name(pair.verdict),
                     pair.note.empty() ? "" : ": " + pair.note);
}

// What decides comes first: a narrow terminal has no room for the rest.
TextTable pair_table(const std::vector<PairResult>& pairs) {
  TextTable table{{"pair", "verdict", "speed-up", "95 % from", "to", "baseline ms", "optimised ms", "measured"},
                  {},
                  {false, false, true, true, true, true, true, false},
                  1};
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : std::string("-"); };
  for (const PairResult& pair : pairs)
    table.rows.push_back({pair.pair.name, std::string(verdict_name(pair.verdict)), number(pair.speedup), number(pair.low),
                          number(pair.high), median_text(pair.baseline_ms), median_text(pair.optimised_ms), measured_text(pair)});
  return table;
}

// That the pair's figures are of, else where it begins.
std::int64_t size_shown(const SuiteResult& result, std::size_t target) {
  for (const PairResult& pair : result.pairs)
    if (pair.size > 0 && (pair.pair.baseline == target || pair.pair.optimised == target)) return pair.size;
  for (const TaskRecord& record : result.tasks)
    if (record.task.target == target) return record.task.size;
  return 0;
}

Cells target_cells(const SuiteResult& result, std::size_t target) {
  std::vector<double> seconds;
  std::string profile = "-";
  const std::int64_t size = size_shown(result, target);
  for (const TaskRecord& record : result.tasks) {
    if (record.task.target != target || record.outcome != TaskOutcome::kOk || record.task.size != size) continue;
    if (record.task.profiled) profile = std::filesystem::relative(record.bundle, result.out).string();
    else seconds.push_back(record.seconds);
  }
  return {result.suite.targets[target].name, fmt::format("{} of {}", seconds.size(), result.suite.iterations), median_text(seconds),
          profile};
}

std::string target_rows(const SuiteResult& result) {
  std::string text = fmt::format("\n## Targets\n\n| {} |\n| --- | --- | --- | --- |\n", fmt::join(kTargetTitles, " | "));
  for (std::size_t i = 0; i < result.suite.targets.size(); ++i) text += fmt::format("| {} |\n", fmt::join(target_cells(result, i), " | "));
  return text;
}

std::string trouble_lines(const SuiteResult& result) {
  std::string text;
  for (const std::string& orphan : result.orphans) text += fmt::format("- {} is one half of a pair; the other half is missing.\n", orphan);
  for (const TaskRecord& record : result.tasks)
    if (record.outcome != TaskOutcome::kOk)
      text += fmt::format("- {}: {}{}.\n", task_name(result.suite, record.task), kTaskOutcomes[static_cast<std::size_t>(record.outcome)],
                          record.detail.empty() ? "" : ", " + record.detail);
  return text;
}

std::vector<std::string> sentences(const SuiteResult& result) {
  std::vector<std::string> out;
  if (result.blocked()) out.emplace_back("The environment is not fit for timings. Nothing was run.");
  if (result.interrupt_signal != 0) out.emplace_back("The suite was interrupted. What ran before is below.");
  if (!result.pairs.empty() && !result.blocked())
    out.push_back(
        fmt::format("A pair meets the threshold when its speed-up is at least {} with 95 % confidence. Speed-ups are from unprofiled runs, "
                    "in random order.",
                    result.suite.threshold));
  return out;
}

}  // namespace

std::string_view suite_verdict_name(const SuiteResult& result) {
  return result.blocked() ? "blocked" : verdict_name(suite_verdict(result));
}

std::string suite_json(const SuiteResult& result) {
  const Suite& suite = result.suite;
  SuiteReport report;
  report.name = suite.name;
  report.file = suite.file.string();
  report.engine = result.engine;
  report.started_at = result.started_at;
  report.ended_at = result.ended_at;
  report.verdict = suite_verdict_name(result);
  report.interrupted = result.interrupt_signal != 0;
  report.threshold = suite.threshold;
  report.iterations = static_cast<std::uint64_t>(suite.iterations);
  report.warmup = static_cast<std::uint64_t>(suite.warmup);
  report.seed = static_cast<std::uint64_t>(suite.seed);
  report.profile = kSuiteProfiles[static_cast<std::size_t>(suite.profile)];
  report.waived = suite.waived;
  for (const Check& check : result.checks)
    report.environment.push_back({check.id, std::string(level_name(check.level)), check.finding, check.fix});
  for (const PairResult& pair : result.pairs) report.pairs.push_back(pair_report(suite, pair));
  report.orphans = result.orphans;
  report.targets = target_reports(result);
  report.chosen = suite.chosen;
  report.expectations = suite.expectations.string();
  report.machine = result.machine;
  report.changes = result.changes;
  return exporters::suite_to_json(report);
}

std::string suite_text(const SuiteResult& result, std::size_t width) {
  std::string text;
  for (const std::string& sentence : sentences(result)) text += wrapped(sentence, width, 0, 0) + "\n\n";
  if (result.blocked()) return text;
  TextTable targets{kTargetTitles, {}, {false, true, true, false}, 2};
  for (std::size_t i = 0; i < result.suite.targets.size(); ++i) targets.rows.push_back(target_cells(result, i));
  if (!result.pairs.empty()) text += fitted(pair_table(result.pairs), width).text;
  for (const PairResult& pair : result.pairs)
    if (!pair.note.empty()) text += wrapped(fmt::format("{}: {}", pair.pair.name, pair.note), width, 0, 2) + "\n";
  for (const std::string& line : remark_lines(result)) text += wrapped(line, width, 0, 2) + "\n";
  text += (result.pairs.empty() ? "" : "\n") + fitted(std::move(targets), width).text;
  if (const std::string trouble = trouble_lines(result); !trouble.empty()) text += "\n" + trouble;
  return text;
}

namespace {

// The pairs, the targets and what went wrong with them.
std::string outcome_markdown(const SuiteResult& result) {
  std::string text;
  if (!result.pairs.empty()) {
    text += "| pair | measured | baseline ms | optimised ms | speed-up (95 %) | verdict |\n| --- | --- | --- | --- | --- | --- |\n";
    for (const PairResult& pair : result.pairs) text += pair_row(pair);
  }
  const std::vector<std::string> remarks = remark_lines(result);
  if (!remarks.empty() && !text.empty()) text += "\n";
  for (const std::string& line : remarks) text += fmt::format("- {}\n", line);
  text += target_rows(result);
  if (const std::string trouble = trouble_lines(result); !trouble.empty()) text += "\n## Not counted\n\n" + trouble;
  return text + "\n";
}

}  // namespace

std::string suite_markdown(const SuiteResult& result) {
  std::string text = fmt::format("# Suite {}: {}\n\n", result.suite.name, suite_verdict_name(result));
  for (const std::string& sentence : sentences(result)) text += sentence + "\n\n";
  if (!result.blocked()) text += outcome_markdown(result);
  text += "## Environment\n\n";
  for (const Check& check : result.checks)
    text += fmt::format("- {} {}: {}{}\n", level_name(check.level), check.subject, check.finding,
                        check.fix.empty() ? "" : fmt::format("; fix: `{}`", check.fix));
  return text;
}

}  // namespace nl::runs
