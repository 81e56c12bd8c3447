#pragma once

#include <filesystem>

#include "runs/archive/archive.h"
#include "runs/archive/contents.h"
#include "runs/orchestrator_names.h"

namespace nl::runs {

// Unpacks an archive into a folder that is there and empty. What was written is what archive.json lists, byte for byte; else
// Error(kInput) names the file, and what is in the folder by then is rubbish.
ArchiveContents unpack_archive(const std::filesystem::path& archive, const ArchiveLimits& limits, const std::filesystem::path& folder);

}  // namespace nl::runs
