#pragma once

#include "orchestrator/run.h"

namespace nl::cli {

// How run and import end: the bundle, its top rows, what went wrong; or the same as JSON on stdout.
// Returns the exit status.
int print_result(const orchestrator::RunResult& result, bool json);

// error: … / where: … / fix: …, on stderr.
void print_error(const Error& error);

}  // namespace nl::cli
