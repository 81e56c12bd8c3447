#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "parsers/nsys/rows.h"

namespace nl::parsers {

// The rows of a table from number `first` to `last`, both included: of SQLite the rowids.
struct RowSpan {
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool dense = true;        // false: rowids tell nothing, read all rows in one go
  std::uint64_t count = 0;  // how many rows there are at most
};

std::vector<RowSpan> split_rows(const RowSpan& span, std::size_t parts);

// Texts of a table, each looked up by its number without a scan.
class NsysTexts {
 public:
  virtual ~NsysTexts() = default;
  virtual std::optional<std::string_view> find(std::int64_t id) = 0;  // valid until the next call
};

// An export, whatever it is stored in. One thread's; see NsysDatabase for what the calls mean.
class NsysSource {
 public:
  using Columns = std::initializer_list<std::string_view>;
  virtual ~NsysSource() = default;
  virtual std::unique_ptr<NsysSource> another() const = 0;
  virtual bool has_table(std::string_view table) const = 0;
  virtual bool has_column(std::string_view table, std::string_view column) const = 0;
  virtual bool is_row_key(std::string_view table, std::string_view column) const = 0;
  virtual std::uint64_t size_bytes() const = 0;
  virtual RowSpan rows_of(std::string_view table) const = 0;
  virtual std::vector<RowSpan> split(std::string_view table, const RowSpan& span, std::size_t parts) const = 0;
  virtual NsysRows select(std::string_view table, Columns columns, const std::optional<RowSpan>& span) const = 0;
  virtual std::unique_ptr<NsysTexts> texts(std::string_view table, std::string_view id, std::string_view value) const = 0;
};

// They throw Error(kInput) where it cannot be read, or is not what it should be.
std::unique_ptr<NsysSource> open_sqlite_source(const std::filesystem::path& file);
std::unique_ptr<NsysSource> open_folder_source(const std::filesystem::path& folder);

// Whether the folder has tables of an export, a file for each, whatever is in them.
bool is_export_folder(const std::filesystem::path& folder);

// Tables that one export or another has, of whatever schema: what has none of them is none.
std::span<const std::string_view> export_tables();

}  // namespace nl::parsers
