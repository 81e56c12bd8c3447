#include "parsers/trtexec/layers.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace nl::parsers {
namespace {

using Json = nlohmann::json;

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "Inputs": [{"Name": "x", "Dimensions": [1, 256, 1024], "Format/Datatype": "Half"}] → [[1, 256, 1024]]
std::string shapes_of(const Json& layer, const char* key) {
  const auto tensors = layer.find(key);
  if (tensors == layer.end() || !tensors->is_array()) return {};
  std::string out;
  for (const Json& tensor : *tensors) {
    const auto dimensions = tensor.is_object() ? tensor.find("Dimensions") : tensor.end();
    if (!tensor.is_object() || dimensions == tensor.end() || !dimensions->is_array()) return {};
    std::string shape;
    for (const Json& size : *dimensions) {
      if (!size.is_number_integer()) return {};
      shape += (shape.empty() ? "" : ", ") + std::to_string(size.get<std::int64_t>());
    }
    out += (out.empty() ? "[" : ", [") + shape + "]";
  }
  return out.empty() ? out : "[" + out + "]";
}

// "Half", or "Row major linear FP16 format" before TensorRT 10: as NumPy spells it. What is not known keeps its words.
std::string numpy_type(const std::string& format) {
  static constexpr auto kTypes = std::to_array<std::pair<std::string_view, std::string_view>>({{"BFloat16", "bfloat16"},
                                                                                               {"BF16", "bfloat16"},
                                                                                               {"Half", "float16"},
                                                                                               {"FP16", "float16"},
                                                                                               {"FP8", "float8"},
                                                                                               {"FP4", "float4"},
                                                                                               {"Float", "float32"},
                                                                                               {"FP32", "float32"},
                                                                                               {"Int64", "int64"},
                                                                                               {"INT64", "int64"},
                                                                                               {"Int32", "int32"},
                                                                                               {"INT32", "int32"},
                                                                                               {"Int8", "int8"},
                                                                                               {"INT8", "int8"},
                                                                                               {"Int4", "int4"},
                                                                                               {"INT4", "int4"},
                                                                                               {"Bool", "bool"},
                                                                                               {"BOOL", "bool"},
                                                                                               {"UInt8", "uint8"}});
  for (const auto& [word, name] : kTypes)
    if (format.find(word) != std::string::npos) return std::string(name);
  return format;
}

std::string dtypes_of(const Json& layer, const char* key) {
  const auto tensors = layer.find(key);
  if (tensors == layer.end() || !tensors->is_array()) return {};
  std::string out;
  for (const Json& tensor : *tensors) {
    const std::string format = tensor.is_object() ? text_member(tensor, "Format/Datatype") : "";
    if (format.empty()) return {};
    out += (out.empty() ? "" : ", ") + numpy_type(format);
  }
  return out.empty() ? out : "[" + out + "]";
}

// "Metadata": "[ONNX Layer: /conv/Conv]\u001e[ONNX Layer: /relu/Relu]"
std::vector<std::string> onnx_nodes(std::string_view metadata) {
  constexpr std::string_view kBegin = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  for (std::size_t at = metadata.find(kBegin); at != std::string_view::npos; at = metadata.find(kBegin, at)) {
    at += kBegin.size();
    const std::size_t end = metadata.find(']', at);
    if (end == std::string_view::npos) break;
    nodes.emplace_back(metadata.substr(at, end - at));
  }
  return nodes;
}

}  // namespace

std::vector<std::string> fused_names(std::string_view name) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t plus = name.find(" + ");
    parts.emplace_back(name.substr(0, plus));
    if (plus == std::string_view::npos) break;
    name.remove_prefix(plus + 3);
  }
  return parts.size() > 1 ? parts : std::vector<std::string>();
}

void describe_layer(const Json& description, OperatorCall& layer) {
  layer.name = text_member(description, "LayerType");
  layer.shapes = shapes_of(description, "Inputs");
  layer.dtypes = dtypes_of(description, "Inputs");
  layer.output_shapes = shapes_of(description, "Outputs");
  layer.output_dtypes = dtypes_of(description, "Outputs");
  if (auto nodes = onnx_nodes(text_member(description, "Metadata")); !nodes.empty()) layer.holds = std::move(nodes);
  if (std::string tactic = text_member(description, "TacticName"); !tactic.empty())
    layer.kernels.push_back({std::move(tactic), 1, layer.gpu_ns.value_or(0)});
}

void describe_entry(const Json& description, OperatorEntry& entry) {
  if (!entry.type.empty()) return;
  entry.type = text_member(description, "LayerType");
  if (const std::string shape = shapes_of(description, "Inputs"); !shape.empty())
    entry.shapes.push_back({shape, entry.calls, 0, entry.cuda_total_ns});
  if (const std::string tactic = text_member(description, "TacticName"); !tactic.empty())
    entry.kernels.push_back({tactic, entry.calls, *entry.cuda_total_ns});
}

}  // namespace nl::parsers
