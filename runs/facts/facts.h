#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "exporters/fact_tables/writer.h"
#include "model/error_code.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/config.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// Runs whose facts become tables. Each is a bundle's folder, a run.json, a capture that `import` reads, or a name of the ledger.
struct FactsRequest {
  std::vector<std::string> runs;
  exporters::fact_tables::Format format = exporters::fact_tables::Format::kParquet;
  std::filesystem::path out;  // empty: a new folder in artifacts/facts
  bool replace = false;       // files that are there; without it they are refused
  Config config;              // of raw captures: stages, model
  std::string ledger;         // its location; empty: the default one
};

struct FactsTable {
  const exporters::fact_tables::Table* table;
  std::filesystem::path file;
  std::size_t rows = 0;
};

struct SkippedRun {
  std::string run;
  CodedError error;
};

struct Facts {
  std::filesystem::path folder;
  std::uint64_t runs = 0;
  std::vector<FactsTable> tables;     // empty: no run could be read, and nothing was written
  std::vector<SkippedRun> skipped;    // cannot be read
  std::vector<std::string> repeated;  // were named before by another name
};

// Each file is written whole or not at all; one run after another is read and forgotten. A single run that cannot be read is its error, one of
// several is skipped. Error(kOutput) where a file cannot be written, or is there already.
Facts write_facts(const FactsRequest& request, Launcher& launcher);

}  // namespace nl::runs
