#include "model/error_code.h"

#include <fmt/format.h>

#include <set>

#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

using namespace nl;

TEST_CASE("error codes: each once, in words of small letters, with a meaning") {
  std::set<std::string_view> keys;
  for (const ErrorCodeInfo& each : error_codes()) {
    INFO(each.key);
    CHECK(keys.insert(each.key).second);
    CHECK(each.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK_FALSE(each.meaning.empty());
    CHECK(info_of(each.code).key == each.key);
  }
}

TEST_CASE("error codes: an error without one has that of its kind, one with its own keeps it where it is caught as an error") {
  CHECK(info_of(code_of(Error(ErrorKind::kTimeout, "late"))).key == "timeout");
  CHECK(info_of(code_of(Error(ErrorKind::kInterrupted, "ended"))).key == "interrupted");
  try {
    throw CodedError(ErrorCode::kNoSuchRun, "what", "where", "fix");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.fix == "fix");
    CHECK(info_of(code_of(error)).key == "no_such_run");
  }
}

TEST_CASE("error codes: docs/exit-status.md has the table as it is", "[golden]") {
  const std::string file = NL_SOURCE_ROOT "/docs/exit-status.md", page = test::read_text(file);
  std::string table = "| code | kind | meaning |\n| --- | --- | --- |\n";
  for (const ErrorCodeInfo& each : error_codes())
    table += fmt::format("| `{}` | {} | {} |\n", each.key, info_of(code_of(Error(each.kind, ""))).key, each.meaning);
  const std::size_t begin = page.find("<!-- made of model/error_code.cpp by tools/golden -->\n"),
                    end = page.find("<!-- end of the codes -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  test::check_golden(file, page.substr(0, page.find('\n', begin) + 1) + table + page.substr(end));
}
