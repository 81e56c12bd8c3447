#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include <fmt/core.h>

#include "model/error_code.h"
#include "parsers/arrow/table.h"
#include "parsers/columns/rows.h"
#include "parsers/nsys/source.h"
#include "parsers/parquet/table.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

// A format in which nsys writes a file for each table.
struct TableFormat {
  std::string_view extension, name;
  columns::Table (*open)(const fs::path& file);
};

constexpr TableFormat kTableFormats[] = {{".parquet", "Parquet", parquet::open_table}, {".arrow", "Arrow", arrow::open_table}};

bool has_any_table(const fs::path& folder, const TableFormat& format) {
  const auto tables = export_tables();
  return std::any_of(tables.begin(), tables.end(), [&](std::string_view table) {
    std::error_code ignored;
    return fs::is_regular_file(folder / fmt::format("{}{}", table, format.extension), ignored);
  });
}

// Two formats in one folder may be of two captures.
const TableFormat& format_of(const fs::path& folder) {
  const TableFormat* found = nullptr;
  for (const TableFormat& format : kTableFormats) {
    if (!has_any_table(folder, format)) continue;
    if (found != nullptr)
      throw CodedError(ErrorCode::kUnknownFormat,
                       fmt::format("the folder has two exports of nsys, in {} and in {}", found->name, format.name), folder.string(),
                       "keep each in a folder of its own, and name one of them");
    found = &format;
  }
  if (found == nullptr)
    throw CodedError(ErrorCode::kUnknownFormat, "the folder has none of the tables of an nsys export, such as StringIds.parquet",
                     folder.string(), "name the folder that nsys wrote: nsys export --type parquetdir --output FOLDER REPORT.nsys-rep");
  return *found;
}

// The texts of a table by their numbers. Texts stay where they lie.
struct TextTable {
  columns::Table file;
  std::unordered_map<std::int64_t, std::string_view> by_id;
  std::vector<columns::Memory> memory;
};

std::shared_ptr<const TextTable> read_texts(const columns::Table& file, std::string_view id, std::string_view value) {
  auto texts = std::make_shared<TextTable>();
  texts->file = file;
  columns::Rows rows(file, {id, value}, 0, UINT64_MAX);
  while (rows.next()) {
    if (rows.is_null(1) || !rows.is_integer(0) || rows.kind(1) != columns::Kind::kText) continue;
    texts->by_id.emplace(rows.integer(0), rows.text(1));
    for (const columns::Memory& memory : rows.memory(1))
      if (std::find(texts->memory.rbegin(), texts->memory.rend(), memory) == texts->memory.rend()) texts->memory.push_back(memory);
  }
  return texts;
}

class StoredTexts : public NsysTexts {
 public:
  explicit StoredTexts(std::shared_ptr<const TextTable> texts) : texts_(std::move(texts)) {}

  std::optional<std::string_view> find(std::int64_t id) override {
    const auto found = texts_->by_id.find(id);
    return found != texts_->by_id.end() ? std::optional(found->second) : std::nullopt;
  }

 private:
  std::shared_ptr<const TextTable> texts_;
};

// The tables of a folder, opened when they are asked for first, by whatever thread.
class TableFolder {
 public:
  explicit TableFolder(const fs::path& folder) : format_(format_of(folder)) {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == format_.extension && entry.is_regular_file()) {
        files_.emplace(entry.path().stem().string(), entry.path());
        size_bytes_ += entry.file_size();
      }
  }

  bool has(std::string_view table) const { return files_.contains(table); }
  std::uint64_t size_bytes() const { return size_bytes_; }

  // nullptr where there is no such table.
  columns::Table table(std::string_view name) {
    const auto file = files_.find(name);
    if (file == files_.end()) return nullptr;
    const std::lock_guard lock(mutex_);
    columns::Table& table = tables_[file->first];
    if (table == nullptr) table = format_.open(file->second);
    return table;
  }

  std::shared_ptr<const TextTable> texts(const columns::Table& table, std::string_view id, std::string_view value) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const TextTable>& texts = texts_[table];
    if (texts == nullptr) texts = read_texts(table, id, value);
    return texts;
  }

 private:
  const TableFormat& format_;
  std::map<std::string, fs::path, std::less<>> files_;
  std::uint64_t size_bytes_ = 0;
  std::mutex mutex_;
  std::map<std::string, columns::Table> tables_;
  std::map<columns::Table, std::shared_ptr<const TextTable>> texts_;
};

class FolderSource : public NsysSource {
 public:
  explicit FolderSource(std::shared_ptr<TableFolder> folder) : folder_(std::move(folder)) {}

  std::unique_ptr<NsysSource> another() const override { return std::make_unique<FolderSource>(folder_); }
  bool has_table(std::string_view table) const override { return folder_->has(table); }
  bool has_column(std::string_view table, std::string_view column) const override {
    const columns::Table file = folder_->table(table);
    return file != nullptr && file->has_column(column);
  }
  bool is_row_key(std::string_view, std::string_view) const override { return false; }
  std::uint64_t size_bytes() const override { return folder_->size_bytes(); }

  RowSpan rows_of(std::string_view table) const override {
    const columns::Table file = folder_->table(table);
    const auto rows = file != nullptr ? static_cast<std::int64_t>(file->rows()) : 0;
    return {0, rows - 1, true, static_cast<std::uint64_t>(rows)};
  }

  // Between groups of rows: a part of one is read from its beginning.
  std::vector<RowSpan> split(std::string_view table, const RowSpan& span, std::size_t parts) const override {
    const columns::Table file = folder_->table(table);
    if (file == nullptr || parts == 1) return {span};
    std::vector<RowSpan> out;
    std::int64_t first = span.first, end = 0;
    for (const std::uint64_t rows : file->group_rows()) {
      end += static_cast<std::int64_t>(rows);
      const std::int64_t last = std::min(end - 1, span.last);
      const bool is_enough = static_cast<std::uint64_t>(last - first + 1) >= span.count / parts || last == span.last;
      if (last < first || !is_enough) continue;
      out.push_back({first, last, true, static_cast<std::uint64_t>(last - first + 1)});
      first = last + 1;
    }
    return out;
  }

  NsysRows select(std::string_view table, Columns columns, const std::optional<RowSpan>& span) const override {
    const RowSpan rows = span ? *span : rows_of(table);
    const bool is_empty = rows.first < 0 || rows.last < rows.first;
    return NsysRows(columns::Rows(is_empty ? nullptr : folder_->table(table), columns, static_cast<std::uint64_t>(rows.first),
                                  static_cast<std::uint64_t>(rows.last)),
                    columns.size());
  }

  std::unique_ptr<NsysTexts> texts(std::string_view table, std::string_view id, std::string_view value) const override {
    const columns::Table file = folder_->table(table);
    if (file == nullptr) return nullptr;
    return std::make_unique<StoredTexts>(folder_->texts(file, id, value));
  }

 private:
  std::shared_ptr<TableFolder> folder_;
};

}  // namespace

std::span<const std::string_view> export_tables() {
  static constexpr std::string_view kTables[] = {
      "StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};
  return kTables;
}

bool is_export_folder(const fs::path& folder) {
  return std::any_of(std::begin(kTableFormats), std::end(kTableFormats),
                     [&](const TableFormat& format) { return has_any_table(folder, format); });
}

std::unique_ptr<NsysSource> open_folder_source(const fs::path& folder) {
  return std::make_unique<FolderSource>(std::make_shared<TableFolder>(folder));
}

}  // namespace nl::parsers
