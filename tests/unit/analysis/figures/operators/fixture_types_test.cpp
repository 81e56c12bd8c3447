#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "analysis/figures/operators/operators.h"
#include "analysis/figures/operators/types.h"
#include "parsers/collector/trace.h"
#include "parsers/kineto/json.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "parsers/trtexec/json.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/unpacked.h"

namespace {

namespace fs = std::filesystem;

// What has no type, and why.
const std::map<std::string, std::string> kWithoutType = {
    {"_torchaudio::cuda_version", "asks for a version"},
    {"_torchaudio::is_align_available", "asks for a feature"},
    {"torchvision::_cuda_version", "asks for a version"},
};

std::optional<nl::Trace> trace_of(const fs::path& file) {
  const std::string name = file.string();
  if (name.ends_with(".nltrace.gz")) return nl::parsers::read_collector_traces({Unpacked(file).file});
  if (name.ends_with(".sqlite.gz")) return nl::parsers::read_nsys_sqlite(Unpacked(file).file);
  if (name.ends_with(".sqlite")) return nl::parsers::read_nsys_sqlite(file);
  if (name.ends_with("kineto.json.gz")) return nl::parsers::read_kineto_json(file);
  if (name.ends_with("onnxruntime/profile.json")) return nl::parsers::read_ort_profile(file);
  return std::nullopt;
}

}  // namespace

TEST_CASE("every operator of a framework that the fixtures hold has a type") {
  std::map<std::string, std::string> operators;  // name → where
  for (const auto& entry : fs::recursive_directory_iterator(NL_FIXTURES)) {
    if (!entry.is_regular_file()) continue;
    const auto trace = trace_of(entry.path());
    if (!trace) continue;
    nl::Run run;
    nl::analysis::add_operators(*trace, {}, run);
    for (const nl::OperatorTable& table : run.operators)
      if (table.source != "NVTX ranges" && table.source != "user annotations")  // those are the workloads' own words
        for (const nl::OperatorEntry& each : table.entries) operators.emplace(each.name, entry.path().string());
  }
  CHECK(operators.size() > 70);
  CHECK(operators.count("MatMul") == 1);
  for (const auto& [name, where] : operators) {
    INFO(name << " of " << where);
    CHECK((nl::analysis::operator_type(name) != nl::OperatorType::kOther) == !kWithoutType.contains(name));
  }
}

TEST_CASE("every layer of TensorRT that the fixtures hold has a type") {
  const auto records = nl::parsers::read_trtexec(NL_FIXTURES "/trtexec/profile.json", NL_FIXTURES "/trtexec/layers_detailed.json");
  nl::Run run;
  nl::analysis::add_operator_records(records, run);
  REQUIRE(run.operator_steps.size() == 1);
  REQUIRE(run.operator_steps[0].calls.size() == 5);
  for (const nl::OperatorCall& layer : run.operator_steps[0].calls) {
    INFO(layer.node << " " << layer.name);
    CHECK((layer.type != nl::OperatorType::kOther) == (layer.node != "/layers.0/mlp"));  // its name is all that is known
  }
}

TEST_CASE("a record's type is its operator's, and where that says little its kernels' or its node's name's") {
  using nl::OperatorCall, nl::OperatorType, nl::analysis::type_of_call;
  const auto type = [](const char* op, const char* kernel, const char* node) {
    OperatorCall call;
    call.name = op;
    call.node = node;
    if (*kernel != 0) call.kernels = {{kernel, 1, 1}};
    return type_of_call(call);
  };
  CHECK(type("MatMul", "triton_poi_fused_0", "/block/Softmax") == OperatorType::kMatmul);
  CHECK(type("kgen", "_gemm_mha_v2_0x2b", "/layers.0/attention") == OperatorType::kAttention);
  CHECK(type("kgen", "__myl_MeanMulAddSqrtDivMul_0x1f", "/layers.0/MatMul") == OperatorType::kFused);
  CHECK(type("", "", "/layers.0/attn/MatMul_12") == OperatorType::kMatmul);
  CHECK(type("", "", "Conv_3 + Relu_4") == OperatorType::kConvolution);
  CHECK(type("", "", "Reformatting CopyNode for Input Tensor 0 to /layers.0/attention") == OperatorType::kCopy);
  CHECK(type("", "", "/layers.0/mlp") == OperatorType::kOther);
  CHECK(type("", "", "") == OperatorType::kOther);
  CHECK(type("If", "", "/If_1") == OperatorType::kControlFlow);
}
