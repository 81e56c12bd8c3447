// Tables with all that is hard to write, in every format, with what readers must find in them:
//   crafted_tables FOLDER
// hard.*, empty.* and large.* (a million rows), hard.json: {column: [values]}; prints the most memory that it needed, in KiB.

#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "exporters/fact_tables/writer.h"

namespace {

using namespace nl::exporters::fact_tables;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kLargeRows = 1'000'000;

template <std::size_t Rows>
void each_of(const nl::Run& run, const nl::WorkloadIdentity& identity, const UseRow& use) {
  for (std::size_t i = 0; i < Rows; ++i) use({.run = run, .identity = identity, .number = i});
}

// A value, and what readers find.
struct Hard {
  Value value;
  ordered_json found;
  Hard(Value value, ordered_json found) : value(std::move(value)), found(std::move(found)) {}
};

Hard whole(std::int64_t number) { return {number, std::to_string(number)}; }
Hard real(double number) { return {number, number}; }
Hard words(std::string text) { return {Value(text), text}; }
const Hard kNothing{Value(), nullptr};

constexpr std::size_t kHardRows = 11;
using HardColumn = std::vector<Hard>;

const std::vector<std::pair<Column, HardColumn>>& hard_columns() {
  using Whole = std::numeric_limits<std::int64_t>;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  static const std::vector<std::pair<Column, HardColumn>> all = {
      {{"whole", Type::kInteger, "ns", "whole numbers", {}},
       {whole(0), whole(-1), kNothing, whole(Whole::max()), whole(Whole::min()), whole(1'000'000'007), kNothing, whole(4), whole(5),
        whole(6), kNothing}},
      {{"real", Type::kReal, "of 1", "numbers", {}},
       {real(0.1),
        {kNan, nullptr},
        {kInfinity, nullptr},
        {-kInfinity, nullptr},
        real(1.7976931348623157e308),
        real(5e-324),
        kNothing,
        real(-2.5),
        real(3),
        real(1e21),
        real(123456789.123456789)}},
      {{"words", Type::kText, "", "texts", {}},
       {words("plain"),
        words(""),
        kNothing,
        words("θ 漢字 🚀 é"),
        words("a,b;\"c\"\r\nd\te"),
        words(std::string("zero\0inside", 11)),
        {Value("broken \xff\xfe"), "broken \xef\xbf\xbd\xef\xbf\xbd"},
        words(std::string(5 << 20, 'x')),
        kNothing,
        words("'; DROP TABLE"),
        words(" blanks ")}},
      {{"truth", Type::kBoolean, "", "true or false", {}},
       {{true, true},
        {false, false},
        kNothing,
        {true, true},
        {true, true},
        {false, false},
        {true, true},
        kNothing,
        {false, false},
        {true, true},
        {true, true}}},
      {{"moment", Type::kTime, "", "times, in microseconds since 1970", {}},
       {whole(0), whole(1), whole(-1), kNothing, whole(1'794'704'523'250'000), whole(1'500'000), whole(253'402'300'799'999'999), kNothing,
        whole(86'400'000'000), whole(-86'400'000'000), whole(7)}},
      {{"never", Type::kText, "", "always null", {}}, HardColumn(kHardRows, kNothing)},
      {{"always", Type::kInteger, "", "never null", {}}, HardColumn(kHardRows, whole(42))}};
  return all;
}

Table hard_table() {
  Table table{"hard", "a row", {}, each_of<kHardRows>};
  for (const auto& [column, values] : hard_columns()) {
    table.columns.push_back(column);
    table.columns.back().read = [&values = values](const Row& row) { return values[row.number].value; };
  }
  return table;
}

Table large_table(const char* name, void (*each_row)(const nl::Run&, const nl::WorkloadIdentity&, const UseRow&)) {
  return {name,
          "a row",
          {{"number", Type::kInteger, "", "of the row", [](const Row& row) { return count(row.number); }},
           {"half", Type::kReal, "", "of every second row",
            [](const Row& row) { return row.number % 2 == 0 ? Value(static_cast<double>(row.number) / 2) : Value(); }},
           {"words", Type::kText, "", "as long as a kernel's name",
            [](const Row& row) { return Value("void kernel<" + std::to_string(row.number) + std::string(100, 'T') + ">()"); }}},
          each_row};
}

void write_file(Format format, const Table& table, const fs::path& folder) {
  std::ofstream file(folder / (table.name + "." + std::string(key_of(format))), std::ios::binary);
  TableStream stream(table, writer_of(format, table, [&file](std::string_view bytes) {
                       file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
                     }));
  stream.add({}, {});
  stream.finish();
}

void write_sqlite(const std::vector<Table>& tables, const fs::path& folder) {
  SqliteFacts facts(folder / "facts.sqlite");
  for (const Table& table : tables) {
    TableStream stream(table, facts.writer(table));
    stream.add({}, {});
    stream.finish();
  }
  facts.finish();
}

ordered_json found_values() {
  ordered_json all;
  for (const auto& [column, values] : hard_columns())
    for (const Hard& each : values) all[column.name].push_back(each.found);
  return all;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const fs::path folder = words[1];
  const std::vector<Table> tables = {hard_table(), large_table("empty", each_of<0>), large_table("large", each_of<kLargeRows>)};
  for (const Format format : {Format::kParquet, Format::kArrow, Format::kCsv})
    for (const Table& table : tables) write_file(format, table, folder);
  write_sqlite(tables, folder);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::ofstream(folder / "hard.json") << found_values();
  std::printf("%ld\n", used.ru_maxrss);
}
