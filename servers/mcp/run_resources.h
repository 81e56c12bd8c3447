#pragma once

#include <filesystem>

#include "servers/mcp/resources.h"

namespace nl::servers::mcp {

// The files of runs: of those that a ledger knows (nl-stage://run/ID/FILE), and of bundles below a folder (nl-stage://bundle/PATH/FILE).
// "#/stages/0" behind run.json is a part of it, by its JSON pointer.
class RunResources : public Resources {
 public:
  RunResources(std::string ledger, std::filesystem::path root) : ledger_(std::move(ledger)), root_(std::move(root)) {}

  std::vector<ResourceTemplate> templates() const override;
  std::vector<Resource> list(std::size_t from, std::size_t most) override;
  std::optional<ResourceText> read(const std::string& uri) override;

 private:
  std::string ledger_;  // empty: the default one
  std::filesystem::path root_;
};

}  // namespace nl::servers::mcp
