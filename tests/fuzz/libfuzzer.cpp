// What libFuzzer calls. NL_FUZZ_READER names the reader; tools/fuzz sets it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/readers.h"

namespace {

const nl::fuzz::Reader* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("NL_FUZZ_READER");
  for (const nl::fuzz::Reader& reader : nl::fuzz::readers()) {
    if (name == nullptr) std::puts(reader.name);
    else if (std::string_view(name) == reader.name) chosen = &reader;
  }
  if (name != nullptr && chosen == nullptr) std::fprintf(stderr, "fuzz: there is no reader %s\n", name);
  if (chosen == nullptr) std::exit(name == nullptr ? 0 : 2);
  setenv("NL_STAGE_LEDGER", "off", 1);  // nothing of the user's is written
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  nl::fuzz::takes([&] { chosen->read({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
