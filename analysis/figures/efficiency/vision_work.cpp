#include <fmt/core.h>

#include <algorithm>

#include "analysis/figures/efficiency/stage_work.h"

namespace nl::analysis {

namespace {

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

}  // namespace

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
