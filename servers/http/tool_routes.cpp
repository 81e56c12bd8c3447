#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "servers/http/layout.h"

// The tools that agents and the command line have, and MCP over HTTP.
namespace nl::servers::http {
namespace {

using nlohmann::json, nlohmann::ordered_json;

// Tools whose short address is promised: POST /api/v1/query.
const std::set<std::string, std::less<>> kShort = {"query", "compare", "whatif", "window"};

constexpr int kNotMetStatus = 9, kBadInput = 3;

// A verb says how it went by its exit status: docs/exit-status.md.
int http_status_of(int exit_status) {
  switch (exit_status) {
    case 0:
    case kNotMetStatus: return 200;
    case 2: return 400;
    case kBadInput: return 404;
    case 7: return 504;
    case 8: return 503;
    default: return exit_status > 128 ? 503 : 500;
  }
}

std::string type_of(const ordered_json& schema) {
  const auto type = schema.find("type");
  return type != schema.end() && type->is_string() ? type->get<std::string>() : std::string();
}

bool is_scalar(const ordered_json& schema) {
  static const std::set<std::string, std::less<>> kScalars = {"string", "integer", "number", "boolean"};
  return kScalars.contains(type_of(schema));
}

ordered_json properties_of(const Tool& tool) {
  const auto found = tool.input_schema.find("properties");
  return found != tool.input_schema.end() && found->is_object() ? *found : ordered_json::object();
}

bool takes_a_query(const Tool& tool) {
  const ordered_json properties = properties_of(tool);
  return std::all_of(properties.begin(), properties.end(), [](const ordered_json& each) { return is_scalar(each); });
}

// "limit=10" as the schema wants it: 10. What is no number stays a text, and the tool refuses it.
json typed(const std::string& value, const std::string& type) {
  if (type == "boolean" && (value == "true" || value == "1")) return true;
  if (type == "boolean" && (value == "false" || value == "0")) return false;
  const char* const end = value.data() + value.size();
  if (std::int64_t whole = 0; type == "integer" && std::from_chars(value.data(), end, whole).ptr == end && !value.empty()) return whole;
  if (double number = 0; type == "number" && std::from_chars(value.data(), end, number).ptr == end && !value.empty()) return number;
  return value;
}

json arguments_in(const Fields& query, const Tool& tool) {
  const ordered_json properties = properties_of(tool);
  json arguments = json::object();
  for (const auto& [name, value] : query.pairs())
    arguments[name] = typed(value, properties.contains(name) ? type_of(properties[name]) : std::string());
  return arguments;
}

std::vector<Parameter> parameters_of(const Tool& tool) {
  std::vector<Parameter> parameters;
  std::set<std::string> required;
  if (const auto list = tool.input_schema.find("required"); list != tool.input_schema.end())
    for (const auto& name : *list) required.insert(name.get<std::string>());
  const ordered_json properties = properties_of(tool);
  for (const auto& [name, schema] : properties.items())
    parameters.push_back({name, schema.value("description", std::string()), required.contains(name)});
  return parameters;
}

Response call_tool(Parts& parts, const Tool& tool, const json& arguments, const Ask& ask) {
  const Answer answer = parts.tools.call(tool.name, arguments, {ask.request.stop});
  return json_response(answer.content, http_status_of(answer.exit_status));
}

void add_tool(std::vector<Route>& routes, Parts& parts, const Tool& tool, const std::string& path) {
  const Entry entry = tool.access == Access::kRead ? Entry::kRead : Entry::kWrite;
  routes.push_back({"POST",
                    path,
                    entry,
                    Pace::kSlow,
                    tool.title.empty() ? tool.description : tool.title,
                    [&parts, &tool](const Ask& ask) { return call_tool(parts, tool, body_object(ask), ask); },
                    {},
                    kJson,
                    tool.input_schema});
  if (tool.access == Access::kRead && takes_a_query(tool))
    routes.push_back({"GET", path, entry, Pace::kSlow, tool.title.empty() ? tool.description : tool.title,
                      [&parts, &tool](const Ask& ask) { return call_tool(parts, tool, arguments_in(ask.query, tool), ask); },
                      parameters_of(tool)});
}

Response list_of_tools(const Parts& parts) {
  ordered_json list = ordered_json::array();
  for (const Tool& tool : parts.tools.all())
    if (tool.access != Access::kRun)
      list.push_back({{"name", tool.name}, {"title", tool.title}, {"description", tool.description}, {"input_schema", tool.input_schema}});
  return json_response({{"tools", list}});
}

}  // namespace

// What runs commands is not offered: who may open a page may not start programs on this machine.
void add_tool_routes(std::vector<Route>& routes, Parts& parts) {
  routes.push_back({"GET", "/api/v1/tools", Entry::kRead, Pace::kQuick, "The tools: {tools: [{name, title, description, input_schema}]}",
                    [&parts](const Ask&) { return list_of_tools(parts); }});
  for (const Tool& tool : parts.tools.all()) {
    if (tool.access == Access::kRun) continue;
    add_tool(routes, parts, tool, "/api/v1/tools/" + tool.name);
    if (kShort.contains(tool.name)) add_tool(routes, parts, tool, "/api/v1/" + tool.name);
  }
  if (!parts.options.mcp) return;
  routes.push_back({"POST",
                    "/mcp",
                    Entry::kRead,
                    Pace::kSlow,
                    "A message of the Model Context Protocol",
                    [&parts](const Ask& ask) { return parts.options.mcp(ask.request, ask.may_write ? Access::kWrite : Access::kRead); },
                    {},
                    kJson,
                    ordered_json{{"type", "object"}}});
}

}  // namespace nl::servers::http
