#include "analysis/figures/efficiency/efficiency.h"
#include "analysis/figures/efficiency/stage_work.h"
#include "tests/catch.h"
#include "tests/unit/analysis/into_run.h"

// Programs that do not generate: batches of an encoder, training, denoising.
using nl::analysis::forward_work;
using nl::analysis::LlmShape;
using nl::analysis::read_llm_shape;
using ForwardAttributes = std::map<std::string, std::string>;

namespace {

const ForwardAttributes kBertBase = {{"architecture", "bert"},
                                     {"layers", "12"},
                                     {"hidden_size", "768"},
                                     {"heads", "12"},
                                     {"kv_heads", "12"},
                                     {"head_dim", "64"},
                                     {"intermediate_size", "3072"},
                                     {"vocab_size", "30522"},
                                     {"mlp", "plain"},
                                     {"attention_mask", "full"},
                                     {"dtype", "bf16"}};
// Vocabulary as nanoGPT pads it.
const ForwardAttributes kGpt2 = {{"architecture", "gpt2"},
                                 {"layers", "12"},
                                 {"hidden_size", "768"},
                                 {"heads", "12"},
                                 {"kv_heads", "12"},
                                 {"head_dim", "64"},
                                 {"intermediate_size", "3072"},
                                 {"vocab_size", "50304"},
                                 {"mlp", "plain"},
                                 {"attention_mask", "causal"},
                                 {"tied_embeddings", "true"},
                                 {"output_head", "all"}};

double flops_of(const nl::analysis::StageWork& work) {
  double sum = 0;
  for (const nl::WorkTerm& term : work.terms) sum += term.flops;
  return sum;
}

ForwardAttributes with_keys(ForwardAttributes attributes, const ForwardAttributes& more) {
  for (const auto& [key, value] : more) attributes[key] = value;
  return attributes;
}

nl::Run called(const char* stage, double mean_ns, const ForwardAttributes& attributes) {
  nl::Run run;
  run.hardware.gpus.emplace_back().name = "NVIDIA H200";
  run.kernels.emplace(1);
  run.stages.emplace_back().name = stage;
  run.stages[0].wall.count = 10;
  run.stages[0].wall.mean_ns = mean_ns;
  run.model.attributes = attributes;
  nl::analysis::fill_efficiency({{"NVIDIA H200", {"H200"}, {{"bf16", 989.4e12}, {"f32", 67e12}}, 4.8e12, {}, ""}}, run);
  return run;
}

bool assumes(const nl::StageEfficiency& stage, const std::string& part) {
  return std::any_of(stage.assumptions.begin(), stage.assumptions.end(),
                     [&](const std::string& each) { return each.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a batch of BERT-base: plain feed-forward layers, no causal mask, no head, no cache") {
  const LlmShape bert = read_llm_shape(kBertBase);
  // 12·(8·T·D² + 4·T·D·I + 4·T²·D)
  CHECK(flops_of(forward_work(bert, {{1, 512, 1}}, false, false)) == 96636764160.0);
  CHECK(flops_of(forward_work(bert, {{8, 512, 1}}, false, false)) == 8 * 96636764160.0);
  // TinyBERT's paper (Jiao et al., 2020) has 22.5 billion for 128 tokens, with pooler and classifier.
  CHECK(flops_of(forward_work(bert, {{1, 128, 1}}, false, false)) == Approx(22.5e9).epsilon(0.01));
  for (const nl::WorkTerm& term : forward_work(bert, {{1, 512, 1}}, false, false).terms) {
    CHECK(term.name != "output head");
    CHECK(term.formula.find("cache") == std::string::npos);
  }
  // Of several sizes the mean of the calls.
  CHECK(flops_of(forward_work(bert, {{1, 512, 3}, {1, 128, 1}}, false, false)) == Approx((3 * 96636764160.0 + 22347251712.0) / 4));
}

TEST_CASE("a step of training is three forward passes, as nanoGPT counts them but for the causal mask and the norms") {
  const LlmShape gpt = read_llm_shape(kGpt2);
  const double parameters = 12 * 12 * 768.0 * 768 + 50304 * 768.0, norms = 25 * 768.0, length = 1024;
  const double nanogpt = (6 * (parameters + norms) + 12 * 12 * 12 * 64 * length) * length;  // 6N + 12·L·H·Q·T a token
  CHECK(3 * flops_of(forward_work(gpt, {{1, 1024, 1}}, false, true)) == nanogpt - 6 * norms * length);
  CHECK(3 * flops_of(forward_work(gpt, {{1, 1024, 1}}, true, true)) ==
        6 * parameters * length + 12 * 12 * 12 * 64 * length * (length + 1) / 2);
}

TEST_CASE("an encoder's MFU comes from what the process noted of its calls, or from the configuration") {
  const double mean_ns = 2e6, flops = 8 * 96636764160.0;
  for (const ForwardAttributes& known : {ForwardAttributes{{"inputs", "8x512:30"}},
                                         ForwardAttributes{{"batch_size", "8"}, {"sequence_tokens", "512"}, {"inputs", "1x2:9"}}}) {
    const nl::Run run = called("batch", mean_ns, with_keys(kBertBase, known));
    const nl::StageEfficiency& batch = run.efficiency[0];
    CHECK(batch.note == "");
    CHECK(*batch.flops == flops);
    CHECK(*batch.mfu == Approx(flops / (2e-3 * 989.4e12)));
    CHECK(batch.limit == nl::Bound::kCompute);
    CHECK(assumes(batch, "8 sequences of length 512"));
    CHECK(assumes(batch, "ΣC = T²"));
  }
  // The weights of the layers, and the rows of the embedding.
  CHECK(*called("batch", mean_ns, with_keys(kBertBase, {{"inputs", "8x512:1"}})).efficiency[0].bytes ==
        2 * (12 * 12 * 768.0 * 768 + 8 * 512 * 768));
}

TEST_CASE("what is not known of such a program is named, and no number is given") {
  const auto note = [](const char* stage, const ForwardAttributes& attributes) {
    const nl::Run run = called(stage, 2e6, attributes);
    CHECK_FALSE(run.efficiency[0].flops.has_value());
    CHECK_FALSE(run.efficiency[0].mfu.has_value());
    const std::string end = std::string(", or model.stage_flops.") + stage;
    REQUIRE(run.efficiency[0].note.ends_with(end));
    return run.efficiency[0].note.substr(0, run.efficiency[0].note.size() - end.size());
  };
  ForwardAttributes unmasked = with_keys(kBertBase, {{"inputs", "8x512:30"}});
  unmasked.erase("attention_mask");
  CHECK(note("batch", unmasked) == "its work is not known; set model.attention_mask");
  CHECK(note("batch", kBertBase) == "its work is not known; set model.batch_size and model.sequence_tokens");
  CHECK(note("batch", with_keys(kBertBase, {{"batch_size", "4"}})) == "its work is not known; set model.sequence_tokens");
  CHECK(note("train_step", kBertBase) == "its work is not known; set model.batch_size and model.sequence_tokens and model.output_head");
  for (const char* stage : {"batch", "denoise_step", "train_step", "forward", "backward"})  // the same of all, so that it is said once
    CHECK(called(stage, 2e6, {{"inputs", "8x512:30"}, {"attention_mask", "full"}, {"hidden_size", "768"}}).efficiency[0].note ==
          "the model shape is not known; give --model a Hugging Face config.json, or the work of each stage as model.stage_flops");
  for (const char* broken : {"8x", "x512", "8", "8x512:", "8x512:0", "8x512:30,y", "8:512x3"}) {
    INFO(broken);
    CHECK(note("batch", with_keys(kBertBase, {{"inputs", broken}})) ==
          "its work is not known; set model.batch_size and model.sequence_tokens");
  }
}

TEST_CASE("training: thrice the forward pass, four times with checkpointing, and as many passes as a step has") {
  const double forward = flops_of(forward_work(read_llm_shape(kGpt2), {{4, 1024, 1}}, true, true));
  const ForwardAttributes noted = with_keys(kGpt2, {{"training_inputs", "4x1024:80"}, {"dtype", "bf16"}});
  CHECK(*called("train_step", 1e8, noted).efficiency[0].flops == Approx(3 * forward));
  CHECK(*called("train_step", 1e8, noted).efficiency[0].mfu == Approx(3 * forward / (0.1 * 989.4e12)));
  CHECK(*called("forward", 1e8, noted).efficiency[0].flops == Approx(forward));
  CHECK(*called("backward", 1e8, noted).efficiency[0].flops == Approx(2 * forward));
  const ForwardAttributes again = with_keys(noted, {{"gradient_checkpointing", "true"}});
  CHECK(*called("train_step", 1e8, again).efficiency[0].flops == Approx(4 * forward));
  CHECK(*called("backward", 1e8, again).efficiency[0].flops == Approx(3 * forward));
  nl::Run run = called("train_step", 1e8, noted);
  run.stages.emplace_back().name = "forward";
  run.stages[1].wall.count = 20;  // two passes a step
  nl::analysis::fill_efficiency({}, run);
  CHECK(*run.efficiency[0].flops == Approx(6 * forward));
  CHECK(assumes(run.efficiency[0], "2 forward and backward passes in a step"));
}

TEST_CASE("training with 32-bit weights: the work is known, and the precision of its products is not") {
  const ForwardAttributes noted = with_keys(kGpt2, {{"training_inputs", "4x1024:80"}, {"dtype", "f32"}});
  const nl::Run run = called("train_step", 1e8, noted);
  CHECK(run.efficiency[0].flops.has_value());
  CHECK_FALSE(run.efficiency[0].mfu.has_value());
  CHECK(run.efficiency[0].note.find("set model.compute_dtype") != std::string::npos);
  CHECK(called("train_step", 1e8, with_keys(noted, {{"compute_dtype", "bf16"}})).efficiency[0].mfu.has_value());
}

TEST_CASE("a denoising step of a transformer attends to its whole latent, and has neither words nor a head") {
  ForwardAttributes dit = {{"layers", "28"}, {"hidden_size", "1152"}, {"heads", "16"},     {"intermediate_size", "4608"},
                           {"mlp", "plain"}, {"dtype", "bf16"},       {"batch_size", "2"}, {"sequence_tokens", "256"}};
  const double tokens = 2 * 256, width = 1152;
  CHECK(*called("denoise_step", 1e7, dit).efficiency[0].flops == Approx(28 * (24 * tokens * width * width + 4 * tokens * 256 * width)));
  dit.erase("sequence_tokens");
  CHECK(called("denoise_step", 1e7, dit).efficiency[0].note ==
        "its work is not known; set model.sequence_tokens, or model.stage_flops.denoise_step");
}
