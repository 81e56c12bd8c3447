// The oracle is SQLite: every value of every table, by the pages and by it.
#include <fstream>
#include <map>
#include <utility>

#include <sqlite3.h>

#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/sqlite_pages/made_database.h"
#include "tests/unit/parsers/sqlite_pages/oracle.h"

namespace {

namespace fs = std::filesystem;
using namespace nl::test;

// How many rows were compared.
std::size_t check_as_sqlite(const fs::path& file) {
  std::size_t rows = 0;
  for (const std::size_t parts : {1u, 3u}) {
    compare_file(file, parts, [&](const std::string& table, const TableComparison& found) {
      INFO(file.string() << ": " << table << ": " << found.detail);
      CHECK(found.agreement == Agreement::kEqual);
      rows += found.rows;
    });
  }
  return rows / 2;
}

TableComparison compared_table(const fs::path& file, const std::string& wanted) {
  TableComparison found{Agreement::kDifferent, "there is no such table"};
  compare_file(file, 1, [&](const std::string& table, const TableComparison& each) {
    if (table == wanted || table.empty()) found = each;
  });
  return found;
}

void check_left_to_sqlite(const fs::path& file, const std::string& table, const std::string& why) {
  const TableComparison found = compared_table(file, table);
  INFO(found.detail);
  CHECK(found.agreement == Agreement::kRefused);
  CHECK(has(found.detail, why));
}

}  // namespace

TEST_CASE("sqlite pages: every table of every capture is as SQLite has it") {
  std::size_t files = 0;
  for (const auto& each : fs::recursive_directory_iterator(NL_FIXTURES)) {
    if (each.path().extension() != ".sqlite") continue;
    ++files;
    CHECK(check_as_sqlite(each.path()) > 50);
  }
  CHECK(files >= 6);
}

TEST_CASE("sqlite pages: pages of every size, texts in every encoding") {
  for (const int page_bytes : {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536})
    for (const char* encoding : {"UTF-8", "UTF-16le", "UTF-16be"}) {
      INFO(page_bytes << ' ' << encoding);
      const MadeDatabase made(page_bytes, encoding);
      made.add_rows(300, 7);
      CHECK(check_as_sqlite(made.file) >= 600);
    }
}

TEST_CASE("sqlite pages: trees of many levels, rows of any length") {
  const MadeDatabase made(512);
  made.sql("CREATE TABLE lengths (id INTEGER PRIMARY KEY, before INTEGER, body BLOB, after INTEGER, text TEXT)");
  // Around where a row begins to overflow, and where its overflow fills pages.
  made.sql(
      "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2200) "
      "INSERT INTO lengths SELECT i * 3 - 1000, i, randomblob(i), -i, printf('%.*c', i % 700, 'x') FROM n");
  made.sql(
      "CREATE TABLE many (a INTEGER); WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) "
      "INSERT INTO many SELECT i * i FROM n");
  CHECK(check_as_sqlite(made.file) > 42000);
}

TEST_CASE("sqlite pages: a header that lies on several pages itself") {
  const MadeDatabase made(512);
  std::string columns, values;
  for (int i = 0; i < 900; ++i) {
    columns += (i > 0 ? ", c" : "c") + std::to_string(i);
    values += (i > 0 ? ", " : "") + (i % 3 == 0   ? std::to_string(i * 1000003LL * i)
                                     : i % 3 == 1 ? "NULL"
                                                  : "printf('%.*c', " + std::to_string(i) + ", 'y')");
  }
  made.sql("CREATE TABLE wide (" + columns + "); INSERT INTO wide VALUES (" + values + "), (" + values + ")");
  CHECK(check_as_sqlite(made.file) >= 2);
}

TEST_CASE("sqlite pages: numbers of every width, at the edges of each") {
  const MadeDatabase made;
  made.sql("CREATE TABLE numbers (id INTEGER PRIMARY KEY, n INTEGER, r REAL, x, t TEXT)");
  for (int bits = 0; bits < 64; ++bits)
    for (const int around : {-1, 0, 1}) {
      const std::string n = std::to_string(static_cast<std::int64_t>((std::uint64_t{1} << bits) + static_cast<std::uint64_t>(around)));
      made.sql("INSERT INTO numbers (n, r, x, t) VALUES (" + n + ", " + n + ", 0.5 - " + n + ", " + n + "), (-(" + n + "), -(" + n + "), " +
               n + " / 3.0, NULL)");
    }
  made.sql("INSERT INTO numbers (n, r) VALUES (9e999, -9e999), (0.5, 1e300), ('text', 'text'), (x'', x'00')");
  made.sql("INSERT INTO numbers (id, n) VALUES (9223372036854775807, 1), (-9223372036854775808, 2)");
  CHECK(check_as_sqlite(made.file) > 380);
}

TEST_CASE("sqlite pages: rows that are deleted, pages that are free, each way of vacuuming") {
  for (const char* vacuum : {"NONE", "FULL", "INCREMENTAL"}) {
    INFO(vacuum);
    const MadeDatabase made(1024, "UTF-8", vacuum);
    made.add_rows(1500, 11);
    made.sql("DELETE FROM mixed WHERE id % 7 < 4; DELETE FROM plain WHERE rowid BETWEEN 300 AND 900");
    CHECK(check_as_sqlite(made.file) > 1000);
    made.add_rows(200, 12);
    made.sql("UPDATE mixed SET text = text || text WHERE id % 5 = 0");
    CHECK(check_as_sqlite(made.file) > 1200);
    made.sql("DELETE FROM plain; DELETE FROM mixed WHERE id > 40; PRAGMA incremental_vacuum(20); VACUUM");
    CHECK(check_as_sqlite(made.file) > 15);
  }
}

TEST_CASE("sqlite pages: bytes that are reserved at the end of each page are no part of a row") {
  const MadeDatabase made(512);
  // There is no SQL for it.
  {
    SQLite::Database database(made.file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    int reserved = 32;
    REQUIRE(sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved) == SQLITE_OK);
    database.exec("VACUUM");
  }
  made.add_rows(400, 3);
  REQUIRE(read_text(made.file)[20] == 32);
  CHECK(check_as_sqlite(made.file) >= 800);
}

TEST_CASE("sqlite pages: columns that were added later have their defaults in older rows") {
  const MadeDatabase made;
  made.sql(
      "CREATE TABLE grown (a INTEGER, b TEXT); INSERT INTO grown VALUES (1, 'x'), (2, 'y');"
      "ALTER TABLE grown ADD COLUMN c INTEGER; ALTER TABLE grown ADD COLUMN d INTEGER DEFAULT -70000;"
      "ALTER TABLE grown ADD COLUMN e TEXT DEFAULT 'it''s'; ALTER TABLE grown ADD COLUMN f DEFAULT NULL;"
      "INSERT INTO grown VALUES (3, 'z', 1, 2, 'three', x'04')");
  CHECK(check_as_sqlite(made.file) >= 3);
}

TEST_CASE("sqlite pages: which column is the rowid") {
  const MadeDatabase made;
  made.sql(
      "CREATE TABLE inline_key (v TEXT, id integer PRIMARY KEY); INSERT INTO inline_key VALUES ('a', 5), ('b', 9);"
      "CREATE TABLE table_key (id INTEGER, v TEXT, PRIMARY KEY (id)); INSERT INTO table_key VALUES (5, 'a'), (9, 'b');"
      "CREATE TABLE downwards (id INTEGER PRIMARY KEY DESC, v TEXT); INSERT INTO downwards VALUES (5, 'a'), (9, 'b');"
      "CREATE TABLE other_type (id INT PRIMARY KEY, v TEXT); INSERT INTO other_type VALUES (5, 'a'), (9, 'b');"
      "CREATE TABLE of_two (a INTEGER, b INTEGER, PRIMARY KEY (a, b)); INSERT INTO of_two VALUES (5, 6), (9, 1);");
  CHECK(check_as_sqlite(made.file) >= 10);
}

TEST_CASE("sqlite pages: what is unusual is left to SQLite, with a word why") {
  const MadeDatabase made;
  made.sql(
      "CREATE TABLE plain_again (a); CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO keyed VALUES ('a', 1);"
      "CREATE TABLE computed (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1) STORED); CREATE VIEW seen AS SELECT 1;"
      "CREATE TABLE clocked (a, b DEFAULT CURRENT_TIMESTAMP); CREATE TABLE rounded (a, b REAL DEFAULT 1);");
  CHECK(compared_table(made.file, "plain_again").agreement == Agreement::kEqual);
  check_left_to_sqlite(made.file, "keyed", "WITHOUT ROWID");
  check_left_to_sqlite(made.file, "computed", "its column b is computed");
  check_left_to_sqlite(made.file, "clocked", "its column b has a default that has to be computed");
  check_left_to_sqlite(made.file, "rounded", "its column b has a default that has to be computed");

  std::ofstream(made.file.string() + "-journal") << "hot";
  check_left_to_sqlite(made.file, "", "export.sqlite-journal");
  fs::remove(made.file.string() + "-journal");
  std::ofstream(made.file.string() + "-wal") << "log";
  check_left_to_sqlite(made.file, "", "export.sqlite-wal");
  fs::remove(made.file.string() + "-wal");
  CHECK(compared_table(made.file, "plain_again").agreement == Agreement::kEqual);
  made.sql("PRAGMA journal_mode = WAL");
  check_left_to_sqlite(made.file, "", "(WAL)");

  const auto refused = [&](const std::string& bytes, const std::string& why) {
    const auto [pages, refusal] = nl::parsers::sqlite_pages::PageFile::open(made.folder.file("bytes", bytes));
    INFO(refusal);
    CHECK(!pages);
    CHECK(has(refusal, why));
  };
  refused("", "too short");
  refused("SQLite format 3", "too short");
  refused(std::string(200, 'x'), "not an SQLite file");
  made.sql("PRAGMA journal_mode = DELETE");
  const std::string whole = read_text(made.file);
  const auto changed = [&](std::size_t at, const std::string& bytes) { return std::string(whole).replace(at, bytes.size(), bytes); };
  refused(changed(16, std::string("\x10\x01", 2)), "unusual size");
  refused(changed(16, std::string("\x00\x80", 2)), "unusual size");
  refused(changed(21, "\x41"), "divided in an unusual way");
  refused(changed(47, "\x07"), "unusual format");
  refused(changed(59, "\x04"), "unusual encoding");
  refused(whole.substr(0, whole.size() - 1), "cut short");
}

TEST_CASE("sqlite pages: columns that are kept together are equal where their bytes are") {
  namespace pages = nl::parsers::sqlite_pages;
  for (const int page_bytes : {512, 4096}) {
    const MadeDatabase made(page_bytes);
    // Values of every width, the numbers that a header says, NULL, texts, a column that is asked for and absent, and rows that lie on several pages.
    made.sql(
        "CREATE TABLE work (start INTEGER, name INTEGER, grid INTEGER, beside INTEGER, label TEXT, shared INTEGER, id INTEGER, body BLOB);"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO work SELECT 1000000000000 + i * "
        "1000003, "
        "CASE i % 5 WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN NULL WHEN 3 THEN 70000 ELSE -3 END, i / 7 % 3, i % 2, "
        "CASE i % 4 WHEN 0 THEN NULL ELSE printf('%.*c', i % 3, 'x') END, i % 11 % 2 * 4096, i + 100000, "
        "CASE i % 50 WHEN 0 THEN randomblob(6000) END FROM n; ALTER TABLE work ADD COLUMN later INTEGER DEFAULT 7");
    const pages::PageFile::Opening opening = pages::PageFile::open(made.file);
    REQUIRE(opening.pages);
    const auto [shape, refusal] = pages::read_shape(*opening.pages, opened_by_sqlite(made.file), "work");
    INFO(refusal);
    REQUIRE(shape);
    pages::TableRows rows(*opening.pages, *shape, {"start", "name", "grid", "label", "absent", "shared", "later", "id"});
    rows.keep_together(1, 6);
    std::map<std::pair<std::uint32_t, std::string>, std::string> values;
    std::size_t together = 0, all = 0;
    for (; rows.next(); ++all) {
      if (rows.together().empty()) continue;
      ++together;
      std::string row;
      for (const std::size_t column : {1u, 2u, 3u, 4u, 5u, 6u}) {
        if (rows.is_null(column)) add_cell('0', "", row);
        else if (rows.kind(column) == pages::ValueKind::kText) add_cell('t', rows.bytes(column), row);
        else add_integer(rows.integer(column), row);
      }
      const auto [found, is_new] = values.try_emplace({rows.layout(), std::string(rows.together())}, row);
      CHECK(found->second == row);
    }
    CHECK(all == 5001);
    CHECK(together > 4500);          // all whose numbers lie on the page
    CHECK(values.size() < all / 5);  // rows that are alike are known again, but where another layout took the place of theirs
  }
}
