#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/identity.h"
#include "model/run.h"

// Facts of many runs as tables, for DuckDB, Spark and ClickHouse. A column is declared once, with its name, type, unit, sentence and the
// function that reads it: all formats, the schema of --json and the tables of docs/facts.md come from that.
namespace nl::exporters::fact_tables {

// Of the tables: it rises where a column goes or means something else, not with a new one.
inline constexpr const char* kFactsVersion = "1";
inline constexpr const char* kVersionKey = "nl_stage.facts_version";  // beside it in files that have room for both

enum class Type : std::uint8_t { kInteger, kReal, kText, kBoolean, kTime };  // kTime: microseconds since 1970, UTC
inline constexpr std::size_t kTypes = 5;
std::string_view name_of(Type type);

// What a row is of; what its table does not have is null.
struct Row {
  const Run& run;
  const WorkloadIdentity& identity;
  std::size_t number = 0;  // among the rows of its run
  const StageEntry* stage = nullptr;
  const KernelEntry* kernel = nullptr;
  const NcuSample* sample = nullptr;  // of the kernel
  const Communication* communication = nullptr;
  const RankEntry* rank = nullptr;
  const CollectiveRate* rate = nullptr;
};

using Value = std::variant<std::monostate, std::int64_t, double, bool, std::string>;  // a time is an integer

struct Column {
  std::string name;
  Type type;
  std::string unit;  // "ns", "bytes", "of 1"; empty: it has none
  std::string help;
  std::function<Value(const Row&)> read;
};

using UseRow = std::function<void(const Row&)>;

struct Table {
  std::string name;
  std::string help;  // what a row is
  std::vector<Column> columns;
  void (*each_row)(const Run& run, const WorkloadIdentity& identity, const UseRow& use);
};

std::span<const Table> tables();

// Each of their makers has a source of its own.
Table runs_table();
Table stages_table();
Table kernels_table();
Table collectives_table();
Table ranks_table();
Table collective_rates_table();

// What is not known is null: an empty text, a number that is not finite, an optional without a value.
inline Value text(std::string_view known) { return known.empty() ? Value() : Value(std::string(known)); }
inline Value count(std::uint64_t number) { return static_cast<std::int64_t>(number); }
inline Value positive(std::uint64_t number) { return number > 0 ? count(number) : Value(); }
template <class Number>
Value number(const std::optional<Number>& known) {
  if (!known) return {};
  if constexpr (std::is_floating_point_v<Number>) return static_cast<double>(*known);
  else return static_cast<std::int64_t>(*known);
}
Value number_of(const std::string& digits);  // "32", "128.5"
Value time_of(const std::string& rfc3339);   // "2026-11-15T01:02:03.250Z"

std::string time_text(std::int64_t epoch_us);  // the way back

// The tables with their columns: for a terminal, and as JSON.
std::string tables_text(std::size_t width);
std::string listing_json();                             // {facts_version, tables}
nlohmann::ordered_json table_json(const Table& table);  // {name, help, columns: [{name, type, unit, help}]}

}  // namespace nl::exporters::fact_tables
