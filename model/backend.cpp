#include "model/backend.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace nl {
namespace {

// "vLLM", "TensorRT_LLM" → "vllm", "tensorrt-llm"
std::string plain_backend(std::string_view text) {
  std::string name;
  for (const char c : text) name += c == '_' || c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

constexpr std::pair<std::string_view, Backend> kBackendNames[] = {
    {"pytorch", Backend::kTorch},    {"trt-llm", Backend::kTensorrtLlm},      {"trtllm", Backend::kTensorrtLlm},
    {"ort", Backend::kOnnxruntime},  {"onnx-runtime", Backend::kOnnxruntime}, {"trt", Backend::kTensorrt},
    {"trtexec", Backend::kTensorrt},
};

Backend backend_code(const std::string& name) {
  if (name.empty()) return Backend::kNone;
  const auto other = std::find_if(std::begin(kBackendNames), std::end(kBackendNames), [&](const auto& each) { return each.first == name; });
  if (other != std::end(kBackendNames)) return other->second;
  const auto known = from_key<Backend>(name);
  return known && *known != Backend::kNone ? *known : Backend::kOther;
}

}  // namespace

NamedBackend::NamedBackend(std::string_view called)
    : code(backend_code(plain_backend(called))), text(code == Backend::kOther ? called : "") {}

std::string NamedBackend::name() const {
  if (code == Backend::kNone) return {};
  return code == Backend::kOther && !text.empty() ? text : std::string(key_of(code));
}

}  // namespace nl
