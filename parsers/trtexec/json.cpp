#include "parsers/trtexec/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "model/error.h"
#include "parsers/json/array_file.h"
#include "parsers/registry.h"

namespace nl::parsers {
namespace {

using Json = nlohmann::json;

constexpr double kLongestMs = 1e12;  // thirty years; above it a number is damage

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(ErrorKind::kInput, "the file cannot be read", file.string(), "check its path and permissions");
  try {
    return Json::parse(stream);
  } catch (const Json::exception& failure) {
    const auto* parse = dynamic_cast<const Json::parse_error*>(&failure);
    throw Error(ErrorKind::kInput, "the file is damaged: it is no JSON document",
                parse == nullptr ? file.string() : fmt::format("{}, byte {}", file.string(), parse->byte), "export it again with trtexec");
  }
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// { "name" : "conv1 + relu1", "timeMs" : 217.14, "averageMs" : 0.44, "medianMs" : 0.44, "percentage" : 6.9 }
std::optional<OperatorEntry> layer_time(const Json& row, std::uint64_t runs) {
  const auto time = row.find("timeMs");
  if (!row.is_object() || time == row.end() || !time->is_number()) return std::nullopt;
  const double ms = time->get<double>();
  OperatorEntry entry;
  entry.name = text_of(row, "name");
  if (entry.name.empty() || !(ms >= 0 && ms < kLongestMs)) return std::nullopt;
  entry.calls = runs;
  entry.host_time_known = false;
  entry.cuda_total_ns = entry.cuda_self_ns = static_cast<Ns>(std::llround(ms * 1e6));
  return entry;
}

std::optional<std::uint64_t> run_count(const Json& row) {
  const auto count = row.is_object() ? row.find("count") : row.end();
  if (!row.is_object() || count == row.end() || !count->is_number_unsigned()) return std::nullopt;
  return count->get<std::uint64_t>();
}

// "Inputs": [{"Name": "x", "Dimensions": [1, 256, 1024], "Format/Datatype": "Half"}] → [[1, 256, 1024]]
std::string input_shapes(const Json& layer) {
  const auto inputs = layer.find("Inputs");
  if (inputs == layer.end() || !inputs->is_array()) return {};
  std::string out;
  for (const Json& input : *inputs) {
    const auto dimensions = input.is_object() ? input.find("Dimensions") : input.end();
    if (!input.is_object() || dimensions == input.end() || !dimensions->is_array()) return {};
    std::string shape;
    for (const Json& size : *dimensions) {
      if (!size.is_number_integer()) return {};
      shape += (shape.empty() ? "" : ", ") + std::to_string(size.get<std::int64_t>());
    }
    out += (out.empty() ? "[" : ", [") + shape + "]";
  }
  return out.empty() ? out : "[" + out + "]";
}

// An engine has layers of the same name (reformatting copies): times are added up, the first description holds.
class Layers {
 public:
  std::uint64_t damaged = 0;

  void add_times(const Json& profile, std::uint64_t runs) {
    for (const Json& row : profile) {
      if (run_count(row)) continue;
      auto entry = layer_time(row, runs);
      if (!entry) {
        ++damaged;
        continue;
      }
      const auto [found, added] = places_.try_emplace(entry->name, entries_.size());
      if (added) {
        entries_.push_back(std::move(*entry));
        continue;
      }
      OperatorEntry& known = entries_[found->second];
      known.calls += entry->calls;
      *known.cuda_total_ns += *entry->cuda_total_ns;
      *known.cuda_self_ns += *entry->cuda_self_ns;
    }
  }

  // Returns how many of the descriptions hold more than a name.
  std::size_t describe(const Json& layers) {
    std::size_t described = 0;
    for (const Json& layer : layers) {
      if (!layer.is_object()) continue;
      ++described;
      const auto found = places_.find(text_of(layer, "Name"));
      if (found == places_.end() || !entries_[found->second].type.empty()) continue;
      OperatorEntry& entry = entries_[found->second];
      entry.type = text_of(layer, "LayerType");
      if (const std::string shape = input_shapes(layer); !shape.empty())
        entry.shapes.push_back({shape, entry.calls, 0, entry.cuda_total_ns});
      if (const std::string tactic = text_of(layer, "TacticName"); !tactic.empty())
        entry.kernels.push_back({tactic, entry.calls, *entry.cuda_total_ns});
    }
    return described;
  }

  std::vector<OperatorEntry> sorted() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const OperatorEntry& a, const OperatorEntry& b) { return *a.cuda_self_ns > *b.cuda_self_ns; });
    return std::move(entries_);
  }

 private:
  std::vector<OperatorEntry> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

const Json& layer_list(const Json& document, const std::filesystem::path& file) {
  const auto layers = document.is_object() ? document.find("Layers") : document.end();
  if (!document.is_object() || layers == document.end() || !layers->is_array())
    throw Error(ErrorKind::kInput, "the file has no list \"Layers\"", file.string(), "give the file of trtexec --exportLayerInfo");
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

OperatorTable read_trtexec(const std::filesystem::path& profile_file, const std::filesystem::path& layers_file) {
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
  table.entries = layers.sorted();
  Ns sum_ns = 0;
  for (const OperatorEntry& entry : table.entries) sum_ns += *entry.cuda_self_ns;
  table.cuda_ns = sum_ns;
  return table;
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
  return looks_like(head, '{', "Layers", [](JsonArrayFile& file) { return file.next() ? has_key(file, "\"Name\"") : file.passed_over() > 0; });
}

// The profile and its list of layers, in any order; files after the first of each are not read.
Reading read_trtexec_files(Files files) {
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return !is_layer_list(FileHead(a)) && is_layer_list(FileHead(b)); });
  return read_trtexec(files[0], files.size() > 1 ? files[1] : std::filesystem::path());
}

}  // namespace

extern const Format kTrtexecFormat = {
    .name = "trtexec",
    .help = "--exportProfile file of trtexec, then its --exportLayerInfo file if there is one",
    .known_as = "a trtexec JSON",
    .gives = Gives::kOperators,
    .most_files = 2,
    .together = true,
    .is_own = [](const FileHead& head) { return is_trtexec_profile(head) || is_layer_list(head); },
    .read = [](const Files& files) { return read_trtexec_files(files); }};

}  // namespace nl::parsers
