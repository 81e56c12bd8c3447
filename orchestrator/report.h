#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.h"

namespace nl::orchestrator {

struct ReportRequest {
  std::filesystem::path bundle;    // its folder, or its run.json
  std::vector<std::string> rules;  // not empty: findings are judged anew, by the shipped rules and these
  std::filesystem::path out;       // empty: into the bundle; else a folder that is absent or empty
};

struct ReportResult {
  Run run;
  std::filesystem::path folder;    // where the files are
  std::vector<std::string> files;  // relative to it, as written
  std::vector<std::string> notes;
};

// Renders the reports of a bundle again from its run.json alone; no capture is opened. Error(kInput) where run.json is
// missing, damaged or newer than this nl-stage, Error(kConfig) for a wrong rule, Error(kOutput) where it cannot be
// written. Nothing is written before all of that has been read.
ReportResult report_bundle(const ReportRequest& request);

}  // namespace nl::orchestrator
