#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runs/orchestrator_names.h"
#include "runs/suite/verdict.h"

namespace nl::runs {

struct SuiteRequest {
  Suite suite;
  std::filesystem::path out;           // new or empty; empty path: a new folder in artifacts/suites
  std::vector<std::string> sets = {};  // of the command line, for all targets
};

// Checks the environment, then runs every task on this machine, while no other suite or queue does, and judges the pairs. suite.json,
// suite.md and suite.log are left in the folder, also after Ctrl-C. A blocked check ends it before the first run.
SuiteResult run_suite(const SuiteRequest& request);

// The folder of a suite's results, made now. Throws Error(kOutput) where it is not empty or cannot be made.
std::filesystem::path make_suite_folder(const SuiteRequest& request);

// Into suite.log and stderr, with the time before it.
void log_suite(const std::filesystem::path& out, const std::string& line);

// "END 003 attention_baseline-2 outcome=ok seconds=1.2 bundle=…"
std::string end_line(const Suite& suite, const TaskRecord& record);

// Everything but the tasks: checks of this machine, pairs without a verdict, orphans.
std::vector<Check> check_environment(const Suite& suite);

// Judges, and writes suite.json and suite.md.
void finish_suite(SuiteResult& result);

std::string suite_json(const SuiteResult& result);
std::string suite_markdown(const SuiteResult& result);
std::string_view suite_verdict_name(const SuiteResult& result);  // "met" …, or "blocked"
std::string suite_text(const SuiteResult& result,
                       std::size_t width);  // pairs and targets for a terminal so wide, without verdict and checks

}  // namespace nl::runs
