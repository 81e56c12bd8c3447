#include "parsers/facts/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "parsers/hf/config.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kMaxFactsBytes = 16 << 20;

std::vector<fs::path> facts_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed))
    if (entry.path().extension() == ".json" && entry.file_size(failed) <= kMaxFactsBytes) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Json facts_document(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return Json::parse(in, nullptr, false);
}

const Json& member(const Json& object, const char* name) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

std::string text_of_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::uint64_t count_of_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

class Facts {
 public:
  void add(const fs::path& file) {
    const Json facts = facts_document(file);
    if (!facts.is_object()) {
      out_.notes.push_back(fmt::format("{} is no whole JSON", file.filename().string()));
      return;
    }
    for (const auto& [name, version] : member(facts, "versions").items())
      if (version.is_string()) out_.versions.try_emplace(name, version.get<std::string>());
    for (const auto& [place, count] : member(facts, "errors").items())
      if (count.is_number()) out_.notes.push_back(fmt::format("marking failed in {}: {} times", place, count.get<double>()));
    for (const Json& model : member(facts, "models")) add_model(model, file.filename().string());
    if (const std::string backend = text_of_member(facts, "backend"); out_.backend.empty()) out_.backend = backend;
  }
  ProcessFacts take() { return std::move(out_); }

 private:
  void add_model(const Json& model, const std::string& where) {
    const std::uint64_t tokens = count_of_member(model, "new_tokens");
    if (out_.model && tokens <= most_tokens_) return;
    if (!member(model, "config").is_object()) return;
    try {
      Json loaded = member(model, "config");
      if (const std::string dtype = text_of_member(model, "dtype"); !dtype.empty()) loaded["torch_dtype"] = dtype;  // as loaded, not as saved
      HfConfig config = parse_hf_config(loaded.dump(), where);
      if (config.name.empty()) config.name = text_of_member(model, "class");
      if (!config.notes.empty()) config.attributes["notes"] = fmt::format("{}", fmt::join(config.notes, "; "));
      out_.model = ModelInfo{config.name, config.attributes};
      most_tokens_ = tokens;
    } catch (const Error& error) {
      out_.notes.push_back(fmt::format("the model's configuration does not say its shape: {}", error.message));
    }
  }
  ProcessFacts out_;
  std::uint64_t most_tokens_ = 0;
};

}  // namespace

ProcessFacts read_facts(const fs::path& folder) {
  Facts facts;
  for (const fs::path& file : facts_files(folder)) facts.add(file);
  return facts.take();
}

}  // namespace nl::parsers
