#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A table that a query can ask: its columns are declared once, each with its name, unit, sentence and the function that reads it. The
// virtual tables of SQLite, `query --schema` and docs/query.md loop over the declarations.
namespace nl::query {

struct Sources;

// What must be read of a run before a column can be: nothing that a query does not touch is read.
enum Need : unsigned {
  kKernels = 1,   // kernels, and graphs captured at graph level
  kCopies = 2,    // copies and sets
  kCalls = 4,     // CUDA calls, and which launched what
  kOsCalls = 8,   // calls of the operating system
  kTrace = 16,    // all of the capture, with its stages
  kWindows = 32,  // the windows of the stages,
  kBins = 64,     // and what the GPU did in them
  kGaps = 128,    // its idle time, one by one
  kRun = 256,     // what run.json has
};
using Needs = unsigned;

// A value of SQLite. A text stands in what was read of the run, or until the next value of the same rows is read: then it is passing.
struct Value {
  enum class Kind : std::uint8_t { kNull, kInteger, kReal, kText, kPassingText };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text = {};

  static Value of(std::int64_t value) { return {Kind::kInteger, value}; }
  static Value of(double value) { return {Kind::kReal, 0, value}; }
  static Value of(std::string_view value) { return {Kind::kText, 0, 0, value}; }
  static Value passing(std::string_view value) { return {Kind::kPassingText, 0, 0, value}; }
  static Value null() { return {}; }
  static Value count(std::uint64_t value) { return of(static_cast<std::int64_t>(value)); }  // and numbers of things

  // Empty texts, and what is not known, are NULL.
  static Value known(std::string_view value) { return value.empty() ? null() : of(value); }
  template <class Number>
  static Value known(const std::optional<Number>& value) {
    if (!value) return null();
    if constexpr (std::is_floating_point_v<Number>) return of(static_cast<double>(*value));
    else return of(static_cast<std::int64_t>(*value));
  }
};

class Rows {  // of one table of one run
 public:
  virtual ~Rows() = default;
  virtual std::size_t size() const = 0;
  struct Span {
    std::size_t first = 0, last = 0;  // last excluded
  };
  // Where rows lie together that have this text in the table's column of kinds, and whether others lie among them.
  virtual Span rows_of_kind(std::string_view) const { return {0, size()}; }
  virtual bool shares_span(std::string_view) const { return true; }
};

enum class ColumnType : std::uint8_t { kInteger, kReal, kText };

struct Column {
  std::string_view name;
  ColumnType type;
  std::string_view unit;  // "ns", "bytes", "of 1"; empty: it has none
  std::string_view help;  // one sentence
  Value (*read)(const Rows& rows, std::size_t row);
  Needs needs = 0;       // beside those of the table
  bool passing = false;  // its texts are made while they are read
};

// `read`: a lambda without captures, (const Source&, std::size_t row) → Value.
template <class Source, class Read>
Column column(std::string_view name, ColumnType type, std::string_view unit, std::string_view help, Read, Needs needs = 0) {
  return {name, type, unit, help, [](const Rows& rows, std::size_t row) { return Read{}(static_cast<const Source&>(rows), row); }, needs};
}

struct Table {
  std::string_view name;
  std::string_view help;  // what a row is
  std::vector<Column> columns;
  Needs needs = 0;
  double usual_rows = 1000;  // for the planner, before anything is read
  std::unique_ptr<Rows> (*open)(const Sources& sources);
  std::string_view when_empty = {};  // why a run may have no rows of it, and what would capture them
  // What a condition on its column of kinds needs instead of everything; none: it has no such column.
  std::size_t kind_column = kNoColumn;
  Needs (*needs_of_kind)(std::string_view kind) = nullptr;  // empty: of any kind

  static constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);
  std::size_t find(std::string_view column) const;                                // kNoColumn where it has none
  bool is_key(std::size_t column) const { return columns[column].name == "id"; }  // no two rows have the same
};

std::span<const Table> tables();  // in the order of --schema
const Table* find_table(std::string_view name);

// Each of their makers stands in tables/.
Table slices_table();
Table windows_table();
Table requests_table();
Table gaps_table();
Table stacks_table();
Table samples_table();
Table gpu_samples_table();
Table kernels_table();
Table kernel_stages_table();
Table operators_table();
Table layers_table();
Table counters_table();
Table findings_table();
Table evidence_table();
Table figures_table();
Table bills_table();

// "slices.kind says which": all tables and columns, as text for a terminal and as JSON.
std::string schema_text(std::size_t width);
std::string schema_json();

}  // namespace nl::query
