#include "parsers/ort/nodes.h"

#include <fmt/format.h>

#include "parsers/input_files.h"
#include "parsers/json/values.h"

namespace nl::parsers {
namespace {

namespace ondemand = simdjson::ondemand;

void append_dimensions(ondemand::array& dimensions, std::string& out) {
  out += '[';
  for (auto element : dimensions) {
    std::int64_t size = 0;
    if (element.get_int64().get(size)) return;
    if (out.back() != '[') out += ", ";
    out += std::to_string(size);
  }
  out += ']';
}

// As NumPy spells it.
std::string_view numpy_name(std::string_view type) {
  if (type == "float") return "float32";
  if (type == "double") return "float64";
  return type;
}

// [{"float":[1,16,64]},{"int64":[1,16]}] → [[1, 16, 64], [1, 16]] of [float32, int64]
OrtTensors tensors_of(ondemand::value& value) {
  ondemand::array tensors;
  if (value.get_array().get(tensors)) return {};
  OrtTensors out;
  for (auto tensor : tensors) {
    ondemand::object types;
    if (tensor.get_object().get(types)) return {};
    for (auto type : types) {
      ondemand::value list;
      ondemand::array dimensions;
      std::string_view name;
      if (type.unescaped_key().get(name) || type.value().get(list) || list.get_array().get(dimensions)) return {};
      out.shapes += out.shapes.empty() ? "[" : ", ";
      append_dimensions(dimensions, out.shapes);
      if (out.shapes.back() != ']') return {};
      (out.dtypes += out.dtypes.empty() ? "[" : ", ") += numpy_name(name);
    }
  }
  if (out.shapes.empty()) return {};
  return {out.shapes + ']', out.dtypes + ']'};
}

// {"main_thread": {…}, "sub_threads": {"281472803991680": {"num_run": 4, "core": 1}}}; "" of a session that computes with one thread
void read_threads(ondemand::value& value, OrtEvent& out) {
  std::string_view text;
  if (!value.get_string().get(text)) {
    if (!text.empty()) return;
    out.threads = out.used_threads = 1;
    return;
  }
  std::uint32_t others = 0, computing = 0;
  const bool read = for_each_member(value, [&](std::string_view key, ondemand::value& part) {
    if (key != "sub_threads") return true;
    return for_each_member(part, [&](std::string_view, ondemand::value& thread) {
      ++others;
      return for_each_member(thread, [&](std::string_view name, ondemand::value& count) {
        if (name == "num_run") computing += json_whole(count).value_or(0) > 0;
        return true;
      });
    });
  });
  if (!read) return;
  out.threads = others + 1;
  out.used_threads = computing + 1;
}

void read_argument(std::string_view key, ondemand::value& value, OrtEvent& out) {
  if (key == "op_name") out.op_name = json_text(value);
  else if (key == "provider") out.provider = json_text(value);
  else if (key == "node_index") out.node_index = json_whole(value);
  else if (key == "input_type_shape") out.inputs = tensors_of(value);
  else if (key == "output_type_shape") out.outputs = tensors_of(value);
  else if (key == "thread_scheduling_stats") read_threads(value, out);
  else if (key == "stream") out.stream = json_whole(value);
  else if (key == "grid_x") out.grid[0] = json_whole(value);
  else if (key == "grid_y") out.grid[1] = json_whole(value);
  else if (key == "grid_z") out.grid[2] = json_whole(value);
  else if (key == "block_x") out.block[0] = json_whole(value);
  else if (key == "block_y") out.block[1] = json_whole(value);
  else if (key == "block_z") out.block[2] = json_whole(value);
}

bool read_member(std::string_view key, ondemand::value& value, OrtEvent& out) {
  if (read_event_member(key, value, out) || key != "args") return true;
  return for_each_member(value, [&](std::string_view name, ondemand::value& argument) {
    read_argument(name, argument, out);
    return true;
  });
}

void append_escaped(std::string_view name, std::string& out) {
  const bool is_utf8 = simdjson::validate_utf8(name);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (byte < 0x20) out += fmt::format("\\u{:04x}", byte);
    else if (byte >= 0x80 && !is_utf8) out += "\uFFFD";
    else out += c;
  }
}

// {"cat" : "Node", … ,"name" :"/a"b_kernel_time","args" : {…}},     a line is an event, spelled like this by ONNX Runtime alone
void append_line(std::string_view line, std::string& out) {
  constexpr std::string_view kBefore = "\"name\" :\"", kAfter = "\",\"args\" :";
  const auto end = line.find(kAfter), before = end == line.npos ? end : line.rfind(kBefore, end);
  if (before == line.npos || before + kBefore.size() > end) {
    out += line;
    return;
  }
  const auto begin = before + kBefore.size();
  out += line.substr(0, begin);
  append_escaped(line.substr(begin, end - begin), out);
  out += line.substr(end);
}

class OrtText {
 public:
  explicit OrtText(const std::filesystem::path& file) : source_(file) {}

  std::size_t read(char* to, std::size_t size) {
    while (ready_.size() < size && !ended_) read_block();
    const std::size_t given = ready_.copy(to, size);
    ready_.erase(0, given);
    return given;
  }

 private:
  // Takes the whole lines of a block. A megabyte without a line end was not written by ONNX Runtime, and is given as it is.
  void read_block() {
    const std::size_t before = rest_.size();
    rest_.resize(before + kBlock);
    const std::size_t got = source_.read(rest_.data() + before, kBlock);
    rest_.resize(before + got);
    ended_ = got < kBlock;
    std::size_t begin = 0;
    for (auto end = rest_.find('\n', before); end != rest_.npos; end = rest_.find('\n', begin)) {
      append_line(std::string_view(rest_).substr(begin, end + 1 - begin), ready_);
      begin = end + 1;
    }
    rest_.erase(0, begin);
    if (!ended_ && rest_.size() < 4 * kBlock) return;
    append_line(rest_, ready_);
    rest_.clear();
  }

  static constexpr std::size_t kBlock = std::size_t{1} << 18;
  ByteSource source_;
  std::string rest_, ready_;
  bool ended_ = false;
};

}  // namespace

JsonArrayFile::Bytes ort_text(const std::filesystem::path& file) {
  return [text = std::make_shared<OrtText>(file)](char* to, std::size_t size) { return text->read(to, size); };
}

struct OrtEventReader::Impl {
  ondemand::parser parser;
};

OrtEventReader::OrtEventReader() : impl_(std::make_unique<Impl>()) {}
OrtEventReader::~OrtEventReader() = default;

// {"cat" : "Node","pid" :15973,"tid" :15973,"dur" :74,"ts" :8218,"ph" : "X","name" :"embed_kernel_time",
//  "args" : {"provider" : "CPUExecutionProvider","input_type_shape" : [{"float":[320,64]},{"int64":[1,16]}],"op_name" : "Gather"}}
bool OrtEventReader::read(const JsonArrayFile& file, OrtEvent& out) {
  out = {};
  return for_each_member(impl_->parser, file, [&](std::string_view key, ondemand::value& value) { return read_member(key, value, out); });
}

}  // namespace nl::parsers
