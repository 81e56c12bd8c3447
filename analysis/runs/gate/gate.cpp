#include "analysis/runs/gate/gate.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "analysis/statistics/bootstrap.h"
#include "model/error_code.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

using RunList = std::vector<const GateRun*>;

// The source of the metric's value in this run.
ExpectationSource source_of(const GateRun& run, const RunMetric& metric) {
  ExpectationSource out = run.from;
  if (metric.unprofiled) out.captured_by = key_of(PassKind::kUnprofiled);
  return out;
}

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& fix) {
  throw CodedError(ErrorCode::kNotComparable, what, where, fix);
}

// A figure of the trace says nothing about an unprofiled one, nor nsys' about the collector's.
void check_source(const std::string& metric, const ExpectationSource& expected, const ExpectationSource& given, const std::string& run) {
  if (expected.captured_by != given.captured_by)
    refuse(fmt::format("{} is expected of '{}' and was captured by '{}'", metric, expected.captured_by, given.captured_by), run,
           "capture in the same way, or set the expectations of this hardware anew with --update");
  if (!expected.model.empty() && !given.model.empty() && expected.model != given.model)
    refuse(fmt::format("{} is expected of the model '{}', and this run is of '{}'", metric, expected.model, given.model), run,
           "keep a file of expectations for each model");
}

// The first fact in which they are of different workloads. What is not known differs from nothing, and a mean length of prompts not
// from one close to it.
std::optional<WorkloadDifference> workload_difference(const ExpectationSource& expected, const ExpectationSource& given) {
  for (const WorkloadFact& fact : kWorkloadFacts) {
    const std::string &a = expected.*fact.value, &b = given.*fact.value;
    if (!a.empty() && !b.empty() && !same_part(fact.part, a, b)) return WorkloadDifference{std::string(fact.key()), a, b};
  }
  return std::nullopt;
}

GateOutcome outcome_of(const GateLine& line) {
  if (!line.value) return GateOutcome::kMissing;
  if (!line.expected) return GateOutcome::kNew;
  if (*line.value >= *line.low && *line.value <= *line.high) return GateOutcome::kMet;
  const bool lower = *line.value < *line.low;
  if (lower ? line.likely_high.value_or(*line.value) >= *line.low : line.likely_low.value_or(*line.value) <= *line.high)
    return GateOutcome::kUndecided;
  return lower == (line.info->better == Better::kLower) ? GateOutcome::kImproved : GateOutcome::kRegressed;
}

// A count is what it is; everything else differs from run to run.
bool varies(const GateLine& line) {
  return line.info->unit != FigureUnit::kCount && *line.expected > 0 &&
         std::all_of(line.values.begin(), line.values.end(), [](double value) { return value > 0; });
}

std::size_t runs_of(const ExpectationSource& from) {
  return 1 + static_cast<std::size_t>(std::count(from.run.begin(), from.run.end(), ' '));
}

// Where the figure of this build lies, if it is the value times what runs differ by.
void set_likely(GateLine& line, const Wander& wander, double confidence) {
  if (!line.value || !varies(line)) return;
  std::vector<double> logs;
  for (const double value : line.values) logs.push_back(std::log(value));
  const Interval interval = effect_against(std::log(*line.expected), runs_of(line.from), logs, wander).interval(confidence);
  line.likely_low = std::min(*line.value, *line.expected * std::exp(interval.low));
  line.likely_high = std::max(*line.value, *line.expected * std::exp(interval.high));
}

// What the runs have of the metric. Their sources must agree with each other, and with `expected` where it is given.
void take_values(GateLine& line, const RunList& runs, const ExpectationSource* expected) {
  for (const GateRun* run : runs) {
    const RunMetric* metric = run->find(line.metric);
    if (metric == nullptr) continue;
    const ExpectationSource source = source_of(*run, *metric);
    if (line.values.empty() && expected == nullptr) line.from = source;
    check_source(line.metric, expected ? *expected : line.from, source, run->run_id);
    if (const auto difference = workload_difference(expected ? *expected : line.from, source)) {
      if (expected == nullptr)
        refuse(fmt::format("the runs differ in {}: {} and {}", difference->key, difference->expected, difference->given), run->run_id,
               "gate runs of one workload together");
      line.not_comparable = difference;
      continue;
    }
    line.values.push_back(metric->value);
  }
  // A median of the other runs alone would pass a gate that was given a run of another workload.
  if (!line.values.empty() && !line.not_comparable) line.value = median_of(line.values);
}

// The value and source of a metric in runs of one hardware, as a line without expectation; no value where no run has it.
GateLine measured(const std::string& metric, const RunList& runs) {
  GateLine line;
  line.metric = metric;
  line.info = find_metric(metric);
  line.outcome = GateOutcome::kNew;
  take_values(line, runs, nullptr);
  return line;
}

GateLine line_of(const Expectation& expectation, const Tolerance& usual, const RunList& runs) {
  GateLine line;
  line.metric = expectation.metric;
  line.info = find_metric(expectation.metric);
  line.expected = expectation.expected;
  const double around = expectation.tolerance.value_or(usual).around(expectation.expected);
  line.low = expectation.expected - around;
  line.high = expectation.expected + around;
  line.from = expectation.from;
  line.line = expectation.line;
  take_values(line, runs, &expectation.from);
  return line;
}

// Metrics that the file expects of other hardware, and this one has no expectation of yet.
std::vector<GateLine> new_lines(const Expectations& all, const HardwareExpectations* own, const RunList& runs) {
  std::set<std::string> expected;
  if (own != nullptr)
    for (const Expectation& each : own->list) expected.insert(each.metric);
  std::vector<GateLine> out;
  for (const HardwareExpectations& other : all.hardware)
    for (const Expectation& each : other.list) {
      if (!expected.insert(each.metric).second) continue;
      GateLine line = measured(each.metric, runs);
      if (line.value) out.push_back(std::move(line));
    }
  return out;
}

GateResult judge_hardware(const Expectations& expectations, const std::string& hardware, const RunList& runs,
                          const WanderOfMetric& recorded) {
  GateResult result{hardware, {}, {}};
  for (const GateRun* run : runs) result.runs.push_back(run->run_id);
  const HardwareExpectations* own = expectations.of(hardware);
  if (own != nullptr)
    for (const Expectation& each : own->list) {
      GateLine line = line_of(each, expectations.tolerance, runs);
      const auto known = recorded ? recorded(each.metric) : std::nullopt;
      // Any of the metrics may fail by chance: each gets its part of the 5 %.
      set_likely(line, known ? pooled(Wander{}, *known) : Wander{}, 1 - 0.05 / static_cast<double>(own->list.size()));
      line.outcome = outcome_of(line);
      result.lines.push_back(std::move(line));
    }
  for (GateLine& line : new_lines(expectations, own, runs)) result.lines.push_back(std::move(line));
  return result;
}

// In the order of the first of each.
std::vector<std::pair<std::string, RunList>> by_hardware(const std::vector<GateRun>& runs) {
  std::vector<std::pair<std::string, RunList>> out;
  for (const GateRun& run : runs) {
    auto same = std::find_if(out.begin(), out.end(), [&](const auto& each) { return each.first == run.hardware; });
    if (same == out.end()) same = out.insert(out.end(), {run.hardware, {}});
    same->second.push_back(&run);
  }
  return out;
}

// Who recorded what traced figures are of: "nsys", "collector (CUPTI)", "import (kineto)".
std::string capture_mode(const Run& run) {
  const Tracer tracer = run.provenance.tracer;
  if (tracer != Tracer::kImport) return std::string(key_of(tracer));
  return fmt::format("{} ({})", key_of(tracer), key_of(run.import_stats.source_format));
}

// As many digits as a file of expectations has.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

ExpectationSource source_of_all(const GateLine& line, const RunList& runs) {
  ExpectationSource out = line.from;
  out.run.clear();
  for (const GateRun* run : runs)
    if (run->find(line.metric) != nullptr) out.run += (out.run.empty() ? "" : " ") + run->run_id;
  return out;
}

bool within(const Expectation& expectation, const Tolerance& usual, double value) {
  return std::abs(value - expectation.expected) <= expectation.tolerance.value_or(usual).around(expectation.expected);
}

bool same_kind(const ExpectationSource& a, const ExpectationSource& b) {
  const bool same_model = a.model.empty() || b.model.empty() || a.model == b.model;
  return a.captured_by == b.captured_by && same_model && !workload_difference(a, b);
}

void set_known(HardwareExpectations& own, const Tolerance& usual, const RunList& runs) {
  for (Expectation& each : own.list) {
    const GateLine line = measured(each.metric, runs);
    if (!line.value || (same_kind(each.from, line.from) && within(each, usual, *line.value))) continue;
    each.expected = rounded(*line.value);
    each.from = source_of_all(line, runs);
  }
}

void add_new(HardwareExpectations& own, const std::vector<std::string>& metrics, const RunList& runs) {
  for (const std::string& metric : metrics) {
    if (own.find(metric) != nullptr) continue;
    const GateLine line = measured(metric, runs);
    if (line.value) own.list.push_back({metric, rounded(*line.value), {}, source_of_all(line, runs)});
  }
}

// The metrics that the file expects of any hardware, then those that match the patterns.
std::vector<std::string> wanted(const Expectations& expectations, const RunList& runs, const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  for (const HardwareExpectations& hardware : expectations.hardware)
    for (const Expectation& each : hardware.list) out.push_back(each.metric);
  for (const GateRun* run : runs)
    for (const RunMetric& metric : run->metrics)
      if (std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return key_matches(metric.key, pattern); }))
        out.push_back(metric.key);
  return out;
}

}  // namespace

bool key_matches(const std::string& key, const std::string& pattern) { return ::fnmatch(pattern.c_str(), key.c_str(), 0) == 0; }

const RunMetric* GateRun::find(const std::string& metric) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(), [&](const RunMetric& each) { return each.key == metric; });
  return found != metrics.end() ? &*found : nullptr;
}

GateRun gate_run(const Run& run) {
  GateRun out{run.run_id, hardware_key(run), {}, run_metrics(run, kEveryKernel)};
  out.from = {run.run_id, {}, run.software.nl_stage_version, capture_mode(run), run.model.name};
  const WorkloadIdentity identity = identity_of(run);
  for (const WorkloadFact& fact : kWorkloadFacts) out.from.*fact.value = identity[fact.part];
  if (const auto& repository = run.workload.repository)
    out.from.commit = repository->revision + (repository->modified.value_or(false) ? "-modified" : "");
  return out;
}

std::vector<GateResult> judge(const Expectations& expectations, const std::vector<GateRun>& runs, const WanderOfMetric& recorded) {
  std::vector<GateResult> out;
  for (const auto& [hardware, same] : by_hardware(runs)) out.push_back(judge_hardware(expectations, hardware, same, recorded));
  return out;
}

const Expectation* of_other_mode(const HardwareExpectations& expectations) {
  const Expectation* first = nullptr;
  for (const Expectation& each : expectations.list) {
    if (from_key<PassKind>(each.from.captured_by) == PassKind::kUnprofiled) continue;
    if (first == nullptr) first = &each;
    if (each.from.captured_by != first->from.captured_by) return &each;
  }
  return nullptr;
}

Expectations updated(Expectations expectations, const std::vector<GateRun>& runs, const std::vector<std::string>& patterns) {
  for (const auto& [hardware, same] : by_hardware(runs)) {
    if (expectations.of(hardware) == nullptr) expectations.hardware.push_back({hardware, {}});
    const auto metrics = wanted(expectations, same, patterns);
    HardwareExpectations& own = *expectations.of(hardware);
    set_known(own, expectations.tolerance, same);
    add_new(own, metrics, same);
    if (const Expectation* odd = of_other_mode(own))
      throw Error(ErrorKind::kInput,
                  fmt::format("{} is expected of '{}', as no other metric of {} would be", odd->metric, odd->from.captured_by, hardware),
                  same.front()->run_id, "capture it in the same way, or remove the expectations that these runs do not have");
  }
  std::erase_if(expectations.hardware, [](const HardwareExpectations& each) { return each.list.empty(); });
  return expectations;
}

}  // namespace nl::analysis
