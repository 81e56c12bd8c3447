#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "query/connection.h"
#include "query/table.h"
#include "tests/unit/golden.h"
#include "tests/unit/query/asked.h"

using nl::query::Answer;
using nlohmann::json;

namespace {

Answer answer() {
  Answer made;
  made.columns = {{"name", ""}, {"total_ns", "ns"}, {"share", ""}};
  made.rows = {{"plain", std::int64_t{12}, 0.1}, {"a \"quoted\", long\nname", {}, 1e300}};
  made.query_ms = 1.5;
  return made;
}

// As docs/query.md has them.
std::string tables_of_the_page() {
  constexpr const char* kTypes[] = {"integer", "real", "text"};
  std::string text;
  for (const nl::query::Table& table : nl::query::tables()) {
    text += fmt::format("### {}\n\n{}.{}\n\n| column | type | unit | what it is |\n| --- | --- | --- | --- |\n", table.name, table.help,
                        table.when_empty.empty() ? "" : fmt::format(" Without rows: {}.", table.when_empty));
    for (const nl::query::Column& each : table.columns)
      text += fmt::format("| `{}` | {} | {} | {} |\n", each.name, kTypes[static_cast<std::size_t>(each.type)], each.unit, each.help);
    text += "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("query answer: CSV is that of RFC 4180") {
  CHECK(nl::query::answer_csv(answer()) == "name,total_ns,share\r\nplain,12,0.1\r\n\"a \"\"quoted\"\", long\nname\",,1e+300\r\n");
}

TEST_CASE("query answer: JSON has columns with units, rows and what was left out") {
  Answer cut = answer();
  cut.truncated = true;
  cut.notes = {"because"};
  const json read = json::parse(nl::query::answer_json(cut));
  CHECK(read["columns"] == json::parse(R"([{"name":"name","unit":null},{"name":"total_ns","unit":"ns"},{"name":"share","unit":null}])"));
  CHECK(read["rows"][0] == json::parse(R"(["plain", 12, 0.1])"));
  CHECK(read["rows"][1][1].is_null());
  CHECK(read["row_count"] == 2);
  CHECK(read["truncated"] == true);
  CHECK(read["query_ms"] == 1.5);
  CHECK(read["notes"] == json::parse(R"(["because"])"));
  CHECK(json::parse(nl::query::answer_json({}))["rows"].empty());
  Answer odd;
  odd.columns = {{"x", ""}};
  odd.rows = {{std::string("\xff")}, {std::numeric_limits<double>::infinity()}};
  CHECK(json::parse(nl::query::answer_json(odd))["rows"][1][0].is_null());
}

TEST_CASE("query answer: a table for people fits the terminal and says what it leaves out") {
  CHECK(nl::query::answer_text(answer(), 0).find("plain") != std::string::npos);
  Answer wide;
  for (int i = 0; i < 30; ++i) wide.columns.push_back({"column_" + std::to_string(i), ""});
  wide.rows.emplace_back(30, std::int64_t{1234567890});
  const std::string text = nl::query::answer_text(wide, 80);
  CHECK(text.find("not shown") != std::string::npos);
  CHECK(text.find('\n') <= 80);
  Answer empty;
  empty.columns = {{"x", ""}};
  CHECK(nl::query::answer_text(empty, 80).find("no rows") != std::string::npos);
  Answer cut = answer();
  cut.truncated = true;
  CHECK(nl::query::answer_remarks(cut).find("--limit") != std::string::npos);
  CHECK(nl::query::answer_remarks(answer()).empty());
}

TEST_CASE("query answer: units follow from names") {
  using nl::query::unit_of_name;
  CHECK(unit_of_name("total_ns") == "ns");
  CHECK(unit_of_name("sum(duration_ns)") == "ns");
  CHECK(unit_of_name("max(s.end_ns)") == "ns");
  CHECK(unit_of_name("median(bytes)") == "bytes");
  CHECK(unit_of_name("gpu_share") == "of 1");
  CHECK(unit_of_name("idle_ms") == "ms");
  CHECK(unit_of_name("count(duration_ns)").empty());
  CHECK(unit_of_name("sum(duration_ns) / 1e6").empty());
  CHECK(unit_of_name("gb_per_s").empty());
  CHECK(unit_of_name("name").empty());
}

TEST_CASE("query schema: every column has a sentence, a name of its own, and a unit where its name says one") {
  std::set<std::string_view> tables;
  for (const nl::query::Table& table : nl::query::tables()) {
    INFO(table.name);
    CHECK(tables.insert(table.name).second);
    CHECK_FALSE(table.help.empty());
    std::set<std::string_view> columns;
    for (const nl::query::Column& column : table.columns) {
      INFO(column.name);
      CHECK(columns.insert(column.name).second);
      CHECK_FALSE(column.help.empty());
      CHECK(column.unit == nl::query::unit_of_name(column.name));
    }
  }
  for (const char* name :
       {"slices", "windows", "gaps", "kernels", "operators", "layers", "stacks", "samples", "counters", "findings", "figures", "requests"})
    CHECK(tables.contains(name));
  const json schema = json::parse(nl::query::schema_json());
  CHECK(schema["tables"].size() == tables.size());
  CHECK(nl::query::schema_text(80).find("launch_delay_ns") != std::string::npos);
}

TEST_CASE("query schema: each column can be read in every row") {
  for (const nl::query::Table& table : nl::query::tables()) {
    INFO(table.name);
    CHECK_NOTHROW(nl::test::asked(nl::test::kLlamaExport, "SELECT * FROM " + std::string(table.name)));
  }
}

TEST_CASE("query schema: docs/query.md has the tables as they are", "[golden]") {
  const std::string file = NL_SOURCE_ROOT "/docs/query.md", page = nl::test::read_text(file);
  const std::size_t begin = page.find("<!-- tables -->\n"), end = page.find("<!-- end of tables -->");
  REQUIRE(begin < end);
  REQUIRE(end != std::string::npos);
  nl::test::check_golden(file, page.substr(0, page.find('\n', begin) + 1) + tables_of_the_page() + page.substr(end));
}
