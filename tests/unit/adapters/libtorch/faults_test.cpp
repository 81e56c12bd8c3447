#include "adapters/libtorch/plugin.h"
#include "adapters/measure.h"
#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/libtorch/models.h"
#include "tests/unit/adapters/thrown.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

Error refusal_of_model(const std::filesystem::path& model) {
  return thrown_by([&] { libtorch().open(torch_options(model)); });
}

Error failure_of(SessionOptions options, const std::map<std::string, std::string>& shapes) {
  return thrown_by([&] {
    const auto session = libtorch().open(options);
    session->bind(random_inputs(*session, shapes));
    session->run();
  });
}

std::string no_version() { return ""; }
std::string version_3() { return "3.1.0"; }
const LibtorchPlugin kFitting = {kLibtorchLayout, NL_VERSION, "2.11.0+cu130", no_version, nullptr, nullptr};

}  // namespace

TEST_CASE("a model that is missing, cut short, damaged or something else is an error of the input") {
  NL_NEEDS_LIBTORCH();
  Folder folder;
  const std::string whole = read_text(torchscript("linear.pt"));
  CHECK(refusal_of_model(folder / "none.pt").message == "the model cannot be read");
  for (const auto& [name, text] : std::map<std::string, std::string>{{"cut.pt", whole.substr(0, whole.size() / 2)},
                                                                     {"pickle.pt", "\x80\x02}q\x01."},  // torch.save({}) of old
                                                                     {"empty.pt", ""},
                                                                     {"weights.pt", npz({{"w", npy("<f4", "(1,)", "1234")}})}}) {
    INFO(name);
    const Error error = refusal_of_model(folder.file(name.c_str(), text));
    CHECK(error.kind == ErrorKind::kInput);
    CHECK(has(error.message, "LibTorch cannot read the model: "));
    CHECK(error.message.find('\n') == std::string::npos);
    CHECK(has(error.where, name));
    CHECK(has(error.fix, "torch.jit.script"));
  }
}

TEST_CASE("code of a model that was damaged is an error of the input") {
  NL_NEEDS_LIBTORCH();
  Folder folder;
  std::string text = read_text(torchscript("linear.pt"));
  const auto at = text.find("code/__torch__");  // what follows the name is packed
  REQUIRE(at != std::string::npos);
  for (std::size_t n = at + 64; n < at + 80; ++n) text[n] = static_cast<char>(~text[n]);
  CHECK(refusal_of_model(folder.file("damaged.pt", text)).kind == ErrorKind::kInput);
}

TEST_CASE("a model whose forward is missing or takes a list is refused") {
  NL_NEEDS_LIBTORCH();
  CHECK(refusal_of_model(torchscript("other.pt")).message == "the model has no method forward");
  const Error list = refusal_of_model(torchscript("list.pt"));
  CHECK(list.kind == ErrorKind::kInput);
  CHECK(list.where == "input xs");
  CHECK(has(list.message, "List[Tensor]"));
}

TEST_CASE("a package of AOTInductor that LibTorch cannot load is refused") {
  NL_NEEDS_LIBTORCH();
  Folder folder;
  const Error error = refusal_of_model(folder.file("model.pt2", "PK"));
  CHECK((error.kind == ErrorKind::kTool || error.kind == ErrorKind::kInput));  // before 2.6, and since
}

TEST_CASE("a shape that is not given is asked for by the flag") {
  NL_NEEDS_LIBTORCH();
  const Error error = failure_of(torch_options(torchscript("add.pt")), {{"a", "2"}});
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.where == "b ?");
  CHECK(error.fix == "give --shape b=2x16:float32, or a file with --inputs");
}

TEST_CASE("inputs that the model cannot work with end the iteration with LibTorch's words") {
  NL_NEEDS_LIBTORCH();
  const Error shape = failure_of(torch_options(torchscript("linear.pt")), {{"x", "2x3"}});
  CHECK(shape.kind == ErrorKind::kWorkload);
  CHECK(has(shape.message, "mat1 and mat2 shapes cannot be multiplied (2x3 and 16x8)"));
  CHECK(shape.message.find('\n') == std::string::npos);
  const Error type = failure_of(torch_options(torchscript("tokens.pt")), {{"ids", "2:float32"}});
  CHECK(type.kind == ErrorKind::kWorkload);
  CHECK(has(type.message, "scalar types"));
  const auto session = libtorch().open(torch_options(torchscript("add.pt")));
  CHECK(has(thrown_by([&] { session->bind({floats("a", {1}, {1})}); }).message, "takes 2 inputs and was given 1"));
}

TEST_CASE("a session can run on after an iteration that failed") {
  NL_NEEDS_LIBTORCH();
  const auto session = libtorch().open(torch_options(torchscript("linear.pt"), true));
  session->bind(random_inputs(*session, {{"x", "2x3"}}));
  CHECK_THROWS_AS(session->run(), Error);
  session->bind(random_inputs(*session, {{"x", "2x16"}}));
  session->run();
  for (const NodeRun& run : session->executions().runs) CHECK(run.host_ns >= 0);
}

TEST_CASE("providers and precisions that are not there are named") {
  NL_NEEDS_LIBTORCH();
  SessionOptions options = torch_options(torchscript("linear.pt"));
  options.provider = "tpu";
  CHECK(failure_of(options, {{"x", "2x16"}}).message == "LibTorch has no provider \"tpu\"");
  options.provider = "cuda";
  if (libtorch().availability().providers.size() == 1)
    CHECK(failure_of(options, {{"x", "2x16"}}).message == "CUDA is not available to this LibTorch");
  options.provider = "cpu";
  options.precision = "int8";
  const Error int8 = failure_of(options, {{"x", "2x16"}});
  CHECK(int8.kind == ErrorKind::kUsage);
  CHECK(int8.message == "LibTorch cannot turn a model into int8");
}

TEST_CASE("an operator without a kernel for the precision is the precision's fault") {
  NL_NEEDS_LIBTORCH();
  SessionOptions options = torch_options(torchscript("inverse.pt"));
  options.precision = "fp16";
  const Error error = failure_of(options, {{"x", "4x4"}});
  INFO(error.message);
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(has(error.message, "fp16"));
}

TEST_CASE("values that are no numbers are counted") {
  NL_NEEDS_LIBTORCH();
  MeasureOptions options;
  options.session = torch_options(torchscript("sqrt.pt"));
  options.shapes = {{"x", {{2, 16}, ""}}};
  options.iterations = 1;
  const ModelSession session = measure(libtorch(), options);
  REQUIRE(session.notes.size() == 1);
  CHECK(has(session.notes[0], "of 32 values are NaN"));
}

TEST_CASE("a model that wants more memory than there is fails with the size") {
  NL_NEEDS_LIBTORCH();
  const Error error = failure_of(torch_options(torchscript("huge.pt")), {{"x", "1"}});
  CHECK(error.kind == ErrorKind::kWorkload);
  CHECK(has(error.message, "281474976710656 bytes"));
  CHECK(error.fix == "give it smaller inputs (--shape, --dim)");
}

TEST_CASE("a module that is missing, no module of ours or of another build says so") {
  Folder folder;
  CHECK(has(find_libtorch_module(folder / "bin/nl-stage", nullptr).reason, "libnl_libtorch.so is not beside nl-stage"));
  CHECK(has(find_libtorch_module({}, (folder / "gone.so").c_str()).reason, "gone.so"));
  CHECK(has(find_libtorch_module({}, folder.file("text.so", "no library").c_str()).reason, "text.so"));
  CHECK(has(find_libtorch_module({}, "libm.so.6").reason, "is no module of nl-stage"));

  CHECK(reason_against(kFitting).empty());
  LibtorchPlugin other = kFitting;
  other.nl_stage = "0.0.1";
  CHECK(reason_against(other) == "libnl_libtorch.so is of another nl-stage (0.0.1)");
  other = kFitting;
  other.layout = 1;
  other.nl_stage = nullptr;  // what follows the first field cannot be trusted
  CHECK(reason_against(other) == "libnl_libtorch.so is of another nl-stage (another layout)");
}

TEST_CASE("libraries of another version than the module was built with are refused") {
  LibtorchPlugin other = kFitting;
  other.library_version = version_3;
  CHECK(reason_against(other) == "libnl_libtorch.so was built with LibTorch 2.11.0+cu130, and the libraries here are 3.1.0");
  other.built_with = "3.1.2";
  CHECK(reason_against(other).empty());
}
