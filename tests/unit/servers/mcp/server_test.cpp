#include "servers/mcp/server.h"

#include <thread>

#include "tests/catch.h"
#include "tests/unit/servers/mcp/asked_tools.h"

namespace {

using namespace nl::servers;
using namespace nl::servers::mcp;
using nl::test::AskedTools;

struct Scene {
  AskedTools tools;
  nl::test::TwoResources resources;
  Server server{tools, resources, {"0.1.0", 2000}};

  ordered_json ask(const std::string& method, json params, Exchange exchange = {}) {
    const auto message = message_of(json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}});
    const auto reply = server.handle(*message, exchange);
    REQUIRE(reply);
    CHECK(reply->message["jsonrpc"] == "2.0");
    CHECK(reply->message["id"] == 7);
    return reply->message;
  }
  ordered_json modern(const std::string& method, json params = json::object(), Exchange exchange = {}) {
    params["_meta"][kVersionKey] = kModernVersion;
    if (!params["_meta"].contains(kCapabilitiesKey)) params["_meta"][kCapabilitiesKey] = json::object();
    return ask(method, std::move(params), std::move(exchange));
  }
  ordered_json legacy(const std::string& method, json params = json::object(), Exchange exchange = {}) {
    exchange.legacy_version = "2025-11-25";
    return ask(method, std::move(params), std::move(exchange));
  }
};

json with_tasks(json params) {
  params["_meta"][kCapabilitiesKey]["extensions"][kTasksExtension] = json::object();
  return params;
}

int code_of(const ordered_json& reply) { return reply.contains("error") ? reply["error"]["code"].get<int>() : 0; }

}  // namespace

TEST_CASE("servers mcp server: discovery says versions, capabilities and who answers") {
  Scene scene;
  const auto result = scene.modern("server/discover")["result"];
  CHECK(result["resultType"] == "complete");
  CHECK(result["supportedVersions"] == ordered_json::array({kModernVersion}));
  CHECK(result["capabilities"]["extensions"].contains(kTasksExtension));
  CHECK(result["_meta"][kServerInfoKey] == ordered_json{{"name", "nl-stage"}, {"version", "0.1.0"}});
  CHECK(result["ttlMs"].get<int>() > 0);
  CHECK(result["cacheScope"] == "private");
}

TEST_CASE("servers mcp server: a request that does not say its revision is refused") {
  Scene scene;
  CHECK(code_of(scene.ask("server/discover", json::object())) == kInvalidParams);
  CHECK(code_of(scene.ask("tools/list", json::object())) == kInvalidParams);
  CHECK(code_of(scene.ask("tools/list", {{"_meta", {{kVersionKey, kModernVersion}}}})) == kInvalidParams);
  CHECK(code_of(scene.ask("tools/list", {{"_meta", {{kCapabilitiesKey, json::object()}}}})) == kInvalidParams);
  CHECK(code_of(scene.ask("tools/list", {{"_meta", {{kVersionKey, 7}, {kCapabilitiesKey, json::object()}}}})) == kInvalidParams);
  const auto other = scene.ask("tools/list", {{"_meta", {{kVersionKey, "2031-01-01"}, {kCapabilitiesKey, json::object()}}}});
  CHECK(code_of(other) == kUnsupportedVersion);
  CHECK(other["error"]["data"]["supported"] == ordered_json::array({kModernVersion}));
  CHECK(other["error"]["data"]["requested"] == "2031-01-01");
}

TEST_CASE("servers mcp server: each kind of revision has its own methods") {
  Scene scene;
  for (const char* gone : {"initialize", "ping", "logging/setLevel", "resources/subscribe", "nonsense", "prompts/list"})
    CHECK(code_of(scene.modern(gone)) == kMethodNotFound);
  CHECK(scene.legacy("ping")["result"] == ordered_json::object());
  CHECK(code_of(scene.legacy("tasks/get")) == kMethodNotFound);
  CHECK(code_of(scene.legacy("nonsense")) == kMethodNotFound);
}

TEST_CASE("servers mcp server: initialize agrees on the version that is asked for, else on the newest of its kind") {
  Scene scene;
  const auto version = [&](const char* asked) {
    return scene.ask("initialize", {{"protocolVersion", asked}})["result"]["protocolVersion"];
  };
  CHECK(version("2025-06-18") == "2025-06-18");
  CHECK(version("2025-11-25") == "2025-11-25");
  CHECK(version("1999-01-01") == "2025-11-25");
  CHECK(code_of(scene.ask("initialize", json::object())) == kInvalidParams);
}

TEST_CASE("servers mcp server: the list of tools is the same each time, and has what may be called") {
  Scene scene;
  const auto list = scene.modern("tools/list");
  CHECK(list == scene.modern("tools/list"));
  const auto& tools = list["result"]["tools"];
  REQUIRE(tools.size() == 3);  // without run
  CHECK(tools[0]["name"] == "echo");
  CHECK(tools[0]["inputSchema"]["properties"]["max_tokens"]["default"] == 2000);
  CHECK(tools[0]["annotations"]["readOnlyHint"] == true);
  CHECK(scene.modern("tools/list", json::object(), {.access = Access::kRun})["result"]["tools"].size() == 4);
  CHECK_FALSE(scene.legacy("tools/list")["result"].contains("resultType"));
}

TEST_CASE("servers mcp server: a call answers with the verb's JSON, as text too") {
  Scene scene;
  const auto result = scene.modern("tools/call", {{"name", "echo"}, {"arguments", {{"a", 1}, {"max_tokens", 500}}}})["result"];
  CHECK(result["structuredContent"] == ordered_json{{"a", 1}});  // max_tokens is not the verb's
  CHECK(ordered_json::parse(result["content"][0]["text"].get<std::string>()) == result["structuredContent"]);
  CHECK(result["isError"] == false);
  CHECK(result["_meta"]["nl-stage/exit_status"] == 0);
}

TEST_CASE("servers mcp server: an error of a verb is an answer, not an error of the protocol") {
  Scene scene;
  const auto result = scene.modern("tools/call", {{"name", "echo"}, {"arguments", {{"error", {{"what", "no"}}}}}})["result"];
  CHECK(result["isError"] == true);
  CHECK(result["structuredContent"]["error"]["what"] == "no");
}

TEST_CASE("servers mcp server: wrong calls are refused") {
  Scene scene;
  CHECK(code_of(scene.modern("tools/call")) == kInvalidParams);
  CHECK(code_of(scene.modern("tools/call", {{"name", 7}})) == kInvalidParams);
  CHECK(code_of(scene.modern("tools/call", {{"name", "nonsense"}})) == kInvalidParams);
  CHECK(code_of(scene.modern("tools/call", {{"name", "echo"}, {"arguments", "a"}})) == kInvalidParams);
  for (const json& tokens : {json(1), json(1e9), json("many"), json(-5)})
    CHECK(code_of(scene.modern("tools/call", {{"name", "echo"}, {"arguments", {{"max_tokens", tokens}}}})) == kInvalidParams);
  const auto denied = scene.modern("tools/call", {{"name", "run"}});
  CHECK(code_of(denied) == kInvalidParams);
  CHECK(denied["error"]["message"].get<std::string>().find("--allow-run") != std::string::npos);
  CHECK(scene.tools.calls == 0);
}

TEST_CASE("servers mcp server: a long answer is cut to the tokens asked for, and the whole can be read") {
  Scene scene;
  const auto result = scene.modern("tools/call", {{"name", "long"}, {"arguments", {{"max_tokens", 300}}}})["result"];
  CHECK(result["content"][0]["text"].get<std::string>().size() <= 1200);
  const auto& cut = result["structuredContent"]["cut"];
  CHECK(cut["left_out"][0]["of"] == 10000);
  const std::string uri = cut["whole"];
  CHECK(result["content"][1]["type"] == "resource_link");
  CHECK(result["content"][1]["uri"] == uri);
  const auto whole = scene.modern("resources/read", {{"uri", uri}})["result"]["contents"][0];
  CHECK(whole["uri"] == uri);
  CHECK(ordered_json::parse(whole["text"].get<std::string>())["rows"].size() == 10000);
}

TEST_CASE("servers mcp server: resources come in pages") {
  Scene scene;
  std::size_t seen = 0;
  json params = json::object();
  for (int page = 0; page < 10; ++page) {
    const auto result = scene.modern("resources/list", params)["result"];
    seen += result["resources"].size();
    if (!result.contains("nextCursor")) break;
    params = {{"cursor", result["nextCursor"].get<std::string>()}};
  }
  CHECK(seen == 120);
  for (const json& cursor : {json("x"), json(7), json("-1"), json("99999999999999999999")})
    CHECK(code_of(scene.modern("resources/list", {{"cursor", cursor}})) == kInvalidParams);
  CHECK(scene.modern("resources/templates/list")["result"]["resourceTemplates"].size() == 1);
}

TEST_CASE("servers mcp server: a resource that is not there has the code of its revision") {
  Scene scene;
  CHECK(scene.modern("resources/read", {{"uri", "nl-stage://run/1/x"}})["result"]["contents"][0]["text"] == "hello");
  CHECK(code_of(scene.modern("resources/read", {{"uri", "nl-stage://nothing"}})) == kInvalidParams);
  CHECK(code_of(scene.legacy("resources/read", {{"uri", "nl-stage://nothing"}})) == kResourceNotFound);
  CHECK(code_of(scene.modern("resources/read", {{"uri", "nl-stage://answer/0"}})) == kInvalidParams);
  const auto broken = scene.modern("resources/read", {{"uri", "nl-stage://broken"}});
  CHECK(broken["error"]["data"]["error"]["fix"] == "make it anew");
}

TEST_CASE("servers mcp server: progress is told to those who ask for it") {
  Scene scene;
  scene.tools.release();
  std::vector<ordered_json> told;
  const Exchange exchange{.notify = [&](const ordered_json& message) { told.push_back(message); }};
  scene.modern("tools/call", {{"name", "wait"}}, exchange);
  CHECK(told.empty());
  scene.modern("tools/call", {{"name", "wait"}, {"_meta", {{"progressToken", "p"}}}}, exchange);
  REQUIRE(told.size() == 1);
  CHECK(told[0]["method"] == "notifications/progress");
  CHECK(told[0]["params"] == ordered_json{{"progressToken", "p"}, {"progress", 1}, {"message", "[1/2] the first pass"}});
}

TEST_CASE("servers mcp server: a run is a task for those who can poll, and a call for the others") {
  Scene scene;
  const Exchange may_run{.access = Access::kRun};
  const auto started = scene.modern("tools/call", with_tasks({{"name", "run"}}), may_run)["result"];
  CHECK(started["resultType"] == "task");
  CHECK(started["status"] == "working");
  const std::string id = started["taskId"];
  const auto state = [&] { return scene.modern("tasks/get", with_tasks({{"taskId", id}}))["result"]; };
  scene.tools.until_waiting(1);
  CHECK(state()["statusMessage"] == "[1/2] the first pass");
  CHECK(state()["resultType"] == "complete");
  scene.tools.release();
  for (int i = 0; i < 1000 && state()["status"] == "working"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto ended = state();
  CHECK(ended["status"] == "completed");
  CHECK(ended["result"]["structuredContent"]["status"] == "complete");
  CHECK(ended["result"]["content"][1]["uri"] == "nl-stage://run/r1/report.md");
  CHECK(scene.modern("tools/call", {{"name", "run"}}, may_run)["result"]["resultType"] == "complete");
  CHECK(scene.legacy("tools/call", {{"name", "run"}}, may_run)["result"]["structuredContent"]["run_id"] == "r1");
}

TEST_CASE("servers mcp server: a task is cancelled, and keeps what it has") {
  Scene scene;
  const std::string id = scene.modern("tools/call", with_tasks({{"name", "run"}}), {.access = Access::kRun})["result"]["taskId"];
  scene.tools.until_waiting(1);
  CHECK(scene.modern("tasks/cancel", with_tasks({{"taskId", id}}))["result"]["resultType"] == "complete");
  const auto state = [&] { return scene.modern("tasks/get", with_tasks({{"taskId", id}}))["result"]["status"]; };
  for (int i = 0; i < 1000 && state() == "working"; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(state() == "cancelled");
  CHECK(scene.tools.stopped == 1);
}

TEST_CASE("servers mcp server: tasks are for those who declare them, and must be there") {
  Scene scene;
  for (const char* method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
    const auto undeclared = scene.modern(method, {{"taskId", "x"}});
    CHECK(code_of(undeclared) == kMissingCapability);
    CHECK(undeclared["error"]["data"]["requiredCapabilities"]["extensions"].contains(kTasksExtension));
    CHECK(code_of(scene.modern(method, with_tasks({{"taskId", "x"}}))) == kInvalidParams);
    CHECK(code_of(scene.modern(method, with_tasks({{"taskId", 7}}))) == kInvalidParams);
  }
}
