#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "parsers/columns/table_file.h"

// The codecs in which Parquet and Arrow pack what they store.
namespace nl::parsers::columns {

enum class Codec : std::uint8_t { kNone, kSnappy, kGzip, kLz4Block, kLz4Frame, kZstd };

struct Bytes {
  Memory memory;  // empty: of the mapped file
  std::string_view view;
};

// `size`: as the file says; nothing where the bytes do not unpack to so many. kNone takes no memory.
std::optional<Bytes> unpacked(Codec codec, std::string_view packed, std::uint64_t size);

}  // namespace nl::parsers::columns
