#include "orchestrator/bundle/sha256.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "model/error.h"
#include "tests/catch.h"

using nl::orchestrator::Sha256;

namespace {

std::string digest(Sha256::Compress compress, const std::string& text, std::size_t piece) {
  Sha256 hash(compress);
  for (std::size_t at = 0; at < text.size(); at += piece)
    hash.update(text.data() + at, std::min(piece, text.size() - at));
  return hash.hex();
}

}  // namespace

// The vectors of FIPS 180-4's examples and NIST's "million a" message.
TEST_CASE("SHA-256 of the standard's vectors") {
  CHECK(nl::orchestrator::sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(nl::orchestrator::sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(nl::orchestrator::sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(nl::orchestrator::sha256_hex(std::string(1000000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("SHA-256 by the processor's instructions equals the portable one at every length") {
  if (Sha256::compress_native() == nullptr) NL_SKIP("this processor has no SHA-256 instructions");
  std::string text;
  for (int length = 0; length < 300; ++length) {
    INFO(length);
    const auto expected = digest(&Sha256::compress_portable, text, 300);
    CHECK(digest(Sha256::compress_native(), text, 300) == expected);
    CHECK(digest(Sha256::compress_native(), text, 7) == expected);
    text += static_cast<char>(length * 31 + 7);
  }
}

TEST_CASE("SHA-256 of a file") {
  const auto file = std::filesystem::temp_directory_path() / "nl_sha256_test.bin";
  std::ofstream(file) << std::string(3 << 20, 'x') << "end";
  CHECK(nl::orchestrator::sha256_file(file) == nl::orchestrator::sha256_hex(std::string(3 << 20, 'x') + "end"));
  std::filesystem::remove(file);
  CHECK_THROWS_AS(nl::orchestrator::sha256_file(file), nl::Error);
}
