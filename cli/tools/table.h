#pragma once

#include <string_view>
#include <vector>

#include "cli/manual/flag_facts.h"
#include "servers/tools.h"

namespace CLI {
class App;
}

// The one list of what servers offer: which verbs, under which names, with which of their flags, and what each may do.
namespace nl::cli {

// Of a verb's flags these alone are offered, its arguments all: no flag that reads or writes a file that the caller names, unless it is a place
// below the root of the server.
struct OfferedFlag {
  std::string_view flag;  // "minimum-effect", "capture"
  std::string_view as{};  // the name of the argument; empty: the flag's, with "_" for "-"
  bool is_place = false;  // a path, though its type does not say so
};

struct ToolRow {
  std::string_view name, title, verb;
  servers::Access access = servers::Access::kRead;
  bool lasts = false;        // may take minutes
  bool alone = false;        // uses the GPU: one at a time
  bool starts_none = false;  // the verb reads no capture and starts no process: it is called in the server's own
  std::vector<OfferedFlag> offered = {};
  std::string_view about = {};  // behind the description of the verb
};

const std::vector<ToolRow>& tool_rows();

// A flag or an argument of a tool.
struct ToolArgument {
  std::string name;  // "minimum_effect"
  FlagFacts facts;
  bool is_place = false;
};

// In the order of the schema: the arguments of the verb, then the flags of the row. Nothing where this build has no such verb.
std::vector<ToolArgument> tool_arguments(const ToolRow& row, const CLI::App& verb);

nlohmann::ordered_json input_schema(const std::vector<ToolArgument>& arguments);

}  // namespace nl::cli
