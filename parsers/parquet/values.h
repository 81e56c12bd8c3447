#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "parsers/columns/table_file.h"
#include "parsers/columns/unpack.h"
#include "parsers/parquet/metadata.h"

namespace nl::parsers::parquet {

// The distinct values of a chunk, of the column's kind.
struct Dictionary {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string_view> texts;
  columns::Memory memory;  // of the texts
};

// The values of a page, one after another; NULLs are not among them. Each call reads the next ones of the column's kind, and returns false where
// they are not all there.
class ValueReader {
 public:
  virtual ~ValueReader() = default;
  virtual bool integers(std::int64_t*, std::size_t) { return false; }
  virtual bool reals(double*, std::size_t) { return false; }
  virtual bool texts(std::string_view*, std::size_t) { return false; }
  // What texts lie in that the reader made itself; a call of texts() makes the next.
  virtual columns::Memory made_memory() const { return {}; }
};

// The kind of a type; kAbsent where its values are not read.
columns::Kind kind_of(PhysicalType type);

// nullptr where values of that type are not stored so. `values`: how many the page has at most.
std::unique_ptr<ValueReader> value_reader(const ColumnSchema& column, Encoding encoding, std::string_view bytes, std::size_t values,
                                          const Dictionary* dictionary);

// Of a dictionary page; false where it is damaged.
bool read_dictionary(const ColumnSchema& column, columns::Bytes bytes, std::size_t values, Dictionary& dictionary);

}  // namespace nl::parsers::parquet
