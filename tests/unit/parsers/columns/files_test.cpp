// Files of Parquet and Arrow by writers that are not ours, and the same files damaged. tests/fixtures/column_tables/make.mjs made them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/columns/column_files.h"

using namespace nl;
using namespace nl::test;
using ColumnRows = parsers::columns::Rows;
using ColumnTable = parsers::columns::Table;

namespace {

using nlohmann::json;

// Of tests/fixtures/column_tables, in the order of their names.
std::vector<std::filesystem::path> column_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(NL_FIXTURES "/column_tables"))
    if (entry.path().extension() == ".parquet" || entry.path().extension() == ".arrow") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

json cell_of(const ColumnRows& rows, std::size_t column, const json& like) {
  if (rows.is_null(column)) return nullptr;
  switch (rows.kind(column)) {
    case parsers::columns::Kind::kInteger:
      return like.is_string() ? json(std::to_string(rows.integer(column))) : json(rows.integer(column));
    case parsers::columns::Kind::kReal: return rows.real(column);
    case parsers::columns::Kind::kText: return std::string(rows.text(column));
    case parsers::columns::Kind::kAbsent: break;
  }
  return "of no kind";
}

const json& expected_values() {
  static const json expected = json::parse(read_text(NL_FIXTURES "/column_tables/expected.json"));
  return expected;
}

// Rows from `first` to `last` are what the writer was given.
void check_rows(const ColumnTable& table, std::uint64_t first, std::uint64_t last) {
  const std::vector<std::string_view> names = names_of(table);
  ColumnRows rows(table, names, first, last);
  std::uint64_t row = first;
  for (; rows.next(); ++row)
    for (std::size_t i = 0; i < names.size(); ++i) {
      const json& expected = expected_values()[std::string(names[i])][row];
      if (const json found = cell_of(rows, i, expected); found != expected)
        FAIL(names[i] << ", row " << row << ": found " << found.dump() << ", expected " << expected.dump());
    }
  CHECK(row == std::min<std::uint64_t>(last, 399) + 1);
}

std::string table_refusal(const std::filesystem::path& file) {
  try {
    read_all(file);
    return "it was read";
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(error.where == file.string());
    CHECK_FALSE(error.fix.empty());
    return error.message;
  }
}

std::filesystem::path changed_table(const Folder& folder, const std::filesystem::path& file, const std::string& bytes) {
  return folder.file(file.filename().c_str(), bytes);
}

}  // namespace

TEST_CASE("columns: files of all writers, codecs and encodings have the values that were written") {
  const std::vector<std::filesystem::path> files = column_files();
  CHECK(files.size() == 13);
  for (const auto& file : files) {
    INFO(file.filename());
    const ColumnTable table = open_columns(file);
    CHECK(table->rows() == 400);
    CHECK(names_of(table).size() >= 5);
    check_rows(table, 0, UINT64_MAX);
    for (const auto& [first, last] : {std::pair(0, 0), std::pair(149, 150), std::pair(130, 131), std::pair(399, 399), std::pair(77, 312)})
      check_rows(table, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(last));
  }
}

TEST_CASE("columns: rows behind the last, and of no table, are none") {
  const ColumnTable table = open_columns(NL_FIXTURES "/column_tables/snappy.parquet");
  CHECK(table->group_rows() == std::vector<std::uint64_t>{150, 150, 100});
  CHECK_FALSE(ColumnRows(table, {"start"}, 400, 500).next());
  CHECK_FALSE(ColumnRows(table, {"start"}, 2, 1).next());
  CHECK_FALSE(ColumnRows(nullptr, {"start"}, 0, 10).next());
}

TEST_CASE("columns: one that the table lacks is NULL in every row") {
  for (const char* name : {"snappy.parquet", "file.arrow"}) {
    const ColumnTable table = open_columns(std::string(NL_FIXTURES "/column_tables/") + name);
    CHECK(table->has_column("start"));
    CHECK_FALSE(table->has_column("absent"));
    ColumnRows rows(table, {"absent", "start"}, 0, UINT64_MAX);
    std::uint64_t count = 0;
    for (; rows.next(); ++count)
      if (!rows.is_null(0) || rows.integer(0) != 0 || rows.is_null(1)) FAIL("row " << count);
    CHECK(count == 400);
  }
}

TEST_CASE("columns: a file that is empty, of something else or cut short is named with its place") {
  const Folder folder;
  for (const char* name : {"x.parquet", "x.arrow"}) {
    CHECK(has(table_refusal(folder.file(name, "")), "is damaged: it is empty (0 bytes)"));
    CHECK(table_refusal(folder.path / "absent" / name) == "the file cannot be read");
  }
  CHECK(table_refusal(folder.file("x.parquet", "not a table at all")) == "the Parquet file is damaged: it does not begin with PAR1");
  CHECK(has(table_refusal(folder.file("x.arrow", "not a table at all")), "the Arrow file is damaged: the message at byte 0 has bytes"));
  CHECK(table_refusal(folder.file("x.parquet", "PAR1abcdPARE")) == "the Parquet file cannot be read: it is encrypted");
  for (const auto& file : column_files()) {
    const std::string whole = read_text(file);
    INFO(file.filename());
    if (file.filename() == "stream.arrow") {
      constexpr std::size_t kEndMark = 8;
      CHECK(has(table_refusal(changed_table(folder, file, whole.substr(0, whole.size() - kEndMark))), "it may be cut short at "));
      CHECK(has(table_refusal(changed_table(folder, file, whole.substr(0, whole.size() / 2))), ", and the file ends at "));
      continue;
    }
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{13}})
      CHECK(has(table_refusal(changed_table(folder, file, whole.substr(0, size))),
                "it may be cut short at " + std::to_string(size) + " bytes"));
  }
}

TEST_CASE("columns: what is damaged in a page is named with column, row group and byte") {
  const Folder folder;
  const std::filesystem::path file = NL_FIXTURES "/column_tables/snappy.parquet";
  std::string bytes = read_text(file);
  bytes.replace(200, 40, 40, '\xff');
  const std::string refusal = table_refusal(changed_table(folder, file, bytes));
  CHECK(has(refusal, "the Parquet file is damaged: "));
  CHECK(has(refusal, "page at byte "));
}

TEST_CASE("columns: no change of a file does more than to be refused or to change values") {
  const Folder folder;
  std::mt19937_64 random(41);
  std::size_t read = 0, refused = 0;
  for (const auto& file : column_files()) {
    INFO(file.filename());
    const std::string whole = read_text(file);
    for (int i = 0; i < 400; ++i) {
      std::string bytes = whole;
      for (auto changes = 1 + random() % 4; changes > 0; --changes) {
        constexpr unsigned char kTelling[] = {0, 1, 2, 3, 15, 127, 128, 254, 255};
        // Mostly where it matters: in the footer, and where the first pages begin.
        const std::size_t near = std::min<std::size_t>(whole.size(), 1500);
        const std::size_t at = random() % 3 == 0   ? random() % whole.size()
                               : random() % 2 == 0 ? whole.size() - 1 - random() % near
                                                   : random() % near;
        bytes[at] = static_cast<char>(random() % 2 == 0 ? kTelling[random() % sizeof kTelling] : random());
      }
      try {
        read_all(changed_table(folder, file, bytes));
        ++read;
      } catch (const Error& error) {
        if (error.kind != ErrorKind::kInput) throw;
        ++refused;
      }
    }
  }
  CHECK(read > 300);
  CHECK(refused > 300);
}
