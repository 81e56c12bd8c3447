#include "tests/fuzz/readers.h"

#include <array>

namespace nl::fuzz {

std::span<const Reader> readers() {
#define NL_LIST_READER(name) Reader{#name, read::name},
  static constexpr std::array kReaders = {NL_FUZZ_READERS(NL_LIST_READER)};
#undef NL_LIST_READER
  return kReaders;
}

}  // namespace nl::fuzz
