#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/tools/table.h"

namespace nl::cli {

// The words of the verb that a call means: {"run": "last", "graph": ["decode_step"]} → whatif --json --graph=decode_step -- last. Throws Error(kUsage)
// where an argument is not known, is of the wrong type, or names a place outside of `root`.
std::vector<std::string> words_of(const ToolRow& row, const std::vector<ToolArgument>& arguments, const nlohmann::json& given,
                                  const std::filesystem::path& root);

}  // namespace nl::cli
