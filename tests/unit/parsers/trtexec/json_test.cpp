#include "parsers/trtexec/json.h"

#include "model/error.h"
#include "parsers/registry.h"
#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::ScratchFile;

namespace {
const std::filesystem::path kFolder = NL_FIXTURES "/trtexec";
}

TEST_CASE("trtexec's profile and layers: GPU time, and no host time made up") {
  const OperatorTable table = read_trtexec(kFolder / "profile.json", kFolder / "layers_detailed.json").table;
  CHECK(table.source == "trtexec");
  CHECK(table.file == "profile.json");
  REQUIRE(table.entries.size() == 5);
  const OperatorEntry& first = table.entries[0];
  CHECK(first.name == "/layers.0/qkv_proj + /layers.0/bias");
  CHECK(first.type == "gemm");
  CHECK(first.calls == 412);
  CHECK_FALSE(first.host_time_known);
  CHECK(first.cuda_total_ns == 31509900);
  CHECK(first.cuda_self_ns == 31509900);
  REQUIRE(first.shapes.size() == 1);
  CHECK(first.shapes[0].text == "[[1, 256, 1024], [1024, 1536]]");
  REQUIRE(first.kernels.size() == 1);
  CHECK(first.kernels[0].name.substr(0, 15) == "sm90_xmma_gemm_");
  CHECK(table.entries[1].name == "/layers.0/attention");
  CHECK(table.entries[1].shapes.at(0).text == "[[]]");
  CHECK(table.entries[4].name.substr(0, 12) == "Reformatting");
  CHECK(table.entries[4].type.empty());
  CHECK(table.cuda_ns == 4714120 + 31509900 + 1200040 + 20100300 + 18390000);
  CHECK_FALSE(table.gpu_share);
  CHECK(table.note == "GPU time of TensorRT's layers over 412 runs; host time is not known");
}

TEST_CASE("a layer file with names only says how to get more; none is fine too") {
  const OperatorTable table = read_trtexec(kFolder / "profile.json", kFolder / "layers_names.json").table;
  CHECK(table.entries[0].type.empty());
  CHECK(table.note.find("--profilingVerbosity=detailed") != std::string::npos);
  CHECK(read_trtexec(kFolder / "profile.json").table.entries.size() == 5);
}

TEST_CASE("profile and layers are told apart by what is in them") {
  const auto files = {kFolder / "profile.json", kFolder / "layers_detailed.json"};
  const Format* format = sniff(kFolder / "profile.json");
  REQUIRE(format != nullptr);
  CHECK(sniff(kFolder / "layers_names.json") == format);
  for (const Files& order : {Files(files), Files(std::rbegin(files), std::rend(files))}) {
    const auto table = std::get<OperatorRecords>(format->read(order)).table;
    CHECK(table.file == "profile.json");
    CHECK(table.entries.at(0).type == "gemm");
  }
}

TEST_CASE("layers of one name are one row, damaged rows are counted") {
  const ScratchFile file(R"([{"name": "a", "timeMs": 1}, {"count": 2}, {"name": "a", "timeMs": 0.5}, {"name": "b"}, {"timeMs": 3}, 7,
    {"name": "c", "timeMs": -1}, {"name": "d", "timeMs": 1e300}, {"name": "e", "timeMs": "1"}])");
  const OperatorTable table = read_trtexec(file.path).table;
  REQUIRE(table.entries.size() == 1);
  CHECK(table.entries[0].calls == 4);
  CHECK(table.entries[0].cuda_self_ns == 1500000);
  CHECK(table.note.find("; 6 rows were damaged and are left out") != std::string::npos);
}

TEST_CASE("what is no file of trtexec is refused") {
  for (const char* text : {"", "[", "{}", "[]", "[{\"name\": \"a\", \"timeMs\": 1}]", "[{\"count\": -1}]", "3", "\xff"}) {
    INFO(text);
    const ScratchFile file(text);
    CHECK_THROWS_AS(read_trtexec(file.path), Error);
    CHECK_THROWS_AS(read_trtexec(kFolder / "profile.json", file.path), Error);
  }
  CHECK_THROWS_AS(read_trtexec(kFolder / "absent.json"), Error);
}

TEST_CASE("layers come by their time, those of one time as in the file") {
  const ScratchFile file(
      R"([{"count": 1}, {"name": "b", "timeMs": 1}, {"name": "a", "timeMs": 1}, {"name": "d", "timeMs": 3}, {"name": "c", "timeMs": 1}])");
  std::string order;
  for (const OperatorEntry& entry : read_trtexec(file.path).table.entries) order += entry.name;
  CHECK(order == "dbac");
}

TEST_CASE("the first description of a layer holds, for every layer that has a time") {
  const ScratchFile profile(R"([{"count": 3}, {"name": "a", "timeMs": 2}, {"name": "b", "timeMs": 1}])");
  const ScratchFile layers(
      R"({"Layers": [{"Name": "other", "LayerType": "x"}, {"Name": "a", "LayerType": "gemm", "Inputs": [{"Dimensions": [1, -1]}], "TacticName": "t"},
    {"Name": "a", "LayerType": "copy", "Inputs": [{"Dimensions": [9]}], "TacticName": "u"}]})");
  const OperatorTable table = read_trtexec(profile.path, layers.path).table;
  REQUIRE(table.entries.size() == 2);
  const OperatorEntry& entry = table.entries[0];
  CHECK(entry.type == "gemm");
  REQUIRE(entry.shapes.size() == 1);
  CHECK(entry.shapes[0].text == "[[1, -1]]");
  CHECK(entry.shapes[0].calls == 3);
  CHECK(entry.shapes[0].cuda_total_ns == 2000000);
  REQUIRE(entry.kernels.size() == 1);
  CHECK(entry.kernels[0].name == "t");
  CHECK(entry.kernels[0].calls == 3);
  CHECK(entry.kernels[0].total_ns == 2000000);
  CHECK(table.entries[1].type.empty());
  CHECK(table.entries[1].cuda_total_ns == 1000000);
  CHECK(table.note == "GPU time of TensorRT's layers over 3 runs; host time is not known");
}

TEST_CASE("strange layers do no harm") {
  const ScratchFile file(
      R"({"Layers": [{}, {"Name": 3}, 7, null, {"Name": "/layers.0/mlp", "Inputs": [3]}, {"Name": "/layers.0/mlp", "Inputs": {}},
    {"Name": "/layers.0/mlp", "Inputs": [{"Dimensions": ["x"]}], "LayerType": [], "TacticName": {}}]})");
  const OperatorTable table = read_trtexec(kFolder / "profile.json", file.path).table;
  for (const auto& entry : table.entries) CHECK(entry.shapes.empty());
}

TEST_CASE("layers are listed in the order of the engine, with what each holds") {
  const OperatorRecords records = read_trtexec(kFolder / "profile.json", kFolder / "layers_detailed.json");
  REQUIRE(records.steps.size() == 1);
  const OperatorStep& step = records.steps[0];
  CHECK(step.stage == "inference");
  CHECK(step.source == "trtexec");
  CHECK(step.file == "profile.json");
  CHECK(step.iterations == 412);
  REQUIRE(step.calls.size() == 5);
  const OperatorCall& norm = step.calls[0];
  CHECK(norm.node == "/layers.0/input_norm");
  CHECK(norm.name == "kgen");
  CHECK(norm.holds == std::vector<std::string>{"/layers.0/input_norm"});
  CHECK_FALSE(norm.host_ns);
  CHECK(norm.gpu_ns == 11360);
  REQUIRE(norm.gpu_times);
  CHECK(norm.gpu_times->count == 412);
  CHECK(norm.gpu_times->total_ns == 4714120);
  CHECK_FALSE(norm.gpu_times->min_ns);
  const OperatorCall& product = step.calls[1];
  CHECK(product.index == 1);
  CHECK(product.holds == std::vector<std::string>{"/layers.0/qkv_proj", "/layers.0/bias"});
  CHECK(product.shapes == "[[1, 256, 1024], [1024, 1536]]");
  CHECK(product.dtypes == "[float16, float16]");
  CHECK(product.output_shapes == "[[1, 256, 1536]]");
  REQUIRE(product.kernels.size() == 1);
  CHECK(product.kernels[0].total_ns == 76192);
  CHECK(step.calls[2].name.empty());
  CHECK(step.calls[4].node == "/layers.0/mlp");
}

TEST_CASE("layers of one name are rows of their own, and the mean stands in for a median that is not there") {
  const ScratchFile file(R"([{"count": 10}, {"name": "copy", "timeMs": 1.0}, {"name": "copy", "timeMs": 2.0, "medianMs": 0.19}])");
  const OperatorRecords records = read_trtexec(file.path);
  REQUIRE(records.steps[0].calls.size() == 2);
  CHECK(records.steps[0].calls[0].gpu_ns == 100000);
  CHECK(records.steps[0].calls[1].gpu_ns == 190000);
  REQUIRE(records.table.entries.size() == 1);
  CHECK(records.table.entries[0].cuda_self_ns == 3000000);
}

TEST_CASE("a layer's metadata names all ONNX nodes that were fused into it") {
  const ScratchFile profile(R"([{"count": 1}, {"name": "conv", "timeMs": 1.0}])");
  const ScratchFile layers(R"({"Layers": [{"Name": "conv", "LayerType": "CaskConvolution",
    "Inputs": [{"Dimensions": [1, 3], "Format/Datatype": "Row major linear FP16 format"}], "Outputs": [{"Dimensions": [1], "Format/Datatype": "Odd"}],
    "Metadata": "[ONNX Layer: /conv/Conv]\u001e[ONNX Layer: /relu/Relu"}]})");
  const OperatorCall layer = read_trtexec(profile.path, layers.path).steps[0].calls[0];
  CHECK(layer.holds == std::vector<std::string>{"/conv/Conv"});  // the second has no end
  CHECK(layer.dtypes == "[float16]");
  CHECK(layer.output_dtypes == "[Odd]");
}
