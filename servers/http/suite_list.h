#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runs/ledger/ledger.h"

// Suites, as far as their folders are here: the ledger knows their runs, suite.json beside the bundles has the verdicts.
namespace nl::servers::http {

struct SuitePair {
  std::string name, baseline, optimised, verdict, expectation, note;
  std::optional<double> speedup, low, high, expected;
};

struct SuiteSummary {
  std::filesystem::path folder;
  std::string id;  // of its address: the name of its folder
  std::string name, verdict, started_at, ended_at, machine;
  double threshold = 0;
  std::vector<SuitePair> pairs;
  std::vector<std::string> run_ids;  // that the ledger has, newest first
};

// The newest first. A suite.json that is damaged is left out.
std::vector<SuiteSummary> suites_of(runs::Ledger& ledger);

}  // namespace nl::servers::http
