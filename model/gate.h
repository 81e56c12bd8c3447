#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/identity.h"
#include "model/run_metrics.h"
#include "model/words.h"

// What a run is expected to reach, and what came of it.
namespace nl {

// kUndecided: the figure is outside of the tolerance, and runs of one build may differ as much.
enum class GateOutcome : std::uint8_t { kMet, kImproved, kRegressed, kNew, kMissing, kUndecided };
template <>
inline constexpr auto kKeys<GateOutcome> = std::to_array<std::string_view>({"met", "improved", "regressed", "new", "missing", "undecided"});

// Where an expected value comes from.
struct ExpectationSource {
  std::string run;          // its id; of several, all of them
  std::string commit;       // of the workload; empty: not known
  std::string nl_stage;     // the version that captured
  std::string captured_by;  // capture_mode(): "nsys", "unprofiled"
  std::string model;        // empty: not known
  std::string architecture = {}, precision = {}, batch = {}, prompt_tokens = {}, program = {}, inputs = {},
              load = {};  // what was run; empty: not known
  friend bool operator==(const ExpectationSource&, const ExpectationSource&) = default;
};

// A part of what was run, by its key in the file.
struct WorkloadFact {
  IdentityPart part;
  std::string ExpectationSource::* value;
  std::string_view key() const { return key_of(part); }
};
inline constexpr std::array<WorkloadFact, 7> kWorkloadFacts = {{{IdentityPart::kProgram, &ExpectationSource::program},
                                                                {IdentityPart::kArchitecture, &ExpectationSource::architecture},
                                                                {IdentityPart::kInputs, &ExpectationSource::inputs},
                                                                {IdentityPart::kPrecision, &ExpectationSource::precision},
                                                                {IdentityPart::kBatch, &ExpectationSource::batch},
                                                                {IdentityPart::kPromptTokens, &ExpectationSource::prompt_tokens},
                                                                {IdentityPart::kLoad, &ExpectationSource::load}}};

// One fact in which the workload of a run differs from that of an expectation.
struct WorkloadDifference {
  std::string key, expected, given;
};

struct Tolerance {
  double amount = 0.05;
  bool relative = true;  // of the expected value; else in the metric's own unit
  double around(double expected) const { return relative ? amount * std::abs(expected) : amount; }
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

struct Expectation {
  std::string metric;
  double expected = 0;
  std::optional<Tolerance> tolerance;  // empty: the file's
  ExpectationSource from;
  int line = 0;  // of the file
};

struct HardwareExpectations {
  std::string hardware;  // hardware_key()
  std::vector<Expectation> list;

  const Expectation* find(const std::string& metric) const {
    const auto found = std::find_if(list.begin(), list.end(), [&](const Expectation& each) { return each.metric == metric; });
    return found != list.end() ? &*found : nullptr;
  }
};

struct Expectations {
  Tolerance tolerance;
  std::vector<HardwareExpectations> hardware;

  HardwareExpectations* of(const std::string& name) {
    const auto found = std::find_if(hardware.begin(), hardware.end(), [&](const auto& each) { return each.hardware == name; });
    return found != hardware.end() ? &*found : nullptr;
  }
  const HardwareExpectations* of(const std::string& name) const { return const_cast<Expectations*>(this)->of(name); }
};

// One expectation against the runs of its hardware.
struct GateLine {
  std::string metric;
  const RunMetricInfo* info = nullptr;  // unit, which way is better
  GateOutcome outcome = GateOutcome::kMet;
  std::optional<double> expected, low, high;      // low to high: met; empty: new
  std::optional<double> value;                    // the median of the runs; empty: missing
  std::optional<double> likely_low, likely_high;  // where the figure of this build lies, by how much runs differ; empty: exact, or missing
  std::vector<double> values;                     // of each run that has it
  std::optional<WorkloadDifference> not_comparable;  // of a run that was left out
  ExpectationSource from;                            // of the expected value; of a new one, of this
  int line = 0;                                      // of the file of expectations; 0: not in it

  bool failed() const { return outcome == GateOutcome::kRegressed || outcome == GateOutcome::kMissing; }
  std::optional<double> change() const {  // 0.03: 3 % more than expected
    return expected && value && *expected != 0 ? std::optional((*value - *expected) / std::abs(*expected)) : std::nullopt;
  }
};

struct GateResult {
  std::string hardware;
  std::vector<std::string> runs;  // their ids
  std::vector<GateLine> lines;
};

// What --update wrote.
struct GateChange {
  std::string hardware, metric;
  std::optional<double> before;  // empty: it was not expected yet
  double after = 0;
};

struct GateReport {
  std::string file;  // of expectations
  std::vector<GateResult> results;
  std::vector<GateChange> changes;
  std::vector<std::string> changed_files;
  std::vector<std::string> notes;
  bool strict = false;  // what is undecided fails

  bool passed() const {
    return std::none_of(results.begin(), results.end(), [&](const GateResult& result) {
      return std::any_of(result.lines.begin(), result.lines.end(),
                         [&](const GateLine& line) { return line.failed() || (strict && line.outcome == GateOutcome::kUndecided); });
    });
  }
};

}  // namespace nl
