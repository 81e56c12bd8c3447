#pragma once

#include "orchestrator/capture/launch.h"

namespace nl::orchestrator {

// The nsys pass and its SQLite export. What nsys calls success is checked, not believed.
Capture launch_nsys(const Pass& pass, const Config& config, const Tool& nsys, const Bundle& bundle, PassRunner& passes,
                    Verdict& verdict);

// Exports FILE.nsys-rep into the bundle and blanks the environment; empty where it did not work.
std::filesystem::path export_nsys(const Pass& pass, const Config& config, const Bundle& bundle, PassRunner& passes,
                                  Verdict& verdict);

// Notes the workload's own failure.
void judge_workload(const Pass& pass, const ProcessResult& result, const Config& config, PassRecord& record, Verdict& verdict);

std::string timeout_key(const std::string& pass_name);  // "nsys-export" → "nsys.export_timeout_s"

}  // namespace nl::orchestrator
