#pragma once

#include <filesystem>
#include <string>

#include "model/codes.h"

namespace nl::parsers {

// Which format a file or a folder is, by what is in it; kNone where no format claims it. Each format answers for itself, in
// the sniff.cpp beside its reader. Only the beginning is looked at: a file that was cut off later on is still of its
// format, and its reader says what is missing.
// Reports of nsys and ncu need their tool to be read. They are known by their names.
// Throws Error(kInput) where the path cannot be read.
SourceFormat sniff(const std::filesystem::path& path);

}  // namespace nl::parsers
