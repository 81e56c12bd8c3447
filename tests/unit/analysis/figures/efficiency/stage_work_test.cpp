#include "analysis/figures/efficiency/stage_work.h"

#include <algorithm>
#include <limits>

#include "tests/catch.h"
#include "tests/unit/analysis/figures/efficiency/llm_shapes.h"

using namespace nl::test;

namespace {

struct Sum {
  double flops = 0, bytes = 0;
};

Sum sum_of(const nl::analysis::StageWork& work) {
  Sum sum;
  for (const auto& term : work.terms) sum.flops += term.flops, sum.bytes += term.bytes;
  return sum;
}

const nl::WorkTerm& term(const nl::analysis::StageWork& work, const std::string& name) {
  const auto found = std::find_if(work.terms.begin(), work.terms.end(), [&](const auto& each) { return each.name == name; });
  if (found == work.terms.end()) FAIL("no term " << name);
  return *found;
}

}  // namespace

TEST_CASE("context lengths add up as if counted one by one") {
  for (const double window : {1.0, 5.0, 17.0, 100.0, std::numeric_limits<double>::infinity()})
    for (const double start : {0.0, 3.0, 16.0, 40.0}) {
      double sum = 0;
      for (int i = 1; i <= 30; ++i) sum += std::min(start + i, window);
      CHECK(nl::analysis::context_sum(start, 30, window) == sum);
    }
}

TEST_CASE("the prefill of a Llama, against the products written out") {
  const auto shape = nl::analysis::read_llm_shape(llama_8b());
  const auto work = nl::analysis::prefill_work(shape, 2, 512);
  CHECK(term(work, "query, key and value projections").flops == 2. * 1024 * 4096 * (32 + 16) * 128 * 32);
  CHECK(term(work, "attention output projection").flops == 2. * 1024 * 4096 * 32 * 128 * 32);
  CHECK(term(work, "attention scores and values").flops == 4. * 32 * 128 * (2 * 512 * 513 / 2) * 32);
  CHECK(term(work, "feed-forward, gated").flops == 6. * 1024 * 4096 * 14336 * 32);
  CHECK(term(work, "output head").flops == 2. * 4096 * 128256 * 2);
  CHECK(term(work, "attention scores and values").formula ==
        "4·q·d·ΣC·L = 4·32·128·262656·32; cache 2048 values × 2 B × (0 read + 32768 written)");
  // Weights once, the cache written once, one row of the embedding a token.
  const double weights = nl::analysis::count_parameters(shape).total - 128256. * 4096;
  CHECK(sum_of(work).bytes == weights * 2 + 2. * 8 * 128 * 32 * 1024 * 2 + 1024. * 4096 * 2);
  CHECK(nl::analysis::prefill_work(nl::analysis::read_llm_shape(with(llama_8b(), {{"prefill_logits", "all"}})), 2, 512).terms[4].flops ==
        2. * 4096 * 128256 * 1024);
}

TEST_CASE("a token costs two FLOPs a weight it visits, and its attention") {
  for (const auto& attributes :
       {llama_8b(), mixtral(), deepseek_v3(), with(deepseek_v3(), {{"q_lora_rank", "0"}}), with(llama_8b(), {{"mlp", "plain"}})}) {
    const auto shape = nl::analysis::read_llm_shape(attributes);
    const double embedding = shape.vocab_size * shape.hidden_size;  // looked up, not multiplied
    for (const auto& work : {nl::analysis::decode_step_work(shape, 3, 100, 1),
                             nl::analysis::prefill_work(nl::analysis::read_llm_shape(with(attributes, {{"prefill_logits", "all"}})), 3, 1)})
      CHECK(sum_of(work).flops - term(work, "attention scores and values").flops ==
            Approx(3 * 2 * (nl::analysis::count_parameters(shape).active - embedding)).epsilon(1e-12));  // the order of the additions
  }
}

TEST_CASE("a decode is the sum of its steps, each reading the weights and what came before") {
  const auto shape = nl::analysis::read_llm_shape(llama_8b());
  Sum steps;
  for (int i = 0; i < 16; ++i) {
    const auto one = nl::analysis::decode_work(shape, 4, 256 + i, 1);
    steps.flops += sum_of(one).flops;
    steps.bytes += sum_of(one).bytes;
    CHECK(term(one, "attention scores and values").bytes == 2. * 8 * 128 * 32 * 2 * 4 * (256 + i + 1 + 1));
  }
  const Sum all = sum_of(nl::analysis::decode_work(shape, 4, 256, 16)), mean = sum_of(nl::analysis::decode_step_work(shape, 4, 256, 16));
  CHECK(all.flops == Approx(steps.flops).epsilon(1e-12));
  CHECK(all.bytes == Approx(steps.bytes).epsilon(1e-12));
  CHECK(mean.flops * 16 == Approx(steps.flops).epsilon(1e-12));
  CHECK(mean.bytes * 16 == Approx(steps.bytes).epsilon(1e-12));
  // 16.06 GB of weights but for the embedding of 1.05 GB: what a step of an 8 B model in bf16 must read.
  CHECK(sum_of(nl::analysis::decode_step_work(shape, 1, 0, 1)).bytes == Approx(15.01e9).epsilon(0.001));
}

TEST_CASE("experts: as many are read as tokens can visit") {
  const auto shape = nl::analysis::read_llm_shape(mixtral());
  const double expert = 3. * 4096 * 14336 * 32 * 2;
  CHECK(term(nl::analysis::decode_step_work(shape, 1, 10, 4), "experts").bytes == 2 * expert);
  CHECK(term(nl::analysis::decode_step_work(shape, 3, 10, 4), "experts").bytes == 6 * expert);
  CHECK(term(nl::analysis::decode_step_work(shape, 64, 10, 4), "experts").bytes == 8 * expert);
  CHECK(term(nl::analysis::decode_work(shape, 1, 10, 4), "experts").bytes == 4 * 2 * expert);
  CHECK(term(nl::analysis::prefill_work(shape, 1, 1), "experts").flops == 6. * 2 * 4096 * 14336 * 32);
  CHECK(term(nl::analysis::prefill_work(shape, 1, 1), "router").flops == 2. * 4096 * 8 * 32);
  const auto deepseek = nl::analysis::read_llm_shape(deepseek_v3());
  CHECK(term(nl::analysis::prefill_work(deepseek, 1, 1), "shared experts").flops == 6. * 7168 * 2048 * 58);
  CHECK(term(nl::analysis::prefill_work(deepseek, 1, 1), "feed-forward, gated").flops == 6. * 7168 * 18432 * 3);
}

TEST_CASE("latent attention reads the compressed cache and multiplies with it") {
  const auto shape = nl::analysis::read_llm_shape(deepseek_v3());
  const auto step = nl::analysis::decode_step_work(shape, 1, 999, 1);
  CHECK(term(step, "attention scores and values").bytes == (512. + 64) * 2 * 61 * (1000 + 1));
  CHECK(term(step, "attention scores and values").flops == 2. * 128 * (512 + 64 + 512) * 1000 * 61);
  const auto prefill = nl::analysis::prefill_work(shape, 1, 1000);
  CHECK(term(prefill, "attention scores and values").flops == 2. * 128 * (128 + 64 + 128) * 500500 * 61);
  CHECK(term(prefill, "up projection of keys and values").flops == 2. * 1000 * 512 * 128 * 256 * 61);
}

TEST_CASE("a sliding window limits what attention sees, in the layers that have it") {
  const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), {{"sliding_window", "100"}, {"sliding_layers", "24"}}));
  const auto work = nl::analysis::decode_step_work(shape, 1, 1000, 1);
  CHECK(term(work, "attention scores and values").flops == 4. * 32 * 128 * (8 * 1001 + 24 * 100));
  CHECK(nl::analysis::read_llm_shape(with(llama_8b(), {{"sliding_window", "100"}})).sliding_layers == 32);
}

TEST_CASE("tensor parallelism shares products and key/value heads, not the compressed cache") {
  const auto whole = nl::analysis::decode_step_work(nl::analysis::read_llm_shape(llama_8b()), 1, 99, 1);
  const auto half = nl::analysis::decode_step_work(nl::analysis::read_llm_shape(with(llama_8b(), {{"tensor_parallel", "2"}})), 1, 99, 1);
  CHECK(sum_of(half).flops == sum_of(whole).flops / 2);
  CHECK(sum_of(half).bytes == sum_of(whole).bytes / 2);
  const auto sixteenth =
      nl::analysis::decode_step_work(nl::analysis::read_llm_shape(with(llama_8b(), {{"tensor_parallel", "16"}})), 1, 99, 1);
  CHECK(term(sixteenth, "attention scores and values").bytes == term(whole, "attention scores and values").bytes / 8);
  const auto latent =
      nl::analysis::decode_step_work(nl::analysis::read_llm_shape(with(deepseek_v3(), {{"tensor_parallel", "8"}})), 1, 99, 1);
  CHECK(term(latent, "attention scores and values").bytes ==
        term(nl::analysis::decode_step_work(nl::analysis::read_llm_shape(deepseek_v3()), 1, 99, 1), "attention scores and values").bytes);
}

TEST_CASE("quantised weights are read as what they are, the head as what it computes in") {
  const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), {{"dtype", "int4"}, {"compute_dtype", "f16"}}));
  const auto work = nl::analysis::decode_step_work(shape, 1, 0, 1);
  CHECK(term(work, "feed-forward, gated").bytes == 3. * 4096 * 14336 * 32 / 2);
  CHECK(term(work, "output head").bytes == 2. * 4096 * 128256);
  CHECK(sum_of(nl::analysis::prefill_work(nl::analysis::read_llm_shape(with(llama_8b(), {{"dtype", ""}})), 1, 8)).bytes == 0);
}

// One view of 1024 pixels: 64 × 64 patches of 16 for SAM-B, a sixteenth of them and a class token for CLIP-L.
TEST_CASE("the two vision towers of DeepSeek-OCR") {
  const Attributes towers = {{"sam_layers", "12"},
                             {"sam_hidden_size", "768"},
                             {"sam_patch_size", "16"},
                             {"sam_patches", "4096"},
                             {"sam_window", "14"},
                             {"sam_global_layers", "4"},
                             {"sam_channels", "256,256,512,1024"},
                             {"vision_layers", "24"},
                             {"vision_hidden_size", "1024"},
                             {"vision_patches", "257"},
                             {"image_tokens", "256"},
                             {"projector_input_size", "2048"}};
  const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), towers));
  const auto work = nl::analysis::vision_work(shape, 2);
  const double T = 2 * 4096, D = 768;
  CHECK(term(work, "SAM patch embedding").flops == 2 * T * 768 * D);
  CHECK(term(work, "SAM projections").flops == 8 * T * D * D * 12);
  CHECK(term(work, "SAM attention, in windows").flops == 4 * D * T * 196 * 8);
  CHECK(term(work, "SAM attention, global").flops == 4 * D * T * 4096 * 4);
  CHECK(term(work, "SAM feed-forward").flops == 4 * T * D * 3072 * 12);
  const double convolutions = 4096. * 768 * 256 + 4096. * 9 * 256 * 256 + 1024. * 9 * 256 * 512 + 256. * 9 * 512 * 1024;
  const double clip = 257. * 12 * 1024 * 1024 * 24 * 2 + 4. * 1024 * 257 * 257 * 24;
  CHECK(sum_of(work).flops == Approx(2 * (937'779'265'536. + 161'715'683'328.)).epsilon(1e-12));
  CHECK(sum_of(work).flops ==
        Approx(T * (2 * 768 * D + D * 4 * (196 * 8 + 4096 * 4) + 24 * D * D * 12) + 4 * convolutions + 2 * clip).epsilon(1e-12));
  CHECK(term(work, "SAM projections").bytes == 2 * 4 * D * D * 12);
  CHECK(sum_of(nl::analysis::projector_work(shape, 1)).flops == 2 * 256. * 2048 * 4096);
}

TEST_CASE("SAM without windows attends to all, and a list that is none is left out") {
  const auto shape =
      nl::analysis::read_llm_shape({{"sam_layers", "2"}, {"sam_hidden_size", "8"}, {"sam_patches", "16"}, {"sam_channels", "4,x"}});
  CHECK(shape.sam->channels.empty());
  CHECK(term(nl::analysis::vision_work(shape, 1), "SAM attention, global").flops == 4. * 8 * 16 * 16 * 2);
}

TEST_CASE("a vision tower and its projector") {
  const auto shape = nl::analysis::read_llm_shape(with(llama_8b(), {{"vision_layers", "24"},
                                                                    {"vision_hidden_size", "1024"},
                                                                    {"vision_intermediate_size", "4096"},
                                                                    {"vision_patches", "577"},
                                                                    {"vision_patch_size", "14"},
                                                                    {"image_tokens", "576"},
                                                                    {"projector_input_size", "1024"},
                                                                    {"projector_hidden_size", "4096"},
                                                                    {"images", "2"}}));
  const auto vision = nl::analysis::vision_work(shape, 3);
  const double T = 6 * 577;
  CHECK(sum_of(vision).flops == 2 * T * (588 * 1024 + 24. * (4 * 1024 * 1024 + 2 * 1024 * 4096)) + 4. * 1024 * T * 577 * 24);
  CHECK(sum_of(nl::analysis::projector_work(shape, 3)).flops == 2 * 6. * 576 * 4096 * (1024 + 4096));
  CHECK(nl::analysis::vision_work(nl::analysis::read_llm_shape(llama_8b()), 1).terms.empty());
  CHECK(nl::analysis::projector_work(nl::analysis::read_llm_shape(llama_8b()), 1).terms.empty());
}
