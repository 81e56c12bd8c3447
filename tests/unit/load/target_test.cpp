#include "load/target.h"

#include "model/error.h"
#include "tests/catch.h"

using nl::load::target_of;

namespace {

std::string refusal_of(const std::string& url) {
  try {
    target_of(url);
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kUsage);
    CHECK_FALSE(error.fix.empty());
    return error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("load target: addresses of this machine") {
  const auto four = target_of("http://127.0.0.1:8000/");
  CHECK(four.address == "127.0.0.1");
  CHECK(four.port == 8000);
  CHECK(four.base.empty());
  CHECK(four.host() == "127.0.0.1:8000");
  CHECK(target_of("localhost:8080").address == "127.0.0.1");
  CHECK(target_of("localhost:8080").port == 8080);
  CHECK(target_of("http://127.9.8.7").port == 80);
  CHECK(target_of("http://[::1]:8000").host() == "[::1]:8000");
  CHECK(target_of("http://127.0.0.1:8000/v1").base.empty());
  CHECK(target_of("http://127.0.0.1:8000/api/v1/").base == "/api");
  const auto socket = target_of("unix:/run/llm.sock");
  CHECK(socket.socket == "/run/llm.sock");
  CHECK(socket.host() == "localhost");
}

TEST_CASE("load target: everything else is refused, and no name is looked up") {
  CHECK(refusal_of("http://192.0.2.1:8000") == "192.0.2.1 is not an address of this machine");  // reserved for documentation
  CHECK(refusal_of("http://[2001:db8::1]:8000") == "2001:db8::1 is not an address of this machine");
  CHECK(refusal_of("http://0.0.0.0:8000") == "0.0.0.0 is not an address of this machine");
  CHECK(refusal_of("http://127.0.0.1.example.com") == "'127.0.0.1.example.com' is a name, and load looks up no names");
  CHECK(refusal_of("http://user@127.0.0.1:8000") == "'user@127.0.0.1' is a name, and load looks up no names");
  CHECK(refusal_of("http://0x7f.1:80") == "'0x7f.1' is a name, and load looks up no names");
  CHECK(refusal_of("https://127.0.0.1") == "load speaks HTTP without TLS");
  for (const char* url : {"", "http://", "http://:80", "http://127.0.0.1:", "http://127.0.0.1:0", "http://127.0.0.1:65536",
                          "http://127.0.0.1:8000?x", "http://[::1", "http://[::1]8000", "http://[]:80", "unix:", "http://127.0.0.1/a b",
                          "http://127.0.0.1/\r\nX: y", "ftp://127.0.0.1"}) {
    INFO(url);
    CHECK_FALSE(refusal_of(url).empty());
  }
  CHECK_FALSE(refusal_of("unix:/" + std::string(200, 'a')).empty());
}
