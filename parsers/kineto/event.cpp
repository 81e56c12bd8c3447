#include "parsers/kineto/event.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "parsers/json/values.h"

namespace nl::parsers {
namespace {

namespace ondemand = simdjson::ondemand;

// "grid": [256, 1, 1]
std::optional<Dim3> dimensions(ondemand::value& value) {
  ondemand::array list;
  if (value.get_array().get(list)) return std::nullopt;
  std::uint32_t axes[3] = {1, 1, 1};
  std::size_t count = 0;
  for (auto element : list) {
    std::uint64_t size = 0;
    if (count == 3 || element.get_uint64().get(size) || size > 0xFFFFFFFF) return std::nullopt;
    axes[count++] = static_cast<std::uint32_t>(size);
  }
  return Dim3{axes[0], axes[1], axes[2]};
}

std::string_view raw_array(ondemand::value& value) {
  ondemand::array list;
  std::string_view text;
  if (value.get_array().get(list) || list.raw_json().get(text)) return {};
  return text;
}

// As PyTorch spells a type that Kineto names as C++ does; a - where it is not the type of a tensor.
std::string torch_type(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::pair<std::string_view, std::string_view>>({{"", "-"},
                                                                                               {"Scalar", "-"},
                                                                                               {"ScalarList", "-"},
                                                                                               {"None", "-"},
                                                                                               {"float", "float32"},
                                                                                               {"double", "float64"},
                                                                                               {"c10::Half", "float16"},
                                                                                               {"long int", "int64"},
                                                                                               {"long", "int64"},
                                                                                               {"long long", "int64"},
                                                                                               {"int", "int32"},
                                                                                               {"short int", "int16"},
                                                                                               {"short", "int16"},
                                                                                               {"signed char", "int8"},
                                                                                               {"unsigned char", "uint8"},
                                                                                               {"c10::complex<float>", "complex64"},
                                                                                               {"c10::complex<double>", "complex128"}});
  for (const auto& [cpp, torch] : kNames)
    if (name == cpp) return std::string(torch);
  if (const auto space = name.rfind("::"); space != std::string_view::npos) name.remove_prefix(space + 2);
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// "Input type": ["c10::BFloat16", "Scalar", "long int", ""]; nothing where a list of tensors hides their shapes
std::string input_types(ondemand::value& value) {
  ondemand::array list;
  if (value.get_array().get(list)) return {};
  std::string all, known;  // known: up to the last tensor
  for (auto element : list) {
    std::string_view name;
    if (element.get_string().get(name) || name == "TensorList") return {};
    const std::string type = torch_type(name);
    all += (all.empty() ? "" : ", ") + type;
    if (type != "-") known = all;
  }
  return known.empty() ? known : "[" + known + "]";
}

// "Collective name": "allreduce", "In msg nelems": 65536, "Out msg nelems": 65536, "Group size": 4, "dtype": "BFloat16"
void read_message(std::string_view key, ondemand::value& value, KinetoEvent& out) {
  if (key == "Collective name") out.collective = json_text(value);
  else if (key == "In msg nelems") out.in_elements = json_whole(value);
  else if (key == "Out msg nelems") out.out_elements = json_whole(value);
  else if (key == "Group size") out.group_size = json_whole(value);
  else if (key == "dtype") out.data_type = json_text(value);
}

void read_argument(std::string_view key, ondemand::value& value, KinetoEvent& out) {
  if (key == "correlation") out.correlation = json_whole(value);
  else if (key == "device") out.device = json_whole(value);
  else if (key == "context") out.context = json_whole(value);
  else if (key == "stream") out.stream = json_whole(value);
  else if (key == "grid") out.grid = dimensions(value);
  else if (key == "block") out.block = dimensions(value);
  else if (key == "bytes") out.bytes = json_whole(value);
  else if (key == "registers per thread") out.registers = json_whole(value);
  else if (key == "shared memory") out.shared_bytes = json_whole(value);
  else if (key == "Input Dims" || key == "Input dims") out.input_dims = raw_array(value);
  else if (key == "Input type") out.input_types = input_types(value);
  else if (key == "name") out.args_name = json_text(value);
  else if (key == "kernel") out.kernel = json_text(value);
  else read_message(key, value, out);
}

bool read_member(std::string_view key, ondemand::value& value, KinetoEvent& out) {
  if (key == "ph") out.phase = json_text(value);
  if (read_event_member(key, value, out) || key != "args") return true;
  return for_each_member(value, [&](std::string_view name, ondemand::value& argument) {
    read_argument(name, argument, out);
    return true;
  });
}

// "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320, "computeMajor": 9, "numSms": 132
Device read_device(ondemand::object& properties) {
  Device device;
  for_each_member(properties, [&](std::string_view key, ondemand::value& value) {
    if (key == "name") {
      device.name = json_text(value);
      return true;
    }
    const auto number = json_whole(value);
    if (!number || *number < 0) return true;
    if (key == "id") device.id = static_cast<std::int32_t>(*number);
    else if (key == "totalGlobalMem") device.memory_bytes = static_cast<std::uint64_t>(*number);
    else if (key == "computeMajor") device.compute_major = static_cast<std::uint32_t>(*number);
    else if (key == "computeMinor") device.compute_minor = static_cast<std::uint32_t>(*number);
    else if (key == "numSms") device.sm_count = static_cast<std::uint32_t>(*number);
    return true;
  });
  return device;
}

void read_devices(ondemand::value& value, std::vector<Device>& out) {
  ondemand::array devices;
  if (value.get_array().get(devices)) return;
  for (auto element : devices) {
    ondemand::object properties;
    if (element.get_object().get(properties)) return;
    out.push_back(read_device(properties));
  }
}

// {"backend": "nccl", "rank": 1, "world_size": 8, "pg_config": …}
void read_rank(ondemand::value& value, RankFacts& out) {
  ondemand::object members;
  if (value.get_object().get(members)) return;
  const auto number = [](ondemand::value& member) -> std::optional<std::uint32_t> {
    const auto whole = json_whole(member);
    return whole && *whole >= 0 && *whole < kNone ? std::optional(static_cast<std::uint32_t>(*whole)) : std::nullopt;
  };
  for_each_member(members, [&](std::string_view key, ondemand::value& member) {
    if (key == "rank") out.rank = number(member);
    if (key == "world_size") out.world_size = number(member);
    return true;
  });
  if (out.rank) out.source = RankSource::kProcessGroup;
}

}  // namespace

struct KinetoEventReader::Impl {
  ondemand::parser parser;
};

KinetoEventReader::KinetoEventReader() : impl_(std::make_unique<Impl>()) {}
KinetoEventReader::~KinetoEventReader() = default;

// {"ph": "X", "cat": "kernel", "name": "…", "pid": 0, "tid": 7, "ts": 3844436105439.765, "dur": 2.624,
//  "args": {"device": 0, "context": 1, "stream": 7, "correlation": 20, "grid": [256, 1, 1], "block": [128, 1, 1]}}
bool KinetoEventReader::read(const JsonArrayFile& file, KinetoEvent& out) {
  out = {};
  return for_each_member(impl_->parser, file, [&](std::string_view key, ondemand::value& value) { return read_member(key, value, out); });
}

std::string range_name_of(const KinetoEvent& event) {
  std::string name(event.name);
  if (event.input_dims.empty()) return name;
  name += ", sizes = ";
  for (const char c : event.input_dims)
    if (c != '\n' && c != '\r' && c != '\t') name += c;
  while (name.back() == ' ') name.pop_back();
  return name;
}

KinetoDocument read_kineto_document(const std::string& document) {
  KinetoDocument out;
  ondemand::parser parser;
  const simdjson::padded_string padded(document);
  ondemand::document parsed;
  ondemand::object members;
  if (parser.iterate(padded).get(parsed) || parsed.get_object().get(members)) return out;
  for_each_member(members, [&](std::string_view key, ondemand::value& value) {
    if (key == "baseTimeNanoseconds") out.base_time_ns = json_whole(value);
    if (key == "deviceProperties") read_devices(value, out.devices);
    if (key == "distributedInfo") read_rank(value, out.rank);
    if (key == "schemaVersion")
      if (const auto version = json_whole(value)) out.schema_version = std::to_string(*version);
    return true;
  });
  return out;
}

}  // namespace nl::parsers
