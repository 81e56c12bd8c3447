#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

// What servers offer to agents and pages: the verbs of the command line, as tools with typed arguments. cli/ has the one list of them, so that
// a verb's --json, a tool of MCP and an address of the HTTP interface are the same thing.
namespace nl::servers {

// What a tool may do. A server is started with the highest that it lets through.
enum class Access { kRead, kWrite, kRun };  // reads; also writes to the ledger (tags, notes); also runs commands and makes bundles

struct Tool {
  std::string name;  // "whatif", "ledger_search"
  std::string title, description;
  nlohmann::ordered_json input_schema;  // JSON Schema of an object
  Access access = Access::kRead;
  bool lasts = false;  // may take minutes
};

struct Answer {
  nlohmann::ordered_json content;  // what the verb prints with --json; {"error": …} where it failed
  int exit_status = 0;             // the verb's: docs/exit-status.md
};

// How a call is watched and ended by its caller.
struct Call {
  std::stop_token stop;                                 // asked for: the tool ends soon, and keeps what it has captured
  std::function<void(std::string_view)> progress = {};  // a sentence of what it does now; may be empty
};

class Tools {
 public:
  virtual ~Tools() = default;
  virtual const std::vector<Tool>& all() const = 0;  // always in the same order
  // Throws Error(kUsage) where there is no such tool. Arguments that do not fit its schema give {"error": …}, as any other failure of a verb.
  // May be called by several threads.
  virtual Answer call(std::string_view name, const nlohmann::json& arguments, const Call& call) = 0;
};

}  // namespace nl::servers
