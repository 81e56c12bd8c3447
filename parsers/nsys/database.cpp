#include "parsers/nsys/database.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fmt/core.h>
#include <sqlite3.h>

#include "model/error_code.h"
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

}  // namespace

struct NsysDatabase::Connection {
  explicit Connection(const std::string& uri)
      : database(uri, SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX | SQLite::OPEN_PRIVATECACHE) {}
  SQLite::Database database;
};

// Shapes of tables as they are asked for, by all connections.
struct NsysDatabase::Shapes {
  std::mutex mutex;
  std::map<std::string, std::optional<sqlite_pages::TableShape>, std::less<>> by_table;
};

std::vector<RowSpan> split_rows(const RowSpan& span, std::size_t parts) {
  if (!span.dense || span.count < parts) parts = 1;
  std::vector<RowSpan> out;
  auto each = static_cast<std::int64_t>(span.count / parts);
  for (std::size_t i = 0; i < parts; ++i) {
    RowSpan part = span;
    if (i > 0) part.first = out.back().last + 1;
    if (i + 1 < parts) part.last = part.first + each - 1;
    if (span.dense) part.count = static_cast<std::uint64_t>(part.last - part.first + 1);
    out.push_back(part);
  }
  return out;
}

NsysDatabase::NsysDatabase(const std::filesystem::path& file) : file_(file.string()) {
  std::error_code failed;
  auto status = std::filesystem::status(file, failed);
  if (!std::filesystem::exists(status))
    throw CodedError(ErrorCode::kNoSuchFile, "there is no such file", file_, "check the path of the nsys export");
  if (std::filesystem::is_directory(status))
    throw CodedError(ErrorCode::kNoSuchFile, "this is a folder, not an nsys export", file_, "name the .sqlite file");
  size_bytes_ = std::filesystem::file_size(file, failed);
  if (failed) throw Error(ErrorKind::kInput, "the nsys export cannot be read: " + failed.message(), file_);
  if (size_bytes_ == 0) throw CodedError(ErrorCode::kCaptureDamaged, "the nsys export is empty (0 bytes)", file_, kExportHint);
  check_header(file_, size_bytes_);
  open();
  probe();
  pages_ = sqlite_pages::PageFile::open(file).pages;
  shapes_ = std::make_shared<Shapes>();
}

NsysDatabase::~NsysDatabase() = default;
NsysDatabase::NsysDatabase(NsysDatabase&&) noexcept = default;

void NsysDatabase::open() {
  try {
    connection_ = std::make_unique<Connection>(uri_of(file_));
    // Every page is met once, in order: a large cache would only be memory.
    connection_->database.exec("pragma cache_size=-512");
  } catch (const SQLite::Exception& e) {
    throw damaged(file_, e.what());
  }
}

void NsysDatabase::probe() {
  auto tables = std::make_shared<std::map<std::string, Table, std::less<>>>();
  NsysRows names = query("SELECT name FROM sqlite_master WHERE type = 'table'");
  while (names.next()) tables->emplace(names.text(0), Table());
  for (auto& [name, table] : *tables) {
    std::string quoted;
    for (char c : name) quoted.append(c == '\'' ? 2 : 1, c);
    NsysRows info = query(fmt::format("SELECT name, type, pk FROM pragma_table_info('{}')", quoted));
    while (info.next()) {
      table.columns.emplace(info.text(0));
      if (info.integer(2) == 1 && info.text(1) == "INTEGER") table.row_key = info.text(0);
    }
  }
  tables_ = std::move(tables);
}

NsysDatabase NsysDatabase::another_connection() const {
  NsysDatabase other;
  other.file_ = file_;
  other.size_bytes_ = size_bytes_;
  other.tables_ = tables_;
  other.pages_ = pages_;
  other.shapes_ = shapes_;
  other.open();
  return other;
}

bool NsysDatabase::has_table(std::string_view table) const { return tables_->contains(table); }

bool NsysDatabase::has_column(std::string_view table, std::string_view column) const {
  auto found = tables_->find(table);
  return found != tables_->end() && found->second.columns.contains(column);
}

bool NsysDatabase::has_columns(std::string_view table, Columns columns) const {
  return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) { return has_column(table, column); });
}

bool NsysDatabase::is_row_key(std::string_view table, std::string_view column) const {
  auto found = tables_->find(table);
  return found != tables_->end() && found->second.row_key == column;
}

RowSpan NsysDatabase::rows_of(std::string_view table) const {
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

std::string NsysDatabase::select_sql(std::string_view table, Columns columns) const {
  std::string list;
  for (std::string_view column : columns) {
    if (!list.empty()) list += ", ";
    list += has_column(table, column) ? fmt::format("\"{}\"", column) : "NULL";
  }
  return fmt::format("SELECT {} FROM \"{}\"", list, table);
}

const sqlite_pages::TableShape* NsysDatabase::shape_of(std::string_view table) const {
  if (!pages_) return nullptr;
  const std::lock_guard lock(shapes_->mutex);
  const auto [found, added] = shapes_->by_table.try_emplace(std::string(table));
  if (added) found->second = sqlite_pages::read_shape(*pages_, connection_->database, found->first).shape;
  return found->second ? &*found->second : nullptr;
}

std::vector<RowSpan> NsysDatabase::split(std::string_view table, const RowSpan& span, std::size_t parts) const {
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

NsysRows NsysDatabase::rows(std::string_view table, Columns columns, const sqlite_pages::RowRange& range, const std::string& sql) const {
  const sqlite_pages::TableShape* shape = shape_of(table);
  if (shape == nullptr) return query(sql);
  return NsysRows(pages_, *shape, std::vector<std::string_view>(columns), range);
}

NsysRows NsysDatabase::select(std::string_view table, Columns columns) const {
  return rows(table, columns, {}, select_sql(table, columns));
}

NsysRows NsysDatabase::select(std::string_view table, Columns columns, const RowSpan& span) const {
  if (!span.dense) return select(table, columns);
  return rows(table, columns, {span.first, span.last},
              fmt::format("{} WHERE rowid BETWEEN {} AND {}", select_sql(table, columns), span.first, span.last));
}

NsysRows NsysDatabase::query(const std::string& sql) const { return NsysRows(connection_->database.getHandle(), sql, file_); }

bool has_export_tables(const NsysDatabase& database) {
  for (const char* table :
       {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"})
    if (database.has_table(table)) return true;
  return false;
}

void scan_in_parts(const NsysDatabase& database, std::size_t parts, const std::function<void(const NsysDatabase&, std::size_t)>& scan) {
  if (parts == 1) return scan(database, 0);
  std::vector<std::exception_ptr> failures(parts);
  std::vector<std::jthread> threads;
  for (std::size_t part = 0; part < parts; ++part)
    threads.emplace_back([&, part] {
      try {
        NsysDatabase own = database.another_connection();
        scan(own, part);
      } catch (...) {
        failures[part] = std::current_exception();
      }
    });
  for (auto& thread : threads) thread.join();
  for (auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

std::size_t parts_for(std::uint64_t rows) {
  if (rows < 20000) return 1;
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
}

}  // namespace nl::parsers
