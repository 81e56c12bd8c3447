#include <fmt/core.h>

#include "analysis/efficiency/stage_work.h"

namespace nl::analysis {

StageWork vision_work(const LlmShape& shape, double batch) {
  if (!shape.vision || shape.vision->patches == 0 || shape.vision->hidden_size == 0) return {};
  const VisionShape& vision = *shape.vision;
  const double T = batch * vision.images * vision.patches, D = vision.hidden_size, L = vision.layers;
  const double bytes = dtype_bytes(shape.weight_dtype).value_or(0);
  const double mlp = (vision.gated_mlp ? 3 : 2) * D * vision.intermediate_size;
  const auto product = [&](const char* name, double weights, std::string formula) {
    return WorkTerm{name, formula + (bytes > 0 ? fmt::format("; weights {:.6g} × {:.10g} B", weights, bytes) : ""), 2 * T * weights, weights * bytes};
  };
  StageWork work;
  if (vision.patch_values > 0)
    work.terms.push_back(product("patch embedding", vision.patch_values * D, fmt::format("2·T·3·p²·D = 2·{:.10g}·{:.10g}·{:.10g}", T, vision.patch_values, D)));
  work.terms.push_back(product("vision projections", 4 * D * D * L, fmt::format("8·T·D²·L = 8·{:.10g}·{:.10g}²·{:.10g}", T, D, L)));
  work.terms.push_back({"vision attention", fmt::format("4·D·T·patches·L = 4·{:.10g}·{:.10g}·{:.10g}·{:.10g}", D, T, vision.patches, L),
                        4 * D * T * vision.patches * L, 0});
  work.terms.push_back(product(vision.gated_mlp ? "vision feed-forward, gated" : "vision feed-forward", mlp * L,
                               fmt::format("{0}·T·D·I·L = {0}·{1:.10g}·{2:.10g}·{3:.10g}·{4:.10g}", vision.gated_mlp ? 6 : 4, T, D, vision.intermediate_size, L)));
  work.assumptions = {fmt::format("{:.10g} images of {:.10g} patches; each patch attends to its whole image", batch * vision.images, vision.patches)};
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
  return {{{"projector", fmt::format("2·T·{} = 2·{:.10g}·{}", projector.hidden_size > 0 ? "H·(in+D)" : "in·D", T, sizes), 2 * T * weights, weights * bytes}},
          {fmt::format("{:.10g} images of {:.10g} tokens after merging", batch * projector.images, projector.tokens)}};
}

}  // namespace nl::analysis
