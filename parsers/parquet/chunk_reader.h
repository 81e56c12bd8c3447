#pragma once

#include <optional>
#include <string>

#include "parsers/parquet/bit_runs.h"
#include "parsers/parquet/values.h"

namespace nl::parsers::parquet {

// The values of a column in a row group, page after page. Takes memory for one page and the dictionary.
class ChunkReader {
 public:
  ChunkReader(const columns::MappedFile& file, const ColumnSchema& column, const Chunk& chunk, std::size_t group);

  // The values of the next rows. Throws Error(kInput) where the pages are damaged or have fewer.
  void read(std::size_t rows, columns::Column& into);

 private:
  void next_page();
  void begin_dictionary(const PageHeader& header, std::string_view body);
  void begin_data(const PageHeader& header, std::string_view body);
  void begin_data_2(const PageHeader& header, std::string_view body);
  void begin_values(const PageHeader& header, std::string_view bytes);
  columns::Bytes unpacked(std::string_view packed, std::int32_t size) const;
  std::string place() const;
  [[noreturn]] void damaged(std::string_view what) const;

  void read_page(std::size_t rows, std::size_t at, columns::Column& into);
  void read_values(std::size_t count, std::size_t at, columns::Column& into);

  const columns::MappedFile& file_;
  const ColumnSchema& column_;
  std::size_t group_;
  columns::Codec codec_;
  std::string_view rest_;       // the pages behind this one
  const char* page_ = nullptr;  // where it begins
  std::optional<Dictionary> dictionary_;
  columns::Bytes bytes_;  // of the page, unpacked
  BitRuns levels_;        // 1: the value is there
  std::unique_ptr<ValueReader> values_;
  std::size_t left_ = 0;  // of the page's rows
};

}  // namespace nl::parsers::parquet
