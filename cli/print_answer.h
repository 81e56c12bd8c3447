#pragma once

#include <filesystem>

#include "exporters/answer/answer.h"
#include "orchestrator/run.h"

// The answer about a run, with what its folder has: as JSON, and in lines for people.
namespace nl::cli {

// Where the bundle is, and its files: reports first, captures next, logs last.
void add_bundle(const std::filesystem::path& bundle, exporters::Answer& answer);

// Of what run, import and profile made.
exporters::Answer answer_of_result(const orchestrator::RunResult& result, int exit_status);

void print_answer_lines(const exporters::Answer& answer);

}  // namespace nl::cli
