#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/columns/mapped_file.h"
#include "parsers/columns/unpack.h"

namespace nl::parsers::arrow {

// Numbers are those of Schema.fbs.
enum class Type : std::uint8_t {
  kNone,
  kNull,
  kInt,
  kFloat,
  kBinary,
  kUtf8,
  kBool,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInterval,
  kList,
  kStruct,
  kUnion,
  kFixedBinary,
  kFixedList,
  kMap,
  kDuration,
  kLargeBinary,
  kLargeUtf8,
  kLargeList,
  kRunEnds,
};

// How values are stored, of a column or of the numbers of a dictionary's values.
struct Layout {
  Type type = Type::kNone;
  std::uint32_t value_bytes = 0;  // of numbers, and of binaries of one size
  bool is_signed = true;
};

struct Field {
  std::string name;
  Layout layout;                           // of the values
  std::optional<std::int64_t> dictionary;  // whose numbers are stored instead of values
  Layout index;                            // how
  std::size_t nodes = 0, buffers = 0;      // of it and what is below it
};

// The columns of some rows, or the values of a dictionary.
struct Batch {
  std::uint64_t at = 0;  // of its message in the file, for errors
  std::uint64_t rows = 0;
  columns::Codec codec = columns::Codec::kNone;
  std::vector<std::uint64_t> node_rows;
  std::vector<std::string_view> buffers;  // packed
};

struct Messages {
  std::vector<Field> fields;
  std::vector<Batch> batches;
  std::map<std::int64_t, std::vector<Batch>> dictionaries;  // each with what was added to it
};

// Of a file ("ARROW1", messages, a footer) or a stream (messages alone). Only heads are read, not the columns.
Messages read_messages(const columns::MappedFile& file);

}  // namespace nl::parsers::arrow
