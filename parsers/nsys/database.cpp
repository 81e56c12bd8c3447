#include "parsers/nsys/database.h"

#include <algorithm>
#include <exception>
#include <thread>

namespace nl::parsers {
namespace {

std::unique_ptr<NsysSource> opened(const std::filesystem::path& file_or_folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(file_or_folder, ignored) ? open_folder_source(file_or_folder) : open_sqlite_source(file_or_folder);
}

}  // namespace

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

NsysDatabase::NsysDatabase(const std::filesystem::path& file_or_folder) : NsysDatabase(file_or_folder.string(), opened(file_or_folder)) {}
NsysDatabase::NsysDatabase(std::string file, std::unique_ptr<NsysSource> source) : file_(std::move(file)), source_(std::move(source)) {}
NsysDatabase::~NsysDatabase() = default;
NsysDatabase::NsysDatabase(NsysDatabase&&) noexcept = default;

NsysDatabase NsysDatabase::another_connection() const { return {file_, source_->another()}; }

bool NsysDatabase::has_table(std::string_view table) const { return source_->has_table(table); }

bool NsysDatabase::has_column(std::string_view table, std::string_view column) const { return source_->has_column(table, column); }

bool NsysDatabase::has_columns(std::string_view table, Columns columns) const {
  return std::all_of(columns.begin(), columns.end(), [&](std::string_view column) { return has_column(table, column); });
}

bool NsysDatabase::is_row_key(std::string_view table, std::string_view column) const { return source_->is_row_key(table, column); }

RowSpan NsysDatabase::rows_of(std::string_view table) const { return source_->rows_of(table); }

std::vector<RowSpan> NsysDatabase::split(std::string_view table, const RowSpan& span, std::size_t parts) const {
  return source_->split(table, span, parts);
}

NsysRows NsysDatabase::select(std::string_view table, Columns columns) const { return source_->select(table, columns, std::nullopt); }

NsysRows NsysDatabase::select(std::string_view table, Columns columns, const RowSpan& span) const {
  return source_->select(table, columns, span);
}

std::unique_ptr<NsysTexts> NsysDatabase::texts(std::string_view table, std::string_view id, std::string_view value) const {
  return source_->texts(table, id, value);
}

bool has_export_tables(const NsysDatabase& database) {
  const auto tables = export_tables();
  return std::any_of(tables.begin(), tables.end(), [&](std::string_view table) { return database.has_table(table); });
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
