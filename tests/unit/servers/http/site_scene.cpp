#include "tests/unit/servers/http/site_scene.h"

#include "exporters/run_json/run_json.h"
#include "model/error.h"

namespace nl::test {

using servers::http::Response, servers::http::Role;

EchoTools::EchoTools() {
  const auto schema = nlohmann::ordered_json::parse(
      R"({"type": "object", "required": ["run", "sql"], "properties": {"run": {"type": "string", "description": "a run"}, "sql": {"type": "string"},
          "limit": {"type": "integer"}, "exact": {"type": "boolean"}}})");
  tools_ = {{"query", "Ask a run", "SQL over a run", schema},
            {"tag", "Tag a run", "", schema, servers::Access::kWrite},
            {"run", "Run a command", "", schema, servers::Access::kRun, true}};
}

servers::Answer EchoTools::call(std::string_view name, const nlohmann::json& arguments, const servers::Call& call) {
  if (arguments.contains("sql") && arguments["sql"] == "throw") throw Error(ErrorKind::kUsage, "this is no SQL", "query", "write SELECT");
  if (arguments.contains("sql") && arguments["sql"] == "fail")
    return {{{"error", {{"kind", "input"}, {"what", "there is no such run"}}}}, 3};
  return {{{"tool", std::string(name)}, {"arguments", arguments}, {"stopped", call.stop.stop_requested()}}, 0};
}

servers::http::SiteOptions SiteScene::options(servers::http::Gate gate) {
  place.open();
  servers::http::Tokens tokens(folder / "tokens.json");
  reader = tokens.add("reader", Role::kRead);
  writer = tokens.add("writer", Role::kWrite);
  return {place.location, tokens.file(), std::move(gate), 0, "0.0.test"};
}

SiteScene::SiteScene(const std::string& database, servers::http::Gate gate)
    : place(database), site(options(std::move(gate)), tools, counters) {}

Response SiteScene::ask(const std::string& method, const std::string& target, const std::string& body,
                        std::map<std::string, std::string> headers) {
  servers::http::Request request{method, target};
  headers.try_emplace("host", "localhost");
  headers.try_emplace("accept", "text/html,*/*");
  for (const auto& [name, value] : headers) request.headers[name] = {value};
  request.body = body;
  request.client = "127.0.0.1";
  return site.answer(request);
}

Response SiteScene::form(const std::string& target, const std::string& body, std::map<std::string, std::string> headers) {
  headers["content-type"] = "application/x-www-form-urlencoded";
  return ask("POST", target, body, std::move(headers));
}

Response SiteScene::post_json(const std::string& target, const std::string& body, std::map<std::string, std::string> headers) {
  headers.try_emplace("content-type", "application/json");
  return ask("POST", target, body, std::move(headers));
}

void SiteScene::record(const Run& run, const std::filesystem::path& bundle) {
  place.open().record(run, exporters::run_to_json(run), bundle);
}

std::string header_of(const Response& response, const std::string& name) {
  for (const auto& [each, value] : response.headers)
    if (each == name) return value;
  return {};
}

}  // namespace nl::test
