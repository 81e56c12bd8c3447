#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/onnxruntime/models.h"
#include "tests/unit/adapters/thrown.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

#ifdef __SANITIZE_ADDRESS__
// An allocation that cannot be had returns null, as it does without the sanitizer.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace {

Error load_error(const std::filesystem::path& model) {
  Folder scratch;
  Error error = thrown_by([&] { opened_session(model, scratch); });
  CHECK(error.where == model.string());
  CHECK_FALSE(error.fix.empty());
  return error;
}

Error option_error(void (*change)(SessionOptions&)) {
  SessionOptions options;
  options.model = made_model("linear.onnx");
  change(options);
  Error error = thrown_by([&] { onnxruntime().open(options); });
  CHECK(error.kind == ErrorKind::kUsage);
  return error;
}

}  // namespace

TEST_CASE("ONNX Runtime: a model that is not there, corrupt, truncated or empty is refused by name") {
  NL_NEEDS_ONNXRUNTIME();
  Folder folder;
  const std::string whole = read_text(made_model("linear.onnx"));
  for (const auto& file : {folder / "missing.onnx", folder.file("corrupt.onnx", "\x01\x02\x03 this is no model"),
                           folder.file("truncated.onnx", whole.substr(0, whole.size() / 2)), folder.file("empty.onnx", "")}) {
    const Error error = load_error(file);
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(has(error.message, "ONNX Runtime does not load the model: "));
  }
}

TEST_CASE("ONNX Runtime: an operator that it does not know is named") {
  NL_NEEDS_ONNXRUNTIME();
  const Error error = load_error(made_model("unknown.onnx"));
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(has(error.message, "NoSuchOperator"));
}

TEST_CASE("ONNX Runtime: an operator without a kernel is named, and it is no damage of the model") {
  NL_NEEDS_ONNXRUNTIME();
  const Error error = load_error(made_model("no_kernel.onnx"));
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(has(error.message, "MatMul"));
}

TEST_CASE("ONNX Runtime: a file of weights that is missing is named") {
  NL_NEEDS_ONNXRUNTIME();
  Folder folder;
  std::filesystem::copy(made_model("external.onnx"), folder.path);
  const Error error = load_error(folder / "external.onnx");
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(has(error.message, "external.data"));
}

TEST_CASE("ONNX Runtime: a provider that is not there is refused with those that are") {
  NL_NEEDS_ONNXRUNTIME();
  const Error error = option_error([](SessionOptions& options) { options.provider = "npu"; });
  CHECK(has(error.message, "has no provider \"npu\""));
  CHECK(has(error.fix, "give one of: cpu"));
}

TEST_CASE("ONNX Runtime: a precision that the model lacks is refused with what it has") {
  NL_NEEDS_ONNXRUNTIME();
  CHECK(has(option_error([](SessionOptions& options) { options.precision = "fp16"; }).message, "the model has fp32"));
  CHECK(option_error([](SessionOptions& options) { options.precision = "int8"; }).where == "--precision int8");
  SessionOptions half;
  half.model = made_model("half.onnx");
  half.precision = "fp16";
  CHECK_NOTHROW(onnxruntime().open(half));
}

TEST_CASE("ONNX Runtime: memory that cannot be had is told as such") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const Error error = thrown_by([&] { measure(onnxruntime(), measure_options(made_model("huge.onnx"), scratch)); });
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(has(error.message, "ONNX Runtime is out of memory: "));
  CHECK(has(error.message, "/Expand"));
}

TEST_CASE("ONNX Runtime: inputs that do not fit each other end with the node that found it") {
  NL_NEEDS_ONNXRUNTIME();
  Folder folder;
  MeasureOptions options = measure_options(made_model("add.onnx"), folder);
  const auto rows = [](int count) {
    return npy("<f4", "(" + std::to_string(count) + ", 16)", std::string(static_cast<std::size_t>(count) * 64, '\0'));
  };
  options.inputs = folder.file("in.npz", npz({{"a", rows(2)}, {"b", rows(3)}})).string();
  const Error error = thrown_by([&] { measure(onnxruntime(), options); });
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(has(error.message, "/Add"));
}

TEST_CASE("ONNX Runtime: sizes that are not given are listed by the model's symbols") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  MeasureOptions options = measure_options(made_model("block.onnx"), scratch);
  options.dims = {{"batch", 1}};
  const Error error = thrown_by([&] { measure(onnxruntime(), options); });
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.where == "x [batch, seq, 64], past_key [batch, 4, past, 16], past_value [batch, 4, past, 16]");
  CHECK(has(error.fix, "--dim past=N --dim seq=N"));
}

TEST_CASE("ONNX Runtime: outputs that are no numbers are counted") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  MeasureOptions options = measure_options(made_model("sqrt.onnx"), scratch);
  options.inputs = (scratch / "in.npz").string();
  scratch.file("in.npz", npz({{"x", npy("<f4", "(1, 16)", raw_values<float>({-1, 4, -9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}))}}));
  CHECK(measure(onnxruntime(), options).notes == std::vector<std::string>{"y: 2 of 16 values are NaN"});
}
