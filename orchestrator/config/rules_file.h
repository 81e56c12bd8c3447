#pragma once

#include <string>
#include <vector>

#include "model/rule.h"
#include "orchestrator/config/conf_files.h"

namespace nl::orchestrator {

// The files in their order, then the user's: a rule of the same name replaces the one before it, and a file's `disable` list
// switches off what came before. Everything is checked, expressions too: Error(kConfig) with file:line:column.
Rules load_rules(std::vector<ConfFile> files, const std::vector<std::string>& user_files);

// conf/rules: on disk, or built in. Never empty.
std::vector<ConfFile> shipped_rules();

}  // namespace nl::orchestrator
