#include "orchestrator/read.h"

#include <cmath>

#include "analysis/figures/efficiency/efficiency.h"
#include "orchestrator/session/session.h"
#include "parsers/facts/facts.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"
#include "tests/unit/files.h"

using namespace nl;
using nl::orchestrator::model_of, nl::orchestrator::read_session_record, nl::orchestrator::session_json;

namespace {

const ModelInfo kNoted{"Qwen3-0.6B", {{"layers", "28"}, {"dtype", "bf16"}}, {}};

// As transformers 5 writes it, shortened; the dtype is spelled as str(torch.bfloat16) and as its name.
std::string facts_of_model(const std::string& dtype, const std::string& config, const std::string& parameters) {
  return R"json({"versions": {"torch": "2.11.0"}, "backend": "transformers", "models": [{"class": "ForCausalLM", "precision": "bfloat16", "dtype": ")json" +
         dtype + R"json(", "parameters": {"count": )json" + parameters + R"json(}, "new_tokens": 99, "config": )json" + config + "}]}";
}

const char* const kQwen3 =
    R"json({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "attention_bias": false, "dtype": "bfloat16",
  "head_dim": 128, "hidden_act": "silu", "hidden_size": 1024, "intermediate_size": 3072, "layer_types": ["full_attention"],
  "max_position_embeddings": 40960, "max_window_layers": 28, "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 8,
  "rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}, "sliding_window": null, "tie_word_embeddings": true,
  "use_sliding_window": false, "vocab_size": 151936, "_name_or_path": "Qwen/Qwen3-0.6B"})json";
const char* const kLlamaFacts =
    R"json({"model_type": "llama", "dtype": "bfloat16", "head_dim": 128, "hidden_size": 4096, "intermediate_size": 14336,
  "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})json";
const char* const kMixtral = R"json({"model_type": "mixtral", "dtype": "bfloat16", "head_dim": null, "hidden_size": 4096,
  "intermediate_size": 14336, "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_experts_per_tok": 2,
  "num_local_experts": 8, "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})json";

// What a trace with tokens marks gives: one sequence, 512 tokens of prompt, 32 steps.
Run traced_run(const ModelInfo& model) {
  Run run;
  run.model = model;
  run.hardware.gpus.emplace_back().name = "NVIDIA H200";
  run.kernels.emplace(1);
  run.latency.batch = 1;
  for (const auto& [name, count, mean_ns] : {std::tuple{"prefill", 1, 40e6}, {"decode", 1, 320e6}, {"decode_step", 32, 10e6}}) {
    StageEntry& stage = run.stages.emplace_back();
    stage.name = name;
    stage.wall.count = static_cast<std::uint64_t>(count);
    stage.wall.mean_ns = mean_ns;
  }
  run.stages[0].tokens_per_window = 512;
  return run;
}

Run efficient_run(const std::string& facts) {
  const test::Folder folder;
  folder.file("facts-7.json", facts);
  Run run = traced_run(model_of({}, parsers::read_facts(folder.path).model));
  analysis::fill_efficiency({{"NVIDIA H200", {"H200"}, {{"bf16", 989.4e12}}, 4.8e12, {}, "x"}}, run);
  for (const StageEfficiency& stage : run.efficiency) {
    INFO(stage.stage << ": " << stage.note);
    CHECK(stage.mfu.has_value());
    CHECK(stage.mbu.has_value());
    for (const std::string& line : stage.assumptions) CHECK(line.find("model.parameters") == std::string::npos);
  }
  CHECK(run.model.precision == "bf16");
  return run;
}

}  // namespace

TEST_CASE("evidence: the model as the process noted it, with the keys that are configured") {
  CHECK(model_of({}, kNoted).name == "Qwen3-0.6B");
  const ModelInfo named = model_of({"mine", {{"variant", "instruct"}, {"dtype", "fp8"}}}, kNoted);
  CHECK(named.name == "mine");
  CHECK(named.attributes == std::map<std::string, std::string>{{"variant", "instruct"}, {"dtype", "fp8"}, {"layers", "28"}});
}

TEST_CASE("evidence: a configured shape is not mixed with a noted one") {
  const ModelInfo described = model_of({"mine", {{"hidden_size", "64"}}}, kNoted);
  CHECK(described.name == "mine");
  CHECK(described.attributes == std::map<std::string, std::string>{{"hidden_size", "64"}});
  CHECK(model_of({"mine", {}}, {}).attributes.empty());
}

TEST_CASE("evidence: the precision in words") {
  const auto precision = [](std::map<std::string, std::string> attributes) { return model_of({"m", std::move(attributes)}, {}).precision; };
  CHECK(precision({}).empty());
  CHECK(precision({{"dtype", "bf16"}}) == "bf16");
  CHECK(precision({{"dtype", "bf16"}, {"compute_dtype", "bf16"}}) == "bf16");
  CHECK(precision({{"dtype", "int4"}, {"compute_dtype", "bf16"}, {"quantization", "gptq"}}) == "int4 weights (gptq), bf16 compute");
  CHECK(precision({{"dtype", "fp8"}, {"quantization", "fp8"}}) == "fp8 weights (fp8)");
  const ModelInfo quantised{"m", {{"dtype", "int4"}, {"quantization", "awq"}}, "int4 (awq)"};
  CHECK(model_of({}, quantised).precision == "int4 (awq)");
  CHECK(model_of({"", {{"dtype", "fp8"}}}, quantised).precision == "fp8 weights (awq)");
  CHECK(model_of({}, ModelInfo{"m", {{"dtype", "bf16"}}, "bfloat16"}).precision == "bf16");
  CHECK(model_of({}, ModelInfo{"Loop", {}, "float16"}).precision == "float16");
}

// FLOPs and bytes of a step by hand: 2 × the weights a token visits + 4 × heads × head_dim × layers × the context (512 + 16.5 on average);
// weights and cache once. The embedding is looked up, not multiplied.
TEST_CASE("evidence: what a process notes is enough for MFU, MBU and the roofline") {
  const Run qwen = efficient_run(facts_of_model("torch.bfloat16", kQwen3, "596049920"));
  CHECK(qwen.model.name == "Qwen3-0.6B");
  const double matrices = 28. * (1024 * (16 + 2 * 8) * 128 + 16 * 128 * 1024 + 3 * 1024 * 3072) + 1024. * 151936;
  const double attention = 4. * 16 * 128 * 28 * (512 + 16.5);
  CHECK(*qwen.efficiency.at(2).flops == Approx(2 * matrices + attention).epsilon(1e-3));
  CHECK(*qwen.efficiency.at(2).bytes == Approx(2 * matrices + 2. * 2 * 8 * 128 * 28 * (512 + 16.5)).epsilon(1e-2));
  CHECK(*qwen.efficiency.at(2).mfu == Approx((2 * matrices + attention) / (10e-3 * 989.4e12)).epsilon(1e-3));
  const Run llama = efficient_run(facts_of_model("bfloat16", kLlamaFacts, "8030261248"));
  CHECK(llama.model.name == "ForCausalLM");
  CHECK(*llama.efficiency.at(0).flops == Approx(2 * 512 * 6.98e9).epsilon(0.02));
  const Run mixtral = efficient_run(facts_of_model("bfloat16", kMixtral, "46702792704"));
  CHECK(*mixtral.efficiency.at(2).flops == Approx(2 * 12.75e9).epsilon(0.02));  // 12.9e9 active, of which 0.13e9 are the embedding
}

TEST_CASE("evidence: a model file names the model, its digest and its precisions") {
  const test::Folder folder;
  ModelSession session;
  session.backend = "onnxruntime";
  session.provider = "cpu";
  session.model = "/models/block.onnx";
  session.digest = "sha256:12";
  session.weight_dtypes = {"int64", "float32"};
  const auto described = [&](ModelInfo configured) {
    Evidence evidence;
    evidence.model = std::move(configured);
    read_session_record(folder.file("session.json", session_json(session)), evidence);
    return evidence;
  };
  const Evidence evidence = described({});
  CHECK(evidence.software.backend.code == Backend::kOnnxruntime);
  CHECK(evidence.model.name == "block.onnx");
  CHECK(evidence.model.digest == "sha256:12");
  CHECK(evidence.model.dtypes == session.weight_dtypes);
  CHECK(evidence.model.precision == "f32");
  CHECK(evidence.model.weights_precision == DataType::kF32);
  CHECK(evidence.model.compute_precision == DataType::kF32);
  CHECK(described({"mine", {}, "bf16", DataType::kBf16, DataType::kBf16}).model.weights_precision == DataType::kBf16);  // as configured
  CHECK(described({"mine", {}}).model.name == "mine");
  session.weight_dtypes = {"float16"};
  CHECK(described({}).model.compute_precision == DataType::kNone);  // processors compute it in 32 bits
  session.provider = "cuda";
  CHECK(described({}).model.compute_precision == DataType::kF16);
  session.weight_dtypes = {"float32"};
  CHECK(described({}).model.compute_precision == DataType::kNone);  // may be TF32
  session.weight_dtypes = {};
  CHECK(described({}).model.precision.empty());
}
