#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parsers/columns/mapped_file.h"
#include "parsers/columns/unpack.h"

namespace nl::parsers::parquet {

// Numbers are those of parquet.thrift.
enum class PhysicalType : std::uint8_t { kBoolean, kInt32, kInt64, kInt96, kFloat, kDouble, kByteArray, kFixedBytes };
enum class Encoding : std::uint8_t {
  kPlain = 0,
  kPlainDictionary = 2,  // of writers before 2.0, instead of both kinds
  kRle = 3,
  kDelta = 5,
  kDeltaLengths = 6,
  kDeltaTexts = 7,
  kDictionary = 8,
  kByteStreams = 9,
};

struct ColumnSchema {
  std::string name;
  PhysicalType type = PhysicalType::kInt64;
  std::uint32_t fixed_bytes = 0;  // of kFixedBytes
  bool is_unsigned = false;
  bool is_optional = false;
  bool is_nested = false;  // a list, or a part of a struct
};

// The values of a column in a row group.
struct Chunk {
  PhysicalType type = PhysicalType::kInt64;
  std::int32_t codec = 0;
  std::uint64_t begin = 0, bytes = 0;
  bool is_elsewhere = false;  // encrypted, or in another file
};

struct RowGroup {
  std::uint64_t rows = 0;
  std::vector<Chunk> chunks;  // by column
};

struct Metadata {
  std::vector<ColumnSchema> columns;
  std::vector<RowGroup> groups;
};

// "PAR1", …, the metadata, their length in four bytes, "PAR1"
Metadata read_metadata(const columns::MappedFile& file);

// What stands before each page.
struct PageHeader {
  enum Kind : std::int32_t { kData = 0, kIndex = 1, kDictionary = 2, kData2 = 3 };
  std::int32_t kind = -1;
  std::int32_t bytes = -1, unpacked_bytes = -1;
  std::int32_t values = -1;
  std::int32_t encoding = -1;
  std::int32_t level_encoding = static_cast<std::int32_t>(Encoding::kRle);
  std::int32_t definition_bytes = 0, repetition_bytes = 0;  // of kData2, before the values and never packed
  bool is_packed = true;                                    // of kData2
  std::size_t header_bytes = 0;
};

PageHeader read_page_header(const columns::MappedFile& file, std::string_view bytes, std::string_view what);

columns::Codec codec_of(const columns::MappedFile& file, std::int32_t number);

}  // namespace nl::parsers::parquet
