#include "adapters/onnxruntime/graph_nodes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

namespace nl::adapters {
namespace {

struct ElementType {
  int number;
  std::string_view dtype;
  std::string_view precision;
};

constexpr std::array<ElementType, 13> kTypes = {{{1, "float32", "fp32"},
                                                 {2, "uint8", "int8"},
                                                 {3, "int8", "int8"},
                                                 {4, "uint16", ""},
                                                 {5, "int16", ""},
                                                 {6, "int32", ""},
                                                 {7, "int64", ""},
                                                 {9, "bool", ""},
                                                 {10, "float16", "fp16"},
                                                 {11, "float64", "fp64"},
                                                 {12, "uint32", ""},
                                                 {13, "uint64", ""},
                                                 {16, "bfloat16", "bf16"}}};

const ElementType* type_of(int element) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.number == element; });
  return found == kTypes.end() ? nullptr : &*found;
}

struct Damaged {};

// The fields of a message of protocol buffers, one after the other:
//   field number << 3 | kind, then a varint (kind 0), eight bytes (1), a length and so many bytes (2) or four bytes (5)
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  bool next() {
    if (rest_.empty()) return false;
    const std::uint64_t key = varint();
    field = key >> 3;
    switch (key & 7) {
      case 0: number = varint(); break;
      case 1: bytes = take(8); break;
      case 2: bytes = take(varint()); break;
      case 5: bytes = take(4); break;
      default: throw Damaged{};
    }
    return true;
  }
  std::string text() const { return std::string(bytes); }

  std::uint64_t field = 0, number = 0;
  std::string_view bytes;

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw Damaged{};
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw Damaged{};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

// The numbers of onnx.proto that are needed here.
enum class ModelField : std::uint64_t { kGraph = 7 };
enum class GraphField : std::uint64_t { kNode = 1, kInitializer = 5, kInput = 11 };
enum class NodeField : std::uint64_t { kInput = 1, kOutput = 2, kName = 3, kType = 4, kAttribute = 5 };
enum class AttributeField : std::uint64_t { kTensor = 5, kGraph = 6 };
enum class TensorField : std::uint64_t { kDataType = 2, kName = 8, kExternal = 13 };
enum class ValueField : std::uint64_t { kName = 1, kType = 2 };
enum class TypeField : std::uint64_t { kTensor = 1 };
enum class TensorTypeField : std::uint64_t { kElement = 1, kShape = 2 };
enum class ShapeField : std::uint64_t { kDimension = 1 };
enum class DimensionField : std::uint64_t { kSize = 1, kSymbol = 2 };
enum class EntryField : std::uint64_t { kKey = 1, kValue = 2 };

constexpr int kDeepestGraph = 50;  // of graphs inside graphs; a file that goes deeper is not a model

// One entry of where a tensor lies outside of the file: {key: "length", value: "4096"}
std::uint64_t read_external(std::string_view entry, ModelGraph& out) {
  std::string key, value;
  for (Fields fields(entry); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(EntryField::kKey)) key = fields.text();
    if (fields.field == static_cast<std::uint64_t>(EntryField::kValue)) value = fields.text();
  }
  if (key == "location") out.weight_files.insert(value);
  return key == "length" ? std::strtoull(value.c_str(), nullptr, 10) : 0;
}

void read_tensor(std::string_view tensor, ModelGraph& out) {
  std::uint64_t bytes = tensor.size();
  int type = 0;
  for (Fields fields(tensor); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(TensorField::kDataType)) type = static_cast<int>(fields.number);
    if (fields.field == static_cast<std::uint64_t>(TensorField::kExternal)) bytes += read_external(fields.bytes, out);
  }
  out.weight_bytes += bytes;
  if (type != 0) out.weight_types[type] += bytes;
}

void read_graph(std::string_view graph, int depth, ModelGraph& out);

void read_attribute(std::string_view attribute, int depth, ModelGraph& out) {
  for (Fields fields(attribute); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(AttributeField::kTensor)) read_tensor(fields.bytes, out);
    if (fields.field == static_cast<std::uint64_t>(AttributeField::kGraph)) read_graph(fields.bytes, depth + 1, out);
  }
}

GraphNode read_node(std::string_view message, std::size_t place, int depth, ModelGraph& out) {
  GraphNode node;
  for (Fields fields(message); fields.next();) {
    switch (static_cast<NodeField>(fields.field)) {
      case NodeField::kInput: node.inputs.push_back(fields.text()); break;
      case NodeField::kOutput: node.outputs.push_back(fields.text()); break;
      case NodeField::kName: node.name = fields.text(); break;
      case NodeField::kType: node.type = fields.text(); break;
      case NodeField::kAttribute: read_attribute(fields.bytes, depth, out); break;
    }
  }
  if (node.name.empty()) node.name = node.type + "_" + std::to_string(place);
  return node;
}

// The bytes of the last field of this number; empty: there is none.
template <class Field>
std::string_view bytes_of_field(std::string_view message, Field field) {
  std::string_view bytes;
  for (Fields fields(message); fields.next();)
    if (fields.field == static_cast<std::uint64_t>(field)) bytes = fields.bytes;
  return bytes;
}

Dimension read_dimension(std::string_view message) {
  Dimension dimension;
  for (Fields fields(message); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(DimensionField::kSize)) dimension.size = static_cast<std::int64_t>(fields.number);
    if (fields.field == static_cast<std::uint64_t>(DimensionField::kSymbol)) dimension.symbol = fields.text();
  }
  return dimension;
}

// name: "x", type: {tensor_type: {elem_type: 1, shape: {dim: {dim_param: "batch"}, dim: {dim_value: 64}}}}
TensorSpec read_input(std::string_view message) {
  TensorSpec spec{std::string(bytes_of_field(message, ValueField::kName)), "no tensor", {}};
  const std::string_view tensor = bytes_of_field(bytes_of_field(message, ValueField::kType), TypeField::kTensor);
  for (Fields fields(tensor); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(TensorTypeField::kElement))
      spec.dtype = dtype_of_element(static_cast<int>(fields.number));
    if (fields.field != static_cast<std::uint64_t>(TensorTypeField::kShape)) continue;
    for (Fields shape(fields.bytes); shape.next();)
      if (shape.field == static_cast<std::uint64_t>(ShapeField::kDimension)) spec.shape.push_back(read_dimension(shape.bytes));
  }
  return spec;
}

void read_graph(std::string_view graph, int depth, ModelGraph& out) {
  if (depth > kDeepestGraph) throw Damaged{};
  std::size_t place = 0;
  std::set<std::string_view> valued;
  for (Fields fields(graph); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(GraphField::kNode)) out.nodes.push_back(read_node(fields.bytes, place++, depth, out));
    if (fields.field == static_cast<std::uint64_t>(GraphField::kInitializer)) {
      read_tensor(fields.bytes, out);
      valued.insert(bytes_of_field(fields.bytes, TensorField::kName));
    }
    if (depth == 0 && fields.field == static_cast<std::uint64_t>(GraphField::kInput)) out.inputs.push_back(read_input(fields.bytes));
  }
  if (depth == 0) std::erase_if(out.inputs, [&](const TensorSpec& spec) { return valued.contains(spec.name); });
}

// Mapped, so that the weights are not read from the disk.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& file) {
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct ::stat status{};
    if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (descriptor >= 0) ::close(descriptor);
  }
  ~MappedFile() {
    if (data_ != MAP_FAILED) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const {
    return data_ == MAP_FAILED ? std::string_view() : std::string_view(static_cast<const char*>(data_), size_);
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

class Fusions {
 public:
  Fusions(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised) : original_(original) {
    for (std::size_t n = 0; n < original.size(); ++n) {
      names_.insert(original[n].name);
      for (const std::string& output : original[n].outputs) producers_[output] = n;
    }
    for (const GraphNode& node : optimised) alive_.insert(node.outputs.begin(), node.outputs.end());
  }

  std::vector<std::string> held_by(const GraphNode& node) const {
    std::vector<std::string> held;
    for (const std::size_t n : between(node))
      if (original_[n].type != "Constant") held.push_back(original_[n].name);  // it does nothing
    if (held.empty() && !names_.contains(node.name)) held = longest_beginning(node.name);
    if (held.size() == 1 && held[0] == node.name) held.clear();
    return held;
  }

 private:
  // From its outputs back to what it reads, or to what another node of the optimised graph makes.
  std::set<std::size_t> between(const GraphNode& node) const {
    std::set<std::size_t> found;
    std::vector<std::string> open = node.outputs;
    while (!open.empty()) {
      const auto producer = producers_.find(open.back());
      open.pop_back();
      if (producer == producers_.end() || !found.insert(producer->second).second) continue;
      for (const std::string& input : original_[producer->second].inputs)
        if (!alive_.contains(input) && std::find(node.inputs.begin(), node.inputs.end(), input) == node.inputs.end()) open.push_back(input);
    }
    return found;
  }

  // "/linear/MatMul" of "/linear/MatMul/MatMulAddFusion": the optimisers append their own names.
  std::vector<std::string> longest_beginning(const std::string& name) const {
    for (std::size_t end = name.size(); end > 0; --end)
      if (const auto found = names_.find(name.substr(0, end)); found != names_.end() && (name[end] == '/' || name[end] == '_'))
        return {*found};
    return {};
  }

  const std::vector<GraphNode>& original_;
  std::unordered_set<std::string> names_, alive_;
  std::unordered_map<std::string, std::size_t> producers_;
};

}  // namespace

std::string dtype_of_element(int element) {
  const ElementType* type = type_of(element);
  return type ? std::string(type->dtype) : element == 8 ? "string" : "onnx type " + std::to_string(element);
}

std::optional<int> element_of_dtype(std::string_view dtype) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const ElementType& type) { return type.dtype == dtype; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->number);
}

std::string precision_of_element(int element) {
  const ElementType* type = type_of(element);
  return type ? std::string(type->precision) : "";
}

ModelGraph read_model_graph(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  ModelGraph graph;
  try {
    for (Fields fields(mapped.bytes()); fields.next();)
      if (fields.field == static_cast<std::uint64_t>(ModelField::kGraph)) {
        read_graph(fields.bytes, 0, graph);
        graph.found = true;
      }
  } catch (const Damaged&) {
    return {};
  }
  return graph;
}

std::vector<OptimisedNode> optimised_nodes(const std::vector<GraphNode>& original, const std::vector<GraphNode>& optimised) {
  const Fusions fusions(original, optimised);
  std::vector<OptimisedNode> nodes;
  for (const GraphNode& node : optimised) nodes.push_back({node.name, node.type, fusions.held_by(node)});
  return nodes;
}

}  // namespace nl::adapters
