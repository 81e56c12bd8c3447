#pragma once

#include <filesystem>

#include "orchestrator/archive/archive.h"
#include "orchestrator/archive/contents.h"

namespace nl::orchestrator {

// Unpacks an archive into a folder that is there and empty. What was written is what archive.json lists, byte for byte; else
// Error(kInput) names the file, and what is in the folder by then is rubbish.
ArchiveContents unpack_archive(const std::filesystem::path& archive, const ArchiveLimits& limits, const std::filesystem::path& folder);

}  // namespace nl::orchestrator
