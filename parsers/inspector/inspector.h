#pragma once

#include <filesystem>

#include "model/collective_speeds.h"
#include "parsers/input_files.h"

namespace nl::parsers {

// Whether the file is one of NCCL Inspector: an object of JSON a line, each with what one collective took.
bool is_inspector_file(const FileHead& head);

// A line that is cut off or lacks what a collective has is counted. Throws Error(kInput) where the file cannot be read or has no such line.
InspectorFile read_inspector(const std::filesystem::path& file);

}  // namespace nl::parsers
