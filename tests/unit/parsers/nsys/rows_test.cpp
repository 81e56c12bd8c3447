// What is read from pages and what SQLite reads of the same file. SQLite reads it where its header says that it has a log.
#include "parsers/nsys/rows.h"

#include <fstream>

#include <fmt/format.h>

#include "parsers/nsys/database.h"
#include "parsers/nsys/sqlite.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/nsys/crafted.h"
#include "tests/unit/told_trace.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CraftedExport;

namespace {

void say_that_it_has_a_log(const std::filesystem::path& file) {
  constexpr int kVersions = 18;
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(kVersions);
  stream.write("\x02\x02", 2);
  stream.close();
  REQUIRE_FALSE(sqlite_pages::PageFile::open(file).pages);
}

// Of each row in turn.
std::vector<std::string> cells_of(const std::filesystem::path& file, const char* table) {
  const NsysDatabase database(file);
  NsysRows rows = database.select(table, {"start", "absent", "text", "value"});
  std::vector<std::string> out;
  while (rows.next())
    for (int column = 0; column < 4; ++column)
      out.push_back(std::to_string(rows.is_null(column)) + ' ' + std::to_string(rows.integer(column)) + ' ' +
                    std::string(rows.text(column)));
  return out;
}

}  // namespace

TEST_CASE("rows: a value of another type than is asked for is turned into it as SQLite does that") {
  for (const char* encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
    CraftedExport made;
    made.sql(std::string("PRAGMA encoding = '") + encoding + "'; CREATE TABLE t (start INTEGER, text TEXT, value)");
    for (const char* value : {"NULL",
                              "7",
                              "-1.75",
                              "0.1",
                              "1e300",
                              "-1e300",
                              "9e999",
                              "' 12 apples'",
                              "'+5'",
                              "'-'",
                              "'-9e9'",
                              "'none'",
                              "''",
                              "'ü€😀'",
                              "'99999999999999999999'",
                              "'-99999999999999999999'",
                              "x'3132'",
                              "x'FF00'",
                              "9223372036854775807",
                              "123456.789e3"})
      made.sql(fmt::format("INSERT INTO t VALUES ({0}, {0}, {0})", value));
    const std::vector<std::string> by_pages = cells_of(made.file, "t");
    CHECK(by_pages.size() == 80);
    say_that_it_has_a_log(made.file);
    CHECK(by_pages == cells_of(made.file, "t"));
  }
}

TEST_CASE("rows: a capture is the same by its pages and by SQLite") {
  for (const char* fixture :
       {"h200-llama/nsys.sqlite", "h200-probe/probe_node.sqlite", "h200-probe/probe_graph.sqlite", "crafted/ranges.sqlite"}) {
    INFO(fixture);
    CraftedExport made;
    made.copy_of(fixture);
    const std::vector<std::string> by_pages = test::TraceTeller(read_nsys_sqlite(made.file)).tell();
    CHECK(by_pages.size() > 20);
    say_that_it_has_a_log(made.file);
    CHECK(by_pages == test::TraceTeller(read_nsys_sqlite(made.file)).tell());
  }
}

TEST_CASE("rows: parts of a table are all of it, each row once, in its order") {
  CraftedExport made;
  made.sql(
      "CREATE TABLE t (start INTEGER, value TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) "
      "INSERT INTO t (rowid, start, value) SELECT i + 100, i, 'x' FROM n");
  const NsysDatabase database(made.file);
  const RowSpan span = database.rows_of("t");
  for (const std::size_t parts : {1u, 2u, 4u, 7u}) {
    const std::vector<RowSpan> spans = database.split("t", span, parts);
    CHECK(spans.size() == parts);
    std::int64_t next = 1;
    for (const RowSpan& each : spans) {
      CHECK(each.count < 2 * 30000 / parts);
      std::uint64_t found = 0;
      NsysRows rows = database.select("t", {"start"}, each);
      for (; rows.next(); ++found, ++next) REQUIRE(rows.integer(0) == next);
      CHECK(found == each.count);
    }
    CHECK(next == 30001);
  }
}

TEST_CASE("rows: what is damaged is named with its page") {
  CraftedExport made;
  made.copy_of("h200-llama/nsys.sqlite");
  int root = 0;
  {
    SQLite::Database database(made.file.string());
    root = database.execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_RUNTIME'").getInt();
  }
  // Not the first and not the last child, which SQLite looks at to see how many rows there are.
  std::string bytes = test::read_text(made.file);
  const std::size_t page = static_cast<std::size_t>(root - 1) * 4096, second_cell = page + 12 + 2;
  REQUIRE(bytes[page] == '\x05');
  const auto cell =
      static_cast<std::size_t>(static_cast<unsigned char>(bytes[second_cell]) << 8 | static_cast<unsigned char>(bytes[second_cell + 1]));
  made.bytes(bytes.replace(page + cell, 4, std::string("\x00\x00\xFF\xFF", 4)));
  try {
    read_nsys_sqlite(made.file);
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.message == fmt::format("the database is damaged: page {} names page 65535, which is not there", root));
    CHECK(error.where == made.file.string());
    CHECK(error.fix == "copy it again, or make it again from what it was made of");
  }
}
