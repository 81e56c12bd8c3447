// What a server meets on a network: slow clients, odd ones, and hostile ones.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/integration/served.h"

using namespace nl::test;

namespace {

constexpr const char* kRuns = "GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n";

struct FaultScene : Scene {
  FaultScene() {
    const Outcome outcome =
        nl_stage({"import", (kFixtures / "h200-probe" / "probe_node.sqlite").string(), "--out", bundle().string(), "--json"});
    REQUIRE(outcome.status == 0);
  }
};

int status_for(const Server& server, const std::string& bytes) {
  Client client(server.port);
  client.send(bytes);
  return client.reply().status;
}

}  // namespace

TEST_CASE("serve faults: what is no request, too large, or leaves its folder is refused, and the next one answered") {
  FaultScene scene;
  const Server server(scene);
  const std::string host = " HTTP/1.1\r\nHost: localhost\r\n";
  CHECK(status_for(server, "no request at all\r\n\r\n") == 400);
  CHECK(status_for(server, std::string("\x16\x03\x01\x02\x00\x01\x00", 7) + std::string(200, '\x01') + "\r\n\r\n") == 400);  // TLS
  CHECK(status_for(server, "GET /../../../../etc/passwd" + host + "\r\n") == 400);
  CHECK(status_for(server, "GET /runs/..%2f..%2f..%2fetc%2fpasswd/report" + host + "\r\n") == 400);
  CHECK(status_for(server, "GET /runs/x%0d%0aSet-Cookie:%20a=b" + host + "\r\n") == 400);
  CHECK(status_for(server, "GET /runs" + host + "X: a\r\n b\r\n\r\n") != 500);
  CHECK(status_for(server, "GET /runs HTTP/1.1\r\n\r\n") == 400);
  CHECK(status_for(server, "GET /runs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n") == 400);
  CHECK(status_for(server, "GET /runs HTTP/1.1\r\nHost: evil.example\r\n\r\n") == 421);
  CHECK(status_for(server, "GET /runs" + host + "X: " + std::string(20'000, 'a') + "\r\n\r\n") == 431);
  CHECK(status_for(server, "GET /" + std::string(20'000, 'a') + host + "\r\n") == 431);
  CHECK(status_for(server, "POST /api/v1/runs/last/notes" + host + "Content-Length: 1048577\r\n\r\n") == 413);
  CHECK(status_for(server, "POST /api/v1/runs/last/notes" + host + "Content-Length: -1\r\n\r\n") == 400);
  CHECK(status_for(server, "POST /x" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == 400);
  CHECK(status_for(server, "BREW /runs" + host + "\r\n") == 405);
  CHECK(server.get("/api/v1/runs").status == 200);
}

TEST_CASE("serve faults: several requests on one connection, one after the other and at once") {
  FaultScene scene;
  const Server server(scene);
  Client client(server.port);
  for (int i = 0; i < 3; ++i) {
    client.send(kRuns);
    CHECK(client.reply().status == 200);
  }
  client.send(std::string(kRuns) + kRuns + kRuns);
  for (int i = 0; i < 3; ++i) CHECK(client.reply().status == 200);
  client.send("HEAD /runs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  CHECK(client.closed(10) == false);  // the head comes first
}

TEST_CASE("serve faults: slow clients are let go after ten seconds, and hold up nobody") {
  FaultScene scene;
  const Server server(scene);
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Client>(server.port));
    slow.back()->send("GET /runs HTTP/1.1\r\nHost: loc");
  }
  CHECK(server.get("/api/v1/runs").status == 200);
  CHECK_FALSE(slow.front()->closed(1));
  for (const auto& client : slow) CHECK(client->closed(15));
  CHECK(server.get("/metrics").body.find("nl_stage_http_timeouts_total 20") != std::string::npos);
}

TEST_CASE("serve faults: connections and requests beyond the limits are refused, and come back into their own") {
  FaultScene scene;
  const Server server(scene, {"--connections", "2", "--rate", "2"});
  {
    const Client one(server.port), two(server.port);
    two.send(kRuns);
    Client three(server.port);
    three.send(kRuns);
    CHECK(three.reply().status == 503);
  }
  int refused = 0;
  for (int i = 0; i < 20; ++i) {
    const Reply reply = server.get("/healthz");
    if (reply.status == 429) {
      ++refused;
      CHECK(reply.headers.at("retry-after") == "1");
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("serve faults: a client that goes away in the middle of an answer is no trouble") {
  FaultScene scene;
  const Server server(scene);
  for (int i = 0; i < 50; ++i) {
    const Client client(server.port);
    client.send("GET /runs/last/report HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  CHECK(server.get("/api/v1/runs").status == 200);
}
