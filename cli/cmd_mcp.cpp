#include <filesystem>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/served_place.h"
#include "cli/value_checks.h"
#include "cli/verb_tools.h"
#include "cli/verbs.h"
#include "orchestrator/bundle/provenance.h"
#include "servers/mcp/run_resources.h"
#include "servers/mcp/stdio.h"

namespace nl::cli {
namespace {

using servers::Access;

struct McpFlags {
  std::string root = ".", ledger;
  std::size_t max_tokens = servers::mcp::kDefaultTokens;
  bool allow_run = false, json = false;
};

// What it would offer, for those who set up an agent.
void print_tools(const VerbTools& tools, Access access) {
  nlohmann::ordered_json out = {{"name", "nl-stage"},
                                {"version", orchestrator::version()},
                                {"revisions", nlohmann::ordered_json::array({servers::mcp::kModernVersion})}};
  for (const std::string_view version : servers::mcp::kLegacyVersions) out["revisions"].push_back(version);
  out["tools"] = nlohmann::ordered_json::array();
  for (const servers::Tool& tool : tools.all())
    if (tool.access <= access)
      out["tools"].push_back(
          {{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.input_schema}, {"lasts", tool.lasts}});
  write_json(out);
}

int serve_agent(const McpFlags& flags) {
  const std::filesystem::path root = served_root(flags.root);
  const Access access = flags.allow_run ? Access::kRun : Access::kRead;
  pass_on_ledger(flags.ledger);
  VerbTools tools({.root = root, .access = access});
  if (flags.json) {
    print_tools(tools, access);
    return 0;
  }
  servers::mcp::RunResources resources({}, root);
  servers::mcp::Server server(tools, resources, {orchestrator::version(), flags.max_tokens});
  const int signal = servers::mcp::serve_stdio(server, access);
  return signal == 0 ? 0 : kInterruptedStatus + signal;
}

}  // namespace

void add_mcp(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<McpFlags>();
  CLI::App* verb = app.add_subcommand("mcp", "Serve an agent: the verbs as tools, by the Model Context Protocol on stdin and stdout");
  verb->add_option("--root", flags->root, "the agent's captures and bundles lie below it, and verbs run in it")
      ->capture_default_str()
      ->type_name("DIR");
  verb->add_flag("--allow-run", flags->allow_run, "also offer run, import and try, which run commands and write bundles");
  verb->add_option("--max-tokens", flags->max_tokens, "the length of an answer at most, where a call does not say; four bytes each")
      ->capture_default_str()
      ->check(between(servers::mcp::kLeastTokens, servers::mcp::kMostTokens))
      ->type_name("N");
  verb->add_option("--ledger", flags->ledger, "where runs are looked up and recorded; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb->add_flag("--json", flags->json,
                 "serve no client: print {name, version, revisions, tools: [{name, description, input_schema, lasts}]}");
  verb->footer(
      "An agent's program starts it and ends it: the end of its input ends it and what it has started. A run that is cancelled keeps its "
      "bundle.\n"
      "docs/mcp.md says how it is registered, what the tools are, and what an agent may do.\n"
      "Examples:\n"
      "  nl-stage mcp --root ~/captures\n"
      "  nl-stage mcp --root . --allow-run --max-tokens 4000\n"
      "  nl-stage mcp --json");
  verb->callback([flags, &action] { action = [flags] { return serve_agent(*flags); }; });
}

}  // namespace nl::cli
