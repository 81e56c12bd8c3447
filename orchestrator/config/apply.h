#pragma once

#include <functional>
#include <string>

#include "orchestrator/config/config.h"
#include "orchestrator/config/yaml_tree.h"

namespace nl::orchestrator {

// Where a value came from, for messages: file:line:column, or the --set that gave it.
using ConfigWhere = std::function<std::string(YamlTree::Place)>;

// Puts every value of the tree into the configuration, over what is there. `path` is where in the
// configuration the tree hangs: "" for a file, "run.mode" for --set run.mode=…
void apply_config(Config& config, const YamlTree& tree, const std::string& path, YamlTree::Place key_place, const ConfigWhere& where);

}  // namespace nl::orchestrator
