#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.h"
#include "runs/archive/contents.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// A run that is to be exported, and the best that is here of it.
struct ExportSource {
  BundleSource kind = BundleSource::kBundle;
  std::filesystem::path bundle;  // where it is, or (kLedger) was
  std::string run_json;
  Run run;
};

// By folder, run.json or ledger name; each run once. Error(kInput) where there is none of a name, or two runs have one id.
std::vector<ExportSource> find_sources(const std::vector<std::string>& names, const std::string& ledger_location);

// What is in the folder. Error(kInput) names the first file of its manifest that is missing or was changed since.
std::vector<ManifestFile> files_of_whole_bundle(const std::filesystem::path& bundle);

}  // namespace nl::runs
