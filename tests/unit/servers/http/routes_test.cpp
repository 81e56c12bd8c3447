#include "servers/http/routes.h"

#include <algorithm>
#include <set>

#include "tests/catch.h"
#include "tests/unit/servers/http/site_scene.h"

using namespace nl::servers::http;
using nlohmann::json;

TEST_CASE("serve routes: words of a path are before what may be any") {
  const std::vector<Route> routes = {{"GET", "/"}, {"GET", "/runs"}, {"GET", "/runs/{run}"}, {"POST", "/runs/{run}/tags"}};
  CHECK(find_route(routes, "GET", {}).route == &routes[0]);
  CHECK(find_route(routes, "HEAD", {"runs"}).route == &routes[1]);
  const Found run = find_route(routes, "GET", {"runs", "a b"});
  CHECK(run.route == &routes[2]);
  CHECK(run.names == std::vector<std::string>{"a b"});
  CHECK(find_route(routes, "GET", {"runs", "a", "b"}).allowed.empty());
  const Found other = find_route(routes, "GET", {"runs", "a", "tags"});
  CHECK(other.route == nullptr);
  CHECK(other.allowed == std::vector<std::string>{"POST"});
}

TEST_CASE("serve routes: each is there once, and the API's are all in the OpenAPI file") {
  nl::test::SiteScene scene;
  const auto answer = scene.get("/api/v1/openapi.json");
  REQUIRE(answer.status == 200);
  const json file = json::parse(answer.body);
  CHECK(file["openapi"] == "3.1.0");
  CHECK(file["info"]["version"] == "0.0.test");
  std::set<std::string> seen, ids;
  std::size_t described = 0;
  for (const Route& route : scene.site.routes()) {
    INFO(route.method << " " << route.path);
    CHECK(seen.insert(route.method + " " + route.path).second);
    CHECK_FALSE(route.summary.empty());
    if (!is_api(route)) continue;
    ++described;
    const std::string method = route.method == "GET" ? "get" : "post";
    REQUIRE(file["paths"][route.path].contains(method));
    const json& operation = file["paths"][route.path][method];
    CHECK(ids.insert(operation["operationId"]).second);
    CHECK(operation.contains("requestBody") == (route.method == "POST"));
    std::size_t in_path = 0;
    for (const auto& parameter : operation["parameters"]) in_path += parameter["in"] == "path" ? 1 : 0;
    CHECK(in_path == static_cast<std::size_t>(std::count(route.path.begin(), route.path.end(), '{')));
  }
  std::size_t operations = 0;
  for (const auto& path : file["paths"]) operations += path.size();
  CHECK(operations == described);
}
