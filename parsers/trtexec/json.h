#pragma once

#include <filesystem>

#include "model/operator.h"

namespace nl::parsers {

// trtexec --exportProfile=PROFILE [--exportLayerInfo=LAYERS]: GPU time of each layer of a TensorRT engine over all
// profiled runs, added up by name and in the order of the engine. The second file adds each layer's type, shapes, data types, tactic and the
// ONNX nodes that it was made of, where it was made with --profilingVerbosity=detailed; by default it holds names only. `layers` may be
// empty.
// Throws Error(kInput) where a file is not what it should be; rows that are damaged are counted in the note.
OperatorRecords read_trtexec(const std::filesystem::path& profile, const std::filesystem::path& layers = {});

}  // namespace nl::parsers
