#include "analysis/runs/gate/update.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>

#include "model/error.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

using RunList = std::vector<const GateRun*>;

bool key_matches(const std::string& key, const std::string& pattern) { return ::fnmatch(pattern.c_str(), key.c_str(), 0) == 0; }

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

// Those of other hardware first, then those of the patterns.
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
