#include "servers/http/query_box.h"

#include <algorithm>

#include "servers/http/layout.h"

namespace nl::servers::http {
namespace {

constexpr std::string_view kQueryTool = "query";

// The names of its arguments, as the registry has them.
struct QueryArguments {
  std::string run, sql;
};

QueryArguments arguments_of(const Tool& tool) {
  QueryArguments names;
  const auto properties = tool.input_schema.find("properties");
  if (properties == tool.input_schema.end()) return names;
  for (const char* name : {"run", "source", "name"})
    if (names.run.empty() && properties->contains(name)) names.run = name;
  for (const char* name : {"sql", "query"})
    if (names.sql.empty() && properties->contains(name)) names.sql = name;
  return names;
}

}  // namespace

std::string query_box(const Parts& parts, const std::string& run_id) {
  const auto& tools = parts.tools.all();
  const auto tool = std::find_if(tools.begin(), tools.end(), [](const Tool& each) { return each.name == kQueryTool; });
  if (tool == tools.end()) return {};
  const QueryArguments names = arguments_of(*tool);
  if (names.run.empty() || names.sql.empty()) return {};
  return fmt::format(
      "<form class=\"ask\"{}{}{}{}><label class=\"field\">Ask this run in SQL (Ctrl+Enter)<textarea name=\"sql\" rows=\"3\" "
      "spellcheck=\"false\" "
      "required>SELECT name, count(*) AS calls FROM kernels GROUP BY name ORDER BY calls DESC LIMIT 10</textarea></label><div "
      "class=\"row\"><button class=\"main\">Ask</button><span class=\"said muted\" role=\"status\"></span></div><div "
      "class=\"result\"></div></form>\n",
      attribute("data-address", "/api/v1/tools/" + tool->name), attribute("data-run", run_id), attribute("data-run_argument", names.run),
      attribute("data-sql_argument", names.sql));
}

}  // namespace nl::servers::http
