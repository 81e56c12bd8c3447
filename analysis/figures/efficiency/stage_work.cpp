#include "analysis/figures/efficiency/stage_work.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace nl::analysis {
namespace {

// New tokens that go through the decoder, in one pass or several.
struct TokenWindow {
  double tokens = 0;       // T, of all sequences and passes
  double passes = 1;       // over the weights
  double context_sum = 0;  // ΣC, of one layer that sees everything
  double context_sum_sliding = 0;
  bool cached = false;  // the context comes from the cache: it is read, and latent attention stays compressed
  double logit_tokens = 0;
  bool generating = true;  // keys and values are kept; else nothing outlives the pass, and the head may not run at all
};

class DecoderTerms {
 public:
  DecoderTerms(const LlmShape& shape, const TokenWindow& window)
      : shape_(shape), window_(window), layer_(layer_weights(shape)), share_(1 / shape.tensor_parallel),
        weight_bytes_(dtype_bytes(shape.weight_dtype).value_or(0)), kv_bytes_(dtype_bytes(shape.kv_dtype).value_or(0)),
        // Of quantised checkpoints the embedding and the head are left as they were.
        head_bytes_(dtype_bytes(shape.compute_dtype).value_or(weight_bytes_)) {}

  std::vector<WorkTerm> terms() {
    projections();
    attention();
    if (shape_.layers > expert_layers()) dense_mlp();
    if (shape_.moe) experts();
    head();
    for (WorkTerm& term : terms_)
      if (shape_.tensor_parallel > 1) term.formula += fmt::format("; ÷ {:.10g} GPUs", shape_.tensor_parallel);
    return std::move(terms_);
  }

 private:
  double expert_layers() const { return shape_.moe ? shape_.moe->layers : 0; }

  // A product of every token with `weights` weights, which each pass reads once.
  void product(const char* name, double weights, const std::string& formula) {
    const std::string read = fmt::format("; weights {:.6g} × {:.10g} B × {:.10g}", weights, weight_bytes_, window_.passes);
    terms_.push_back({name, formula + (weight_bytes_ == 0 ? "" : read), 2 * window_.tokens * weights * share_,
                      weights * weight_bytes_ * window_.passes * share_});
  }

  void projections() {
    const double T = window_.tokens, D = shape_.hidden_size, L = shape_.layers;
    if (shape_.mla) return latent_projections();
    product("query, key and value projections", L * layer_.qkv,
            fmt::format("2·T·D·(q+2·kv)·d·L = 2·{:.10g}·{:.10g}·({:.10g}+2·{:.10g})·{:.10g}·{:.10g}", T, D, shape_.heads, shape_.kv_heads,
                        shape_.head_dim, L));
    product("attention output projection", L * layer_.out,
            fmt::format("2·T·D·q·d·L = 2·{:.10g}·{:.10g}·{:.10g}·{:.10g}·{:.10g}", T, D, shape_.heads, shape_.head_dim, L));
  }

  void latent_projections() {
    const MlaShape& mla = *shape_.mla;
    const double T = window_.tokens, D = shape_.hidden_size, L = shape_.layers, q = shape_.heads;
    const double head = mla.qk_nope_head_dim + mla.qk_rope_head_dim;
    const std::string query = mla.q_lora_rank ? fmt::format("{0:.10g}·({1:.10g}+{2:.10g}·{3:.10g})", *mla.q_lora_rank, D, q, head)
                                              : fmt::format("{:.10g}·{:.10g}·{:.10g}", D, q, head);
    product("query, and compressed keys and values", L * layer_.qkv,
            fmt::format("2·T·({} + D·(rank+rope))·L = 2·{:.10g}·({} + {:.10g}·({:.10g}+{:.10g}))·{:.10g}",
                        mla.q_lora_rank ? "q_rank·(D+q·(nope+rope))" : "D·q·(nope+rope)", T, query, D, mla.kv_lora_rank,
                        mla.qk_rope_head_dim, L));
    product(window_.cached ? "up projection of keys and values, absorbed into query and output" : "up projection of keys and values",
            L * layer_.kv_up,
            fmt::format("2·T·rank·q·(nope+v)·L = 2·{:.10g}·{:.10g}·{:.10g}·({:.10g}+{:.10g})·{:.10g}", T, mla.kv_lora_rank, q,
                        mla.qk_nope_head_dim, mla.v_head_dim, L));
    product("attention output projection", L * layer_.out,
            fmt::format("2·T·D·q·v·L = 2·{:.10g}·{:.10g}·{:.10g}·{:.10g}·{:.10g}", T, D, q, mla.v_head_dim, L));
  }

  std::string context_text() const {
    if (shape_.sliding_layers == 0) return fmt::format("{:.9g}·{:.10g}", window_.context_sum, shape_.layers);
    return fmt::format("({:.9g}·{:.10g} + {:.9g}·{:.10g})", window_.context_sum, shape_.layers - shape_.sliding_layers,
                       window_.context_sum_sliding, shape_.sliding_layers);
  }

  void attention() {
    // ΣC over the layers, those with a sliding window apart.
    const double contexts =
        (shape_.layers - shape_.sliding_layers) * window_.context_sum + shape_.sliding_layers * window_.context_sum_sliding;
    WorkTerm term;
    term.name = "attention scores and values";
    if (shape_.mla) {
      const MlaShape& mla = *shape_.mla;
      const double keys = window_.cached ? mla.kv_lora_rank + mla.qk_rope_head_dim : mla.qk_nope_head_dim + mla.qk_rope_head_dim;
      const double values = window_.cached ? mla.kv_lora_rank : mla.v_head_dim;
      term.formula = fmt::format("2·q·({})·ΣC·L = 2·{:.10g}·({:.10g}+{:.10g})·{}", window_.cached ? "rank+rope + rank" : "nope+rope + v",
                                 shape_.heads, keys, values, context_text());
      term.flops = 2 * shape_.heads * (keys + values) * contexts * share_;
    } else {
      term.formula = fmt::format("4·q·d·ΣC·L = 4·{:.10g}·{:.10g}·{}", shape_.heads, shape_.head_dim, context_text());
      term.flops = 4 * shape_.heads * shape_.head_dim * contexts * share_;
    }
    if (window_.generating) add_cache_traffic(term, contexts);
    terms_.push_back(std::move(term));
  }

  void add_cache_traffic(WorkTerm& term, double contexts) const {
    const double row = shape_.mla ? shape_.mla->kv_lora_rank + shape_.mla->qk_rope_head_dim : 2 * shape_.kv_heads * shape_.head_dim;
    // A key/value head lies on one GPU at least, and the compressed ones on all.
    const double share = shape_.mla ? 1 : 1 / std::min(shape_.tensor_parallel, shape_.kv_heads);
    const double read = window_.cached ? contexts : 0, written = window_.tokens * shape_.layers;
    term.bytes = row * (read + written) * kv_bytes_ * share;
    if (kv_bytes_ > 0)
      term.formula += fmt::format("; cache {:.10g} values × {:.10g} B × ({:.9g} read + {:.9g} written)", row, kv_bytes_, read, written);
  }

  void dense_mlp() {
    const double layers = shape_.layers - expert_layers();
    product(shape_.gated_mlp ? "feed-forward, gated" : "feed-forward", layers * layer_.dense_mlp,
            fmt::format("{0}·T·D·I·L = {0}·{1:.10g}·{2:.10g}·{3:.10g}·{4:.10g}", shape_.gated_mlp ? 6 : 4, window_.tokens,
                        shape_.hidden_size, shape_.intermediate_size, layers));
  }

  void experts() {
    const MoeShape& moe = *shape_.moe;
    const double T = window_.tokens, D = shape_.hidden_size, per_pass = T / window_.passes;
    const int factor = shape_.gated_mlp ? 6 : 4;
    const double read = std::min(per_pass * moe.experts_per_token, moe.experts);
    WorkTerm term;
    term.name = "experts";
    term.formula = fmt::format("{0}·T·topk·D·I_moe·L = {0}·{1:.10g}·{2:.10g}·{3:.10g}·{4:.10g}·{5:.10g}", factor, T, moe.experts_per_token,
                               D, moe.intermediate_size, moe.layers);
    if (weight_bytes_ > 0)
      term.formula += fmt::format("; weights of min(T·topk, {:.10g}) = {:.10g} experts × {:.6g} × {:.10g} B × {:.10g}", moe.experts, read,
                                  layer_.expert * moe.layers, weight_bytes_, window_.passes);
    term.flops = 2 * T * moe.experts_per_token * layer_.expert * moe.layers * share_;
    term.bytes = read * layer_.expert * moe.layers * weight_bytes_ * window_.passes * share_;
    terms_.push_back(std::move(term));
    if (moe.shared_intermediate_size > 0)
      product("shared experts", moe.layers * layer_.shared_experts,
              fmt::format("{0}·T·D·I_shared·L = {0}·{1:.10g}·{2:.10g}·{3:.10g}·{4:.10g}", factor, T, D, moe.shared_intermediate_size,
                          moe.layers));
    product("router", moe.layers * layer_.router,
            fmt::format("2·T·D·experts·L = 2·{:.10g}·{:.10g}·{:.10g}·{:.10g}", T, D, moe.experts, moe.layers));
  }

  void head() {
    const double D = shape_.hidden_size, V = shape_.vocab_size, logits = window_.logit_tokens;
    if (window_.generating || logits > 0)
      terms_.push_back({"output head", fmt::format("2·D·V·logits = 2·{:.10g}·{:.10g}·{:.10g}", D, V, logits), 2 * D * V * logits * share_,
                        D * V * head_bytes_ * window_.passes * share_});
    if (V == 0) return;  // its inputs are no words
    terms_.push_back({"embedding rows", fmt::format("T·D·{:.10g} B = {:.10g}·{:.10g}·{:.10g}", head_bytes_, window_.tokens, D, head_bytes_),
                      0, window_.tokens * D * head_bytes_ * share_});
  }

  const LlmShape& shape_;
  const TokenWindow& window_;
  LayerWeights layer_;
  double share_, weight_bytes_, kv_bytes_, head_bytes_;
  std::vector<WorkTerm> terms_;
};

TokenWindow decode_window(const LlmShape& shape, double batch, double prompt, double steps) {
  const double all = std::numeric_limits<double>::infinity();
  return {.tokens = batch * steps,
          .passes = steps,
          .context_sum = batch * context_sum(prompt, steps, all),
          .context_sum_sliding = batch * context_sum(prompt, steps, shape.sliding_window.value_or(all)),
          .cached = true,
          .logit_tokens = batch * steps};
}

std::vector<std::string> decoder_assumptions(const LlmShape& shape) {
  std::vector<std::string> said;
  said.push_back("lower bound: weights are read once per pass, activations stay on the chip");
  if (shape.mla) said.push_back("latent attention: decode counts the absorbed form over the compressed cache, prefill the expanded form");
  if (shape.moe) said.push_back("experts read per pass: min(T·topk, experts)");
  if (shape.tensor_parallel > 1)
    said.push_back(fmt::format("per GPU, of {:.10g}: 1/{:.10g} of the products, {}", shape.tensor_parallel, shape.tensor_parallel,
                               shape.mla ? "and the whole compressed cache" : "and the cache of its key/value heads"));
  return said;
}

// 2 FLOPs a weight and token; the weights are read once.
class Products {
 public:
  Products(StageWork& work, double bytes, double tokens) : work_(work), bytes_(bytes), tokens_(tokens) {}

  void add(const char* name, double weights, const std::string& formula) { add(name, weights, tokens_, formula); }
  void add(const char* name, double weights, double tokens, const std::string& formula) {
    work_.terms.push_back({name, formula + (bytes_ > 0 ? fmt::format("; weights {:.6g} × {:.10g} B", weights, bytes_) : ""),
                           2 * tokens * weights, weights * bytes_});
  }

 private:
  StageWork& work_;
  double bytes_, tokens_;
};

void add_convolutions(const SamShape& sam, double images, Products& products) {
  for (const Convolution& each : sam_convolutions(sam))
    products.add(
        "SAM convolution", each.weights(), images * each.places,
        fmt::format("2·places·k²·in·out = 2·{:.10g}·{:.10g}²·{:.10g}·{:.10g}", images * each.places, each.side, each.in, each.out));
}

// Inside windows where it has them, over the whole image in its global layers.
StageWork sam_work(const LlmShape& shape, double batch) {
  if (!shape.sam || shape.sam->patches == 0 || shape.sam->hidden_size == 0) return {};
  const SamShape& sam = *shape.sam;
  const double images = batch * sam.images, T = images * sam.patches, D = sam.hidden_size, L = sam.layers;
  StageWork work;
  Products products(work, dtype_bytes(shape.weight_dtype).value_or(0), T);
  if (sam.patch_values > 0)
    products.add("SAM patch embedding", sam.patch_values * D,
                 fmt::format("2·T·3·p²·D = 2·{:.10g}·{:.10g}·{:.10g}", T, sam.patch_values, D));
  products.add("SAM projections", 4 * D * D * L, fmt::format("8·T·D²·L = 8·{:.10g}·{:.10g}²·{:.10g}", T, D, L));
  const double windowed = sam.window > 0 ? L - sam.global_layers : 0;
  const auto attention = [&](const char* name, double seen, double layers) {
    if (layers > 0)
      work.terms.push_back(
          {name, fmt::format("4·D·T·seen·L = 4·{:.10g}·{:.10g}·{:.10g}·{:.10g}", D, T, seen, layers), 4 * D * T * seen * layers, 0});
  };
  attention("SAM attention, in windows", std::min(sam.window, sam.patches), windowed);
  attention("SAM attention, global", sam.patches, L - windowed);
  products.add("SAM feed-forward", 2 * D * sam.intermediate_size * L,
               fmt::format("4·T·D·I·L = 4·{:.10g}·{:.10g}·{:.10g}·{:.10g}", T, D, sam.intermediate_size, L));
  add_convolutions(sam, images, products);
  work.assumptions = {fmt::format(
      "SAM's encoder: {:.10g} images of {:.10g} patches; padding of its windows and relative positions are left out", images, sam.patches)};
  return work;
}

// The mean of the calls.
struct InputSums {
  double calls = 0, tokens = 0, context = 0, context_sliding = 0;
};
InputSums sums_of(const LlmShape& shape, const std::vector<ModelInputs>& inputs, bool causal) {
  const double all = std::numeric_limits<double>::infinity(), window = shape.sliding_window.value_or(all);
  InputSums sums;
  for (const ModelInputs& each : inputs) {
    const double rows = each.batch * each.calls;
    sums.calls += each.calls;
    sums.tokens += rows * each.length;
    sums.context += rows * (causal ? context_sum(0, each.length, all) : each.length * each.length);
    sums.context_sliding += rows * (causal ? context_sum(0, each.length, window) : each.length * std::min(each.length, window));
  }
  for (double* sum : {&sums.tokens, &sums.context, &sums.context_sliding}) *sum /= sums.calls;
  return sums;
}

std::string inputs_text(const std::vector<ModelInputs>& inputs) {
  if (inputs.size() == 1) return fmt::format("{:.10g} sequences of length {:.10g}", inputs[0].batch, inputs[0].length);
  const auto [least, most] = std::minmax_element(
      inputs.begin(), inputs.end(), [](const ModelInputs& a, const ModelInputs& b) { return a.batch * a.length < b.batch * b.length; });
  return fmt::format("the mean of calls of {} sizes, from {:.10g}×{:.10g} to {:.10g}×{:.10g}", inputs.size(), least->batch, least->length,
                     most->batch, most->length);
}

}  // namespace

double context_sum(double start, double count, double window) {
  const double below = std::clamp(window - start, 0.0, count);  // of the tokens, those that see everything before them
  const double growing = below * start + below * (below + 1) / 2;
  return count > below ? growing + (count - below) * window : growing;
}

StageWork prefill_work(const LlmShape& shape, double batch, double prompt) {
  const double all = std::numeric_limits<double>::infinity();
  const TokenWindow window{.tokens = batch * prompt,
                           .passes = 1,
                           .context_sum = batch * context_sum(0, prompt, all),
                           .context_sum_sliding = batch * context_sum(0, prompt, shape.sliding_window.value_or(all)),
                           .cached = false,
                           .logit_tokens = shape.all_prefill_logits ? batch * prompt : batch};
  StageWork work{DecoderTerms(shape, window).terms(), {}};
  work.assumptions = {fmt::format("prompt of {:.10g} tokens at batch {:.10g}, empty cache", prompt, batch),
                      "causal attention is exact: ΣC = T(T+1)/2 per sequence (tools that count T² show about twice as much)",
                      shape.all_prefill_logits ? "the output head runs for every token of the prompt (model.prefill_logits)"
                                               : "the output head runs for the last token of each sequence",
                      "keys and values of the prompt are written once and not read again"};
  for (auto& each : decoder_assumptions(shape)) work.assumptions.push_back(std::move(each));
  return work;
}

StageWork decode_work(const LlmShape& shape, double batch, double prompt, double steps) {
  StageWork work{DecoderTerms(shape, decode_window(shape, batch, prompt, steps)).terms(), decoder_assumptions(shape)};
  work.assumptions.insert(
      work.assumptions.begin(),
      fmt::format("{:.10g} steps at batch {:.10g}; step i sees the {:.10g} tokens of the prompt and i more", steps, batch, prompt));
  return work;
}

StageWork decode_step_work(const LlmShape& shape, double batch, double prompt, double steps) {
  TokenWindow window = decode_window(shape, batch, prompt, steps);
  for (double* field : {&window.tokens, &window.passes, &window.context_sum, &window.context_sum_sliding, &window.logit_tokens})
    *field /= steps;
  StageWork work{DecoderTerms(shape, window).terms(), decoder_assumptions(shape)};
  work.assumptions.insert(
      work.assumptions.begin(),
      fmt::format("mean of {:.10g} steps at batch {:.10g}: one token per sequence, after {:.10g} tokens of prompt and on average "
                  "{:.10g} more",
                  steps, batch, prompt, (steps + 1) / 2));
  return work;
}

StageWork forward_work(const LlmShape& shape, const std::vector<ModelInputs>& inputs, bool causal, bool head) {
  const InputSums sums = sums_of(shape, inputs, causal);
  const TokenWindow window{.tokens = sums.tokens,
                           .passes = 1,
                           .context_sum = sums.context,
                           .context_sum_sliding = sums.context_sliding,
                           .cached = false,
                           .logit_tokens = head ? sums.tokens : 0,
                           .generating = false};
  StageWork work{DecoderTerms(shape, window).terms(), {}};
  work.assumptions = {inputs_text(inputs) + ", padding included",
                      causal ? "causal attention is exact: ΣC = T(T+1)/2 per sequence (tools that count T² show about twice as much)"
                             : "each position attends to the whole sequence: ΣC = T² per sequence",
                      head ? "the output head runs for every position" : "no output head",
                      "lower bound: weights are read once per pass, activations stay on the chip"};
  return work;
}

StageWork repeated(StageWork work, double times, double passes, const std::string& why) {
  for (WorkTerm& term : work.terms) {
    term.formula += fmt::format("; × {:.10g}", times);
    term.flops *= times;
    term.bytes *= passes;
  }
  work.assumptions.push_back(why);
  return work;
}

StageWork vision_work(const LlmShape& shape, double batch) {
  StageWork work = sam_work(shape, batch);
  if (!shape.vision || shape.vision->patches == 0 || shape.vision->hidden_size == 0) return shape.vision ? StageWork{} : work;
  const VisionShape& vision = *shape.vision;
  const double T = batch * vision.images * vision.patches, D = vision.hidden_size, L = vision.layers;
  const double mlp = (vision.gated_mlp ? 3 : 2) * D * vision.intermediate_size;
  Products products(work, dtype_bytes(shape.weight_dtype).value_or(0), T);
  if (vision.patch_values > 0)
    products.add("patch embedding", vision.patch_values * D,
                 fmt::format("2·T·3·p²·D = 2·{:.10g}·{:.10g}·{:.10g}", T, vision.patch_values, D));
  products.add("vision projections", 4 * D * D * L, fmt::format("8·T·D²·L = 8·{:.10g}·{:.10g}²·{:.10g}", T, D, L));
  work.terms.push_back({"vision attention", fmt::format("4·D·T·patches·L = 4·{:.10g}·{:.10g}·{:.10g}·{:.10g}", D, T, vision.patches, L),
                        4 * D * T * vision.patches * L, 0});
  products.add(
      vision.gated_mlp ? "vision feed-forward, gated" : "vision feed-forward", mlp * L,
      fmt::format("{0}·T·D·I·L = {0}·{1:.10g}·{2:.10g}·{3:.10g}·{4:.10g}", vision.gated_mlp ? 6 : 4, T, D, vision.intermediate_size, L));
  work.assumptions.push_back(
      fmt::format("{:.10g} images of {:.10g} patches; each patch attends to its whole image", batch * vision.images, vision.patches));
  if (shape.tensor_parallel > 1) work.assumptions.push_back("each GPU runs the whole vision tower");
  return work;
}

StageWork projector_work(const LlmShape& shape, double batch) {
  if (!shape.projector || shape.projector->tokens == 0 || shape.hidden_size == 0) return {};
  const ProjectorShape& projector = *shape.projector;
  const double T = batch * projector.images * projector.tokens, weights = projector_weights(shape);
  const double bytes = dtype_bytes(shape.weight_dtype).value_or(0);
  const std::string sizes = projector.hidden_size > 0
                                ? fmt::format("{:.10g}·({:.10g}+{:.10g})", projector.hidden_size, projector.input_size, shape.hidden_size)
                                : fmt::format("{:.10g}·{:.10g}", projector.input_size, shape.hidden_size);
  return {{{"projector", fmt::format("2·T·{} = 2·{:.10g}·{}", projector.hidden_size > 0 ? "H·(in+D)" : "in·D", T, sizes), 2 * T * weights,
            weights * bytes}},
          {fmt::format("{:.10g} images of {:.10g} tokens after merging", batch * projector.images, projector.tokens)}};
}

}  // namespace nl::analysis
