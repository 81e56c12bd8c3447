#include "adapters/tensorrt/layer_times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "adapters/tensor_types.h"

namespace nl::adapters::tensorrt {
namespace {

using Json = nlohmann::json;

// "Half", "Row major linear FP16 format", "Float": TensorRT has several ways to say a type.
std::string dtype_in(const std::string& format) {
  struct Word {
    std::string_view word;
    const char* dtype;
  };
  static constexpr std::array<Word, 15> kWords = {{{"BFloat16", "bfloat16"},
                                                   {"BF16", "bfloat16"},
                                                   {"FP16", "float16"},
                                                   {"Half", "float16"},
                                                   {"FP32", "float32"},
                                                   {"Float", "float32"},
                                                   {"FP8", "float8"},
                                                   {"E4M3", "float8"},
                                                   {"FP4", "float4"},
                                                   {"Int64", "int64"},
                                                   {"Int32", "int32"},
                                                   {"UInt8", "uint8"},
                                                   {"INT8", "int8"},
                                                   {"Int8", "int8"},
                                                   {"Bool", "bool"}}};
  for (const Word& known : kWords)
    if (format.find(known.word) != std::string::npos) return known.dtype;
  return "?";
}

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "Inputs": [{"Name": "x", "Dimensions": [1, 256, 1024], "Format/Datatype": "Half"}]
void describe_inputs_of(const Json& layer, SessionNode& node) {
  const auto inputs = layer.find("Inputs");
  if (inputs == layer.end() || !inputs->is_array() || inputs->empty()) return;
  std::vector<std::string> shapes, dtypes;
  for (const Json& input : *inputs) {
    if (!input.is_object()) return;
    std::vector<std::int64_t> shape;
    for (const Json& size : input.value("Dimensions", Json::array()))
      if (size.is_number_integer()) shape.push_back(size.get<std::int64_t>());
    shapes.push_back(shape_text(shape));
    dtypes.push_back(dtype_in(text_in(input, "Format/Datatype")));
  }
  node.shapes = fmt::format("[{}]", fmt::join(shapes, ", "));
  node.dtypes = fmt::format("[{}]", fmt::join(dtypes, ", "));
}

// "[ONNX Layer: /conv1/Conv]\x1e[ONNX Layer: /relu1/Relu]"; within a fused layer \x1f stands between. Names may hold brackets.
std::vector<std::string> onnx_nodes(const std::string& metadata) {
  static constexpr std::string_view kBegin = "[ONNX Layer: ";
  std::vector<std::string> nodes;
  for (std::size_t at = metadata.find(kBegin); at != std::string::npos;) {
    const std::size_t next = metadata.find(kBegin, at + 1), name = at + kBegin.size();
    const std::size_t end = metadata.rfind(']', next == std::string::npos ? next : next - 1);
    if (end != std::string::npos && end >= name) nodes.push_back(metadata.substr(name, end - name));
    at = next;
  }
  return nodes;
}

}  // namespace

void LayerTimes::reportLayerTime(const char* layer, float ms) noexcept {
  const Key key(layer, seen_[layer]++);
  const auto [found, added] = nodes_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
  if (added) keys_.push_back(key);
  NodeRun run;
  run.iteration = iteration_;
  run.node = found->second;
  run.gpu_ns = ms > 0 ? std::llround(static_cast<double>(ms) * 1e6) : 0;
  runs_.push_back(run);
}

void LayerTimes::end_iteration() {
  seen_.clear();
  ++iteration_;
}

Executions LayerTimes::executions(const std::vector<SessionNode>& layers) const {
  std::map<Key, const SessionNode*> described;
  std::map<std::string, std::uint32_t> seen;
  for (const SessionNode& layer : layers) described[{layer.name, seen[layer.name]++}] = &layer;

  Executions done;
  done.host_times_known = false;
  done.runs = runs_;
  for (const Key& key : keys_) {
    const auto found = described.find(key);
    SessionNode node;
    if (found != described.end()) node = *found->second;
    node.name = key.first;
    done.nodes.push_back(std::move(node));
  }
  return done;
}

SessionNode layer_of_json(const std::string& json) {
  SessionNode node;
  const Json layer = Json::parse(json, nullptr, false);
  if (layer.is_string()) node.name = layer.get<std::string>();
  if (!layer.is_object()) return node;
  node.name = text_in(layer, "Name");
  node.type = text_in(layer, "LayerType");
  node.holds = onnx_nodes(text_in(layer, "Metadata"));
  describe_inputs_of(layer, node);
  return node;
}

std::vector<SessionNode> layers_of(const nvinfer1::ICudaEngine& engine, const nvinfer1::IExecutionContext& context) {
  std::vector<SessionNode> layers;
  const std::unique_ptr<nvinfer1::IEngineInspector> inspector(engine.createEngineInspector());
  if (!inspector) return layers;
  inspector->setExecutionContext(&context);  // the shapes as they were run
  for (std::int32_t n = 0; n < engine.getNbLayers(); ++n) {
    const char* json = inspector->getLayerInformation(n, nvinfer1::LayerInformationFormat::kJSON);
    if (json != nullptr) layers.push_back(layer_of_json(json));
  }
  return layers;
}

}  // namespace nl::adapters::tensorrt
