#include <fmt/format.h>

#include "parsers/hf/fields.h"

// "vision_config": {"image_size": 1024, "width": {
//    "sam_vit_b": {"layers": 12, "width": 768, "heads": 12, "global_attn_indexes": [2, 5, 8, 11], "downsample_channels": [512, 1024]},
//    "clip-l-14-224": {"layers": 24, "width": 1024, "heads": 16, "image_size": 224, "patch_size": 14}}}
namespace nl::parsers {
namespace {

using nlohmann::json;

// What SAM's code has and no configuration says.
constexpr long long kSamPatch = 16, kSamWindow = 14, kSamNeck = 256;

class DeepEncoder {
 public:
  DeepEncoder(const HfFields& root, const HfFields& vision, HfConfig& out) : root_(root), in_(vision), out_(out) {}

  void map() {
    const json& towers = *in_.object("width");
    for (const auto& [name, tower] : towers.items()) {
      if (!tower.is_object()) continue;
      const HfFields fields(tower, out_.notes);
      if (name.starts_with("sam")) map_sam(fields);
      if (name.starts_with("clip")) map_clip(fields);
    }
    map_tokens();
    map_projector();
  }

 private:
  void put(const char* key, long long value) {
    if (value > 0) out_.attributes[key] = std::to_string(value);
  }

  void map_sam(const HfFields& sam) {
    put("sam_layers", sam.whole({"layers"}).value_or(0));
    put("sam_hidden_size", sam.whole({"width"}).value_or(0));
    put("sam_patch_size", kSamPatch);
    put("sam_window", kSamWindow);
    if (const json* global = sam.list("global_attn_indexes")) put("sam_global_layers", static_cast<long long>(global->size()));
    side_ = in_.whole({"image_size"}).value_or(0) / kSamPatch;
    put("sam_patches", side_ * side_);
    std::string channels = fmt::format("{0},{0}", kSamNeck);
    if (const json* more = sam.list("downsample_channels"))
      for (const json& channel : *more) {
        if (!channel.is_number_unsigned()) continue;
        channels += "," + std::to_string(channel.get<unsigned long long>());
        side_ /= 2;
      }
    out_.attributes["sam_channels"] = channels;
    out_.notes.push_back(fmt::format("SAM's patches of {} pixels, windows of {} patches and {} channels are those of its code", kSamPatch,
                                     kSamWindow, kSamNeck));
  }

  // Its own patch embedding is not used: it is given what SAM leaves.
  void map_clip(const HfFields& clip) {
    put("vision_layers", clip.whole({"layers"}).value_or(0));
    put("vision_hidden_size", clip.whole({"width"}).value_or(0));
    put("vision_heads", clip.whole({"heads"}).value_or(0));
    put("vision_intermediate_size", 4 * clip.whole({"width"}).value_or(0));
    out_.attributes["vision_mlp"] = "plain";
  }

  void map_tokens() {
    if (side_ == 0) return;
    put("vision_patches", side_ * side_ + 1);
    put("image_tokens", side_ * side_);
    const long long pixels = in_.whole({"image_size"}).value_or(0);
    out_.notes.push_back(
        fmt::format("the vision towers' work is that of one view of {0} × {0} pixels; tiles besides it are not counted", pixels));
  }

  void map_projector() {
    const json* projector = root_.object("projector_config");
    if (projector == nullptr) return;
    const HfFields fields(*projector, out_.notes);
    put("projector_input_size", fields.whole({"input_dim"}).value_or(0));
    if (const std::string kind = fields.text("projector_type"); kind != "linear")
      out_.notes.push_back(fmt::format("the projector is '{}': it is taken as one matrix", kind));
  }

  const HfFields& root_;
  const HfFields& in_;
  HfConfig& out_;
  long long side_ = 0;  // of the grid of tokens that SAM leaves
};

}  // namespace

void map_deep_encoder(const HfFields& root, const HfFields& vision, HfConfig& out) { DeepEncoder(root, vision, out).map(); }

}  // namespace nl::parsers
