#include "tests/catch.h"
#include "tests/unit/servers/http/site_scene.h"

using nl::test::SiteScene;
using nlohmann::json;

TEST_CASE("serve tools: those that read are for readers, those that write for writers, those that run are not offered") {
  SiteScene scene;
  const auto answer = json::parse(scene.post_json("/api/v1/tools/query", R"({"run": "last", "sql": "select 1", "limit": 3})").body);
  CHECK(answer["tool"] == "query");
  CHECK(answer["arguments"] == json({{"run", "last"}, {"sql", "select 1"}, {"limit", 3}}));
  CHECK(json::parse(scene.post_json("/api/v1/query", R"({"run": "last", "sql": "x"})").body)["tool"] == "query");
  CHECK(scene.post_json("/api/v1/tools/tag", "{}").status == 401);
  CHECK(scene.post_json("/api/v1/tools/tag", "{}", {{"authorization", "Bearer " + scene.writer}}).status == 200);
  CHECK(scene.post_json("/api/v1/tools/run", "{}", {{"authorization", "Bearer " + scene.writer}}).status == 404);
  const auto tools = json::parse(scene.get("/api/v1/tools").body)["tools"];
  REQUIRE(tools.size() == 2);
  CHECK(tools[0]["name"] == "query");
}

TEST_CASE("serve tools: simple arguments may stand in the address") {
  SiteScene scene;
  const auto answer = json::parse(scene.get("/api/v1/tools/query?run=last&sql=select+1&limit=10&exact=true").body);
  CHECK(answer["arguments"] == json({{"run", "last"}, {"sql", "select 1"}, {"limit", 10}, {"exact", true}}));
  CHECK(json::parse(scene.get("/api/v1/tools/query?limit=ten").body)["arguments"]["limit"] == "ten");  // for the tool to refuse
}

TEST_CASE("serve tools: what a tool says of its failure is answered, with a status that fits") {
  SiteScene scene;
  const auto thrown = scene.post_json("/api/v1/tools/query", R"({"sql": "throw"})");
  CHECK(thrown.status == 400);
  CHECK(json::parse(thrown.body)["error"]["fix"] == "write SELECT");
  CHECK(scene.post_json("/api/v1/tools/query", R"({"sql": "fail"})").status == 404);
}
