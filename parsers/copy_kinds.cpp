#include "parsers/copy_kinds.h"

#include <iterator>

namespace nl::parsers {

MemOpKind copy_kind(std::int64_t number) {
  switch (number) {
    case 1:
    case 3:
    case 11: return MemOpKind::kHostToDevice;
    case 2:
    case 4:
    case 12: return MemOpKind::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13: return MemOpKind::kDeviceToDevice;
    case 9: return MemOpKind::kHostToHost;
    case 10: return MemOpKind::kPeerToPeer;
    default: return MemOpKind::kOther;
  }
}

std::string copy_label(std::int64_t number) {
  constexpr const char* kNames[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  bool known = number >= 0 && number < static_cast<std::int64_t>(std::size(kNames));
  return std::string("[CUDA memcpy ") + kNames[known ? number : 0] + "]";
}

}  // namespace nl::parsers
