#include "analysis/figures/efficiency/stage_work.h"

#include "tests/catch.h"
#include "tests/unit/analysis/figures/efficiency/llm_shapes.h"

// The formulas as a reader checks them: what was multiplied, then what was read.

using namespace nl::test;
using nl::analysis::StageWork;
using Lines = std::vector<std::string>;

namespace {

Lines formulas(const StageWork& work) {
  Lines lines;
  for (const auto& term : work.terms) lines.push_back(term.name + ": " + term.formula);
  return lines;
}

nl::analysis::LlmShape llama_with(const Attributes& more) { return nl::analysis::read_llm_shape(with(llama_8b(), more)); }

const Attributes kTower = {
    {"vision_layers", "24"},     {"vision_hidden_size", "1024"}, {"vision_intermediate_size", "4096"}, {"vision_patches", "577"},
    {"vision_patch_size", "14"}, {"image_tokens", "576"},        {"projector_input_size", "1024"},     {"images", "2"}};

}  // namespace

TEST_CASE("the formulas of a Llama's prefill") {
  const auto work = nl::analysis::prefill_work(llama_with({}), 2, 512);
  CHECK(formulas(work) ==
        Lines{"query, key and value projections: 2·T·D·(q+2·kv)·d·L = 2·1024·4096·(32+2·8)·128·32; weights 8.05306e+08 × 2 B × 1",
              "attention output projection: 2·T·D·q·d·L = 2·1024·4096·32·128·32; weights 5.36871e+08 × 2 B × 1",
              "attention scores and values: 4·q·d·ΣC·L = 4·32·128·262656·32; cache 2048 values × 2 B × (0 read + 32768 written)",
              "feed-forward, gated: 6·T·D·I·L = 6·1024·4096·14336·32; weights 5.63714e+09 × 2 B × 1",
              "output head: 2·D·V·logits = 2·4096·128256·2", "embedding rows: T·D·2 B = 1024·4096·2"});
  CHECK(work.assumptions == Lines{"prompt of 512 tokens at batch 2, empty cache",
                                  "causal attention is exact: ΣC = T(T+1)/2 per sequence (tools that count T² show about twice as much)",
                                  "the output head runs for the last token of each sequence",
                                  "keys and values of the prompt are written once and not read again",
                                  "lower bound: weights are read once per pass, activations stay on the chip"});
  const auto all = nl::analysis::prefill_work(llama_with({{"prefill_logits", "all"}, {"dtype", ""}, {"mlp", "plain"}}), 1, 8);
  CHECK(all.assumptions[2] == "the output head runs for every token of the prompt (model.prefill_logits)");
  CHECK(all.terms[1].formula == "2·T·D·q·d·L = 2·8·4096·32·128·32");  // bytes need a type
  CHECK(all.terms[2].formula == "4·q·d·ΣC·L = 4·32·128·36·32");
  CHECK(formulas(all)[3] == "feed-forward: 4·T·D·I·L = 4·8·4096·14336·32");
}

TEST_CASE("the formulas of a decode on two GPUs, and of its mean step") {
  const auto shape = llama_with({{"tensor_parallel", "2"}});
  const auto decode = nl::analysis::decode_work(shape, 4, 256, 16);
  // ΣC: 4 sequences × (16 × 256 + 1 + 2 + … + 16)
  CHECK(formulas(decode)[0] ==
        "query, key and value projections: 2·T·D·(q+2·kv)·d·L = 2·64·4096·(32+2·8)·128·32; weights 8.05306e+08 × 2 B × 16; ÷ 2 GPUs");
  CHECK(formulas(decode)[2] ==
        "attention scores and values: 4·q·d·ΣC·L = 4·32·128·16928·32; cache 2048 values × 2 B × (541696 read + 2048 written); ÷ 2 GPUs");
  CHECK(decode.assumptions == Lines{"16 steps at batch 4; step i sees the 256 tokens of the prompt and i more",
                                    "lower bound: weights are read once per pass, activations stay on the chip",
                                    "per GPU, of 2: 1/2 of the products, and the cache of its key/value heads"});
  const auto step = nl::analysis::decode_step_work(shape, 4, 256, 16);
  CHECK(formulas(step)[0] ==
        "query, key and value projections: 2·T·D·(q+2·kv)·d·L = 2·4·4096·(32+2·8)·128·32; weights 8.05306e+08 × 2 B × 1; ÷ 2 GPUs");
  CHECK(formulas(step)[4] == "output head: 2·D·V·logits = 2·4096·128256·4; ÷ 2 GPUs");
  CHECK(step.assumptions[0] == "mean of 16 steps at batch 4: one token per sequence, after 256 tokens of prompt and on average 8.5 more");
}

TEST_CASE("the formulas of latent attention and of experts") {
  const auto shape = nl::analysis::read_llm_shape(deepseek_v3());
  const auto step = nl::analysis::decode_step_work(shape, 1, 999, 1);
  CHECK(formulas(step) ==
        Lines{"query, and compressed keys and values: 2·T·(q_rank·(D+q·(nope+rope)) + D·(rank+rope))·L = "
              "2·1·(1536·(7168+128·192) + 7168·(512+64))·61; weights 3.22614e+09 × 1 B × 1",
              "up projection of keys and values, absorbed into query and output: 2·T·rank·q·(nope+v)·L = 2·1·512·128·(128+128)·61; "
              "weights 1.02341e+09 × 1 B × 1",
              "attention output projection: 2·T·D·q·v·L = 2·1·7168·128·128·61; weights 7.16387e+09 × 1 B × 1",
              "attention scores and values: 2·q·(rank+rope + rank)·ΣC·L = 2·128·(576+512)·1000·61; cache 576 values × 2 B × (61000 read + "
              "61 written)",
              "feed-forward, gated: 6·T·D·I·L = 6·1·7168·18432·3; weights 1.18909e+09 × 1 B × 1",
              "experts: 6·T·topk·D·I_moe·L = 6·1·8·7168·2048·58; weights of min(T·topk, 256) = 8 experts × 2.55433e+09 × 1 B × 1",
              "shared experts: 6·T·D·I_shared·L = 6·1·7168·2048·58; weights 2.55433e+09 × 1 B × 1",
              "router: 2·T·D·experts·L = 2·1·7168·256·58; weights 1.0643e+08 × 1 B × 1", "output head: 2·D·V·logits = 2·7168·129280·1",
              "embedding rows: T·D·1 B = 1·7168·1"});
  CHECK(Lines(step.assumptions.begin() + 2, step.assumptions.end()) ==
        Lines{"latent attention: decode counts the absorbed form over the compressed cache, prefill the expanded form",
              "experts read per pass: min(T·topk, experts)"});
  const auto prefill = nl::analysis::prefill_work(
      nl::analysis::read_llm_shape(with(deepseek_v3(), {{"q_lora_rank", "0"}, {"tensor_parallel", "8"}})), 1, 1000);
  CHECK(prefill.terms[0].formula ==
        "2·T·(D·q·(nope+rope) + D·(rank+rope))·L = 2·1000·(7168·128·192 + 7168·(512+64))·61; weights 1.09977e+10 × 1 B × 1; ÷ 8 GPUs");
  CHECK(prefill.terms[1].name == "up projection of keys and values");
  CHECK(prefill.terms[3].formula ==
        "2·q·(nope+rope + v)·ΣC·L = 2·128·(192+128)·500500·61; cache 576 values × 2 B × (0 read + 61000 written); ÷ 8 GPUs");
  CHECK(prefill.assumptions.back() == "per GPU, of 8: 1/8 of the products, and the whole compressed cache");
  const auto plain = nl::analysis::prefill_work(nl::analysis::read_llm_shape(with(mixtral(), {{"mlp", "plain"}, {"dtype", ""}})), 1, 1);
  CHECK(formulas(plain)[3] == "experts: 4·T·topk·D·I_moe·L = 4·1·2·4096·14336·32");  // no layer has a feed-forward part of its own
  CHECK(plain.terms[4].name == "router");                                            // nor experts that all tokens visit
}

TEST_CASE("the formula of layers with a sliding window") {
  const auto work = nl::analysis::decode_step_work(llama_with({{"sliding_window", "100"}, {"sliding_layers", "24"}}), 1, 1000, 1);
  CHECK(work.terms[2].formula == "4·q·d·ΣC·L = 4·32·128·(1001·8 + 100·24); cache 2048 values × 2 B × (10408 read + 32 written)");
}

TEST_CASE("the formulas of a vision tower") {
  const auto work = nl::analysis::vision_work(llama_with(kTower), 3);
  CHECK(formulas(work) == Lines{"patch embedding: 2·T·3·p²·D = 2·3462·588·1024; weights 602112 × 2 B",
                                "vision projections: 8·T·D²·L = 8·3462·1024²·24; weights 1.00663e+08 × 2 B",
                                "vision attention: 4·D·T·patches·L = 4·1024·3462·577·24",
                                "vision feed-forward: 4·T·D·I·L = 4·3462·1024·4096·24; weights 2.01327e+08 × 2 B"});
  CHECK(work.terms[0].bytes == 588. * 1024 * 2);
  CHECK(work.terms[2].bytes == 0);
  CHECK(work.assumptions == Lines{"6 images of 577 patches; each patch attends to its whole image"});
  const auto gated = nl::analysis::vision_work(
      llama_with(
          with(kTower, {{"vision_mlp", "gated"}, {"vision_patch_size", ""}, {"dtype", ""}, {"tensor_parallel", "2"}, {"images", ""}})),
      3);
  REQUIRE(gated.terms.size() == 3);
  CHECK(formulas(gated)[2] == "vision feed-forward, gated: 6·T·D·I·L = 6·1731·1024·4096·24");
  CHECK(gated.terms[2].flops == 6. * 1731 * 1024 * 4096 * 24);
  CHECK(gated.terms[2].bytes == 0);
  CHECK(gated.assumptions ==
        Lines{"3 images of 577 patches; each patch attends to its whole image", "each GPU runs the whole vision tower"});
  CHECK(nl::analysis::vision_work(llama_with(with(kTower, {{"vision_patches", "0"}})), 1).terms.empty());
  CHECK(nl::analysis::vision_work(llama_with(with(kTower, {{"vision_hidden_size", ""}})), 1).terms.empty());
  CHECK(nl::analysis::vision_work(llama_with(with(kTower, {{"vision_intermediate_size", ""}})), 3).terms[3].flops == work.terms[3].flops);
}

TEST_CASE("the formulas of a projector with a layer between, and without") {
  const auto one = nl::analysis::projector_work(llama_with(kTower), 3);
  REQUIRE(one.terms.size() == 1);
  CHECK(formulas(one)[0] == "projector: 2·T·in·D = 2·3456·1024·4096");
  CHECK(one.terms[0].flops == 2. * 3456 * 1024 * 4096);
  CHECK(one.terms[0].bytes == 1024. * 4096 * 2);
  CHECK(one.assumptions == Lines{"6 images of 576 tokens after merging"});
  const auto two = nl::analysis::projector_work(llama_with(with(kTower, {{"projector_hidden_size", "2048"}})), 3);
  CHECK(formulas(two)[0] == "projector: 2·T·H·(in+D) = 2·3456·2048·(1024+4096)");
  CHECK(nl::analysis::projector_work(llama_with(with(kTower, {{"dtype", ""}})), 3).terms[0].bytes == 0);
  CHECK(nl::analysis::projector_work(llama_with(with(kTower, {{"image_tokens", "0"}})), 1).terms.empty());
  CHECK(nl::analysis::projector_work(llama_with(with(kTower, {{"hidden_size", ""}})), 1).terms.empty());
}
