#include "servers/http/target.h"

#include "tests/catch.h"

using nl::servers::http::Fields, nl::servers::http::parse_fields, nl::servers::http::parse_target;
using Words = std::vector<std::string>;

TEST_CASE("serve addresses: parts and queries are decoded") {
  const auto target = parse_target("/runs/20261116-llama%20a%2Bb?tag=a&tag=b&q=x+y%26z&empty=&alone");
  REQUIRE(target);
  CHECK(target->path == Words{"runs", "20261116-llama a+b"});
  CHECK(target->query.all("tag") == Words{"a", "b"});
  CHECK(target->query.first("q") == "x y&z");
  CHECK(target->query.pairs().size() == 5);
  REQUIRE(parse_target("/"));
  CHECK(parse_target("/")->path.empty());
  CHECK(parse_target("/a+b")->path == Words{"a+b"});  // a plus is a plus in a path
}

TEST_CASE("serve addresses: what leaves its folder, or is no address of ours, is none") {
  for (const char* odd :
       {"/../etc/passwd", "/runs/..", "/runs/%2e%2e/x", "/runs/a%2f..%2fb", "/runs//x", "//elsewhere/x", "http://elsewhere/x", "", "runs",
        "/runs/%00", "/runs/%zz", "/runs/%4", "/runs/a%0d%0aSet-Cookie:%20x", "/runs?q=%zz", "/runs?q=%00", "*", "/./runs", "/runs/"}) {
    INFO(odd);
    CHECK_FALSE(parse_target(odd));
  }
}

TEST_CASE("serve addresses: forms may have lines, names may not") {
  REQUIRE(parse_fields("text=one%0D%0Atwo"));
  CHECK(parse_fields("text=one%0D%0Atwo")->first("text") == "one\r\ntwo");
  CHECK_FALSE(parse_fields("te%0Axt=one"));
  CHECK_FALSE(parse_fields("text=%1b[31m"));
}

TEST_CASE("serve addresses: what is written is read back") {
  Fields fields;
  fields.add("after", "2026-11-16T17:37:57Z~123");
  fields.add("q", "a&b=c +/?#%\"<é");
  const std::string text = query_text(fields);
  CHECK(text.find_first_of(" \"<>#") == std::string::npos);
  const auto back = parse_target("/runs" + text);
  REQUIRE(back);
  CHECK(back->query.pairs() == fields.pairs());
}
