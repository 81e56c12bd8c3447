#include "parsers/cuda_names.h"

#include "tests/catch.h"

using namespace nl;

TEST_CASE("copies: every kind that CUPTI numbers has its direction and its name") {
  const struct {
    MemOpKind kind;
    const char* label;
  } kinds[] = {{MemOpKind::kOther, "Unknown"},
               {MemOpKind::kHostToDevice, "Host-to-Device"},
               {MemOpKind::kDeviceToHost, "Device-to-Host"},
               {MemOpKind::kHostToDevice, "Host-to-Array"},
               {MemOpKind::kDeviceToHost, "Array-to-Host"},
               {MemOpKind::kDeviceToDevice, "Array-to-Array"},
               {MemOpKind::kDeviceToDevice, "Array-to-Device"},
               {MemOpKind::kDeviceToDevice, "Device-to-Array"},
               {MemOpKind::kDeviceToDevice, "Device-to-Device"},
               {MemOpKind::kHostToHost, "Host-to-Host"},
               {MemOpKind::kPeerToPeer, "Peer-to-Peer"},
               {MemOpKind::kHostToDevice, "Unified Host-to-Device"},
               {MemOpKind::kDeviceToHost, "Unified Device-to-Host"},
               {MemOpKind::kDeviceToDevice, "Unified Device-to-Device"}};
  std::int64_t number = 0;
  for (const auto& [kind, label] : kinds) {
    INFO(number);
    CHECK(parsers::copy_kind(number) == kind);
    CHECK(parsers::copy_label(number++) == "[CUDA memcpy " + std::string(label) + "]");
  }
  for (const std::int64_t none : {std::int64_t{-1}, std::int64_t{14}, INT64_MIN, INT64_MAX}) {
    CHECK(parsers::copy_kind(none) == MemOpKind::kOther);
    CHECK(parsers::copy_label(none) == "[CUDA memcpy Unknown]");
  }
}
