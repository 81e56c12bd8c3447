#include "adapters/inputs.h"

#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/thrown.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

const TensorSpec kX{"x", "float32", {{-1, "batch"}, {2, ""}}};
const TensorSpec kIds{"ids", "int64", {{-1, "batch"}, {-1, "seq"}}};

Tensor random_of(const std::string& dtype, std::int64_t size, std::uint64_t seed = 1) {
  return make_inputs({{"x", dtype, {{size, ""}}}}, "random", seed, {}).at(0);
}

Error refusal_of_file(const std::vector<TensorSpec>& specs, const std::vector<Entry>& entries) {
  Folder folder;
  const auto file = folder.file("inputs.npz", npz(entries));
  Error error = thrown_by([&] { make_inputs(specs, file.string(), 1, {}); });
  CHECK(error.kind == ErrorKind::kUsage);
  return error;
}

const std::string kFour = npy("<f4", "(2, 2)", raw_values<float>({1, 2, 3, 4}));

}  // namespace

// The expected values are those of the same generator in Python.
TEST_CASE("a seed gives the same random values everywhere") {
  CHECK(values_of<float>(random_of("float32", 4)) ==
        std::vector<float>{-0.8944182395935059f, -0.33775943517684937f, 0.3146347105503082f, -0.020079191774129868f});
  CHECK(values_of<double>(random_of("float64", 2)) == std::vector<double>{-0.8944182532829836, -0.33775943799629293});
  CHECK(values_of<std::int64_t>(random_of("int64", 6, 7)) == std::vector<std::int64_t>{3, 3, 4, 0, 6, 5});
  CHECK(values_of<std::uint8_t>(random_of("uint8", 6, 7)) == std::vector<std::uint8_t>{3, 3, 4, 0, 6, 5});
}

TEST_CASE("values of 16 bits have the leading bits of the float") {
  // -0.8944182 is 0xbf64f898: the mantissa 0x64f898 cut to ten bits is 0x327, to seven bits 0x64.
  CHECK(values_of<std::uint16_t>(random_of("float16", 1)) == std::vector<std::uint16_t>{0xbb27});
  CHECK(values_of<std::uint16_t>(random_of("bfloat16", 1)) == std::vector<std::uint16_t>{0xbf64});
}

TEST_CASE("random booleans are all true, zeros are zeros") {
  CHECK(values_of<std::uint8_t>(random_of("bool", 3)) == std::vector<std::uint8_t>{1, 1, 1});
  const Tensor zeros = make_inputs({kX}, "zeros", 1, {{"batch", 3}}).at(0);
  CHECK(values_of<float>(zeros) == std::vector<float>(6, 0));
  CHECK(zeros.shape == std::vector<std::int64_t>{3, 2});
}

TEST_CASE("open sizes come from their symbols, or from input and position") {
  const std::vector<Tensor> inputs = make_inputs({kX, kIds}, "random", 1, {{"batch", 2}, {"seq", 5}});
  CHECK(inputs[0].shape == std::vector<std::int64_t>{2, 2});
  CHECK(inputs[1].shape == std::vector<std::int64_t>{2, 5});
  CHECK(make_inputs({{"x", "float32", {{-1, ""}, {-1, ""}}}}, "zeros", 1, {{"x.0", 4}, {"x.1", 3}})[0].shape ==
        std::vector<std::int64_t>{4, 3});
}

TEST_CASE("open sizes that are not given are listed, each once, with the flags that give them") {
  const Error error = thrown_by([] { make_inputs({kX, kIds, {"mask", "bool", {{-1, ""}}}}, "random", 1, {{"seq", 5}}); });
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.where == "x [batch, 2], ids [batch, seq], mask [?]");
  CHECK(error.fix == "give --dim batch=N --dim mask.0=N, or a file with --inputs");
}

TEST_CASE("inputs without a shape get theirs by name, with a type where the model says none") {
  const std::vector<TensorSpec> specs = {{"x", "", {}, false}, {"ids", "", {}, false}, kX};
  const GivenShapes shapes = {{"x", {{2, 3}, ""}}, {"ids", {{4}, "int64"}}, {"x2", {{5, 2}, ""}}};
  const std::vector<Tensor> inputs = make_inputs({specs[0], specs[1], {"x2", "float32", kX.shape}}, "zeros", 1, {}, shapes);
  CHECK(inputs[0].dtype == "float32");
  CHECK(inputs[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(inputs[1].dtype == "int64");
  CHECK(inputs[2].shape == std::vector<std::int64_t>{5, 2});  // the size that was open
  const Error error = thrown_by([&] { make_inputs(specs, "zeros", 1, {}, {{"x", {{2}, ""}}}); });
  CHECK(error.where == "ids ?, x [batch, 2]");
  CHECK(error.fix == "give --dim batch=N --shape ids=2x16:float32, or a file with --inputs");
}

TEST_CASE("a shape that the model does not allow, or of an input that it does not have, is refused") {
  const auto refusal = [](const GivenShapes& shapes) { return thrown_by([&] { make_inputs({kX}, "zeros", 1, {}, shapes); }); };
  CHECK(refusal({{"x", {{2, 3}, ""}}}).message == "--shape gives it [2, 3]");
  CHECK(refusal({{"x", {{2, 2}, "int64"}}}).fix == "the model wants float32 [batch, 2]");
  CHECK(refusal({{"y", {{2, 2}, ""}}}).fix == "--shape knows these: x");
}

TEST_CASE("a shape is sizes and a type") {
  CHECK(parse_shape("2x16").sizes == std::vector<std::int64_t>{2, 16});
  CHECK(parse_shape("2x16").dtype.empty());
  CHECK(parse_shape("7:int64").sizes == std::vector<std::int64_t>{7});
  CHECK(parse_shape("7:int64").dtype == "int64");
  CHECK(parse_shape(":bool").sizes.empty());
  for (const char* text : {"", "2x", "x2", "2xx3", "-1", "2x:int64", "2:float33", "two", "9999999999999999"}) {
    INFO(text);
    CHECK(thrown_by([&] { parse_shape(text); }).kind == ErrorKind::kUsage);
  }
}

TEST_CASE("inputs that the memory cannot hold are refused before they are made") {
  for (const char* from : {"random", "zeros"}) {
    const Error error = thrown_by([&] { make_inputs({kX}, from, 1, {{"batch", 999'999'999'999}}); });
    CHECK(error.kind == ErrorKind::kUsage);
    CHECK(error.where == "input x");
    CHECK(has(error.message, "its shape [999999999999, 2] takes 8.00 TB, more than the "));
  }
  const Error past_counting = thrown_by([] { make_inputs({kIds}, "zeros", 1, {{"batch", 1LL << 40}, {"seq", 1LL << 40}}); });
  CHECK(past_counting.kind == ErrorKind::kUsage);  // 2^83 bytes: the product of 64 bits would be 0
}

TEST_CASE("an input whose type cannot be made up is named") {
  const Error error = thrown_by([] { make_inputs({{"text", "string", {{1, ""}}}}, "random", 1, {}); });
  CHECK(error.where == "input text");
  CHECK(has(error.message, "string"));
}

TEST_CASE("inputs come from the arrays of their names, whatever else the file has") {
  Folder folder;
  const auto file = folder.file("in.npz", npz({{"other", kFour}, {"x", kFour}}));
  const std::vector<Tensor> inputs = make_inputs({kX}, file.string(), 1, {});
  REQUIRE(inputs.size() == 1);
  CHECK(values_of<float>(inputs[0]) == std::vector<float>{1, 2, 3, 4});
  CHECK(make_inputs({kX}, folder.file("in.npy", kFour).string(), 1, {})[0].name == "x");  // one array, one input
}

TEST_CASE("an input that the file lacks is named") {
  const Error error = refusal_of_file({kX, kIds}, {{"x", kFour}});
  CHECK(error.where == "input ids");
  CHECK(has(error.message, "inputs.npz has no array of this name"));
}

TEST_CASE("an array of another shape or type is refused with both") {
  const Error rank = refusal_of_file({kX}, {{"x", npy("<f4", "(2,)", "12345678")}});
  CHECK(rank.message == "inputs.npz has the shape [2] for it");
  CHECK(rank.fix == "the model wants float32 [batch, 2]");
  CHECK(refusal_of_file({kX}, {{"x", npy("<f4", "(1, 3)", "123456789012")}}).message == "inputs.npz has the shape [1, 3] for it");
  CHECK(refusal_of_file({kX}, {{"x", npy("<f8", "(1, 2)", "1234567890123456")}}).message == "inputs.npz has float64 for it");
}
