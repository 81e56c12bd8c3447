#include "model/input_bounds.h"

#include "tests/catch.h"

using namespace nl;

namespace {

// "what | where"; "within" where the text is.
std::string answer(const std::string& text, const InputBounds& bounds) {
  try {
    const std::string_view checked = json_within_bounds(text, "a.json", bounds);
    CHECK(checked.data() == text.data());
    return "within";
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK_FALSE(error.fix.empty());
    return error.message + " | " + error.where;
  }
}

}  // namespace

TEST_CASE("bounds of JSON: the depth is that of what is open, not of what was") {
  const InputBounds bounds{3, 100};
  CHECK(answer("[[[1]], [[2]], {\"a\": {\"b\": 3}}]", bounds) == "within");
  CHECK(answer("[[[[1]]]]", bounds) == "the JSON is nested more than 3 deep | a.json, byte 4");
  CHECK(answer("{\"a\":[{\"b\":[", bounds) == "the JSON is nested more than 3 deep | a.json, byte 12");
  CHECK(answer("]]]]}}[[[", bounds) == "within");  // no JSON: the parser says so
}

TEST_CASE("bounds of JSON: brackets and commas of a text count nothing") {
  const InputBounds bounds{2, 4};
  CHECK(answer("[\"[[[[[[,,,,,,,,\\\"[[[[\", 1]", bounds) == "within");
  CHECK(answer("[\"\\\\\", [[1]]]", bounds) == "the JSON is nested more than 2 deep | a.json, byte 9");
  CHECK(answer("[\"never ended [[[[", bounds) == "within");
}

TEST_CASE("bounds of JSON: values are counted as written") {
  CHECK(answer("[1, 2, 3]", {9, 4}) == "within");
  CHECK(answer("[1, 2, 3, 4]", {9, 4}) == "the JSON holds more than 4 values | a.json, byte 9");
}
