// Every input of the corpus, without a fuzzer: those that once crashed a reader are among them.
#include <algorithm>

#include "tests/catch.h"
#include "tests/fuzz/readers.h"
#include "tests/unit/files.h"

namespace {

void replay(std::string_view name) {
  const auto readers = nl::fuzz::readers();
  const auto reader = std::find_if(readers.begin(), readers.end(), [&](const auto& each) { return each.name == name; });
  REQUIRE(reader != readers.end());
  std::size_t taken = 0;
  for (const auto& input : std::filesystem::directory_iterator(std::filesystem::path(NL_FUZZ_CORPUS) / name)) {
    INFO(input.path().string());
    const std::string bytes = nl::test::read_text(input);
    REQUIRE_NOTHROW(taken += nl::fuzz::takes([&] { reader->read(bytes); }) ? 1 : 0);
  }
  // A corpus that a newer reader refuses from the first byte on would find nothing any more.
  CHECK(taken > 0);
}

}  // namespace

#define NL_REPLAY_CASE(name) \
  TEST_CASE("corpus: " #name) { replay(#name); }
NL_FUZZ_READERS(NL_REPLAY_CASE)
