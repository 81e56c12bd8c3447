#include "servers/mcp/connection.h"

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/unit/servers/mcp/asked_tools.h"

namespace {

using namespace nl::servers;
using namespace nl::servers::mcp;
using nl::test::AskedTools;

// A client that says what a test says, and keeps what it is told.
struct Client {
  AskedTools tools;
  nl::test::TwoResources resources;
  Server server{tools, resources, {"0.1.0", 2000}};
  std::mutex mutex;
  std::vector<ordered_json> told;
  Connection connection{server, Access::kRun, [this](const ordered_json& message) {
                          const std::lock_guard lock(mutex);
                          told.push_back(message);
                        }};

  void initialize() {
    connection.receive(R"({"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25"}})");
    connection.receive(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    told.clear();
  }
  void call(const std::string& id, const char* tool) {
    connection.receive(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"{}"}}}})", id, tool));
  }
  void cancel(const std::string& id) {
    connection.receive(fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})", id));
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return told.size();
  }
  void until_told(std::size_t so_many) {
    for (int i = 0; i < 2000 && count() < so_many; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    REQUIRE(count() == so_many);
  }
  int code(std::size_t at) { return told.at(at)["error"]["code"]; }
};

}  // namespace

TEST_CASE("servers mcp connection: what is no request is refused, and the next is answered") {
  Client client;
  for (const char* wrong : {"{", "nonsense", "\xff\xfe", "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}"}) {
    client.told.clear();
    client.connection.receive(wrong);
    INFO(wrong);
    REQUIRE(client.count() == 1);
    CHECK(client.code(0) == kParseError);
    CHECK(client.told[0]["id"].is_null());
  }
  for (const char* wrong : {"7", "[]", "null", R"({"id":1,"method":"ping"})", R"({"jsonrpc":"1.0","id":1,"method":"ping"})",
                            R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":7})",
                            R"({"jsonrpc":"2.0","id":null,"method":"ping"})", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
                            R"({"jsonrpc":"2.0","id":{},"method":"ping"})", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"}) {
    client.told.clear();
    client.connection.receive(wrong);
    INFO(wrong);
    REQUIRE(client.count() == 1);
    CHECK(client.code(0) == kInvalidRequest);
  }
  client.told.clear();
  client.connection.receive(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[1]})");
  CHECK(client.code(0) == kInvalidParams);
  CHECK(client.told[0]["id"] == 1);
  client.told.clear();
  client.connection.receive(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  CHECK(client.told.at(0)["result"] == ordered_json::object());
}

TEST_CASE("servers mcp connection: deep nesting, a message that is too long, and replies do no harm") {
  Client client;
  client.connection.receive(std::string(1'000'000, '['));
  CHECK(client.code(0) == kInvalidRequest);
  client.connection.receive(std::string(500'000, '[') + std::string(500'000, ']'));
  CHECK(client.code(1) == kInvalidRequest);
  client.connection.refuse_too_long();
  CHECK(client.code(2) == kInvalidRequest);
  client.connection.receive(R"({"jsonrpc":"2.0","id":1,"result":{}})");
  client.connection.receive(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})");
  client.connection.receive(R"({"jsonrpc":"2.0","method":"notifications/nonsense"})");
  CHECK(client.count() == 3);
}

TEST_CASE("servers mcp connection: before initialize an older client is refused, afterwards served") {
  Client client;
  client.connection.receive(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  CHECK(client.code(0) == kInvalidParams);
  client.initialize();
  client.connection.receive(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  CHECK(client.told.at(0)["result"]["tools"].size() == 4);
}

TEST_CASE("servers mcp connection: calls run beside each other, and each is answered under its own id") {
  Client client;
  client.initialize();
  client.call("1", "wait");
  client.call("\"1\"", "wait");  // not the same id
  client.tools.until_waiting(2);
  client.call("2", "echo");
  client.until_told(1);
  CHECK(client.told[0]["id"] == 2);
  client.tools.release();
  client.until_told(3);
}

TEST_CASE("servers mcp connection: a request that comes twice is served once") {
  Client client;
  client.initialize();
  client.call("5", "wait");
  client.tools.until_waiting(1);
  client.call("5", "wait");
  client.until_told(1);
  CHECK(client.code(0) == kInvalidRequest);
  CHECK(client.told[0]["id"].is_null());  // the answer to the first is still to come under its id
  client.tools.release();
  client.until_told(2);
  CHECK(client.told[1]["id"] == 5);
  CHECK(client.told[1].contains("result"));
  CHECK(client.tools.calls == 1);
  client.call("5", "echo");  // answered: the id is free again
  client.until_told(3);
}

TEST_CASE("servers mcp connection: a cancelled call ends, and is not answered") {
  Client client;
  client.initialize();
  client.cancel("5");  // not asked yet: ignored
  client.cancel("\"never\"");
  client.connection.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled"})");
  client.connection.receive(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}})");
  client.call("5", "wait");
  client.tools.until_waiting(1);
  client.cancel("\"5\"");  // another id
  client.cancel("5");
  client.cancel("5");
  for (int i = 0; i < 1000 && client.tools.stopped == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(client.tools.stopped == 1);
  client.call("6", "echo");
  client.until_told(1);
  CHECK(client.told[0]["id"] == 6);
}

TEST_CASE("servers mcp connection: too many calls at a time are refused, and the others go on") {
  Client client;
  client.initialize();
  for (int i = 0; i < 40; ++i) client.call(std::to_string(i), "wait");
  client.until_told(8);
  for (int i = 0; i < 8; ++i) CHECK(client.code(static_cast<std::size_t>(i)) == kTooBusy);
  client.tools.release();
  client.until_told(40);
}

TEST_CASE("servers mcp connection: a client that goes away ends what it asked for") {
  Client client;
  client.initialize();
  client.call("1", "wait");
  client.call("2", "run");
  client.tools.until_waiting(2);
  client.connection.end();
  CHECK(client.tools.stopped == 2);
  CHECK(client.count() == 0);
  client.call("3", "echo");
  CHECK(client.tools.calls == 2);
}

TEST_CASE("servers mcp connection: what is about to be answered at the end is answered") {
  Client client;
  client.initialize();
  client.call("1", "echo");
  client.connection.end(std::chrono::seconds(10));
  CHECK(client.count() == 1);
}
