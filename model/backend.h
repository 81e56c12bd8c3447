#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/words.h"

namespace nl {

// What runs a model.
enum class Backend : std::uint8_t {
  kNone,  // not known
  kTransformers,
  kVllm,
  kSglang,
  kTensorrtLlm,
  kTorch,  // by itself
  kJax,
  kOnnxruntime,
  kLibtorch,
  kTensorrt,
  kOther,
};
template <>
inline constexpr auto kKeys<Backend> = std::to_array<std::string_view>(
    {"none", "transformers", "vllm", "sglang", "tensorrt-llm", "torch", "jax", "onnxruntime", "libtorch", "tensorrt", "other"});

// A backend as a process, a file or a capture calls it; the one place that makes a code of such a text. What has no code keeps its text.
class NamedBackend {
 public:
  NamedBackend() = default;
  NamedBackend(std::string_view text);
  NamedBackend(const std::string& text) : NamedBackend(std::string_view(text)) {}
  NamedBackend(const char* text) : NamedBackend(std::string_view(text)) {}
  NamedBackend(Backend known, std::string other) : code(known), text(std::move(other)) {}

  std::string name() const;  // "vllm"; empty: not known
  friend bool operator==(const NamedBackend&, const NamedBackend&) = default;

  Backend code = Backend::kNone;
  std::string text = {};  // where it is kOther
};

}  // namespace nl
