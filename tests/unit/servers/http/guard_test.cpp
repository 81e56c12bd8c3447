#include "servers/http/guard.h"

#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::servers::http;

namespace {

Request request(const std::string& method, const std::map<std::string, std::string>& headers) {
  Request made{method, "/runs"};
  for (const auto& [name, value] : headers) made.headers[name] = {value};
  return made;
}

int refused_with(const Request& asked, const Gate& gate = {}) {
  const auto refusal = refuse_foreign(asked, gate);
  return refusal ? refusal->status : 0;
}

}  // namespace

TEST_CASE("serve guard: on loopback a request has to name this machine") {
  for (const char* host :
       {"localhost", "localhost:8470", "LOCALHOST:1", "127.0.0.1:8470", "127.1.2.3", "[::1]:8470", "[::1]", "x.localhost"}) {
    INFO(host);
    CHECK(refused_with(request("GET", {{"host", host}})) == 0);
  }
  // A page of evil.example whose name resolves to 127.0.0.1 sends its own name.
  for (const char* host :
       {"evil.example", "evil.example:8470", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]:80", "10.0.0.1"}) {
    INFO(host);
    CHECK(refused_with(request("GET", {{"host", host}})) == 421);
    CHECK(refused_with(request("GET", {{"host", host}}), {.loopback = false}) == 0);
  }
  CHECK(refused_with(request("GET", {})) == 400);
  Request twice = request("GET", {{"host", "localhost"}});
  twice.headers["host"].push_back("localhost");
  CHECK(refused_with(twice) == 400);
}

TEST_CASE("serve guard: forms and scripts of other sites are refused") {
  const auto post = [](std::map<std::string, std::string> headers) {
    headers["host"] = "localhost:8470";
    return refused_with(request("POST", headers));
  };
  CHECK(post({}) == 0);  // no browser
  CHECK(post({{"origin", "http://localhost:8470"}}) == 0);
  for (const char* origin : {"http://evil.example", "https://localhost:8470", "http://localhost:8471", "http://localhost", "null", "",
                             "http://localhost:8470.evil.example"}) {
    INFO(origin);
    CHECK(post({{"origin", origin}}) == 403);
  }
  CHECK(post({{"sec-fetch-site", "cross-site"}}) == 403);
  CHECK(post({{"sec-fetch-site", "same-site"}}) == 403);  // another port of this machine
  CHECK(post({{"sec-fetch-site", "same-origin"}}) == 0);
  CHECK(refused_with(request("GET", {{"host", "localhost"}, {"origin", "http://evil.example"}})) ==
        0);  // reading it is for the browser to refuse
}

TEST_CASE("serve guard: a header is before a cookie, and a wrong one is said") {
  const nl::test::Folder folder;
  Tokens tokens(folder / "tokens.json");
  const std::string reader = tokens.add("reader", Role::kRead), writer = tokens.add("writer", Role::kWrite);
  bool wrong = false;
  const auto name = [&](const std::map<std::string, std::string>& headers) {
    const Caller caller = caller_of(request("GET", headers), {}, tokens, wrong);
    return caller.token ? caller.token->name : std::string();
  };
  CHECK(name({{"authorization", "Bearer " + reader}}) == "reader");
  CHECK(name({{"authorization", "bearer  " + writer}}) == "writer");
  CHECK(name({{"cookie", "a=b; nl_stage=" + writer + "; c=d"}}) == "writer");
  CHECK(name({{"cookie", "nl_stage=" + writer}, {"authorization", "Bearer " + reader}}) == "reader");
  CHECK_FALSE(wrong);
  CHECK(name({{"cookie", "nl_stage=" + writer}, {"authorization", "Bearer nls_00"}}).empty());
  CHECK(wrong);
  CHECK(name({{"authorization", "Basic " + reader}}).empty());
  CHECK(wrong);
  CHECK(name({{"cookie", "nl_stage=wrong"}}).empty());  // an old cookie: the pages are as without
  CHECK_FALSE(wrong);
  CHECK(name({{"cookie", "xnl_stage=" + writer}}).empty());
}

TEST_CASE("serve guard: who may enter") {
  const Caller nobody, reader{Token{"r", Role::kRead}}, writer{Token{"w", Role::kWrite}}, by_cookie{Token{"w", Role::kWrite}, true};
  const Gate loopback, everywhere{.loopback = false}, strict{.always_token = true};
  const auto status = [](const Gate& gate, Entry entry, const Caller& caller, const Request& asked = request("GET", {})) {
    const auto refusal = refuse_entry(asked, gate, entry, caller);
    return refusal ? refusal->status : 0;
  };
  CHECK(status(loopback, Entry::kRead, nobody) == 0);
  CHECK(status(everywhere, Entry::kRead, nobody) == 401);
  CHECK(status(strict, Entry::kRead, nobody) == 401);
  CHECK(status(everywhere, Entry::kRead, reader) == 0);
  CHECK(status(everywhere, Entry::kOpen, nobody) == 0);
  CHECK(status(loopback, Entry::kWrite, nobody) == 401);
  CHECK(status(loopback, Entry::kWrite, reader) == 403);
  CHECK(status(loopback, Entry::kWrite, writer) == 0);
  CHECK(status(loopback, Entry::kWrite, by_cookie, request("POST", {})) == 403);
  CHECK(status(loopback, Entry::kWrite, by_cookie, request("POST", {{"origin", "http://localhost"}})) == 0);
}

TEST_CASE("serve guard: the cookie is for this server's pages alone") {
  const std::string header = cookie_header({.cookie = "nl_stage_8470"}, "nls_1", true);
  CHECK(header == "nl_stage_8470=nls_1; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000; Secure");
  CHECK(nl::test::has(cookie_header({}, "", false), "Max-Age=0"));
}
