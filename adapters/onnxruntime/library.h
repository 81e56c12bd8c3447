#pragma once

#include <filesystem>
#include <string>
#include <vector>

struct OrtApi;

namespace nl::adapters {

// ONNX Runtime's shared library, loaded when it is asked for. It stays loaded: its threads may outlive a session.
struct OnnxRuntimeLibrary {
  const OrtApi* api = nullptr;
  std::string version;  // "1.21.0"
  std::string path;     // as the loader found it
};

// A file, or a name that the loader looks for. Throws Error(kTool): it does not load, is another library, or is too old, with both versions.
OnnxRuntimeLibrary load_onnxruntime(const std::filesystem::path& file);

// The first that loads: of NL_STAGE_ONNXRUNTIME (and then no other), beside the headers of the build, on the loader's path, in a Python package.
// Makes it the one that the C++ API calls. Throws Error(kTool) with the reason.
const OnnxRuntimeLibrary& onnxruntime_library();

}  // namespace nl::adapters
