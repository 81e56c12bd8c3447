#pragma once

#include <span>

#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/conf_files.h"

// The Python package that marks a workload's stages by itself; parsers/facts reads what it notes about the process.
namespace nl::orchestrator {

inline constexpr const char *kMarksFolder = "python", *kFactsFolder = "facts", *kOperatorsFolder = "operators";  // in the bundle

extern const std::span<const BuiltInFile> kBuiltInPython;  // made from nvtx/python by tools/embed

// Writes the package into the bundle, where every Python process of the passes finds it.
void write_marks(const Bundle& bundle);

// Deletes the compiled files that Python's import leaves beside it.
void drop_compiled_marks(const Bundle& bundle);

}  // namespace nl::orchestrator
