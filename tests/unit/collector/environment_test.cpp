#include "collector/host_program.h"

#include <cstdlib>
#include <string>

#include "tests/catch.h"

using namespace nl::collector;

TEST_CASE("environment: a number within its bounds, and else what it is by default") {
  const auto number = [](const char* text) {
    setenv("NL_STAGE_TEST_NUMBER", text, 1);
    return number_from("NL_STAGE_TEST_NUMBER", 77, -5, 100);
  };
  CHECK(number("50") == 50);
  CHECK(number("-5") == -5);
  CHECK(number("100") == 100);
  for (const char* text : {"", "-6", "101", "5x", "x", "5 ", "99999999999999999999"}) {
    INFO(text);
    CHECK(number(text) == 77);
  }
  unsetenv("NL_STAGE_TEST_NUMBER");
  CHECK(number_from("NL_STAGE_TEST_NUMBER", 77, -5, 100) == 77);
}

TEST_CASE("environment: an empty text is none, and one that is kept outlives its variable") {
  const char* const name = "NL_STAGE_TEST_TEXT";
  unsetenv(name);
  CHECK(text_from(name) == nullptr);
  CHECK(kept_text_from(name) == nullptr);
  setenv(name, "", 1);
  CHECK(text_from(name) == nullptr);
  CHECK(kept_text_from(name) == nullptr);
  setenv(name, "first", 1);
  CHECK(std::string(text_from(name)) == "first");
  const std::string first = kept_text_from(name);
  const char* const kept = kept_text_from(name);
  setenv(name, "another", 1);
  const char* const other = kept_text_from(name);
  unsetenv(name);
  CHECK(first == "first");
  CHECK(std::string(kept) == "first");
  CHECK(std::string(other) == "another");
  // 64 KiB in all, the ends of the texts among them. What was kept so far: first, first, another.
  const std::size_t left = 64 * 1024 - 6 - 6 - 8;
  setenv(name, std::string(left, 'x').c_str(), 1);
  CHECK(kept_text_from(name) == nullptr);
  setenv(name, std::string(left - 1, 'x').c_str(), 1);
  REQUIRE(kept_text_from(name) != nullptr);
  setenv(name, "y", 1);
  CHECK(kept_text_from(name) == nullptr);
  CHECK(std::string(other) == "another");
  unsetenv(name);
}
