#include "parsers/nsys/database.h"

#include "model/error.h"
#include "tests/unit/parsers/nsys/crafted.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::CraftedExport;

TEST_CASE("database: tables and columns of any name are known, and which column is the key") {
  for (const std::string name : {"plain", "it's", "''", "a b", "semi;colon", "percent%", "back\\slash", "select", "[bracket]", "ünï"}) {
    INFO(name);
    CraftedExport made;
    made.sql("CREATE TABLE \"" + name + "\" (id INTEGER PRIMARY KEY, \"" + name + "\" TEXT); INSERT INTO \"" + name +
             "\" VALUES (3, 'x'), (4, 'y')");
    const NsysDatabase database(made.file);
    CHECK(database.has_table(name));
    CHECK(database.has_column(name, "id"));
    CHECK(database.has_column(name, name));
    CHECK_FALSE(database.has_column(name, "other"));
    CHECK(database.is_row_key(name, "id"));
    CHECK_FALSE(database.is_row_key(name, name));
    CHECK(database.another_connection().has_column(name, name));
    CHECK(database.another_connection().file() == made.file.string());
    CHECK(database.another_connection().rows_of(name).dense);
    const RowSpan span = database.rows_of(name);
    CHECK(span.first == 3);
    CHECK(span.last == 4);
    CHECK(span.count == 2);
    NsysRows rows = database.select(name, {name, "other"}, span);
    REQUIRE(rows.next());
    CHECK(rows.text(0) == "x");
    CHECK(rows.is_null(1));
    REQUIRE(rows.next());
    CHECK(rows.text(0) == "y");
    CHECK_FALSE(rows.next());
  }
}

TEST_CASE("database: only a whole number that is the key by itself finds its row without a scan") {
  CraftedExport made;
  made.sql(
      "CREATE TABLE texts (id TEXT PRIMARY KEY, n INTEGER); CREATE TABLE none (id INTEGER, n INTEGER);"
      "CREATE TABLE second (n TEXT, id INTEGER PRIMARY KEY)");
  const NsysDatabase database(made.file);
  CHECK_FALSE(database.is_row_key("texts", "id"));
  CHECK_FALSE(database.is_row_key("none", "id"));
  CHECK_FALSE(database.is_row_key("absent", "id"));
  CHECK(database.is_row_key("second", "id"));
}

TEST_CASE("database: pages of the largest size are counted right") {
  CraftedExport made;
  made.sql("PRAGMA page_size = 65536; CREATE TABLE t (c INTEGER)");
  CHECK(NsysDatabase(made.file).has_table("t"));
  std::filesystem::resize_file(made.file, 65536);
  try {
    NsysDatabase cut(made.file);
    FAIL("it was opened");
  } catch (const Error& error) {
    CHECK(error.message == "the nsys export is cut short: 65536 of 131072 bytes are there");
  }
}

TEST_CASE("database: each part is scanned once, and what goes wrong in one is told when all have ended") {
  CraftedExport made;
  made.sql("CREATE TABLE t (c INTEGER); INSERT INTO t VALUES (5)");
  const NsysDatabase database(made.file);
  CHECK(parts_for(19'999) == 1);
  CHECK((parts_for(20'000) >= 1 && parts_for(1'000'000'000) <= 4));
  for (const std::size_t parts : {1u, 3u}) {
    std::vector<std::int64_t> found(parts);
    scan_in_parts(database, parts, [&](const NsysDatabase& own, std::size_t part) {
      NsysRows rows = own.select("t", {"c"});
      while (rows.next()) found[part] += rows.integer(0);
    });
    CHECK(found == std::vector<std::int64_t>(parts, 5));
    CHECK_THROWS_AS(scan_in_parts(database, parts,
                                  [&](const NsysDatabase&, std::size_t part) {
                                    if (part == parts - 1) throw Error(ErrorKind::kInput, "damaged");
                                  }),
                    Error);
  }
}

TEST_CASE("database: a file of any name is opened") {
  for (const char* name : {"it's.sqlite", "a b.sqlite", "100%.sqlite", "what?.sqlite", "a#b.sqlite", "%41.sqlite", "ü&=.sqlite"}) {
    INFO(name);
    CraftedExport made;
    made.sql("PRAGMA journal_mode = WAL; CREATE TABLE t (c INTEGER)");  // of which SQLite would make files beside it
    std::filesystem::rename(made.file, made.folder / name);
    const NsysDatabase database(made.folder / name);
    CHECK(database.has_column("t", "c"));
    CHECK_FALSE(database.select("t", {"c"}).next());
    CHECK(database.file() == (made.folder / name).string());
    CHECK(database.size_bytes() == std::filesystem::file_size(made.folder / name));
    CHECK(std::distance(std::filesystem::directory_iterator(made.folder), {}) == 1);
  }
}
