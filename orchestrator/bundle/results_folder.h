#pragma once

#include <filesystem>
#include <string>

// The folder of what compares or repeats runs: a trial, a bisection, a suite.
namespace nl::orchestrator {

// `asked`, or "artifacts/suites/20260101-120000-attention" where that is empty.
std::filesystem::path results_folder(const std::filesystem::path& asked, const std::string& kind, const std::string& name = {});

// Throws Error(kOutput) where it has something in it already, or cannot be made.
void make_results_folder(const std::filesystem::path& folder);

}  // namespace nl::orchestrator
