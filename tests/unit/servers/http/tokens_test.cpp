#include "servers/http/tokens.h"

#include <sys/stat.h>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::servers::http;
using nl::Error;

TEST_CASE("serve tokens: made once, kept as digests in a private file, and gone when removed") {
  const nl::test::Folder folder;
  Tokens tokens(folder / "data/tokens.json");
  CHECK(tokens.all().empty());
  const std::string reader = tokens.add("ci", Role::kRead), writer = tokens.add("me@home", Role::kWrite);
  CHECK(reader != writer);
  CHECK(reader.size() == 4 + 64);
  const std::string text = nl::test::read_text(tokens.file());
  CHECK_FALSE(nl::test::has(text, reader));
  CHECK_FALSE(nl::test::has(text, reader.substr(4)));
  struct stat about = {};
  REQUIRE(::stat(tokens.file().c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);

  REQUIRE(tokens.owner_of(writer));
  CHECK(tokens.owner_of(writer)->name == "me@home");
  CHECK(tokens.owner_of(writer)->role == Role::kWrite);
  CHECK(tokens.owner_of(reader)->role == Role::kRead);
  for (const std::string& wrong : {std::string(), reader.substr(1), reader + "0", text, std::string("nls_")})
    CHECK_FALSE(tokens.owner_of(wrong));

  Tokens server(tokens.file());  // which runs meanwhile
  tokens.remove("ci");
  CHECK_FALSE(server.owner_of(reader));
  CHECK(server.owner_of(writer));
  CHECK_THROWS_AS(tokens.remove("ci"), Error);
}

TEST_CASE("serve tokens: odd and taken names are refused, and so is a file that others may read") {
  const nl::test::Folder folder;
  Tokens tokens(folder / "tokens.json");
  tokens.add("ci", Role::kRead);
  for (const char* odd : {"", "a b", "ci", "-x", "a\nb", "<script>"}) {
    INFO(odd);
    CHECK_THROWS_AS(tokens.add(odd, Role::kRead), Error);
  }
  ::chmod(tokens.file().c_str(), 0644);
  CHECK_THROWS_AS(tokens.all(), Error);
  ::chmod(tokens.file().c_str(), 0600);
  std::ofstream(tokens.file()) << "{\"tokens\": [{}]}";
  CHECK_THROWS_AS(tokens.owner_of("x"), Error);
}

TEST_CASE("serve tokens: bytes are compared to their end") {
  CHECK(same_bytes("", ""));
  CHECK(same_bytes("abc", "abc"));
  CHECK_FALSE(same_bytes("abc", "abd"));
  CHECK_FALSE(same_bytes("abc", "bbc"));
  CHECK_FALSE(same_bytes("abc", "ab"));
  CHECK_FALSE(same_bytes("", "a"));
}
