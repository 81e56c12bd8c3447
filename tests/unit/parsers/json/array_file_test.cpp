#include "parsers/json/array_file.h"

#include <random>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::ScratchFile;

namespace {

std::vector<std::string> elements(JsonArrayFile& file) {
  std::vector<std::string> out;
  while (file.next()) out.emplace_back(file.element());
  return out;
}

std::vector<std::string> elements(const std::string& text, const std::string& member = "traceEvents") {
  const ScratchFile scratch(text);
  JsonArrayFile file(scratch.path, member);
  return elements(file);
}

using List = std::vector<std::string>;

}  // namespace

TEST_CASE("the array is a member of the document, or the document") {
  CHECK(elements(R"({"a": [1, {"traceEvents": [{}]}], "s": "traceEvents", "traceEvents": [{"b": 1}, {"c": "]}{\""}], "z": 0})") ==
        List{R"({"b": 1})", R"({"c": "]}{\""})"});
  CHECK(elements("\xef\xbb\xbf [ {\"x\":[{}]} ,\n{} ]") == List{"{\"x\":[{}]}", "{}"});
  CHECK(elements("[]").empty());
  CHECK(elements("{\"traceEvents\":[]}").empty());
}

TEST_CASE("what stands around the array") {
  const ScratchFile scratch(R"({"base": 5, "traceEvents": [{}, {}], "name": "x"})");
  JsonArrayFile file(scratch.path, "traceEvents");
  CHECK(elements(file).size() == 2);
  CHECK_FALSE(file.cut_off());
  CHECK(file.document_without_array() == R"({"base": 5, "traceEvents": [], "name": "x"})");
  const ScratchFile bare(" [{}, {}] ");
  JsonArrayFile list(bare.path, "traceEvents");
  CHECK(elements(list).size() == 2);
  CHECK(list.document_without_array() == "[] ");
}

TEST_CASE("what is no object is passed over") {
  const ScratchFile scratch("[1, {}, \"{\", null, }, [{}], {\"a\":1}]");
  JsonArrayFile file(scratch.path, "");
  CHECK(elements(file) == List{"{}", "{\"a\":1}"});
  CHECK(file.passed_over() == 5);
}

TEST_CASE("a file that is cut off ends there and says where") {
  const std::string whole = R"({"traceEvents": [{"a": "x"}, {"b": [1, 2]}]})";
  for (std::size_t size = 17; size < whole.size() - 1; ++size) {
    const ScratchFile scratch(whole.substr(0, size));
    JsonArrayFile file(scratch.path, "traceEvents");
    const auto found = elements(file);
    CHECK(file.cut_off());
    CHECK(file.size_read() == size);
    CHECK(found.size() == (size >= 42 ? 2u : size >= 27 ? 1u : 0u));
  }
}

TEST_CASE("no such array, no such file, nothing in it") {
  for (const char* text : {"", " ", "{}", "{\"a\": 1}", "hello", "{\"traceEvents\": 3}", "\"", "{\"trace",
                           "{\"traceEvents\":", "{\"a\":  ", "{\"traceEvents\"", "SQLite format 3"}) {
    INFO(text);
    const ScratchFile scratch(text);
    CHECK_THROWS_AS(JsonArrayFile(scratch.path, "traceEvents"), Error);
  }
  CHECK_THROWS_AS(JsonArrayFile("/nonexistent/trace.json", "traceEvents"), Error);
  CHECK_THROWS_AS(JsonArrayFile("/", "traceEvents"), Error);
}

TEST_CASE("elements larger than the buffer and across its edges") {
  std::string text = "{\"head\": \"" + std::string(3 << 20, 'h') + "\", \"traceEvents\": [";
  List expected;
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = i == 100 ? std::size_t{5} << 20 : random() % 30000;
    expected.push_back("{\"s\": \"" + std::string(size, i % 2 ? '{' : 'x') + "\"}");
    text += (i ? "," : "") + expected.back();
  }
  CHECK(elements(text + "]}") == expected);
}
