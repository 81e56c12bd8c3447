#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/config/apply.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/config.h"

namespace nl::orchestrator {

// Puts one layer after the other over a configuration: files with the presets they name, a model, --set values. Each throws
// Error(kConfig) with the place of what is wrong.
class Composer {
 public:
  Composer(Config& config, ConfFiles files) : config_(config), files_(std::move(files)) {}

  void add_runner(const std::filesystem::path& given);  // a file, or the name of a shipped runner
  void add_model(const std::filesystem::path& given);   // a file, the name of a shipped model, or Hugging Face's config.json
  void add_set(const std::string& text);                // "run.top_n_kernels=20"

 private:
  void add_file(const ConfFile& file);
  void add_presets(const YamlTree& names, const ConfigWhere& where);
  void apply(const YamlTree& tree, const std::string& path, const ConfigWhere& where);
  void refuse_circle(const ConfFile& preset, const std::string& where) const;

  Config& config_;
  ConfFiles files_;
  std::vector<std::string> open_;  // being composed, outermost first
};

}  // namespace nl::orchestrator
