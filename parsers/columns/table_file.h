#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/columns/mapped_file.h"

// Tables that are stored by columns, whatever the format of the file.
namespace nl::parsers::columns {

// Bytes that views refer to; empty where those lie in the mapped file.
using Memory = std::shared_ptr<const char[]>;

enum class Kind : std::uint8_t { kAbsent, kInteger, kReal, kText };

// The values of some rows, by row. Those of another kind than the column's are not there.
struct Column {
  Kind kind = Kind::kAbsent;
  std::vector<std::uint8_t> known;     // 0: the value is NULL
  std::vector<std::int64_t> integers;  // 0 where it is NULL; of unsigned numbers of 64 bits the bits
  std::vector<double> reals;
  std::vector<std::string_view> texts;
  std::vector<Memory> memory;  // of the texts

  // For so many rows, none of which is NULL; what was there is lost.
  void begin(Kind of, std::size_t rows);
  void keep(const Memory& held);
};

// The rows of a group in their order, some columns of them.
class GroupReader {
 public:
  virtual ~GroupReader() = default;
  // The next rows, of which the caller knows that they are there. Throws Error(kInput) where the file is damaged.
  virtual void read(std::size_t rows, std::vector<Column>& columns) = 0;
};

// One table. Any number of threads may read it.
class TableFile {
 public:
  virtual ~TableFile() = default;
  bool has_column(std::string_view name) const;
  // Of groups of rows that can be read each by itself.
  const std::vector<std::uint64_t>& group_rows() const { return group_rows_; }
  std::uint64_t rows() const { return rows_; }
  // A column that the table lacks is kAbsent.
  virtual std::unique_ptr<GroupReader> group(std::size_t number, const std::vector<std::string_view>& columns) const = 0;

 protected:
  void add_column(std::string name) { column_names_.push_back(std::move(name)); }
  // `what` it is, for the error where the file cannot have so many rows.
  void add_group(const MappedFile& file, std::uint64_t rows, std::string_view what);
  // Where there is none, behind the last one.
  std::size_t column_number(std::string_view name) const;

 private:
  std::vector<std::string> column_names_;
  std::vector<std::uint64_t> group_rows_;
  std::uint64_t rows_ = 0;
};

using Table = std::shared_ptr<const TableFile>;

}  // namespace nl::parsers::columns
