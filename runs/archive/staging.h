#pragma once

#include <filesystem>
#include <vector>

#include "runs/archive/contents.h"
#include "runs/archive/sources.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

struct StagedFile {
  ManifestFile listed;         // its path in the archive
  std::filesystem::path file;  // the bundle's own, or a redacted copy
};

struct StagedBundle {
  ArchivedBundle about;
  std::vector<StagedFile> files;  // by path, the manifest last
};

// What goes into the archive of a run. The bundle itself is only read; redacted copies are made in `scratch`.
StagedBundle stage_bundle(const ExportSource& source, const Redactions& redacted, const std::filesystem::path& scratch);

}  // namespace nl::runs
