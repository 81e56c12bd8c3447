#pragma once

#include <string>

#include "model/gate.h"

// The result of a gate, for people and for CI.
namespace nl::exporters {

std::string gate_text(const GateReport& report, std::size_t width = 0);  // for a terminal so wide, 0: for any; without the verdict
std::string not_comparable_text(const WorkloadDifference& difference);   // "not comparable: batch is 8, and the expectation is of 1"
std::string gate_verdict(const GateReport& report);                      // "Failed: 1 regressed, 3 met."
std::string gate_markdown(const GateReport& report);                     // as GitHub shows it: a table for each hardware
std::string gate_json(const GateReport& report);
std::string gate_junit(const GateReport& report);  // a suite for each hardware, a case for each metric
// "::error file=…,line=…::…" for each line that failed, "::notice" for what improved or is new.
std::string gate_annotations(const GateReport& report);

// "12.3 ms"; "0.412" of a share.
std::string metric_value_text(const RunMetricInfo& info, double value);

}  // namespace nl::exporters
