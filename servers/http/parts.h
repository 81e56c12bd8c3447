#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "servers/http/counters.h"
#include "servers/http/guard.h"
#include "servers/http/ledger_pool.h"
#include "servers/http/routes.h"
#include "servers/tools.h"

namespace nl::servers::http {

struct SiteOptions {
  std::string ledger;            // its location
  std::filesystem::path tokens;  // their file
  Gate gate;
  double requests_per_second = 100;  // of one client; 0: any number
  std::string version;               // of nl-stage
  // POST /mcp: the answer to a message; absent: there is no such address. The caller may change something where its token is of role write.
  std::function<Response(const Request&, Access)> mcp = {};
};

// What the answers are made of. It outlives the routes.
struct Parts {
  Parts(SiteOptions given, Tools& offered, Counters& counted)
      : options(std::move(given)), tools(offered), counters(counted), ledgers(options.ledger), tokens(options.tokens) {}

  SiteOptions options;
  Tools& tools;
  Counters& counters;
  LedgerPool ledgers;
  Tokens tokens;
};

// Each adds its routes to the table.
void add_session_routes(std::vector<Route>& routes, Parts& parts);   // login, logout, style, health
void add_run_list_routes(std::vector<Route>& routes, Parts& parts);  // /runs
void add_run_routes(std::vector<Route>& routes, Parts& parts);       // /runs/{run}, its report, tags and notes
void add_compare_routes(std::vector<Route>& routes, Parts& parts);
void add_trend_routes(std::vector<Route>& routes, Parts& parts);
void add_suite_routes(std::vector<Route>& routes, Parts& parts);
void add_live_routes(std::vector<Route>& routes, Parts& parts);
void add_tool_routes(std::vector<Route>& routes, Parts& parts);
void add_metrics_route(std::vector<Route>& routes, Parts& parts);

}  // namespace nl::servers::http
