#include "adapters/inputs.h"

#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/thrown.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

const std::string kTwoByThree = npy("<f4", "(2, 3)", raw_values<float>({1, 2, 3, 4, 5, 6.5f}));

// np.savez_compressed(ids=np.array([7, -1])): the 144 bytes of the array as zlib's raw deflate.
const std::string kDeflated(
    "\x9b\xec\x17\xea\x1b\x10\xc9\xc8\x50\xc6\x50\xad\x9e\x92\x5a\x9c\x5c\xa4\x6e\xa5\xa0\x6e\x93\x69\xa1\xae\xa3\xa0\x9e\x96\x5f\x54\x52"
    "\x94\x98"
    "\x17\x9f\x5f\x94\x92\x0a\x12\x77\x4b\xcc\x29\x4e\x05\x8a\x17\x67\x24\x16\xa4\x02\xf9\x1a\x46\x3a\x9a\x3a\x0a\xb5\x0a\x14\x00\x2e\x76"
    "\x06\x08"
    "\xf8\x0f\x05\x00",
    74);

Error refusal(const char* name, const std::string& bytes) {
  Folder folder;
  const auto file = folder.file(name, bytes);
  Error error = thrown_by([&] { read_numpy(file); });
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.where == file.string());
  return error;
}

}  // namespace

TEST_CASE("an array of NumPy has its type, shape and values, and no name") {
  Folder folder;
  const std::vector<Tensor> tensors = read_numpy(folder.file("x.npy", kTwoByThree));
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].name.empty());
  CHECK(tensors[0].dtype == "float32");
  CHECK(tensors[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(values_of<float>(tensors[0]) == std::vector<float>{1, 2, 3, 4, 5, 6.5f});
}

TEST_CASE("an array without dimensions has one value") {
  Folder folder;
  const std::vector<Tensor> tensors = read_numpy(folder.file("x.npy", npy("<i8", "()", raw<std::int64_t>(16000))));
  CHECK(tensors[0].shape.empty());
  CHECK(values_of<std::int64_t>(tensors[0]) == std::vector<std::int64_t>{16000});
}

TEST_CASE("an archive has its arrays by name, with what np.savez puts between them") {
  Folder folder;
  const std::string bools = npy("|b1", "(3,)", std::string("\x01\x00\x01", 3));
  const std::vector<Tensor> tensors = read_numpy(folder.file("x.npz", npz({{"x", kTwoByThree}, {"past_key", bools}})));
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].name == "x");
  CHECK(values_of<float>(tensors[0])[5] == 6.5f);
  CHECK(tensors[1].name == "past_key");
  CHECK(tensors[1].dtype == "bool");
  CHECK(tensors[1].shape == std::vector<std::int64_t>{3});
}

TEST_CASE("a packed array is unpacked") {
  Folder folder;
  const auto file = folder.file("x.npz", npz({{"ids", kDeflated, 8, 144}}));
  CHECK(values_of<std::int64_t>(read_numpy(file).at(0)) == std::vector<std::int64_t>{7, -1});
}

TEST_CASE("files that hold no arrays are refused with their name") {
  CHECK(has(refusal("x.npy", "hello, this is no array").message, "no array of NumPy"));
  CHECK(has(refusal("x.npz", "hello, this is no archive").message, "no zip archive"));
  CHECK(has(refusal("x.npz", "").message, "no zip archive"));
  CHECK(thrown_by([] { read_numpy("/nonexistent/x.npz"); }).where == "/nonexistent/x.npz");
}

TEST_CASE("a truncated array is refused") {
  for (std::size_t size = 0; size < kTwoByThree.size(); size += 7) refusal("x.npy", kTwoByThree.substr(0, size));
  CHECK(has(refusal("x.npy", kTwoByThree.substr(0, kTwoByThree.size() - 1)).message, "ends too early"));
}

TEST_CASE("a truncated archive is refused") {
  const std::string whole = npz({{"x", kTwoByThree}});
  for (std::size_t size = 0; size < whole.size(); size += 11) refusal("x.npz", whole.substr(0, size));
}

TEST_CASE("sizes that the file cannot hold are refused before they are allocated") {
  refusal("x.npy", npy("<f4", "(99999999999, 99999999999)", "1234"));
  refusal("x.npy", npy("<f4", "(99999999999999999999,)", "1234"));
  CHECK(has(refusal("x.npz", npz({{"x", kDeflated, 8, 0x7fffffff}})).message, "a thousand times"));
}

TEST_CASE("an archive whose entries share their bytes is refused: it would unpack them any number of times") {
  const Entry entry{"ids", kDeflated, 8, 144};
  CHECK(has(refusal("x.npz", npz(std::vector<Entry>(100, entry), true)).message, "share their bytes"));
  Folder folder;
  CHECK(read_numpy(folder.file("x.npz", npz(std::vector<Entry>(100, entry)))).size() == 100);
}

TEST_CASE("a shape that holds something else than sizes is refused") {
  CHECK(has(refusal("x.npy", npy("<f4", "(-2, 16)", std::string(128, '1'))).message, "something else than sizes"));
  CHECK(has(refusal("x.npy", npy("<f4", "(2*1,)", std::string(128, '1'))).message, "something else than sizes"));
  Folder folder;
  CHECK(read_numpy(folder.file("x.npy", npy("<f4", "(2L, 1L)", "12345678"))).at(0).shape == std::vector<std::int64_t>{2, 1});  // Python 2
}

TEST_CASE("arrays that would be read wrongly are refused") {
  CHECK(has(refusal("x.npy", npy("<U4", "(1,)", "1234567890123456")).message, "<U4"));
  CHECK(has(refusal("x.npy", npy(">f4", "(1,)", "1234")).message, ">f4"));
  CHECK(has(refusal("x.npy", npy_with_header("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }\n", "1234")).message,
            "column by column"));
  CHECK(has(refusal("x.npy", npy_with_header("{'fortran_order': False, }\n", "1234")).message, "not NumPy's"));
}
