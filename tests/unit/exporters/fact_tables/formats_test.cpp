#include <SQLiteCpp/SQLiteCpp.h>

#include "exporters/fact_tables/flat_table.h"
#include "exporters/fact_tables/thrift.h"
#include "model/error.h"
#include "tests/unit/exporters/fact_tables/crafted_table.h"
#include "tests/unit/files.h"

// The bytes of the formats; tests/tables reads files of them with the readers of others.

namespace nl::exporters::fact_tables::test {
using namespace std::string_literals;
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Value every_third(std::size_t row) { return row % 3 == 0 ? Value() : count(row); }

}  // namespace

TEST_CASE("fact tables thrift: the compact protocol, byte by byte") {
  CHECK(ThriftStruct().bytes() == "\0"s);
  CHECK(ThriftStruct().i32(1, 1).bytes() == "\x15\x02\0"s);
  CHECK(ThriftStruct().i64(1, -1).i64(3, 300).bytes() == "\x16\x01\x26\xd8\x04\0"s);
  CHECK(ThriftStruct().text(4, "ab").boolean(5, true).boolean(6, false).bytes() == "\x48\x02"s + "ab\x11\x12\0"s);
  CHECK(ThriftStruct().part(1, ThriftStruct().i32(2, 0)).bytes() == "\x1c\x25\0\0\0"s);
  CHECK(ThriftStruct().i32s(2, {0, 3}).bytes() == "\x29\x25\0\x06\0"s);
  CHECK(ThriftStruct().texts(1, std::vector<std::string>(16, "x")).bytes().substr(0, 3) == "\x19\xf8\x10"s);
}

TEST_CASE("fact tables flat: a table says where its fields are, and refers forward") {
  const std::string bytes = FlatTable().number(0, std::int16_t{7}).text(2, "abc").number(3, std::int64_t{-1}).buffer();
  CHECK(bytes.size() % 8 == 0);
  const std::size_t table = number_at(bytes, 0);
  CHECK(table % 8 == 0);
  const std::size_t head = table - number_at(bytes, table);
  const auto place = [&](std::size_t field) { return number_at(bytes, head + 4 + 2 * field) & 0xffff; };
  CHECK((number_at(bytes, head) & 0xffff) == 4 + 2 * 4);
  CHECK((number_at(bytes, table + place(0)) & 0xffff) == 7);
  CHECK(place(1) == 0);  // not there
  const std::size_t text = table + place(2) + number_at(bytes, table + place(2));
  CHECK(number_at(bytes, text) == 3);
  CHECK(bytes.substr(text + 4, 4) == "abc\0"s);
  CHECK((table + place(3)) % 8 == 0);
}

TEST_CASE("fact tables parquet: the file begins and ends as it must, and has a row group for each batch") {
  const Table table = table_of(Type::kInteger, every_third);
  for (const std::size_t rows : {0ul, 1ul, 9ul, Batch::kMostRows + 1}) {
    INFO(rows);
    const std::string file = file_of(Format::kParquet, table, rows);
    CHECK(file.starts_with("PAR1"));
    CHECK(file.ends_with("PAR1"));
    CHECK(number_at(file, file.size() - 8) < file.size());
  }
}

TEST_CASE("fact tables arrow: the file begins and ends as it must, and messages begin at a multiple of eight") {
  const Table table = table_of(Type::kInteger, every_third);
  for (const std::size_t rows : {0ul, 1ul, 9ul, Batch::kMostRows + 1}) {
    INFO(rows);
    const std::string file = file_of(Format::kArrow, table, rows);
    CHECK(file.starts_with("ARROW1\0\0"s));
    CHECK(file.ends_with("ARROW1"));
    CHECK(number_at(file, 8) == 0xffffffff);
    const std::size_t footer = number_at(file, file.size() - 10);
    CHECK((file.size() - 10 - footer) % 8 == 0);
    CHECK(number_at(file, file.size() - 10 - footer - 8) == 0xffffffff);  // the end of the messages
  }
}

TEST_CASE("fact tables csv: RFC 4180, and null is not an empty text") {
  const std::string values[] = {"plain", "a,b", "say \"x\"", "two\r\nlines", "θ"};
  const auto read = [&](std::size_t row) { return row < 5 ? Value(values[row]) : row == 5 ? Value(std::string()) : Value(); };
  CHECK(file_of(Format::kCsv, table_of(Type::kText, read), 7) ==
        "value\r\nplain\r\n\"a,b\"\r\n\"say \"\"x\"\"\"\r\n\"two\r\nlines\"\r\nθ\r\n\"\"\r\n\r\n");
  const auto csv_of = [](Type type, Value value) { return file_of(Format::kCsv, table_of(type, [=](std::size_t) { return value; }), 1); };
  CHECK(csv_of(Type::kReal, 0.1) == "value\r\n0.1\r\n");
  CHECK(csv_of(Type::kBoolean, true) == "value\r\ntrue\r\n");
  CHECK(csv_of(Type::kTime, std::int64_t{1'500'000}) == "value\r\n1970-01-01T00:00:01.500000Z\r\n");
  CHECK(csv_of(Type::kInteger, std::numeric_limits<std::int64_t>::min()) == "value\r\n-9223372036854775808\r\n");
}

TEST_CASE("fact tables sqlite: all tables in one file, with null where nothing is known") {
  const nl::test::Folder folder;
  const std::filesystem::path path = folder / "facts.sqlite";
  const Table table = table_of(Type::kInteger, every_third);
  {
    SqliteFacts facts(path);
    TableStream stream(table, facts.writer(table));
    stream.add(run_of_rows(9), {});
    stream.finish();
    facts.finish();
  }
  SQLite::Database database(path.string());
  CHECK(database.execAndGet("SELECT count(*) FROM crafted").getInt() == 9);
  CHECK(database.execAndGet("SELECT count(*) FROM crafted WHERE value IS NULL").getInt() == 3);
  CHECK(database.execAndGet("SELECT sum(value) FROM crafted").getInt() == 1 + 2 + 4 + 5 + 7 + 8);
  CHECK_THROWS_AS(SqliteFacts(folder / "nowhere/facts.sqlite"), nl::Error);
}

}  // namespace nl::exporters::fact_tables::test
