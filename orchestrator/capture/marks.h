#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/run.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/conf_files.h"

// The Python package that marks a workload's stages by itself, and what it notes about the process.
namespace nl::orchestrator {

inline constexpr const char *kMarksFolder = "python", *kFactsFolder = "facts";  // in the bundle

extern const std::span<const BuiltInFile> kBuiltInPython;  // made from nvtx/python by tools/embed

// Into the bundle, where every Python of the passes finds it.
void write_marks(const Bundle& bundle);

// What Python's import leaves beside it.
void drop_compiled_marks(const Bundle& bundle);

struct ProcessFacts {
  std::map<std::string, std::string> versions;  // python, torch, cuda_runtime, transformers …
  std::string backend;                          // "transformers", "vllm", "sglang", "torch"; empty: none of them
  std::optional<ModelInfo> model;               // from the configuration of the model that ran
  std::vector<std::string> notes;               // what was missing, or went wrong
};

// Of all processes of the run; of several models the one that generated the most.
ProcessFacts read_facts(const std::filesystem::path& folder);

}  // namespace nl::orchestrator
