#include "tests/unit/adapters/tensorrt/fake_model.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

namespace nl::fake {
namespace {

nvinfer1::Dims dims_of_text(const std::string& text) {
  nvinfer1::Dims dims{};
  std::istringstream sizes(text);
  for (std::string size; std::getline(sizes, size, 'x');) dims.d[dims.nbDims++] = std::stoll(size);
  return dims;
}

nvinfer1::DataType type_of(const std::string& name) {
  return name == "int64" ? nvinfer1::DataType::kINT64 : name == "bfloat16" ? nvinfer1::DataType::kBF16 : nvinfer1::DataType::kFLOAT;
}

TensorLine tensor_line(std::istringstream& words, bool is_input) {
  TensorLine line;
  std::string type;
  words >> line.name >> type;
  line.type = type_of(type);
  line.is_input = is_input;
  for (std::string size; words >> size;) {
    const bool open = size.find_first_not_of("0123456789") != std::string::npos;
    line.dims.d[line.dims.nbDims++] = open ? -1 : std::stoll(size);
    line.symbols.push_back(open && size != "-1" ? size : "");
  }
  return line;
}

LayerLine layer_line(std::istringstream& words) {
  LayerLine line;
  words >> line.ms >> std::ws;
  std::getline(words, line.json);
  // {"Name": "a + b", …}, or only "a + b"
  const std::size_t key = line.json.find("\"Name\": \""), begin = key == std::string::npos ? 1 : key + 9;
  line.name = line.json.substr(begin, line.json.find('"', begin) - begin);
  return line;
}

void read_line(const std::string& text, Model& model) {
  std::istringstream words(text);
  std::string what;
  words >> what;
  if (what == "input" || what == "output") model.tensors.push_back(tensor_line(words, what == "input"));
  if (what == "layer") model.layers.push_back(layer_line(words));
  if (what == "operator") words >> model.unsupported_node >> model.unsupported_operator;
  if (what == "fault") words >> model.fault;
  if (what == "profile") {
    ProfileLine line;
    std::string least, most;
    words >> line.profile >> line.tensor >> least >> most;
    line.least = dims_of_text(least), line.most = dims_of_text(most);
    model.profiles.push_back(line);
  }
  if (std::size_t bytes = 0; what == "memory" && words >> bytes) set_memory(bytes);
}

}  // namespace

const TensorLine* Model::tensor(const std::string& name) const {
  for (const TensorLine& line : tensors)
    if (line.name == name) return &line;
  return nullptr;
}

Model model_of(const std::string& text) {
  set_memory(std::size_t{1} << 30);
  Model model;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::istringstream(line) >> model.kind >> model.version;
  for (; std::getline(lines, line); model.text += line + "\n") read_line(line, model);
  return model;
}

std::string sizes_text(const nvinfer1::Dims& dims) {
  std::string text;
  for (int axis = 0; axis < dims.nbDims; ++axis) text += (axis == 0 ? "" : "x") + std::to_string(dims.d[axis]);
  return text;
}

bool is_kind(const char* kind) {
  const char* wanted = std::getenv("NL_FAKE_TENSORRT");
  return wanted != nullptr && std::strcmp(wanted, kind) == 0;
}

}  // namespace nl::fake
