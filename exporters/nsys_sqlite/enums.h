#pragma once

#include <cstdint>
#include <string>

namespace nl::exporters {

class SqliteFile;

// The numbers that nsys uses where a trace has words, and the tables that explain them.
inline constexpr std::int64_t kNvtxMark = 34, kNvtxPushPop = 59, kNvtxStartEnd = 60, kNvtxDomainCreate = 75;
inline constexpr std::int64_t kGraphNodeCreation = 77;

// "[CUDA memcpy Host-to-Device]" → 1; 0 where it is none of them.
std::int64_t copy_kind_number(const std::string& label);
// CUPTI counts from 0 unknown, 1 pageable; nsys from 0 pageable, and 7 is unknown.
std::int64_t memory_kind_number(std::uint8_t cupti_kind);
// 0 for the runtime's functions, 1 for the driver's.
std::int64_t event_class(const std::string& function);

void write_enums(SqliteFile& file);

}  // namespace nl::exporters
