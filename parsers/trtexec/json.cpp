#include "parsers/trtexec/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/error_code.h"
#include "model/input_bounds.h"
#include "model/operator.h"
#include "parsers/json/array_file.h"
#include "parsers/registry.h"

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

// "conv1 + relu1": the names of the layers that the builder fused; none where the name is that of one.
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

// A layer as trtexec --exportLayerInfo describes it: its type, shapes, data types, tactic and the ONNX nodes that it holds.
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

// Sets the fields that a table shows. The first description of a name counts.
void describe_entry(const Json& description, OperatorEntry& entry) {
  if (!entry.type.empty()) return;
  entry.type = text_member(description, "LayerType");
  if (const std::string shape = shapes_of(description, "Inputs"); !shape.empty())
    entry.shapes.push_back({shape, entry.calls, 0, entry.cuda_total_ns});
  if (const std::string tactic = text_member(description, "TacticName"); !tactic.empty())
    entry.kernels.push_back({tactic, entry.calls, *entry.cuda_total_ns});
}

constexpr double kLongestMs = 1e12;  // thirty years; above it a number is damage

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file.string(), "check its path and permissions");
  try {
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    return Json::parse(json_within_bounds(text, file.string()));
  } catch (const Json::exception& failure) {
    const auto* parse = dynamic_cast<const Json::parse_error*>(&failure);
    throw CodedError(ErrorCode::kCaptureDamaged, "the file is damaged: it is no JSON document",
                     parse == nullptr ? file.string() : fmt::format("{}, byte {}", file.string(), parse->byte),
                     "export it again with trtexec");
  }
}

std::optional<double> ms_of(const Json& row, const char* key) {
  const auto found = row.is_object() ? row.find(key) : row.end();
  if (!row.is_object() || found == row.end() || !found->is_number()) return std::nullopt;
  const double ms = found->get<double>();
  return ms >= 0 && ms < kLongestMs ? std::optional(ms) : std::nullopt;
}

// { "name" : "conv1 + relu1", "timeMs" : 217.14, "averageMs" : 0.44, "medianMs" : 0.44, "percentage" : 6.9 }
std::optional<OperatorCall> layer_time(const Json& row, std::uint64_t runs) {
  const auto total_ms = ms_of(row, "timeMs");
  OperatorCall layer;
  if (total_ms) layer.node = text_member(row, "name");
  if (layer.node.empty()) return std::nullopt;
  layer.holds = fused_names(layer.node);
  const double mean_ms = runs > 0 ? *total_ms / static_cast<double>(runs) : 0;
  OperatorTimes times;
  times.count = runs;
  times.total_ns = std::llround(*total_ms * 1e6);
  times.median_ns = ms_of(row, "medianMs").value_or(mean_ms) * 1e6;  // before TensorRT 8.2 there is none
  layer.gpu_ns = layer.gpu_recorded_ns = std::llround(times.median_ns);
  layer.gpu_times = times;
  return layer;
}

OperatorEntry entry_of(const OperatorCall& layer) {
  OperatorEntry entry;
  entry.name = layer.node;
  entry.calls = layer.gpu_times->count;
  entry.host_time_known = false;
  entry.cuda_total_ns = entry.cuda_self_ns = layer.gpu_times->total_ns;
  return entry;
}

std::optional<std::uint64_t> run_count(const Json& row) {
  const auto count = row.is_object() ? row.find("count") : row.end();
  if (!row.is_object() || count == row.end() || !count->is_number_unsigned()) return std::nullopt;
  return count->get<std::uint64_t>();
}

// An engine has layers of the same name (reformatting copies): times are added up, the first description holds.
class Layers {
 public:
  std::uint64_t damaged = 0;

  void add_times(const Json& profile, std::uint64_t runs) {
    for (const Json& row : profile) {
      if (run_count(row)) continue;
      auto layer = layer_time(row, runs);
      if (!layer) {
        ++damaged;
        continue;
      }
      layer->index = static_cast<std::uint32_t>(layers_.size());
      add_entry(entry_of(*layer));
      layers_.push_back(std::move(*layer));
    }
  }

  // Returns how many of the descriptions hold more than a name.
  std::size_t describe(const Json& descriptions) {
    std::size_t described = 0;
    for (const Json& description : descriptions) {
      if (!description.is_object()) continue;
      ++described;
      const std::string name = text_member(description, "Name");
      for (OperatorCall& layer : layers_)
        if (layer.node == name && layer.name.empty()) describe_layer(description, layer);
      if (const auto found = places_.find(name); found != places_.end()) describe_entry(description, entries_[found->second]);
    }
    return described;
  }

  std::vector<OperatorCall> in_order() { return std::move(layers_); }

  std::vector<OperatorEntry> sorted() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const OperatorEntry& a, const OperatorEntry& b) { return *a.cuda_self_ns > *b.cuda_self_ns; });
    return std::move(entries_);
  }

 private:
  void add_entry(OperatorEntry entry) {
    const auto [found, added] = places_.try_emplace(entry.name, entries_.size());
    if (added) return entries_.push_back(std::move(entry));
    OperatorEntry& known = entries_[found->second];
    known.calls += entry.calls;
    *known.cuda_total_ns += *entry.cuda_total_ns;
    *known.cuda_self_ns += *entry.cuda_self_ns;
  }

  std::vector<OperatorCall> layers_;
  std::vector<OperatorEntry> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

const Json& layer_list(const Json& document, const std::filesystem::path& file) {
  const auto layers = document.is_object() ? document.find("Layers") : document.end();
  if (!document.is_object() || layers == document.end() || !layers->is_array())
    throw CodedError(ErrorCode::kUnknownFormat, "the file has no list \"Layers\"", file.string(),
                     "give the file of trtexec --exportLayerInfo");
  return *layers;
}

std::uint64_t count_of(const Json& profile, const std::filesystem::path& file) {
  if (profile.is_array())
    for (const Json& row : profile)
      if (const auto runs = run_count(row)) return *runs;
  throw Error(ErrorKind::kInput, "the file does not say how many runs it is of: {\"count\": N} is missing", file.string(),
              "give the file of trtexec --exportProfile (with --separateProfileRun, so that profiling slows nothing else)");
}

}  // namespace

OperatorRecords read_trtexec(const std::filesystem::path& profile_file, const std::filesystem::path& layers_file) {
  const Json profile = read_json(profile_file);
  const std::uint64_t runs = count_of(profile, profile_file);
  Layers layers;
  layers.add_times(profile, runs);
  OperatorTable table;
  table.source = "trtexec";
  table.file = profile_file.filename().string();
  table.note = fmt::format("GPU time of TensorRT's layers over {} runs; host time is not known", runs);
  if (!layers_file.empty()) {
    const Json document = read_json(layers_file);
    if (layers.describe(layer_list(document, layers_file)) == 0)
      table.note += "; the layer file holds names only: build the engine with --profilingVerbosity=detailed for types, shapes and tactics";
  }
  if (layers.damaged > 0) table.note += fmt::format("; {} rows were damaged and are left out", layers.damaged);
  OperatorStep step{"inference", table.source, 0, runs, layers.in_order(), 0, {}};
  step.file = table.file;
  step.iterations = runs;
  table.entries = layers.sorted();
  Ns sum_ns = 0;
  for (const OperatorEntry& entry : table.entries) sum_ns += *entry.cuda_self_ns;
  table.cuda_ns = sum_ns;
  return {std::move(table), {std::move(step)}};
}

namespace {

// The reader takes plain files only, so that a packed one is not its own.
template <typename Decide>
bool looks_like(const FileHead& head, char opening, const char* member, Decide decide) {
  if (head.json_opening() != opening || head.bytes != head.text) return false;
  try {
    JsonArrayFile file(head.path, member);
    return decide(file);
  } catch (const Error&) {
    return false;
  }
}

bool has_key(const JsonArrayFile& file, std::string_view quoted_key) { return file.element().find(quoted_key) != std::string_view::npos; }

// [ { "count" : 100 }, { "name" : …, "timeMs" : … }, …
bool is_trtexec_profile(const FileHead& head) {
  return looks_like(head, '[', "", [](JsonArrayFile& file) {
    return file.next() && has_key(file, "\"count\"") && file.next() && has_key(file, "\"timeMs\"");
  });
}

// { "Layers" : [ "name" or { "Name" : … }, …
bool is_layer_list(const FileHead& head) {
  return looks_like(head, '{', "Layers",
                    [](JsonArrayFile& file) { return file.next() ? has_key(file, "\"Name\"") : file.passed_over() > 0; });
}

// The profile and its list of layers, in any order; files after the first of each are not read.
Reading read_trtexec_files(Files files) {
  std::stable_sort(files.begin(), files.end(),
                   [](const auto& a, const auto& b) { return !is_layer_list(FileHead(a)) && is_layer_list(FileHead(b)); });
  return read_trtexec(files[0], files.size() > 1 ? files[1] : std::filesystem::path());
}

}  // namespace

extern const Format kTrtexecFormat = {.name = "trtexec",
                                      .help = "--exportProfile file of trtexec, then its --exportLayerInfo file if there is one",
                                      .known_as = "a trtexec JSON",
                                      .gives = Gives::kOperators,
                                      .most_files = 2,
                                      .together = true,
                                      .is_own = [](const FileHead& head) { return is_trtexec_profile(head) || is_layer_list(head); },
                                      .read = [](const Files& files) { return read_trtexec_files(files); }};

}  // namespace nl::parsers
