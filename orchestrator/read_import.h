#pragma once

#include <filesystem>
#include <vector>

#include "model/evidence.h"
#include "orchestrator/import.h"
#include "parsers/registry.h"

namespace nl::orchestrator {

// Files that make one reading.
struct ImportSource {
  const parsers::Format* format;
  std::vector<std::filesystem::path> files;
  bool has_timeline() const { return format->gives <= parsers::Gives::kTimeline; }
};

std::vector<ImportSource> sources_of(const ImportRequest& request);

// What imported captures show. Reports that a vendor's tool has to export first go through passes, as in a run.
Evidence read_import(const ImportRequest& request, const Bundle& bundle, PassRunner& runner);

}  // namespace nl::orchestrator
