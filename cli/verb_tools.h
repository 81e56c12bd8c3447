#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/tools/table.h"
#include "cli/tools/turns.h"
#include "servers/tools.h"

namespace nl::cli {

// The verbs of the command line, as tools. A call is the same words, read by the same parser, and answers with what the verb prints with --json.
// Verbs that read captures or start processes run as this same program again.
class VerbTools : public servers::Tools {
 public:
  struct Options {
    std::filesystem::path root;                        // paths of a caller lie below it, and verbs run in it
    servers::Access access = servers::Access::kRead;   // the highest that is let through
    std::filesystem::path program = "/proc/self/exe";  // tests name one
  };

  explicit VerbTools(Options options);

  const std::vector<servers::Tool>& all() const override { return tools_; }
  servers::Answer call(std::string_view name, const nlohmann::json& arguments, const servers::Call& call) override;

 private:
  struct Entry {
    const ToolRow* row;
    std::vector<ToolArgument> arguments;
  };

  servers::Answer call_verb(const Entry& entry, const nlohmann::json& arguments, const servers::Call& call);
  servers::Answer run_beside(const ToolRow& row, const std::vector<std::string>& words, const servers::Call& call);

  Options options_;
  std::vector<servers::Tool> tools_;
  std::vector<Entry> entries_;  // of each tool
  Turns processes_;             // at a time
  Turns captures_{1};           // what is measured must not share the GPU
};

}  // namespace nl::cli
