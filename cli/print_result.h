#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "orchestrator/doctor/doctor.h"
#include "orchestrator/run.h"

namespace nl::cli {

// How run and import end: the top rows, how fast it is, what limits it, where the report is, what went wrong; or JSON on stdout.
// `record` puts the run into the ledger once the rest is printed: a ledger may keep us waiting. JSON is one document, so there it comes
// before. Returns the exit status.
using RecordResult = std::function<orchestrator::LedgerRecord(const Run& run)>;
int print_result(orchestrator::RunResult result, bool json, const RecordResult& record = {});

// error: … / where: … / fix: …, on stderr.
void print_error(const Error& error);

// The same, and with --json {"error": …} on stdout; returns the exit status.
int print_failure(const Error& error, bool json);
nlohmann::ordered_json error_json(const Error& error);  // {kind, what, where, fix, exit_status}

Colour severity_colour(Severity severity);

// One line a check, with its level in colour, and below it the fix; on a terminal broken into lines that fit.
void print_checks(const std::vector<orchestrator::Check>& checks);

}  // namespace nl::cli
