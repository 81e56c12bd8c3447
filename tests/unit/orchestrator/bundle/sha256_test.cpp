#include "orchestrator/bundle/sha256.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

using nl::orchestrator::sha256_file;
using nl::test::FakeTree;

namespace {

std::string digest(const std::string& text) {
  const FakeTree tree;
  return sha256_file(tree.write("text", text));
}

}  // namespace

// The vectors of FIPS 180-4's examples and NIST's "million a" message.
TEST_CASE("SHA-256 of the standard's vectors") {
  if (nl::orchestrator::libcrypto() == nullptr) NL_SKIP("this machine has no libcrypto");
  CHECK(digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  CHECK(nl::orchestrator::libcrypto()->version.starts_with("OpenSSL "));
}

// Larger than the pieces in which a file is read. The digest is that of Python's hashlib.
TEST_CASE("SHA-256 of a large file is whole, and quick") {
  if (nl::orchestrator::libcrypto() == nullptr) NL_SKIP("this machine has no libcrypto");
  const FakeTree tree;
  const auto file = tree.write("large", std::string(64 << 20, 'x') + "end");
  const std::clock_t start = std::clock();  // of the processor: other tests may keep the machine busy
  CHECK(sha256_file(file) == "9ae9f4e238b1031dc4e098a7dbbf4698e3ff4d3fabc1d2b5c807fff251fb5cef");
  // A manifest covers gigabytes; every OpenSSL hashes more than 100 MB/s.
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 2);
}

TEST_CASE("a file that cannot be read has no SHA-256") {
  const FakeTree tree;
  CHECK_THROWS_AS(sha256_file(tree.root() / "none"), nl::Error);
  CHECK_THROWS_AS(sha256_file(tree.root()), nl::Error);
}
