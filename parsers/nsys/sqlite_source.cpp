#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include "model/error_code.h"
#include "parsers/nsys/source.h"
#include "parsers/sqlite_pages/row_ranges.h"

namespace nl::parsers {
namespace {

constexpr const char* kExportHint = "export it again: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep";

CodedError damaged(const std::string& file, std::string_view detail) {
  return CodedError(ErrorCode::kCaptureDamaged, fmt::format("the nsys export is damaged ({})", detail), file, kExportHint);
}

std::string uri_of(const std::string& file) {
  std::string uri = "file:";
  for (unsigned char c : std::filesystem::absolute(file).string()) {
    bool plain = std::isalnum(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    uri += plain ? std::string(1, static_cast<char>(c)) : fmt::format("%{:02X}", c);
  }
  return uri + "?mode=ro&immutable=1";
}

// The 100 bytes that every SQLite file begins with: magic, at 16 the page size, at 28 the size in pages
// (which counts only if the two change counters at 24 and 92 agree).
using Header = std::array<unsigned char, 100>;

std::uint64_t big_endian(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | header[at + i];
  return value;
}

void check_header(const std::string& file, std::uint64_t size_bytes) {
  Header header{};
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(ErrorKind::kInput, "the nsys export cannot be opened for reading", file, "check its permissions");
  in.read(reinterpret_cast<char*>(header.data()), header.size());
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::string_view magic(reinterpret_cast<const char*>(header.data()), kMagic.size());
  if (in.gcount() < static_cast<std::streamsize>(kMagic.size()) || magic != kMagic)
    throw CodedError(ErrorCode::kUnknownFormat, "this is not an SQLite file", file,
                     "nl-stage reads the SQLite export of a report: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
  std::uint64_t page_bytes = big_endian(header, 16, 2);
  if (page_bytes == 1) page_bytes = 65536;
  std::uint64_t whole = page_bytes * big_endian(header, 28, 4);
  bool size_counts = big_endian(header, 24, 4) == big_endian(header, 92, 4);
  if (static_cast<std::size_t>(in.gcount()) < header.size() || (size_counts && whole > size_bytes))
    throw CodedError(ErrorCode::kCaptureDamaged, fmt::format("the nsys export is cut short: {} of {} bytes are there", size_bytes, whole),
                     file, "copy it again, or export it again: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
}

struct Connection {
  explicit Connection(const std::string& uri)
      : database(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX | SQLite::OPEN_PRIVATECACHE) {}
  SQLite::Database database;
};

// Shapes of tables as they are asked for, by all connections.
struct Shapes {
  std::mutex mutex;
  std::map<std::string, std::optional<sqlite_pages::TableShape>, std::less<>> by_table;
};

struct TableColumns {
  std::set<std::string, std::less<>> names;
  std::string row_key;
};

// Looked up by a statement.
class SqliteTexts : public NsysTexts {
 public:
  SqliteTexts(sqlite3* connection, const std::string& sql, std::string file) : rows_(connection, sql, std::move(file)) {}

  std::optional<std::string_view> find(std::int64_t id) override {
    rows_.bind(1, id);
    if (!rows_.next() || rows_.is_null(0)) return std::nullopt;
    return rows_.text(0);
  }

 private:
  NsysRows rows_;
};

// Opened as immutable. Whole tables are read from the pages of the file, those of files and tables that are unusual by SQLite.
class SqliteSource : public NsysSource {
 public:
  explicit SqliteSource(const std::filesystem::path& file);
  std::unique_ptr<NsysSource> another() const override;
  bool has_table(std::string_view table) const override;
  bool has_column(std::string_view table, std::string_view column) const override;
  bool is_row_key(std::string_view table, std::string_view column) const override;
  std::uint64_t size_bytes() const override { return size_bytes_; }
  RowSpan rows_of(std::string_view table) const override;
  std::vector<RowSpan> split(std::string_view table, const RowSpan& span, std::size_t parts) const override;
  NsysRows select(std::string_view table, Columns columns, const std::optional<RowSpan>& span) const override;
  std::unique_ptr<NsysTexts> texts(std::string_view table, std::string_view id, std::string_view value) const override;

 private:
  SqliteSource() = default;
  void open();
  void probe();
  const sqlite_pages::TableShape* shape_of(std::string_view table) const;  // nullptr: SQLite has to read it
  NsysRows query(const std::string& sql) const;
  std::string select_sql(std::string_view table, Columns columns) const;

  std::string file_;
  std::uint64_t size_bytes_ = 0;
  std::unique_ptr<Connection> connection_;
  std::shared_ptr<const std::map<std::string, TableColumns, std::less<>>> tables_;
  NsysRows::Pages pages_;  // empty where SQLite has to read them
  std::shared_ptr<Shapes> shapes_;
};

SqliteSource::SqliteSource(const std::filesystem::path& file) : file_(file.string()) {
  std::error_code failed;
  auto status = std::filesystem::status(file, failed);
  if (!std::filesystem::exists(status))
    throw CodedError(ErrorCode::kNoSuchFile, "there is no such file", file_, "check the path of the nsys export");
  size_bytes_ = std::filesystem::file_size(file, failed);
  if (failed) throw Error(ErrorKind::kInput, "the nsys export cannot be read: " + failed.message(), file_);
  if (size_bytes_ == 0) throw CodedError(ErrorCode::kCaptureDamaged, "the nsys export is empty (0 bytes)", file_, kExportHint);
  check_header(file_, size_bytes_);
  open();
  probe();
  pages_ = sqlite_pages::PageFile::open(file).pages;
  shapes_ = std::make_shared<Shapes>();
}

void SqliteSource::open() {
  try {
    connection_ = std::make_unique<Connection>(uri_of(file_));
    // Every page is met once, in order: a large cache would only be memory.
    connection_->database.exec("pragma cache_size=-512");
  } catch (const SQLite::Exception& e) {
    throw damaged(file_, e.what());
  }
}

void SqliteSource::probe() {
  auto tables = std::make_shared<std::map<std::string, TableColumns, std::less<>>>();
  NsysRows names = query("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (names.next()) tables->emplace(names.text(0), TableColumns());
  for (auto& [name, table] : *tables) {
    std::string quoted;
    for (char c : name) quoted.append(c == '\'' ? 2 : 1, c);
    NsysRows info = query(fmt::format("SELECT name, type, pk FROM pragma_table_info('{}')", quoted));
    while (info.next()) {
      table.names.emplace(info.text(0));
      if (info.integer(2) == 1 && info.text(1) == "INTEGER") table.row_key = info.text(0);
    }
  }
  tables_ = std::move(tables);
}

std::unique_ptr<NsysSource> SqliteSource::another() const {
  std::unique_ptr<SqliteSource> other(new SqliteSource);
  other->file_ = file_;
  other->size_bytes_ = size_bytes_;
  other->tables_ = tables_;
  other->pages_ = pages_;
  other->shapes_ = shapes_;
  other->open();
  return other;
}

bool SqliteSource::has_table(std::string_view table) const { return tables_->contains(table); }

bool SqliteSource::has_column(std::string_view table, std::string_view column) const {
  auto found = tables_->find(table);
  return found != tables_->end() && found->second.names.contains(column);
}

bool SqliteSource::is_row_key(std::string_view table, std::string_view column) const {
  auto found = tables_->find(table);
  return found != tables_->end() && found->second.row_key == column;
}

RowSpan SqliteSource::rows_of(std::string_view table) const {
  RowSpan span;
  // Two statements: SQLite answers min or max alone from the edge of the tree, both together by a scan.
  NsysRows first = query(fmt::format("SELECT min(rowid) FROM \"{}\"", table));
  NsysRows last = query(fmt::format("SELECT max(rowid) FROM \"{}\"", table));
  if (!first.next() || first.is_null(0) || !last.next()) return span;
  span.first = first.integer(0);
  span.last = last.integer(0);
  span.count = static_cast<std::uint64_t>(span.last) - static_cast<std::uint64_t>(span.first) + 1;
  // A row takes more than eight bytes; where there cannot be so many, rowids have gaps.
  if (span.first < 0 || span.count == 0 || span.count > size_bytes_ / 8) {
    NsysRows rows = query(fmt::format("SELECT count(*) FROM \"{}\"", table));
    if (rows.next()) span.count = static_cast<std::uint64_t>(rows.integer(0));
    span.dense = false;
  }
  return span;
}

std::string SqliteSource::select_sql(std::string_view table, Columns columns) const {
  std::string list;
  for (std::string_view column : columns) {
    if (!list.empty()) list += ", ";
    list += has_column(table, column) ? fmt::format("\"{}\"", column) : "NULL";
  }
  return fmt::format("SELECT {} FROM \"{}\"", list, table);
}

const sqlite_pages::TableShape* SqliteSource::shape_of(std::string_view table) const {
  if (!pages_) return nullptr;
  const std::lock_guard lock(shapes_->mutex);
  const auto [found, added] = shapes_->by_table.try_emplace(std::string(table));
  if (added) found->second = sqlite_pages::read_shape(*pages_, connection_->database, found->first).shape;
  return found->second ? &*found->second : nullptr;
}

std::vector<RowSpan> SqliteSource::split(std::string_view table, const RowSpan& span, std::size_t parts) const {
  const sqlite_pages::TableShape* shape = shape_of(table);
  if (!span.dense || shape == nullptr || parts == 1) return split_rows(span, parts);
  std::vector<RowSpan> out;
  for (const sqlite_pages::RowRange& range : sqlite_pages::split_by_leaves(*pages_, *shape, parts)) {
    const RowSpan part{std::max(range.first, span.first), std::min(range.last, span.last), true, 0};
    if (part.first > part.last) continue;
    out.push_back(part);
    out.back().count = static_cast<std::uint64_t>(part.last - part.first) + 1;
  }
  return out;
}

NsysRows SqliteSource::select(std::string_view table, Columns columns, const std::optional<RowSpan>& span) const {
  const bool part = span && span->dense;
  if (const sqlite_pages::TableShape* shape = shape_of(table))
    return NsysRows(pages_, *shape, std::vector<std::string_view>(columns),
                    part ? sqlite_pages::RowRange{span->first, span->last} : sqlite_pages::RowRange{});
  std::string sql = select_sql(table, columns);
  if (part) sql += fmt::format(" WHERE rowid BETWEEN {} AND {}", span->first, span->last);
  return query(sql);
}

NsysRows SqliteSource::query(const std::string& sql) const { return NsysRows(connection_->database.getHandle(), sql, file_); }

std::unique_ptr<NsysTexts> SqliteSource::texts(std::string_view table, std::string_view id, std::string_view value) const {
  if (!is_row_key(table, id)) return nullptr;
  return std::make_unique<SqliteTexts>(connection_->database.getHandle(),
                                       fmt::format("SELECT \"{}\" FROM \"{}\" WHERE \"{}\" = ?", value, table, id), file_);
}

}  // namespace

std::unique_ptr<NsysSource> open_sqlite_source(const std::filesystem::path& file) { return std::make_unique<SqliteSource>(file); }

}  // namespace nl::parsers
