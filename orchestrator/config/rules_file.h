#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/rule.h"

namespace nl::orchestrator {

// The shipped rules (every .yaml of the folder, by name) and the user's: one of the same name replaces the one
// before it, and a file's `disable` list switches off what came before. Everything is checked, expressions too:
// Error(kConfig) with file:line:column. An empty folder name: no shipped rules.
Rules load_rules(const std::filesystem::path& shipped, const std::vector<std::string>& user_files);

// conf/rules of the data folder; empty where there is none.
std::filesystem::path shipped_rules();

}  // namespace nl::orchestrator
