#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/servers/http/site_scene.h"

using nl::test::has, nl::test::header_of, nl::test::ledger_run, nl::test::SiteScene;
using nlohmann::json;

namespace {

using Tags = std::vector<std::string>;

struct OneRun : SiteScene {
  explicit OneRun(nl::servers::http::Gate gate = {}) : SiteScene("sqlite", std::move(gate)) {
    record(ledger_run("run-a", "2026-11-16T10:00:00Z"));
  }
  Tags tags() { return place.open().resolve("run-a").tags; }
  std::size_t notes() { return place.open().notes("run-a").size(); }
};

}  // namespace

TEST_CASE("serve changes: a page's forms change tags and notes, for writers alone") {
  OneRun scene;
  CHECK_FALSE(has(scene.get("/runs/run-a").body, "Add tag"));
  CHECK(has(scene.get("/runs/run-a", scene.writer_cookie()).body, "Add tag"));
  const auto done = scene.form("/runs/run-a/tags", "add=nightly", scene.writer_cookie());
  CHECK(done.status == 303);
  CHECK(header_of(done, "Location") == "/runs/run-a");
  CHECK(scene.tags() == Tags{"nightly"});
  scene.form("/runs/run-a/tags", "remove=nightly", scene.writer_cookie());
  CHECK(scene.tags().empty());
  CHECK(scene.form("/runs/run-a/notes", "text=fan+replaced%0D%0Aclocks+locked", scene.writer_cookie()).status == 303);
  CHECK(has(scene.get("/runs/run-a").body, "fan replaced"));
  CHECK(scene.form("/runs/run-a/tags", "add=two+words", scene.writer_cookie()).status == 400);
  CHECK(scene.form("/runs/run-a/notes", "text=+", scene.writer_cookie()).status == 400);
  CHECK(scene.form("/runs/none/notes", "text=x", scene.writer_cookie()).status == 404);
}

TEST_CASE("serve changes: nothing changes without a token, the right role, and the right origin") {
  OneRun scene;
  const std::string cookie = "nl_stage=" + scene.writer;
  CHECK(scene.form("/runs/run-a/tags", "add=x").status == 401);
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"cookie", "nl_stage=" + scene.reader}, {"origin", "http://localhost"}}).status == 403);
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"cookie", cookie}}).status == 403);  // where it comes from is not said
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"cookie", cookie}, {"origin", "http://evil.example"}}).status == 403);
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"cookie", cookie}, {"origin", "null"}}).status == 403);
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"cookie", cookie}, {"origin", "http://localhost"}, {"host", "evil.example"}}).status ==
        421);
  CHECK(scene.form("/runs/run-a/tags", "add=x", {{"authorization", "Bearer " + scene.writer}, {"origin", "http://evil.example"}}).status ==
        403);
  CHECK(scene.ask("GET", "/runs/run-a/tags?add=x", "", scene.writer_cookie()).status == 405);
  CHECK(scene
            .ask("POST", "/api/v1/runs/run-a/tags", "{\"add\": [\"x\"]}",
                 {{"authorization", "Bearer " + scene.writer}, {"content-type", "text/plain"}})
            .status == 415);
  CHECK(scene.form("/live/run-a/stop", "").status == 401);
  CHECK(scene.tags().empty());
  CHECK(scene.post_json("/api/v1/runs/run-a/tags", "{\"add\": [\"x\"]}", {{"authorization", "Bearer " + scene.writer}}).status == 200);
  CHECK(scene.tags() == Tags{"x"});
}

TEST_CASE("serve changes: the API does the same, and says what is wrong with a body") {
  OneRun scene;
  const auto post = [&](const std::string& what, const std::string& body) {
    return scene.post_json("/api/v1/runs/run-a/" + what, body, {{"authorization", "Bearer " + scene.writer}});
  };
  CHECK(json::parse(post("tags", R"({"add": ["a", "b"]})").body)["tags"] == json({"a", "b"}));
  CHECK(json::parse(post("notes", R"({"text": "x"})").body)["notes"] == 1);
  for (const char* odd : {"", "{", "[]", "1", R"({"text": 1})", R"({"text": ""})", "{\"text\": \"\xff\"}"}) {
    INFO(odd);
    const auto response = post("notes", odd);
    CHECK(response.status == 400);
    CHECK(json::parse(response.body)["error"]["kind"] == "usage");
  }
  CHECK(post("notes", std::string(200, '[') + std::string(200, ']')).status == 400);
  CHECK(post("tags", R"({"add": "a"})").status == 400);
  CHECK(post("tags", R"({"add": [1]})").status == 400);
  CHECK(scene.notes() == 1);
}

TEST_CASE("serve changes: beyond loopback everything but the way in needs a token") {
  OneRun scene({.loopback = false});
  const std::map<std::string, std::string> bearer = {{"authorization", "Bearer " + scene.reader}};
  CHECK(scene.get("/api/v1/runs").status == 401);
  CHECK(header_of(scene.get("/api/v1/runs"), "WWW-Authenticate") == "Bearer realm=\"nl-stage\"");
  CHECK(scene.get("/api/v1/runs", bearer).status == 200);
  CHECK(scene.get("/metrics").status == 401);
  CHECK(scene.get("/runs/run-a/report").status == 303);
  CHECK(header_of(scene.get("/runs?q=a"), "Location") == "/login?next=%2Fruns%3Fq%3Da");
  CHECK(scene.get("/style.css").status == 200);
  CHECK(scene.get("/login").status == 200);
  CHECK(scene.get("/api/v1/runs", {{"authorization", "Bearer nls_wrong"}}).status == 401);
  for (const auto& route : scene.site.routes()) {
    if (route.entry == nl::servers::http::Entry::kOpen || route.path.find('{') != std::string::npos) continue;
    INFO(route.method << " " << route.path);
    const auto response = scene.ask(route.method, route.path, "{}", {{"accept", "*/*"}, {"content-type", "application/json"}});
    CHECK(response.status == 401);
  }
}

TEST_CASE("serve changes: signing in gives a cookie, and leads to pages of this server alone") {
  OneRun scene({.loopback = false});
  const auto in = scene.form("/login", "token=" + scene.reader + "&next=%2Fruns%3Fq%3Da", {{"origin", "http://localhost"}});
  CHECK(in.status == 303);
  CHECK(header_of(in, "Location") == "/runs?q=a");
  const std::string cookie = header_of(in, "Set-Cookie");
  CHECK(has(cookie, "HttpOnly; SameSite=Strict"));
  CHECK(scene.get("/runs", {{"cookie", cookie.substr(0, cookie.find(';'))}}).status == 200);
  for (const char* next :
       {"%2F%2Fevil.example", "https%3A%2F%2Fevil.example", "%2F%5Cevil.example", "%2F..%2Fx", "%2Fa%0D%0ASet-Cookie%3Ax"}) {
    INFO(next);
    const auto away = scene.form("/login", "token=" + scene.reader + "&next=" + next, {{"origin", "http://localhost"}});
    CHECK((away.status == 400 || header_of(away, "Location") == "/runs"));
  }
  CHECK(scene.form("/login", "token=nls_wrong", {{"origin", "http://localhost"}}).status == 401);
  CHECK(scene.form("/login", "token=" + scene.reader, {{"origin", "http://evil.example"}}).status == 403);
  CHECK(has(header_of(scene.form("/logout", "", {{"origin", "http://localhost"}}), "Set-Cookie"), "Max-Age=0"));
}

TEST_CASE("serve changes: a header of an answer takes no line of its own") {
  nl::servers::http::Response response;
  CHECK_THROWS_AS(response.with("Location", "/x\r\nSet-Cookie: a=b"), nl::Error);
  CHECK_THROWS_AS(response.with("Location", std::string("/x\0", 3)), nl::Error);
}
