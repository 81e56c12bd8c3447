#include <algorithm>

#include <fmt/format.h>

#include "parsers/hf/fields.h"

namespace nl::parsers {
namespace {

using nlohmann::json;

class VisionTower {
 public:
  VisionTower(const HfFields& root, const HfFields& text, const HfFields& vision, HfConfig& out)
      : root_(root), text_(text), in_(vision), type_(root.text("model_type")), out_(out) {
    // Where embed_dim is the tower's width, hidden_size is what it hands on.
    width_ = in_.whole({"embed_dim", "hidden_size", "width"}).value_or(0);
  }

  void map() {
    put("vision_layers", in_.whole({"num_hidden_layers", "depth", "layers"}).value_or(0) + in_.whole({"num_global_layers"}).value_or(0));
    put("vision_hidden_size", width_);
    put("vision_heads", in_.whole({"num_attention_heads", "num_heads", "attention_heads"}).value_or(0));
    if (const auto size = in_.whole({"intermediate_size"})) put("vision_intermediate_size", *size);
    else
      put("vision_intermediate_size", width_ * static_cast<long long>(std::min(64.0, std::max(1.0, in_.number("mlp_ratio").value_or(4)))));
    out_.attributes["vision_mlp"] = type_ == "qwen2_5_vl" ? "gated" : "plain";
    map_patches();
    map_projector();
  }

 private:
  void put(const char* key, long long value) {
    if (value > 0) out_.attributes[key] = std::to_string(value);
  }

  void map_patches() {
    const long long patch = in_.whole({"patch_size", "spatial_patch_size"}).value_or(0);
    const long long image = in_.whole({"image_size"}).value_or(0);
    put("vision_patch_size", patch);
    if (patch == 0 || image < patch) {
      out_.notes.push_back(
          "how many patches an image has depends on its size: --set model.vision_patches=… and model.image_tokens=… give the vision "
          "tower's work");
      return;
    }
    grid_ = (image / patch) * (image / patch);
    const bool class_token = in_.text("model_type") == "clip_vision_model";
    put("vision_patches", grid_ + (class_token ? 1 : 0));
  }

  void map_projector() {
    const long long hidden = text_.whole({"hidden_size"}).value_or(0);
    if (type_.compare(0, 5, "llava") == 0) {
      put("projector_input_size", width_);
      put("projector_hidden_size", out_.attributes.count("hidden_size") ? std::stoll(out_.attributes.at("hidden_size")) : hidden);
      put("image_tokens", root_.whole({"image_seq_length"}).value_or(grid_));
    } else if (const auto merge = in_.whole({"spatial_merge_size"}); merge && *merge > 0 && *merge < 64) {
      put("projector_input_size", width_ * *merge * *merge);
      put("projector_hidden_size", width_ * *merge * *merge);
      if (grid_ > 0) put("image_tokens", grid_ / (*merge * *merge));
    } else {
      put("projector_input_size", in_.whole({"vision_output_dim"}).value_or(width_));
      put("image_tokens", root_.whole({"mm_tokens_per_image", "image_seq_length"}).value_or(grid_));
      out_.notes.push_back("the projector between vision tower and decoder is taken as one matrix");
    }
  }

  const HfFields& root_;
  const HfFields& text_;
  const HfFields& in_;
  std::string type_;
  HfConfig& out_;
  long long width_ = 0, grid_ = 0;
};

// Values that SAM's code contains and its configuration does not state.
constexpr long long kSamPatch = 16, kSamWindow = 14, kSamNeck = 256;

// The two towers of DeepSeek-OCR, whose vision_config has them by name where others have a width.
// "vision_config": {"image_size": 1024, "width": {
//    "sam_vit_b": {"layers": 12, "width": 768, "heads": 12, "global_attn_indexes": [2, 5, 8, 11], "downsample_channels": [512, 1024]},
//    "clip-l-14-224": {"layers": 24, "width": 1024, "heads": 16, "image_size": 224, "patch_size": 14}}}
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

  // CLIP does not use its own patch embedding: its input is what SAM leaves.
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

void map_hf_vision(const HfFields& root, const HfFields& text, HfConfig& out) {
  if (const json* vision = root.object("vision_config")) {
    const HfFields fields(*vision, out.notes);
    if (fields.object("width") != nullptr) return DeepEncoder(root, fields, out).map();
    VisionTower(root, text, fields, out).map();
  }
}

}  // namespace nl::parsers
