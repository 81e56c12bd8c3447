#include "adapters/onnxruntime/graph_nodes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace nl::adapters {
namespace {

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
enum class GraphField : std::uint64_t { kNode = 1, kInitializer = 5 };
enum class NodeField : std::uint64_t { kInput = 1, kOutput = 2, kName = 3, kType = 4, kAttribute = 5 };
enum class AttributeField : std::uint64_t { kTensor = 5, kGraph = 6 };
enum class TensorField : std::uint64_t { kDataType = 2, kExternal = 13 };
enum class EntryField : std::uint64_t { kKey = 1, kValue = 2 };

constexpr int kDeepestGraph = 50;  // of graphs inside graphs; a file that goes on is no model

std::uint64_t external_length(std::string_view entry) {
  std::string key, value;
  for (Fields fields(entry); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(EntryField::kKey)) key = fields.text();
    if (fields.field == static_cast<std::uint64_t>(EntryField::kValue)) value = fields.text();
  }
  return key == "length" ? std::strtoull(value.c_str(), nullptr, 10) : 0;
}

void read_tensor(std::string_view tensor, ModelGraph& out) {
  out.weight_bytes += tensor.size();
  for (Fields fields(tensor); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(TensorField::kDataType)) out.weight_types.insert(static_cast<int>(fields.number));
    if (fields.field == static_cast<std::uint64_t>(TensorField::kExternal)) out.weight_bytes += external_length(fields.bytes);
  }
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

void read_graph(std::string_view graph, int depth, ModelGraph& out) {
  if (depth > kDeepestGraph) throw Damaged{};
  std::size_t place = 0;
  for (Fields fields(graph); fields.next();) {
    if (fields.field == static_cast<std::uint64_t>(GraphField::kNode)) out.nodes.push_back(read_node(fields.bytes, place++, depth, out));
    if (fields.field == static_cast<std::uint64_t>(GraphField::kInitializer)) read_tensor(fields.bytes, out);
  }
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

}  // namespace

ModelGraph read_model_graph(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  ModelGraph graph;
  try {
    for (Fields fields(mapped.bytes()); fields.next();)
      if (fields.field == static_cast<std::uint64_t>(ModelField::kGraph)) read_graph(fields.bytes, 0, graph);
  } catch (const Damaged&) {
    return {};
  }
  return graph;
}

}  // namespace nl::adapters
