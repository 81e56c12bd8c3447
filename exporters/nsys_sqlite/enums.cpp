#include "exporters/nsys_sqlite/enums.h"

#include <iterator>

#include "exporters/nsys_sqlite/sqlite_table.h"

namespace nl::exporters {
namespace {

struct Entry {
  std::int64_t id;
  const char* name;
  const char* label;
};

constexpr Entry kCopies[] = {
    {0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    {1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    {2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    {3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    {4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    {5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    {6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    {7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    {8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    {9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    {10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    {11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    {12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    {13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};
constexpr Entry kMemory[] = {
    {0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    {1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    {2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    {3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    {4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    {5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    {6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    {7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};
constexpr Entry kSyncs[] = {
    {0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    {1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    {2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    {3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    {4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};
constexpr Entry kEvents[] = {
    {33, "NvtxCategory", "NvtxCategory"},
    {34, "NvtxMark", "NvtxMark"},
    {39, "NvtxThread", "NvtxThread"},
    {59, "NvtxPushPopRange", "NvtxPushPopRange"},
    {60, "NvtxStartEndRange", "NvtxStartEndRange"},
    {70, "NvtxtPushPopRange", "NvtxtPushPopRange"},
    {71, "NvtxtStartEndRange", "NvtxtStartEndRange"},
    {75, "NvtxDomainCreate", "NvtxDomainCreate"},
};

template <std::size_t count>
void write_enum(SqliteFile& file, const char* table, const Entry (&entries)[count]) {
  SqliteTable rows(file, table, "id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT");
  for (const Entry& entry : entries) rows.add(entry.id, entry.name, entry.label);
}

}  // namespace

std::int64_t copy_kind_number(const std::string& label) {
  for (const Entry& entry : kCopies)
    if (label == std::string("[CUDA memcpy ") + entry.label + "]") return entry.id;
  return 0;
}

std::int64_t memory_kind_number(std::uint8_t cupti_kind) { return cupti_kind >= 1 && cupti_kind <= 7 ? cupti_kind - 1 : 7; }

std::int64_t event_class(const std::string& function) { return function.rfind("cuda", 0) == 0 || function.rfind("__cuda", 0) == 0 ? 0 : 1; }

void write_enums(SqliteFile& file) {
  write_enum(file, "ENUM_CUDA_MEMCPY_OPER", kCopies);
  write_enum(file, "ENUM_CUDA_MEM_KIND", kMemory);
  write_enum(file, "ENUM_CUPTI_SYNC_TYPE", kSyncs);
  write_enum(file, "ENUM_NSYS_EVENT_TYPE", kEvents);
}

}  // namespace nl::exporters
