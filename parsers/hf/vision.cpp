#include <algorithm>

#include "parsers/hf/fields.h"

namespace nl::parsers {
namespace {

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

}  // namespace

void map_hf_vision(const HfFields& root, const HfFields& text, HfConfig& out) {
  if (const nlohmann::json* vision = root.object("vision_config")) {
    const HfFields fields(*vision, out.notes);
    if (fields.object("width") != nullptr) return map_deep_encoder(root, fields, out);
    VisionTower(root, text, fields, out).map();
  }
}

}  // namespace nl::parsers
