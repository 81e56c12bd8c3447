#include <algorithm>

#include "adapters/measure.h"
#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/libtorch/models.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

Executions torch_executions(const std::string& model, const std::map<std::string, std::string>& shapes, int iterations) {
  const auto session = libtorch().open(torch_options(torchscript(model), true));
  session->bind(random_inputs(*session, shapes));
  for (int n = 0; n < iterations; ++n) session->run();
  return session->executions();
}

// n of control.pt: so many additions, then a relu for more than two, else a neg.
std::vector<std::string> types_of_control(std::int64_t n) {
  const auto session = libtorch().open(torch_options(torchscript("control.pt"), true));
  Tensor number{"n", "int64", {}, std::vector<std::byte>(8)};
  std::memcpy(number.data.data(), &n, sizeof n);
  session->bind({floats("x", {2}, {1, 2}), number});
  session->run();
  std::vector<std::string> types;
  for (const SessionNode& node : session->executions().nodes)
    if (node.depth == 0) types.push_back(node.type);
  return types;
}

void check_close(const Tensor& a, const Tensor& b) {
  REQUIRE(a.shape == b.shape);
  const std::vector<float> left = values_of<float>(a), right = values_of<float>(b);
  float worst = 0;
  for (std::size_t n = 0; n < left.size(); ++n) worst = std::max(worst, std::abs(left[n] - right[n]));
  CHECK(worst < 2e-5f);  // sums of up to 512 products in float32, in another order
}

// Same inputs for both, by the names of ONNX.
void check_same_outputs(const std::string& name, const std::map<std::string, std::string>& shapes) {
  const Adapter& other = adapter_named("onnxruntime");
  if (!other.availability().loads) NL_SKIP("ONNX Runtime: " + other.availability().reason);
  Folder scratch;
  SessionOptions options = torch_options(NL_BUILD_ROOT "/tests/unit/adapters/models/" + name + ".onnx");
  options.scratch = scratch.path;
  const auto torch = libtorch().open(torch_options(torchscript(name + ".pt"))), onnx = other.open(options);
  const std::vector<Tensor> inputs = random_inputs(*torch, shapes);
  torch->bind(inputs);
  onnx->bind(inputs);
  torch->run();
  onnx->run();
  const std::vector<Tensor> a = torch->results(), b = onnx->results();
  REQUIRE(a.size() == b.size());
  for (std::size_t n = 0; n < a.size(); ++n) check_close(a[n], b[n]);
}

}  // namespace

TEST_CASE("LibTorch is here with its version and at least the CPU") {
  NL_NEEDS_LIBTORCH();
  const Availability found = libtorch().availability();
  CHECK(found.built_in);
  CHECK(has(found.library, "libnl_libtorch.so"));
  CHECK(found.version.find_first_not_of("0123456789.+abcdefghijklmnopqrstuvwxyz") == std::string::npos);
  CHECK(found.providers.at(0) == "cpu");
}

TEST_CASE("inputs are called as in forward, and TorchScript says no shapes") {
  NL_NEEDS_LIBTORCH();
  const std::vector<TensorSpec> inputs = libtorch().open(torch_options(torchscript("block.pt")))->inputs();
  REQUIRE(inputs.size() == 3);
  CHECK(inputs[0].name == "x");
  CHECK(inputs[1].name == "past_key");
  CHECK(inputs[2].name == "past_value");
  CHECK_FALSE(inputs[0].shape_known);
}

TEST_CASE("numbers are fed as tensors without dimensions, defaults are kept, a dict names its results") {
  NL_NEEDS_LIBTORCH();
  const auto session = libtorch().open(torch_options(torchscript("numbers.pt")));
  const std::vector<TensorSpec> inputs = session->inputs();
  REQUIRE(inputs.size() == 3);  // x, scale, negative; times has a default of 3
  CHECK(inputs[1].dtype == "float64");
  CHECK(inputs[2].dtype == "bool");
  Tensor scale{"scale", "float64", {}, std::vector<std::byte>(8)}, negative{"negative", "bool", {}, {std::byte{1}}};
  const double half = 0.5;
  std::memcpy(scale.data.data(), &half, sizeof half);
  session->bind({floats("x", {2}, {2, -4}), scale, negative});
  session->run();
  const std::vector<Tensor> results = session->results();
  REQUIRE(results.size() == 1);
  CHECK(results[0].name == "y");
  CHECK(values_of<float>(results[0]) == std::vector<float>{-3, 6});
}

TEST_CASE("a tuple counts as its parts") {
  NL_NEEDS_LIBTORCH();
  const std::vector<TensorSpec> outputs = libtorch().open(torch_options(torchscript("block.pt")))->outputs();
  REQUIRE(outputs.size() == 3);
  CHECK(outputs[0].name == "output_0");
  CHECK(outputs[2].name == "output_2");
}

TEST_CASE("each execution of an operator is recorded once, with shapes, types and device") {
  NL_NEEDS_LIBTORCH();
  const Executions done = torch_executions("add.pt", {{"a", "2x16"}, {"b", "16"}}, 3);
  REQUIRE(done.nodes.size() == 1);
  CHECK(done.nodes[0] == SessionNode{"aten::add 1", "aten::add", "cpu", "[[2, 16], [16], []]", "[float32, float32]", 0, {}, 1});
  REQUIRE(done.runs.size() == 3);
  for (std::uint32_t n = 0; n < 3; ++n) {
    CHECK(done.runs[n].iteration == n);
    CHECK(done.runs[n].host_ns > 0);
    CHECK_FALSE(done.runs[n].gpu_ns);
  }
  CHECK(done.runs[0].start_ns + done.runs[0].host_ns <= done.runs[1].start_ns);
}

TEST_CASE("an operator has its own inputs, whatever else lies on the interpreter's stack") {
  NL_NEEDS_LIBTORCH();
  const Executions done = torch_executions("block.pt", {{"x", "1x2x64"}, {"past_key", "1x4x3x16"}, {"past_value", "1x4x3x16"}}, 3);
  for (const SessionNode& node : done.nodes) {
    INFO(node.name << " " << node.shapes);
    if (node.type == "aten::add") CHECK(std::count(node.shapes.begin(), node.shapes.end(), '[') == 4);  // self, other, alpha, and the list
    if (node.type == "aten::gelu") CHECK(node.shapes == "[[1, 2, 256], []]");
  }
}

TEST_CASE("an operator that another one calls lies inside of it") {
  NL_NEEDS_LIBTORCH();
  const Executions done = torch_executions("linear.pt", {{"x", "2x16"}}, 1);
  const auto run_of = [&](const std::string& name) {
    return *std::find_if(done.runs.begin(), done.runs.end(), [&](const NodeRun& run) { return done.nodes[run.node].name == name; });
  };
  const NodeRun matmul = run_of("aten::matmul 1"), mm = run_of("aten::mm 1");
  CHECK(done.nodes[matmul.node].depth == 0);
  CHECK(done.nodes[mm.node].depth == 1);
  CHECK(done.nodes[mm.node].shapes == "[[2, 16], [16, 8]]");
  CHECK(mm.start_ns >= matmul.start_ns);
  CHECK(mm.start_ns + mm.host_ns <= matmul.start_ns + matmul.host_ns);
}

TEST_CASE("an operator is called by the module that it belongs to") {
  NL_NEEDS_LIBTORCH();
  const Executions done = torch_executions("deep.pt", {{"x", "1x2x128"}}, 3);
  std::map<std::string, int> norms;
  for (const SessionNode& node : done.nodes)
    if (node.type == "aten::layer_norm") ++norms[node.name];
  CHECK(norms.size() == 16);
  CHECK(norms.count("block0/aten::layer_norm 1") == 1);
  CHECK(norms.count("block7/aten::layer_norm 2") == 1);
}

TEST_CASE("loops and branches are recorded as they were run") {
  NL_NEEDS_LIBTORCH();
  CHECK(types_of_control(1) == std::vector<std::string>{"aten::add", "aten::neg"});
  CHECK(types_of_control(3) == std::vector<std::string>{"aten::add", "aten::add", "aten::add", "aten::relu"});
}

TEST_CASE("operators of forked tasks are recorded too") {
  NL_NEEDS_LIBTORCH();
  const Executions done = torch_executions("forked.pt", {{"x", "2x3"}}, 4);
  std::map<std::string, int> calls;
  for (const NodeRun& run : done.runs)
    if (done.nodes[run.node].depth == 0) ++calls[done.nodes[run.node].type];
  CHECK(calls["aten::neg"] == 4);
  CHECK(calls["aten::relu"] == 4);
  CHECK(calls["aten::add"] == 4);
}

TEST_CASE("a session that is not profiled records nothing, and is not recorded by one that is") {
  NL_NEEDS_LIBTORCH();
  const auto plain = libtorch().open(torch_options(torchscript("add.pt"))),
             profiled = libtorch().open(torch_options(torchscript("add.pt"), true));
  for (const auto* session : {&plain, &profiled}) (*session)->bind({floats("a", {1}, {1}), floats("b", {1}, {2})});
  plain->run();
  profiled->run();
  plain->run();
  CHECK(plain->executions().runs.empty());
  CHECK(profiled->executions().runs.size() == 1);
  CHECK(values_of<float>(plain->results().at(0)) == std::vector<float>{3});
}

TEST_CASE("bf16 changes weights and floating inputs, not indices") {
  NL_NEEDS_LIBTORCH();
  SessionOptions options = torch_options(torchscript("linear.pt"), true);
  options.precision = "bf16";
  const auto linear = libtorch().open(options);
  linear->bind(random_inputs(*linear, {{"x", "2x16"}}));
  linear->run();
  CHECK(linear->results().at(0).dtype == "bfloat16");
  CHECK(linear->executions().nodes.at(0).dtypes == "[bfloat16, bfloat16]");
  options.model = torchscript("tokens.pt");
  const auto tokens = libtorch().open(options);
  tokens->bind(random_inputs(*tokens, {{"ids", "2x5:int64"}}));
  CHECK_NOTHROW(tokens->run());
}

TEST_CASE("nodes of a measured model are those of its measured iterations") {
  NL_NEEDS_LIBTORCH();
  MeasureOptions options;
  options.session = torch_options(torchscript("block.pt"));
  options.shapes = {{"x", {{1, 2, 64}, ""}}, {"past_key", {{1, 4, 3, 16}, ""}}, {"past_value", {{1, 4, 3, 16}, ""}}};
  options.iterations = 2;
  const ModelSession session = measure(libtorch(), options);
  CHECK(session.outputs.at(1).shape == std::vector<std::int64_t>{1, 4, 5, 16});
  CHECK(session.runs.size() == 2 * session.nodes.size());
  CHECK(std::count_if(session.nodes.begin(), session.nodes.end(),
                      [](const SessionNode& node) { return node.type == "aten::matmul" && node.depth == 0; }) == 8);
}

TEST_CASE("the block, its cache and eight blocks in a row give what ONNX Runtime gives") {
  NL_NEEDS_LIBTORCH();
  check_same_outputs("linear", {{"x", "3x16"}});
  check_same_outputs("block", {{"x", "2x5x64"}, {"past_key", "2x4x3x16"}, {"past_value", "2x4x3x16"}});
  check_same_outputs("deep", {{"x", "2x5x128"}});
}
