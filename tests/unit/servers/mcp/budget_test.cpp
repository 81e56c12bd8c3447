#include "servers/mcp/budget.h"

#include "tests/catch.h"

using namespace nl::servers::mcp;
using nlohmann::ordered_json;

namespace {

std::size_t size_in_json(const ordered_json& value) { return value.dump().size(); }

ordered_json rows(int count) {
  ordered_json list = ordered_json::array();
  for (int i = 0; i < count; ++i) list.push_back({i, "kernel " + std::to_string(i), 1.5 * i});
  return list;
}

}  // namespace

TEST_CASE("servers mcp budget: what fits stays as it is") {
  const ordered_json whole = {{"columns", {"a", "b"}}, {"rows", rows(3)}};
  const Shortened result = shortened(whole, size_in_json(whole));
  CHECK(result.content == whole);
  CHECK(result.left_out.empty());
  CHECK(with_note(result, 10, "uri") == whole);
}

TEST_CASE("servers mcp budget: a long list keeps its beginning, and what is small stays whole") {
  const ordered_json whole = {{"columns", {"i", "name", "time_ms"}}, {"rows", rows(1000)}, {"truncated", false}};
  const Shortened result = shortened(whole, 2000);
  CHECK(result.content["columns"] == whole["columns"]);
  CHECK(result.content["truncated"] == false);
  const auto& kept = result.content["rows"];
  REQUIRE(kept.size() > 20);
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == whole["rows"][i]);  // no element is torn
  REQUIRE(result.left_out.size() == 1);
  CHECK(result.left_out[0].pointer == "/rows");
  CHECK(result.left_out[0].kept == kept.size());
  CHECK(result.left_out[0].of == 1000);
}

TEST_CASE("servers mcp budget: with its note the answer is within the bound, and names the whole") {
  for (const std::size_t most : {800, 2000, 8000}) {
    ordered_json whole = {{"name", std::string(5000, 'n')}, {"lists", ordered_json::array()}, {"last", 7}};
    for (int i = 0; i < 10; ++i) whole["lists"].push_back({{"rows", rows(100 * (i + 1))}, {"text", std::string(1000, 't')}});
    const ordered_json answer =
        with_note(shortened(whole, most), tokens_of(size_in_json(whole)), "nl-stage://answer/0123456789abcdef0123456789abcdef");
    INFO(answer.dump());
    CHECK(size_in_json(answer) <= most);
    CHECK(answer.begin().key() == "cut");
    CHECK(answer["cut"]["whole"] == "nl-stage://answer/0123456789abcdef0123456789abcdef");
    CHECK(answer["cut"]["whole_tokens"] == tokens_of(size_in_json(whole)));
    CHECK(answer["last"] == 7);
  }
}

TEST_CASE("servers mcp budget: a text is not cut within a character") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "µ";
  for (std::size_t most = 600; most < 610; ++most) {
    const Shortened result = shortened({{"text", text}}, most);
    CHECK_NOTHROW(result.content.dump());  // throws on half a character
    CHECK(result.left_out.at(0).what == std::string("bytes"));
  }
}

TEST_CASE("servers mcp budget: a list, a deep tree and thousands of members are cut, too") {
  const ordered_json list = with_note(shortened(rows(1000), 1000), 5000, "uri");
  CHECK(list["value"].is_array());
  ordered_json deep = rows(500);
  for (int i = 0; i < 50; ++i) deep = {{"inner", std::move(deep)}};
  CHECK(size_in_json(shortened(deep, 2000).content) <= 2000);
  ordered_json wide = ordered_json::object();
  for (int i = 0; i < 5000; ++i) wide["key " + std::to_string(i)] = i;
  const Shortened result = shortened(wide, 2000);
  CHECK(size_in_json(result.content) <= 2000);
  CHECK(result.left_out.at(0).of == 5000);
}
