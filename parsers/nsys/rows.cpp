#include "parsers/nsys/rows.h"

#include <charconv>

#include <fmt/core.h>
#include <sqlite3.h>

#include "model/error_code.h"
#include "parsers/sqlite_pages/text.h"

namespace nl::parsers {
namespace {

CodedError damaged_rows(const std::string& file, std::string_view detail) {
  return CodedError(ErrorCode::kCaptureDamaged, fmt::format("the nsys export is damaged ({})", detail), file,
                    "export it again: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
}

// What follows belongs to SQLite: a cast of what has a column of another type. Beyond 64 bits the outermost number stands.
std::int64_t integer_of(double real) {
  constexpr double kLeast = -9223372036854774784.0;
  if (real != real) return 0;
  return real < kLeast ? INT64_MIN : real > -kLeast ? INT64_MAX : static_cast<std::int64_t>(real);
}

// The number that a text begins with.
std::int64_t integer_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc::result_out_of_range) return negative ? INT64_MIN : INT64_MAX;
  return number;
}

std::string text_of(double real) {
  char text[64];
  return sqlite3_snprintf(sizeof text, text, "%!.15g", real);
}

}  // namespace

NsysRows::NsysRows(sqlite3* connection, const std::string& sql, std::string file) : file_(std::move(file)) {
  if (sqlite3_prepare_v2(connection, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK)
    throw damaged_rows(file_, sqlite3_errmsg(connection));
}

NsysRows::NsysRows(Pages pages, const sqlite_pages::TableShape& table, const std::vector<std::string_view>& columns,
                   const sqlite_pages::RowRange& range)
    : paged_(new Paged{pages, sqlite_pages::TableRows(*pages, table, columns, range), std::vector<std::string>(columns.size())}) {}

NsysRows::NsysRows(columns::Rows rows, std::size_t columns) : stored_(new Stored{std::move(rows), std::vector<std::string>(columns)}) {}

NsysRows::~NsysRows() { sqlite3_finalize(statement_); }

bool NsysRows::step() {
  int status = sqlite3_step(statement_);
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  throw damaged_rows(file_, sqlite3_errmsg(sqlite3_db_handle(statement_)));
}

bool NsysRows::next(sqlite_pages::NumberRows& rows) {
  if (paged_) return paged_->rows.next(rows, [&](std::size_t column) { return paged_->as_integer(static_cast<int>(column)); });
  rows.clear();
  const int columns = stored_ ? static_cast<int>(stored_->texts.size()) : sqlite3_column_count(statement_);
  while (!ended_ && !rows.full()) {
    ended_ = !next();
    if (ended_) break;
    const std::size_t row = rows.size();
    rows.add(1, 0);
    for (int column = 0; column < columns; ++column) {
      rows.column(static_cast<std::size_t>(column))[row] = integer(column);
      if (is_null(column)) rows.set_null(row, static_cast<std::size_t>(column));
    }
  }
  return rows.size() > 0;
}

bool NsysRows::is_null_in_sqlite(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::int64_t NsysRows::integer_in_sqlite(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view NsysRows::text(int column) const {
  if (paged_) return paged_->as_text(column);
  if (stored_) return stored_->as_text(column);
  auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void NsysRows::bind(int parameter, std::int64_t value) {
  sqlite3_reset(statement_);
  sqlite3_bind_int64(statement_, parameter, value);
}

std::int64_t NsysRows::Paged::as_integer(int column) {
  const auto at = static_cast<std::size_t>(column);
  switch (rows.kind(at)) {
    case sqlite_pages::ValueKind::kNull: return 0;
    case sqlite_pages::ValueKind::kInteger: return rows.integer(at);
    case sqlite_pages::ValueKind::kReal: return integer_of(rows.real(at));
    default: return integer_of(as_text(column));
  }
}

std::string_view NsysRows::Paged::as_text(int column) {
  const auto at = static_cast<std::size_t>(column);
  switch (rows.kind(at)) {
    case sqlite_pages::ValueKind::kNull: return {};
    case sqlite_pages::ValueKind::kInteger: return texts[at] = std::to_string(rows.integer(at));
    case sqlite_pages::ValueKind::kReal: return texts[at] = text_of(rows.real(at));
    default: return sqlite_pages::utf8_of(rows.bytes(at), pages->encoding(), texts[at]);
  }
}

std::int64_t NsysRows::Stored::as_integer(int column) const {
  const auto at = static_cast<std::size_t>(column);
  if (rows.is_null(at)) return 0;
  return rows.kind(at) == columns::Kind::kReal ? integer_of(rows.real(at)) : integer_of(rows.text(at));
}

std::string_view NsysRows::Stored::as_text(int column) {
  const auto at = static_cast<std::size_t>(column);
  if (rows.is_null(at)) return {};
  switch (rows.kind(at)) {
    case columns::Kind::kInteger: return texts[at] = std::to_string(rows.integer(at));
    case columns::Kind::kReal: return texts[at] = text_of(rows.real(at));
    default: return rows.text(at);
  }
}

}  // namespace nl::parsers
