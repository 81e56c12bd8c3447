#include "collector/gpu/contexts.h"

#include "tests/catch.h"

using namespace nl::collector;

namespace {

// A context's address says its device: 0x200 and up are on device 2.
cupti::Result device_of(void* context, std::uint32_t* device) {
  *device = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context) >> 8);
  return *device < 9 ? cupti::kSuccess : cupti::kSuccess + 1;
}

void* context(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

TEST_CASE("contexts: the oldest of each device, and none that is gone") {
  CuptiLibrary library;
  std::uint32_t device = 0;
  CHECK_FALSE(context_created(library, context(0x200), device));  // a CUPTI that cannot say
  library.profiler.cuptiGetDeviceId = device_of;
  CHECK_FALSE(context_created(library, context(0x900), device));
  CHECK_FALSE(have_several_devices());
  REQUIRE(context_created(library, context(0x200), device));
  CHECK(device == 2);
  REQUIRE(context_created(library, context(0x201), device));
  CHECK_FALSE(have_several_devices());
  REQUIRE(context_created(library, context(0x101), device));
  CHECK(have_several_devices());
  GpuContext found[kMaxContexts];
  REQUIRE(device_contexts(found) == 2);
  CHECK(found[0].handle == context(0x200));
  CHECK(found[0].device == 2);
  CHECK(found[1].handle == context(0x101));
  context_destroyed(context(0x200));
  REQUIRE(device_contexts(found) == 2);
  CHECK(found[0].handle == context(0x201));
  context_destroyed(context(0x777));  // was never created
  REQUIRE(device_contexts(found) == 2);
  CHECK((found[0].handle == context(0x201) && found[1].handle == context(0x101)));
  for (const std::uintptr_t left : {0x201, 0x101}) context_destroyed(context(left));
  CHECK(device_contexts(found) == 0);
}

TEST_CASE("contexts: one more than there is room for is not kept, and does no harm") {
  CuptiLibrary library;
  library.profiler.cuptiGetDeviceId = device_of;
  std::uint32_t device = 0;
  for (std::uintptr_t i = 0; i < kMaxContexts; ++i) REQUIRE(context_created(library, context(0x100 + i), device));
  CHECK(context_created(library, context(0x300), device));
  CHECK(device == 3);
  CHECK_FALSE(have_several_devices());
  context_destroyed(context(0x100));
  CHECK(context_created(library, context(0x400), device));
  CHECK(have_several_devices());
  GpuContext found[kMaxContexts];
  REQUIRE(device_contexts(found) == 2);
  CHECK(found[0].handle == context(0x101));
  for (std::uintptr_t i = 0; i < kMaxContexts; ++i) context_destroyed(context(0x100 + i));
  context_destroyed(context(0x400));
}
