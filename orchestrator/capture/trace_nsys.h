#pragma once

#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"

namespace nl::orchestrator {

// The nsys pass and its SQLite export. A success that nsys reports is checked. A trace that was cut short is not exported.
void trace_by_nsys(const Plan& plan, std::span<const Pass> passes, PassRunner& runner, Capture& capture);

// Exports FILE.nsys-rep into the bundle and blanks the environment; empty where it did not work.
std::filesystem::path export_nsys(const Pass& pass, const Config& config, PassRunner& runner);

// Notes the workload's own failure.
void judge_workload(const Plan& plan, const Pass& pass, const ProcessResult& result, PassRecord& record, Verdict& verdict);

// The end of what a program printed: ": out of memory"; empty where it printed nothing.
std::string last_words(const std::string& output, int lines);

// The report files that nsys says it wrote:
//   Generated:
//       /tmp/x/run.nsys-rep
std::vector<std::filesystem::path> generated_files(const std::string& nsys_output);

// The session of `nsys sessions list` that the nsys process `pid` began; empty where there is none.
//                 ID         TIME                       STATE LAUNCH NAME
//             112613        00:03                  Collection      1 profile-sleep-2606
std::string session_of(const std::string& sessions_list, int pid);

}  // namespace nl::orchestrator
