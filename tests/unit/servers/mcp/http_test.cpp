#include "servers/mcp/http.h"

#include "tests/catch.h"
#include "tests/unit/servers/mcp/asked_tools.h"

namespace {

using namespace nl::servers;
using namespace nl::servers::mcp;

struct Poster {
  nl::test::AskedTools tools;
  nl::test::TwoResources resources;
  Server server{tools, resources, {"0.1.0", 2000}};

  HttpReply post(const json& message, std::string_view version, std::string_view method, std::string_view name = {}) {
    const std::string body = message.dump();
    return answer_post(server, {body, version, method, name}, {});
  }
};

json request(const std::string& method, json params = json::object()) {
  params["_meta"] = {{kVersionKey, kModernVersion}, {kCapabilitiesKey, json::object()}};
  return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
}

int code_in(const HttpReply& reply) { return json::parse(reply.body)["error"]["code"]; }

}  // namespace

TEST_CASE("servers mcp http: a request is answered, a notification is accepted") {
  Poster scene;
  const HttpReply list = scene.post(request("tools/list"), kModernVersion, "tools/list");
  CHECK(list.status == 200);
  CHECK(json::parse(list.body)["result"]["tools"].size() == 3);
  const HttpReply told = scene.post({{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}}, kModernVersion, "notifications/cancelled");
  CHECK(told.status == 202);
  CHECK(told.body.empty());
}

TEST_CASE("servers mcp http: headers that are not what the body has are refused") {
  Poster scene;
  const json list = request("tools/list"), call = request("tools/call", {{"name", "echo"}});
  const auto mismatch = [](const HttpReply& reply) { return reply.status == 400 && code_in(reply) == kHeaderMismatch; };
  CHECK(mismatch(scene.post(list, "", "tools/list")));
  CHECK(mismatch(scene.post(list, "2025-11-25", "tools/list")));
  CHECK(mismatch(scene.post(list, kModernVersion, "")));
  CHECK(mismatch(scene.post(list, kModernVersion, "tools/call")));
  CHECK(mismatch(scene.post(call, kModernVersion, "tools/call")));
  CHECK(mismatch(scene.post(call, kModernVersion, "tools/call", "run")));
  CHECK(mismatch(scene.post(call, kModernVersion, "tools/call", "=?base64?cnVu?=")));  // "run"
  CHECK(scene.post(call, kModernVersion, "tools/call", "=?base64?ZWNobw==?=").status == 200);
  CHECK(scene.post(call, kModernVersion, "tools/call", "echo").status == 200);
  CHECK(scene.tools.calls == 2);
}

TEST_CASE("servers mcp http: the status says what is wrong with a request") {
  Poster scene;
  CHECK(scene.post(request("nonsense"), kModernVersion, "nonsense").status == 404);
  json bare = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "server/discover"}};
  CHECK(scene.post(bare, kModernVersion, "server/discover").status == 400);
  json other = request("server/discover");
  other["params"]["_meta"][kVersionKey] = "v999.0.0";
  const HttpReply unsupported = scene.post(other, "v999.0.0", "server/discover");
  CHECK(unsupported.status == 400);
  CHECK(code_in(unsupported) == kUnsupportedVersion);
  CHECK(scene.post(request("tasks/get", {{"taskId", "x"}}), kModernVersion, "tasks/get", "x").status == 400);
  CHECK(answer_post(scene.server, {"{", kModernVersion, "", ""}, {}).status == 400);
  CHECK(code_in(answer_post(scene.server, {"{", kModernVersion, "", ""}, {})) == kParseError);
  CHECK(answer_post(scene.server, {std::string(kMostMessageBytes + 1, ' '), kModernVersion, "", ""}, {}).status == 413);
}

TEST_CASE("servers mcp http: an older client needs no session") {
  Poster scene;
  const json begin = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", {{"protocolVersion", "2025-06-18"}}}};
  CHECK(json::parse(scene.post(begin, "", "").body)["result"]["protocolVersion"] == "2025-06-18");
  const json list = {{"jsonrpc", "2.0"}, {"id", 2}, {"method", "tools/list"}};
  CHECK(json::parse(scene.post(list, "2025-06-18", "").body)["result"]["tools"].size() == 3);
  CHECK(json::parse(scene.post(list, "", "").body)["result"]["tools"].size() == 3);
  const HttpReply unknown = scene.post({{"jsonrpc", "2.0"}, {"id", 2}, {"method", "nonsense"}}, "2025-06-18", "");
  CHECK(unknown.status == 200);
  CHECK(code_in(unknown) == kMethodNotFound);
}
