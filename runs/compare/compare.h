#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/compare/compare.h"
#include "exporters/report/compare/compare.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"
#include "runs/ledger/find_run.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// A run as verbs take it that read captures, too: these are analysed as `import` does it, and nothing of that is kept.
Run run_or_captures(const FoundRun& found, const Config& config, Launcher& launcher);

// One or several of each side. Each is a bundle's folder, a run.json, captures that `import` reads, or a name of the ledger.
struct CompareRequest {
  std::vector<std::string> a, b;
  Config config;       // of raw captures: stages, model
  std::string ledger;  // its location; empty: the default one
  analysis::CompareOptions options = {};
};

// Throws Error(kInput) for a name that is nothing of that.
Comparison compare_sides(const CompareRequest& request, Launcher& launcher);

// compare.json, compare.md and compare.html, each whole, into a folder that is absent or has none of them. Their names.
std::vector<std::string> write_comparison(const Comparison& comparison, const std::filesystem::path& folder,
                                          const exporters::ComparisonNotes& notes = {});

}  // namespace nl::runs
