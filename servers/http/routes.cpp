#include "servers/http/routes.h"

#include <algorithm>
#include <cctype>

namespace nl::servers::http {
namespace {

using nlohmann::ordered_json;

bool is_variable(std::string_view part) { return part.starts_with('{') && part.ends_with('}'); }

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.size() > 1) {
    path.remove_prefix(1);
    parts.push_back(path.substr(0, path.find('/')));
    path.remove_prefix(parts.back().size());
  }
  return parts;
}

// What stands for its variables; nothing where the path is another.
std::optional<std::vector<std::string>> names_in(const Route& route, const std::vector<std::string>& path) {
  const auto parts = parts_of(route.path);
  if (parts.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (is_variable(parts[i])) names.push_back(path[i]);
    else if (parts[i] != path[i]) return std::nullopt;
  return names;
}

// "GET /api/v1/runs/{run}" → "get_api_v1_runs_run"
std::string operation_id(const Route& route) {
  std::string id;
  for (const char c : route.method) id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view part : parts_of(route.path)) {
    id += '_';
    for (const char c : part)
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) id += c;
      else if (c != '{' && c != '}') id += '_';
  }
  return id;
}

ordered_json parameters_json(const Route& route) {
  auto list = ordered_json::array();
  for (const std::string_view part : parts_of(route.path))
    if (is_variable(part))
      list.push_back({{"name", part.substr(1, part.size() - 2)}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}});
  for (const Parameter& parameter : route.parameters) {
    ordered_json schema = {{"type", "string"}};
    if (parameter.repeats) schema = {{"type", "array"}, {"items", schema}};
    list.push_back({{"name", parameter.name},
                    {"in", "query"},
                    {"required", parameter.required},
                    {"description", parameter.description},
                    {"schema", schema}});
  }
  return list;
}

ordered_json operation_json(const Route& route) {
  ordered_json operation = {{"operationId", operation_id(route)}, {"summary", route.summary}, {"parameters", parameters_json(route)}};
  if (!route.body.is_null()) operation["requestBody"] = {{"required", true}, {"content", {{kJson, {{"schema", route.body}}}}}};
  const ordered_json failure = {{"$ref", "#/components/responses/Failure"}};
  operation["responses"] = {{"200", {{"description", "The answer"}, {"content", {{route.type, ordered_json::object()}}}}},
                            {"400", failure},
                            {"401", failure},
                            {"403", failure},
                            {"404", failure},
                            {"429", failure}};
  if (route.entry == Entry::kOpen) operation["security"] = ordered_json::array();
  if (route.entry == Entry::kWrite) operation["security"] = {{{"token", ordered_json::array()}}};
  operation["x-role"] = route.entry == Entry::kOpen ? "none" : route.entry == Entry::kRead ? "read" : "write";
  return operation;
}

const ordered_json& components() {
  static const ordered_json json = ordered_json::parse(R"({
    "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "nl-stage serve token add NAME --role read|write"}},
    "schemas": {"Failure": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
      "required": ["kind", "what"], "properties": {"kind": {"type": "string"}, "what": {"type": "string"},
      "where": {"type": ["string", "null"]}, "fix": {"type": ["string", "null"]}}}}}},
    "responses": {"Failure": {"description": "What went wrong, where, and what to do",
      "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}}}})");
  return json;
}

}  // namespace

bool is_api(const Route& route) { return route.path.starts_with("/api/") || route.path == "/metrics" || route.path == "/mcp"; }

Found find_route(const std::vector<Route>& routes, std::string_view method, const std::vector<std::string>& path) {
  Found found;
  for (const Route& route : routes) {
    auto names = names_in(route, path);
    if (!names) continue;
    if (route.method == method || (method == "HEAD" && route.method == "GET")) return {&route, std::move(*names), {}};
    found.allowed.push_back(route.method);
  }
  return found;
}

ordered_json openapi(const std::vector<Route>& routes, const std::string& version) {
  ordered_json paths = ordered_json::object();
  for (const Route& route : routes) {
    if (!is_api(route)) continue;
    std::string method = route.method;
    std::transform(method.begin(), method.end(), method.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    paths[route.path][method] = operation_json(route);
  }
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "nl-stage"}, {"version", version}, {"description", "Runs of a ledger: docs/serve.md"}}},
          {"security", {ordered_json::object(), {{"token", ordered_json::array()}}}},
          {"paths", paths},
          {"components", components()}};
}

}  // namespace nl::servers::http
