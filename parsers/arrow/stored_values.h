#pragma once

#include "parsers/arrow/messages.h"
#include "parsers/columns/table_file.h"

namespace nl::parsers::arrow {

// The values of one column of a batch, or those of a dictionary. Buffers are unpacked where they are packed; else they stay in the mapped file.
class StoredValues {
 public:
  // `node` and `buffer`: the first of the column's. Throws Error(kInput) where the buffers are too short for the rows.
  StoredValues(const columns::MappedFile& file, const Field& field, const Layout& layout, const Batch& batch, std::size_t node,
               std::size_t buffer);

  std::uint64_t rows() const { return rows_; }
  // Rows from number `at` on, which the caller knows to be there.
  void read(std::uint64_t at, std::size_t rows, columns::Column& into) const;

 private:
  columns::Bytes bytes_of(const Batch& batch, std::size_t buffer) const;
  void need(const columns::Bytes& bytes, std::uint64_t size) const;
  [[noreturn]] void damaged(std::string_view what) const;

  void read_integers(std::uint64_t at, std::vector<std::int64_t>& into) const;
  void read_texts(std::uint64_t at, columns::Column& into) const;
  template <class Offset>
  void read_offset_texts(std::uint64_t at, columns::Column& into) const;

  const columns::MappedFile& file_;
  const Field& field_;
  Layout layout_;
  std::uint64_t batch_at_, rows_;
  columns::Kind kind_;
  columns::Bytes known_, first_, second_;  // bits; values or offsets; texts
};

}  // namespace nl::parsers::arrow
