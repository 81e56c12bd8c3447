#pragma once

#include <cstdint>
#include <cstring>

#include "collector/trace_format.h"

namespace nl::test {

// The header of a file as the collector writes it.
inline trace_format::FileHeader trace_header(std::uint32_t pid = 100, std::int64_t monotonic_ns = 1000) {
  trace_format::FileHeader header{};
  std::memcpy(header.magic, trace_format::kMagic, sizeof header.magic);
  header.version = trace_format::kVersion;
  header.header_bytes = sizeof header;
  header.chunk_bytes = trace_format::kChunkBytes;
  header.pid = pid;
  header.monotonic_ns = monotonic_ns;
  return header;
}

}  // namespace nl::test
