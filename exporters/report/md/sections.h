#pragma once

#include <string>

#include "model/run.h"

// The sections of report.md, each with its heading; empty where there is nothing to say.
namespace nl::exporters::report_md {

// report_md_findings.cpp
std::string findings(const Run& run);         // a line each
std::string finding_details(const Run& run);
std::string abstentions(const Run& run);

// report_md_stages.cpp
std::string stages(const Run& run);
std::string budgets(const Run& run);
std::string phases(const Run& run);
std::string coverage(const Run& run);

// report_md_counters.cpp
std::string counters(const Run& run);         // a part of the stages

// report_md_efficiency.cpp
std::string efficiency(const Run& run);
std::string roofline(const Run& run);
std::string perturbation(const Run& run);
std::string energy(const Run& run);

// report_md_operators.cpp
std::string operators(const Run& run);
std::string layers(const Run& run);
std::string kernels(const Run& run);

// report_md_capture.cpp
std::string problems(const Run& run);
std::string capture(const Run& run);
std::string environment(const Run& run);
std::string import_stats(const Run& run);

}  // namespace nl::exporters::report_md
